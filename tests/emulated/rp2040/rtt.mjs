// The firmware's log: a ring in RAM (SEGGER's RTT) that a debugger reads behind the processor's back, and so do we.

const ID = Buffer.from('SEGGER RTT\0\0\0\0\0\0');

// The control block in words: an id of four, the count of channels up and down, then the first channel up.
const BUFFER = 7;
const SIZE = 8;
const WRITE = 9;
const READ = 10;
const FLAGS = 11;
const BLOCK_IF_FULL = 2;

const RAM = 0x20000000;

export class Rtt {
  /** `address` is that of the symbol `_SEGGER_RTT`; `take` gets the bytes. RAM stays the same from reset to reset. */
  constructor(ram, address, take) {
    this.ram = ram;
    this.at = address - RAM;
    this.block = new Uint32Array(ram.buffer, ram.byteOffset + this.at, FLAGS + 1);
    this.take = take;
  }

  /** Takes what is new in the ring, if there is a ring yet. */
  poll() {
    const { block, ram, at } = this;
    const write = block[WRITE];
    const read = block[READ];
    if (write === read && block[FLAGS] === BLOCK_IF_FULL) return;
    if (ID.compare(ram, at, at + ID.length) !== 0) return;
    // From now on the firmware waits for us when the ring is full, instead of writing over what was not read.
    block[FLAGS] = BLOCK_IF_FULL;
    const size = block[SIZE];
    const start = block[BUFFER] - RAM;
    if (write === read || start < 0 || start + size > ram.length || write >= size || read >= size) return;
    if (write < read) this.take(Buffer.from(ram.subarray(start + read, start + size)));
    this.take(Buffer.from(ram.subarray(start + (write < read ? 0 : read), start + write)));
    block[READ] = write;
  }
}
