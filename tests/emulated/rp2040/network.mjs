// A network without root: QEMU's user mode network (DHCP, DNS, NAT) as a process of its own, whose other end is a cable
// to us. Frames travel over a socket, each behind its length in four bytes.

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const HTTP = 80;

// Where the system has this, the other process ends with us even if we are killed.
const LEASH = existsSync('/usr/bin/setpriv') ? ['/usr/bin/setpriv', '--pdeathsig', 'TERM'] : [];

export class Network {
  /** Called with each frame that comes for the board. */
  onFrame = () => {};

  /** Called when the network is gone before close() was called. */
  onEnd = () => {};

  /** Starts QEMU, which forwards `port` of 127.0.0.1 to the board's HTTP port, and waits for its cable. */
  static async start(port) {
    const network = new Network();
    const folder = mkdtempSync(join(tmpdir(), 'mote-network-'));
    const path = join(folder, 'cable');
    const server = net.createServer();
    await new Promise((resolve, reject) => server.once('error', reject).listen(path, resolve));
    // Another cable, as for the machines of QEMU: tests/emulate.sh.
    const other = process.env.MOTE_NETDEV?.replace('id=n0', 'id=world');
    const world = other ?? `user,id=world,hostfwd=tcp:127.0.0.1:${port}-:${HTTP}`;
    const [program, ...words] = [
      ...LEASH,
      ...['qemu-system-arm', '-M', 'none', '-nodefaults', '-display', 'none', '-monitor', 'none', '-serial', 'none'],
      ...['-netdev', world],
      ...['-netdev', `stream,id=cable,server=off,addr.type=unix,addr.path=${path}`],
      ...['-netdev', 'hubport,id=port0,hubid=0,netdev=world', '-netdev', 'hubport,id=port1,hubid=0,netdev=cable'],
    ];
    network.qemu = spawn(program, words, { stdio: ['ignore', 'ignore', 'pipe'] });
    // It warns of a hub without a machine, which is what we want: its words count only where it fails.
    let said = '';
    network.qemu.stderr.setEncoding('utf8').on('data', (text) => (said += text));
    process.once('exit', () => network.close());
    const failed = new Promise((_, reject) => {
      network.qemu.once('error', reject);
      network.qemu.once('close', (status) => reject(new Error(`qemu-system-arm ended with status ${status}\n${said}`)));
    });
    try {
      network.socket = await Promise.race([new Promise((resolve) => server.once('connection', resolve)), failed]);
    } finally {
      server.close();
      rmSync(folder, { recursive: true, force: true });
    }
    failed.catch((error) => network.closed || network.onEnd(error));
    network.#listen();
    return network;
  }

  /** Sends a frame of the board. */
  send(frame) {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(frame.length);
    this.socket.write(Buffer.concat([length, frame]));
  }

  close() {
    if (this.closed) return;
    this.closed = true;
    this.socket?.destroy();
    this.qemu.kill();
  }

  #listen() {
    let kept = Buffer.alloc(0);
    this.socket.on('error', (error) => this.closed || this.onEnd(error));
    this.socket.on('data', (data) => {
      kept = kept.length === 0 ? data : Buffer.concat([kept, data]);
      while (kept.length >= 4) {
        const end = 4 + kept.readUInt32BE(0);
        if (kept.length < end) break;
        this.onFrame(kept.subarray(4, end));
        kept = kept.subarray(end);
      }
    });
  }
}
