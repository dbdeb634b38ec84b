// What somebody in front of the page sees and does. Each case has a browser, and a device of its own or the board that
// there is.

import assert from 'node:assert/strict';
import { AXE, Device, TOKEN, ask, answer, blameless, cable, comeIn, until, value, wire } from './world.mjs';

const state = article => article.locator('.state').textContent();
const isWide = page => page.evaluate(() => document.scrollingElement.scrollWidth > innerWidth);
const enter = async (page, device) => {
  if (device.token) await comeIn(page, device.token);
  await until('a reading', async () => /\d/.test(await value(page)));
};
const moves = async page => {
  const seen = new Set();
  await until('readings that move', async () => {
    seen.add(await page.getAttribute('#chart path:not(.area)', 'd', { timeout: 1000 }).catch(() => ''));
    return (await page.locator('.stale').count()) === 0 && seen.size > 3;
  });
};

export const cases = [];
const add = (name, run, { flags = [], board = false, own = false, picture = false } = {}) => cases.push({ name, run, flags, board, own, picture });

add('readings move, and there is a sensor to choose', async ({ browser, device, shot }) => {
  const page = await browser.open(device.url);
  await enter(page, device);
  await moves(page);
  assert.match(await page.getAttribute('#chart', 'aria-label'), /^temperature: -?\d+(\.\d+)? °C\. Last /);
  assert.equal(await page.textContent('#unit'), '°C');
  const sensors = await page.locator('#sensor option').allTextContents();
  if (device.process) {
    assert.deepEqual(sensors, ['temperature', 'humidity', 'pressure']);
    await page.selectOption('#sensor', 'pressure');
    await until('hPa', async () => (await page.textContent('#unit')) === 'hPa' && Number(await value(page)) > 900);
  } else assert.deepEqual(sensors, ['temperature']);
  assert.equal(await page.title(), await page.textContent('h1'));
  assert.equal(await page.title(), 'Mote sensor node');
  await shot(page, 'readings');
  await blameless(page);
}, { board: true });

add('an answer streams in', async ({ browser, device }) => {
  const page = await browser.open(device.url);
  await enter(page, device);
  const article = await ask(page, 'watch temperature 6 times every 400 ms');
  const lines = () => article.locator('.says p').count();
  await until('the first line of six', async () => (await lines()) > 0);
  assert.ok((await lines()) < 6);
  await until('all of it', async () => (await lines()) === 6 && (await state(article)) === 'completed');
  assert.match(await article.locator('.says p').last().textContent(), /^temperature \S+ °C$/);
  // A message is an answer, too, and `again` is understood in the same context.
  const help = await ask(page, 'what can you do');
  await until('help', async () => /I can do this/.test(await help.textContent()));
  const first = await ask(page, 'read temperature');
  await until('a reading', async () => (await state(first)) === 'completed');
  const again = await ask(page, 'again');
  await until('it again', async () => /temperature \S+ °C/.test(await again.locator('.says').textContent()));
  await blameless(page);
}, { board: true });

add('examples of the card are there to be clicked, and a file is shown', async ({ browser, device }) => {
  const page = await browser.open(device.url);
  await enter(page, device);
  const chips = await page.locator('#chips button').allTextContents();
  assert.ok(chips.includes('read temperature') && chips.every(text => !text.startsWith('{')), String(chips));
  await page.click('#chips button:text("report temperature")');
  const article = answer(page, 'report temperature');
  await until('a table', async () => /time,sensor,value,unit\r?\n.*temperature,/.test(await article.textContent()));
  assert.match(await article.textContent(), /temperature\.csv \(text\/csv\)/);
  await blameless(page);
});

add('a task that somebody else started is followed', async ({ browser, device }) => {
  const page = await browser.open(device.url);
  await enter(page, device);
  const task = await device.ask('watch temperature 400 times every 100 ms');
  const row = page.locator('#list li').filter({ hasText: 'watch temperature 400 times' });
  await until('its row', async () => (await row.locator('summary .state').textContent({ timeout: 1000 }).catch(() => '')) === 'working');
  await row.locator('summary').click();
  const lines = () => row.locator('.says p').count();
  const before = await until('what it has said', lines);
  await until('more of it', async () => (await lines()) > before);
  await device.call('CancelTask', { id: task.id });
  await until('its end', async () => (await row.locator('summary .state').textContent()) === 'canceled');
  assert.equal(await row.locator('button:visible').count(), 0);
  await blameless(page);
}, { board: true });

add('what runs is cancelled, from the answer and from the list', async ({ browser, device }) => {
  const page = await browser.open(device.url);
  await enter(page, device);
  const article = await ask(page, 'alert when temperature above 90');
  await until('work', async () => (await state(article)) === 'working');
  await article.getByRole('button', { name: 'Cancel' }).click();
  await until('the end', async () => (await state(article)) === 'canceled');
  assert.equal(await article.locator('button').count(), 0);
  await device.ask('alert when temperature above 91');
  const row = page.locator('#list li').filter({ hasText: 'above 91' });
  await row.getByRole('button', { name: 'Cancel: alert when temperature above 91' }).click();
  await until('the end', async () => (await row.locator('summary .state').textContent()) === 'canceled');
  await blameless(page);
}, { board: true });

add('a token is asked for once, a wrong one is told, the right one survives a reload', async ({ browser, device, shot }) => {
  // By a name, as people do: to a browser that is no secure place, and it has less for a page.
  const url = device.process ? device.url.replace('127.0.0.1', 'mote.test') : device.url;
  const page = await browser.open(url);
  await page.waitForSelector('#door:not([hidden])');
  assert.equal(await page.evaluate(() => isSecureContext), !device.process);
  assert.equal(await page.evaluate(() => document.activeElement.id), 'token');
  assert.equal(await page.locator('#live').isVisible(), false);
  await shot(page, 'door');
  await comeIn(page, 'not-the-token-of-anybody');
  await until('a no', async () => (await page.textContent('#why')) === 'That token is not right.');
  await comeIn(page, device.token);
  await until('a reading', async () => /\d/.test(await value(page)));
  assert.equal(await page.locator('#door').isVisible(), false);
  await page.reload();
  await until('a reading', async () => /\d/.test(await value(page)));
  assert.equal(await page.locator('#door').isVisible(), false);
  // It is not in what the page shows, and it goes when it is told to.
  assert.ok(!(await page.content()).includes(device.token));
  await page.click('#forget');
  await page.waitForSelector('#door:not([hidden])');
  await blameless(page);
}, { board: true, flags: ['--name', 'mote.test', '--token', `me:read+act+operator:${TOKEN}`] });

add('a token is remembered in the browser only where somebody says so', async ({ browser, device }) => {
  for (const isKept of [false, true]) {
    const context = await browser.context();
    const page = await browser.open(device.url, undefined, context);
    await page.waitForSelector('#door:not([hidden])');
    if (isKept) await page.check('#keep');
    await comeIn(page, TOKEN);
    await until('a reading', async () => /\d/.test(await value(page)));
    const other = await browser.open(device.url, undefined, context);
    if (isKept) await until('a reading', async () => /\d/.test(await value(other)));
    else await other.waitForSelector('#door:not([hidden])');
    await context.close();
  }
}, { flags: ['--token', `me:read:${TOKEN}`] });

add('a token that is taken away is asked for again', async ({ browser, device }) => {
  const page = await browser.open(device.url);
  await enter(page, device);
  await device.end();
  device.flags = ['--token', 'other:read:another-token-that-is-valid-now'];
  await device.again();
  await page.waitForSelector('#door:not([hidden])');
  assert.match(await page.textContent('#why'), /not right, or not any more/);
  await comeIn(page, device.token);
  await until('it is in', async () => !(await page.locator('#door').isVisible()));
  await moves(page);
  await blameless(page);
}, { flags: ['--token', `me:read:${TOKEN}`] });

add('nobody is asked for a token where the door is open', async ({ browser, device }) => {
  const page = await browser.open(device.url);
  await enter(page, device);
  await until('the device', async () => /open to everybody/.test(await page.textContent('#facts')));
  assert.equal(await page.locator('#door').isVisible(), false);
  assert.equal(await page.locator('#forget').isVisible(), false);
});

add('a device that goes away is missed, and when it is back everything goes on', async ({ browser, device, shot }) => {
  const page = await browser.open(device.url);
  await enter(page, device);
  await moves(page);
  const article = await ask(page, 'alert when temperature above 90');
  await until('work', async () => (await state(article)) === 'working');
  await device.end();
  await until('that it is away', async () => (await page.textContent('#online')) === 'away');
  await until('since when', async () => /last seen \d+ s ago/.test(await page.textContent('#vital')));
  await until('that the reading is old', async () => (await page.locator('#live.stale').count()) === 1);
  assert.match(await page.textContent('#range'), /^Last reading \d+ s ago/);
  await shot(page, 'away');
  await device.again();
  await until('that it is back', async () => (await page.textContent('#online')) === 'connected');
  await until('that it was started', async () => /The device started again \d+ s ago/.test(await page.textContent('#news')));
  await moves(page);
  // The task went with the device, and nobody pretends that it did not.
  await until('the loss', async () => /not done/.test(await article.textContent()));
  await until('an empty list', async () => (await page.locator('#list li').filter({ hasText: 'above 90' }).count()) === 0);
  const read = await ask(page, 'read temperature');
  await until('an answer', async () => (await state(read)) === 'completed');
  await blameless(page);
});

add('a stream that breaks is taken up where it was', async ({ browser, device }) => {
  const { url, pull, end } = await cable(device.url);
  const page = await browser.open(url);
  await enter(page, device);
  const resumed = [];
  page.on('request', request => request.headers()['last-event-id'] && resumed.push(request.headers()['last-event-id']));
  const article = await ask(page, 'watch temperature 30 times every 100 ms');
  const lines = () => article.locator('.says p').count();
  for (const least of [3, 12]) {
    await until(`${least} lines`, async () => (await lines()) >= least);
    pull();
  }
  await until('the end', async () => (await state(article)) === 'completed');
  assert.equal(await lines(), 30);
  assert.ok(resumed.length >= 2, String(resumed));
  await moves(page);
  await blameless(page);
  end();
});

add('an agent without a watch has no chart, until something has a value', async ({ browser, device }) => {
  const page = await browser.open(device.url);
  await page.route('**/agent-card.json', async route => {
    const card = await (await route.fetch()).json();
    return route.fulfill({ json: { ...card, name: 'something else', skills: [{ id: 'blink', name: 'Blink', examples: ['read temperature'] }] } });
  });
  await page.goto(device.url);
  await until('its name', async () => (await page.textContent('h1')) === 'something else');
  await page.click('#chips button');
  const article = answer(page, 'read temperature');
  await until('an answer', async () => (await state(article)) === 'completed');
  // A finished task is no live reading; what streams in is one.
  const watch = await ask(page, 'watch temperature 5 times every 200 ms');
  await until('an answer', async () => (await state(watch)) === 'completed');
  await until('a chart', async () => (await page.locator('#chart path:not(.area)').count()) > 0);
  assert.deepEqual(await page.locator('#sensor option').allTextContents(), ['temperature']);
  assert.deepEqual(await device.running('page-temperature'), []);
  await blameless(page);
});

add('a question is answered in its task', async ({ browser, device }) => {
  const page = await browser.open(device.url);
  await enter(page, device);
  const article = await ask(page, 'calibrate temperature');
  await until('the question', async () => (await state(article)) === 'input required');
  assert.match(await article.textContent(), /What should temperature read now\?/);
  await article.getByLabel('Reply').fill('21.5');
  await article.getByLabel('Reply').press('Enter');
  await until('the end', async () => (await state(article)) === 'completed');
  assert.match(await article.locator('.says').textContent(), /^What should.*21\.5[^]*temperature is calibrated/);
  await blameless(page);
}, { board: true });

add('a credential is asked for as one, and shown nowhere', async ({ browser, device }) => {
  const page = await browser.open(device.url);
  await enter(page, device);
  const article = await ask(page, 'set led on');
  await until('the question', async () => (await state(article)) === 'auth required');
  const field = article.getByLabel('Credential');
  assert.equal(await field.getAttribute('type'), 'password');
  await field.fill(`${TOKEN}-that-may-act`);
  await field.press('Enter');
  await until('the end', async () => (await state(article)) === 'completed');
  assert.ok(!(await page.content()).includes('that-may-act'));
  await blameless(page);
}, { flags: ['--token', `me:read:${TOKEN}`, '--token', `boss:read+act:${TOKEN}-that-may-act`] });

add('hostile text stays text', async ({ browser, device, shot }) => {
  const markup = '<img src=x onerror="window.pwned=1"></script><script>window.pwned=2</script><style>*{display:none}</style>';
  const bidi = '\u202Eevil \u2066\u2067 txt.exe\u0000';
  const hostile = `${markup}${bidi}${'A'.repeat(100000)}`;
  const page = await browser.open(device.url);
  const parts = [{ text: hostile }, { data: { value: 1e308, unit: markup, sensor: markup } }];
  const file = { raw: Buffer.from(hostile).toString('base64'), mediaType: 'text/html', filename: markup };
  const status = { state: 'TASK_STATE_INPUT_REQUIRED', message: { role: 'ROLE_AGENT', messageId: markup, parts }, timestamp: markup };
  const task = {
    id: markup,
    contextId: `page-${markup}`,
    status,
    history: [{ role: 'ROLE_USER', messageId: 'm', parts }, { role: 'ROLE_AGENT', messageId: 'n', parts }],
    artifacts: [{ artifactId: markup, name: markup, parts: [...parts, { data: [markup] }, { url: `javascript:${markup}` }, file] }],
  };
  await page.route('**/*', async route => {
    const request = route.request();
    const path = new URL(request.url()).pathname;
    const json = body => route.fulfill({ json: body });
    if (path.endsWith('agent-card.json')) {
      const card = await (await route.fetch()).json();
      return json({ ...card, name: markup, description: hostile, skills: [{ id: 'x', examples: [markup] }, ...card.skills] });
    }
    if (path === '/log') {
      const lines = [{ n: 1, atMs: 5, level: `error ${markup}`, task: markup, text: hostile }];
      return json({ next: 2, lines });
    }
    if (path === '/status') {
      const told = await (await route.fetch()).json();
      return json({ ...told, board: markup, build: hostile, reset: { reason: markup, detail: bidi }, [markup]: { used: 1, all: 2, most: 2 } });
    }
    if (request.method() !== 'POST') return route.continue();
    const { method, id } = request.postDataJSON();
    const answers = { ListTasks: { tasks: [task] }, GetTask: task, SendMessage: { message: status.message } };
    if (answers[method]) return json({ jsonrpc: '2.0', id, result: answers[method] });
    const events = [{ task }, { artifactUpdate: { taskId: task.id, contextId: markup, artifact: task.artifacts[0] } }];
    const body = events.map((result, n) => `id: ${n}\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`).join('');
    return route.fulfill({ headers: { 'Content-Type': 'text/event-stream' }, body });
  });
  await page.goto(device.url);
  await until('the list', async () => (await page.locator('#list li').count()) === 1);
  await page.evaluate(() => document.querySelector('#list li').hidden = false);
  await page.evaluate(() => document.querySelector('#list details').open = true);
  await until('what it said', async () => (await page.locator('#list .says pre').count()) > 0);
  const article = await ask(page, markup);
  await until('an answer', async () => /input required/.test(await article.textContent()));
  await until('the log', async () => (await page.locator('#log li').count()) > 0);
  assert.ok((await page.textContent('h1')).startsWith(markup.slice(0, 100)));
  assert.match(await article.textContent(), /more characters/);
  assert.equal(await page.evaluate(() => document.querySelectorAll('img, main script, main style, iframe, a').length), 0);
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.equal(await isWide(page), false);
  // An override in one text turns nothing around outside of it.
  const around = await page.evaluate(() => [...document.querySelectorAll('.t, pre, dd')].map(node => getComputedStyle(node).unicodeBidi));
  assert.ok(around.length > 5 && around.every(kind => kind === 'isolate'), String(new Set(around)));
  await shot(page, 'hostile');
  await blameless(page);
});

add('hostile text goes through the device itself, too', async ({ browser, device }) => {
  const page = await browser.open(device.url);
  await enter(page, device);
  const markup = '<img src=x onerror=window.pwned=1></script>';
  await device.ask(`alert when temperature above 90 ${markup}`);
  const row = page.locator('#list li').filter({ hasText: markup });
  await row.locator('summary').click();
  await until('what it said', async () => /Waiting until/.test(await row.locator('.says').textContent()));
  const article = await ask(page, markup);
  await until('an answer', async () => /I can do this/.test(await article.textContent()));
  assert.equal(await page.locator('img').count(), 0);
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  await blameless(page);
}, { board: true });

add('a task that tells of each second for hours does not fill the browser', async ({ browser, device }) => {
  const page = await browser.open(device.url);
  await enter(page, device);
  const status = text => ({ state: 'TASK_STATE_WORKING', message: { role: 'ROLE_AGENT', messageId: text, parts: [{ text }] } });
  const told = parts => ({ artifactUpdate: { taskId: 't', contextId: 'c', append: true, artifact: { artifactId: 'a', parts } } });
  const events = [{ task: { id: 't', contextId: 'c', status: status('the first second') } }];
  for (let n = 0; n < 3000; n++) {
    events.push({ statusUpdate: { taskId: 't', contextId: 'c', status: status(`second ${n}`) } });
    if (n % 1000 < 2 || n % 1000 > 997) events.push(told([{ text: `chunk ${n}` }]));
  }
  events.push({ statusUpdate: { taskId: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } } });
  await page.route('**/*', async route => {
    const asked = route.request().method() === 'POST' && route.request().postDataJSON();
    if (!asked || !JSON.stringify(asked).includes('a long story')) return route.continue();
    const body = events.map((result, n) => `id: ${n}\ndata: ${JSON.stringify({ jsonrpc: '2.0', id: asked.id, result })}\n\n`).join('');
    return route.fulfill({ headers: { 'Content-Type': 'text/event-stream' }, body });
  });
  const article = await ask(page, 'a long story');
  await until('the end', async () => (await state(article)) === 'completed');
  const lines = await article.locator('.says p').allTextContents();
  assert.ok(lines.includes('second 2999') && !lines.includes('second 2000'), String(lines));
  assert.ok(lines.length <= 210, `${lines.length} lines`);
  // What has gone from sight begins anew, and a chunk still goes to the one before it.
  const begun = await page.evaluate(() => [...document.querySelectorAll('#answers .says > div > div')].map(node => node.textContent));
  assert.deepEqual(begun, ['chunk 2998chunk 2999']);
  await blameless(page);
});

add('a narrow screen has no sideways scroll', async ({ browser, device, shot }) => {
  const page = await browser.open(device.url, { viewport: { width: 320, height: 568 }, hasTouch: true, isMobile: true });
  if (device.token) await page.waitForSelector('#door:not([hidden])');
  assert.equal(await isWide(page), false);
  await enter(page, device);
  const article = await ask(page, `watch temperature 3 times every 200 ms ${'w'.repeat(200)}`);
  await until('an answer', async () => (await state(article)) === 'completed');
  await page.locator('#list summary').first().click();
  await until('the device', async () => (await page.locator('meter').count()) > 2);
  assert.equal(await isWide(page), false);
  await shot(page, 'phone');
  await blameless(page);
}, { board: true });

add('it is dark where that is wanted, and there are words that can be read', async ({ browser, device, shot }) => {
  const colors = {};
  for (const colorScheme of ['light', 'dark']) {
    const page = await browser.open(device.url, { colorScheme });
    await enter(page, device);
    await moves(page);
    await shot(page, colorScheme);
    colors[colorScheme] = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await blameless(page);
  }
  const brightness = color => color.match(/\d+/g).slice(0, 3).reduce((sum, n) => sum + Number(n), 0);
  assert.ok(brightness(colors.dark) < 100 && brightness(colors.light) > 600, JSON.stringify(colors));
});

add('the keyboard is enough to ask and to cancel', async ({ browser, device }) => {
  const page = await browser.open(device.url);
  await enter(page, device);
  const press = async (key, wanted) => {
    for (let n = 0; n < 60; n++) {
      await page.keyboard.press(key);
      const has = await page.evaluate(() => {
        const { activeElement: node } = document;
        const outline = getComputedStyle(node);
        return { name: node.id || node.ariaLabel || node.textContent, isSeen: node.matches(':focus-visible') && outline.outlineStyle !== 'none' };
      });
      assert.ok(has.isSeen || has.name.startsWith('Mote') || n > 50, `no visible focus on ${has.name}`);
      if (wanted.test(has.name)) return;
    }
    throw new Error(`the keyboard does not get to ${wanted}`);
  };
  await press('Tab', /^ask$/);
  await page.keyboard.type('alert when temperature above 90');
  await page.keyboard.press('Enter');
  const article = answer(page, 'above 90');
  await until('work', async () => (await state(article)) === 'working');
  await press('Tab', /^Cancel$/);
  await page.keyboard.press('Enter');
  await until('the end', async () => (await state(article)) === 'canceled');
  // Details open with the keyboard, too.
  await press('Tab', /^canceled/);
  await page.keyboard.press('Enter');
  await until('what it said', async () => (await page.locator('#list details[open]').count()) === 1);
  await blameless(page);
});

add('two pages share one watch, and the second knows what was before', async ({ browser, device }) => {
  const first = await browser.open(device.url);
  await enter(first, device);
  await until('some readings', async () => (await first.getAttribute('#chart path:not(.area)', 'd')).split('L').length > 4);
  const second = await browser.open(device.url);
  await enter(second, device);
  await until('those readings', async () => (await second.getAttribute('#chart path:not(.area)', 'd')).split('L').length > 4);
  assert.equal((await device.running('page-temperature')).length, 1);
  await moves(first);
  await moves(second);
  assert.equal((await device.running('page-temperature')).length, 1);
  // When it ends, one of them starts the next.
  const [{ id }] = await device.running('page-temperature');
  await device.call('CancelTask', { id });
  await until('the next one', async () => {
    const running = await device.running('page-temperature');
    return running.length === 1 && running[0].id !== id;
  });
  await moves(first);
  await moves(second);
  await blameless(first);
  await blameless(second);
}, { board: true });

add('what is full says so, and is asked again', async ({ browser, device, shot }) => {
  const busy = [];
  await until('no more room', async () => {
    try {
      busy.push(await device.ask('calibrate temperature', false));
    } catch (error) {
      return /[Bb]usy/.test(error.message);
    }
  });
  const page = await browser.open(device.url);
  await until('how full it is', async () => (await page.getByRole('meter', { name: new RegExp(`^Tasks: ${busy.length} of 16`) }).count()) === 1);
  await until('that there is no room for a watch', async () => /[Bb]usy/.test(await page.textContent('#range')));
  const article = await ask(page, 'read temperature');
  await until('that it is full', async () => /[Bb]usy.*trying again/.test(await article.textContent()));
  await shot(page, 'full');
  for (const { id } of busy.slice(0, 3)) await device.call('CancelTask', { id });
  await until('an answer', async () => (await state(article)) === 'completed');
  await until('a reading', async () => /\d/.test(await value(page)));
  await blameless(page);
}, { flags: ['--preset', 'pico'] });

add('a chart makes room for a question where places are few', async ({ browser, device }) => {
  // Two of the three places that a caller has are taken, and the chart has the third.
  const streams = [await device.hold('alert when temperature above 90'), await device.hold('alert when temperature above 91')];
  const page = await browser.open(device.url);
  await enter(page, device);
  const article = await ask(page, 'read temperature');
  await until('that it is full', async () => /too many answers.*trying again/.test(await article.textContent()));
  await until('an answer', async () => (await state(article)) === 'completed');
  await until('the chart again', async () => (await page.locator('.stale').count()) === 0);
  for (const stream of streams) stream.destroy();
  await blameless(page);
}, { flags: ['--preset', 'pico', '--token', `me:read:${TOKEN}`] });

add('the log comes in, the newest line last', async ({ browser, device }) => {
  const page = await browser.open(device.url);
  await enter(page, device);
  const lines = () => page.locator('#log li').count();
  const before = await until('lines', lines);
  const read = await ask(page, 'read temperature');
  await until('an answer', async () => (await state(read)) === 'completed');
  await until('more lines', async () => (await lines()) > before);
  assert.match(await page.locator('#log li').last().textContent(), /^\d+\.\d s(trace|debug|info|warn|error)/);
  await blameless(page);
}, { board: true });

add('lines that are about others are not said to be lost', async ({ browser, device }) => {
  const page = await browser.open(device.url);
  await enter(page, device);
  const gap = page.locator('#log li', { hasText: 'lines are lost, or about others' });
  await until('the line of the chart', async () => /submitted/.test(await page.textContent('#log')));
  assert.equal(await gap.count(), 0);
  // The page looks again when all of it has happened.
  let look;
  const held = new Promise(done => look = done);
  await page.route('**/log?*', async route => {
    await held;
    await route.continue();
  });
  const other = new Device(device.url, `${TOKEN}-of-another`);
  for (let n = 0; n < 2; n++) await other.ask('read temperature');
  const read = await ask(page, 'read humidity');
  await until('an answer', async () => (await state(read)) === 'completed');
  look();
  await until('how many are not there', async () => /^\d+ lines/.test(await gap.first().textContent()));
  await blameless(page);
}, { flags: ['--token', `me:read:${TOKEN}`, '--token', `other:read:${TOKEN}-of-another`] });

add('the page is small, and comes in one piece', async ({ device }) => {
  const bytes = await wire(device.url);
  assert.ok(bytes.length <= 12 * 1024, `${bytes.length} bytes`);
  const head = bytes.subarray(0, bytes.indexOf('\r\n\r\n')).toString();
  assert.match(head, /Content-Encoding: gzip/);
  assert.equal(bytes.length, head.length + 4 + Number(/Content-Length: (\d+)/.exec(head)[1]));
}, { board: true });

add('a skill of one\'s own is asked, counts down, is cancelled and asked again', async ({ browser, device, shot }) => {
  const page = await browser.open(device.url);
  if (device.token) await comeIn(page, device.token);
  const example = page.locator('#chips button').first();
  const words = await example.textContent();
  const verb = words.split(' ')[0];
  assert.match(words, /^\w+ for 5 seconds$/);
  await example.click();
  const article = answer(page, words);
  await until('work', async () => (await state(article)) === 'working' && /On, for [54] s more\./.test(await article.textContent()));
  await until('a countdown', async () => /On, for 3 s more\./.test(await article.textContent()));
  await article.getByRole('button', { name: 'Cancel' }).click();
  await until('the end', async () => (await state(article)) === 'canceled');
  // It is off: otherwise it would be on already.
  const again = await ask(page, `${verb} for 1 second`);
  await until('an answer', async () => (await state(again)) === 'completed');
  assert.match(await again.locator('.says').textContent(), /was on for 1 s\.$/);
  const help = await ask(page, 'hello');
  await until('help', async () => (await help.textContent()).includes(`${verb}: ${words}`));
  const refused = await ask(page, `${verb} for 600 seconds`);
  await until('a no', async () => /must be a whole number from 1 to 60/.test(await refused.textContent()));
  // There is nothing to measure, and no chart that waits for it.
  assert.equal(await page.locator('#live').isVisible(), false);
  await shot(page, 'own');
  await blameless(page);
}, { own: true });

add('there is nothing that an accessibility checker objects to', async ({ browser, device }) => {
  for (const colorScheme of ['light', 'dark']) {
    // The checker is a script from elsewhere, which the page would not let in.
    const page = await browser.open(device.url, { colorScheme, bypassCSP: true });
    await page.waitForSelector('#door:not([hidden])');
    await page.addScriptTag({ path: AXE });
    const check = async () => {
      const { violations } = await page.evaluate(() => window.axe.run());
      assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map(node => node.html).join(' ')}`), []);
    };
    await check();
    await enter(page, device);
    const article = await ask(page, 'calibrate temperature');
    await until('the question', async () => (await state(article)) === 'input required');
    await until('the list', async () => (await page.locator('#list li:visible').count()) > 0);
    await page.locator('#list summary').first().click();
    await until('what it said', async () => (await page.locator('#list .says > *').count()) > 0);
    await check();
  }
}, { flags: ['--token', `me:read+act:${TOKEN}`] });

add('a picture of it for the README', async ({ browser, device, shot }) => {
  for (const [name, options] of [['page', {}], ['page-dark', { colorScheme: 'dark' }], ['page-phone', { viewport: { width: 360, height: 720 }, colorScheme: 'dark' }]]) {
    const page = await browser.open(device.url, { viewport: { width: 1200, height: 900 }, ...options });
    await enter(page, device);
    for (const words of ['read humidity', 'watch temperature 4 times every 200 ms']) {
      const article = await ask(page, words);
      await until('an answer', async () => (await state(article)) === 'completed');
    }
    await device.ask('alert when temperature above 30');
    await page.locator('#list summary').filter({ hasText: 'watch' }).first().click();
    await until('a long line', async () => (await page.getAttribute('#chart path:not(.area)', 'd')).split('L').length > 20, 60000);
    await page.evaluate(() => document.activeElement.blur());
    await page.evaluate(() => scrollTo(0, 0));
    await shot(page, name);
    await page.close();
  }
}, { flags: ['--preset', 'pico', '--seed', '3'], picture: true });
