// The firmware's log: a ring in RAM (SEGGER's RTT) that a debugger reads behind the processor's back, and so do we.

const ID = Buffer.from('SEGGER RTT\0\0\0\0\0\0');

// The control block: id, count of up and down channels, then the first up channel.
const BUFFER = 0x1c;
const SIZE = 0x20;
const WRITE = 0x24;
const READ = 0x28;
const FLAGS = 0x2c;
const BLOCK_IF_FULL = 2;

const RAM = 0x20000000;

export class Rtt {
  /** `address` is that of the symbol `_SEGGER_RTT`; `take` gets the bytes. */
  constructor(address, take) {
    this.at = address - RAM;
    this.take = take;
  }

  /** Takes what is new in the ring, if there is a ring yet. */
  poll(ram) {
    const view = new DataView(ram.buffer, ram.byteOffset + this.at);
    const write = view.getUint32(WRITE, true);
    const read = view.getUint32(READ, true);
    if (write === read && view.getUint32(FLAGS, true) === BLOCK_IF_FULL) return;
    if (ID.compare(ram, this.at, this.at + ID.length) !== 0) return;
    // From now on the firmware waits for us when the ring is full, instead of writing over what was not read.
    view.setUint32(FLAGS, BLOCK_IF_FULL, true);
    const size = view.getUint32(SIZE, true);
    const start = view.getUint32(BUFFER, true) - RAM;
    if (start < 0 || start + size > ram.length || write >= size || read >= size) return;
    if (write < read) this.take(Buffer.from(ram.subarray(start + read, start + size)));
    this.take(Buffer.from(ram.subarray(start + (write < read ? 0 : read), start + write)));
    view.setUint32(READ, write, true);
  }
}
