// Runs the cases, each with a device of its own, or those for a board against the board that there is.

import { copyFileSync, mkdirSync } from 'node:fs';
import { cases } from './cases.mjs';
import { Browser, CACHE, Device } from './world.mjs';

const words = process.argv.slice(2);
const keeps = words[0] === '--keep';
if (keeps) words.shift();
const board = process.env.MOTE_BOARD_PAGE;
const ownAgent = words[0] === '--own';
if (ownAgent) words.shift();
const isWanted = ({ name, board: isForBoards, own, picture }) =>
  own === ownAgent && (!board || own || isForBoards) && (!picture || keeps) && name.includes(words.join(' '));
const chosen = cases.filter(isWanted);
const shots = `${CACHE}/shots`;
mkdirSync(shots, { recursive: true });

const browser = await Browser.start();
let failed = 0;
for (const { name, flags, run } of chosen) {
  const begun = Date.now();
  const device = board ? new Device(board, process.env.MOTE_TOKEN) : await Device.start('--agent', 'sensor', '--seed', '7', ...flags);
  const shot = (page, file) => page.screenshot({ path: `${shots}/${board ? 'board-' : ''}${file}.png`, animations: 'disabled' });
  let deadline;
  try {
    const limit = new Promise((_, fail) => deadline = setTimeout(() => fail(new Error('it takes too long')), 150000));
    await Promise.race([run({ browser, device, shot }), limit]);
    console.log(`ok      ${name} (${((Date.now() - begun) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${name}\n${error.stack}`);
    for (const page of browser.chromium.contexts().flatMap(context => context.pages())) {
      await shot(page, `failed-${failed}`).catch(() => {});
      console.log(`        ${page.url()} ${JSON.stringify(page.faults)}`);
    }
  } finally {
    clearTimeout(deadline);
    for (const context of browser.chromium.contexts()) await context.close();
    await device.end();
  }
}
await browser.end();
if (keeps) mkdirSync('docs/images', { recursive: true });
if (keeps) for (const name of ['page', 'page-phone']) copyFileSync(`${shots}/${name}.png`, `docs/images/${name}.png`);
console.log(`${chosen.length - failed} of ${chosen.length} cases passed; screenshots are in ${shots}`);
process.exit(failed || !chosen.length ? 1 : 0);
