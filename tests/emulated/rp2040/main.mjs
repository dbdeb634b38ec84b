// Runs the image of a W5500-EVB-Pico, unmodified, in rp2040js, on a network:
//
//     node main.mjs IMAGE.elf --port PORT [--rtt FILE] [--flash FILE] [--console SOCKET]
//
// The board's HTTP port is PORT of 127.0.0.1. What it logs (defmt over RTT, for defmt-print) goes to standard output or
// to the FILE of --rtt, everything else that is to say to standard error. --flash keeps the flash chip in a file. The
// board's serial console over USB is standard input and error, or the Unix socket of --console. Three signals are for
// tests of what firmware does in need: SIGUSR1 has the processor hang, SIGUSR2 takes its stack away, SIGHUP pulls the network
// cable or plugs it in again.

import { createWriteStream, readFileSync } from 'node:fs';
import net from 'node:net';
import { parseArgs } from 'node:util';

import { Board } from './board.mjs';
import { Elf } from './elf.mjs';
import { Network } from './network.mjs';
import { Pace } from './pace.mjs';
import { Rtt } from './rtt.mjs';

const USAGE = 'usage: node main.mjs IMAGE.elf --port PORT [--rtt FILE] [--flash FILE] [--console SOCKET]';

const say = (text) => process.stderr.write(`${text}\n`);

function options() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: Object.fromEntries(['port', 'rtt', 'flash', 'console'].map((name) => [name, { type: 'string' }])),
    });
    if (positionals.length !== 1 || !/^\d+$/.test(values.port ?? '')) throw new Error('an image and a port are needed');
    return { image: positionals[0], ...values };
  } catch (error) {
    say(`${error.message}\n${USAGE}`);
    process.exit(2);
  }
}

async function main() {
  const { image, port, rtt, flash, console } = options();
  const elf = new Elf(readFileSync(image));
  const board = new Board(elf, flash);
  const network = await Network.start(port);
  const pace = new Pace(board);

  board.onNote = (text) => say(`board: ${text}`);
  board.onUsbBoot = () => finish('the board waits for an image on USB', 0);
  network.onFrame = (frame) => pace.happen(() => board.w5500.receive(frame));
  board.w5500.onSend = (frame) => network.send(frame);
  network.onEnd = (error) => finish(`no network any more: ${error.message}`, 1);

  const address = elf.symbol('_SEGGER_RTT');
  const log = rtt ? createWriteStream(rtt) : process.stdout;
  const ring = address === undefined ? undefined : new Rtt(board.ram, address, (bytes) => log.write(bytes));
  pace.onStride = () => ring?.poll();
  connectConsole(board.console, pace, console);

  // Whoever reads the log may go before us.
  log.on('error', () => finish(undefined, 1));

  function finish(text, status) {
    if (text) say(text);
    pace.stop();
    network.close();
    board.flash.close();
    log === process.stdout ? process.exit(status) : log.end(() => process.exit(status));
  }
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => finish(undefined, 0));
  process.on('SIGUSR1', () => pace.happen(() => board.hang()));
  process.on('SIGUSR2', () => pace.happen(() => board.exhaustStack()));
  process.on('SIGHUP', () => pace.happen(() => board.w5500.togglePlug()));
  pace.happen(() => {});
}

/** Connects the board's console to whoever types: one at a time at a socket, else standard input. */
function connectConsole(port, pace, path) {
  const connect = (input, output) => {
    port.onData = (bytes) => output.write(bytes);
    pace.happen(() => port.open(true));
    input.on('data', (bytes) => pace.happen(() => port.send(bytes)));
    input.on('error', () => {});
  };
  if (!path) {
    connect(process.stdin, process.stderr);
    return;
  }
  const server = net.createServer((socket) => {
    connect(socket, socket);
    socket.on('close', () => pace.happen(() => port.open(false)));
  });
  server.maxConnections = 1;
  server.on('error', (error) => {
    say(`no console: ${error.message}`);
    process.exit(1);
  });
  server.listen(path);
  process.once('exit', () => server.close());
}

try {
  await main();
} catch (error) {
  say(error.message);
  process.exit(1);
}
