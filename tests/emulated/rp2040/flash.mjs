// The flash chip of the board, a Winbond W25Q16JV: 2 MiB of memory, the serial commands that firmware sends to it over
// the SSI peripheral, and the peripheral that streams its contents (XIP control). Sections are those of the RP2040
// datasheet.

import { closeSync, existsSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';

import { BasePeripheral } from './rp2040js.mjs';

export const FLASH_SIZE = 2 * 1024 * 1024;
export const SECTOR = 4096;
export const PAGE = 256;

const JEDEC_ID = [0xef, 0x40, 0x15];
const UNIQUE_ID = [0xe6, 0x61, 0x4d, 0x6f, 0x74, 0x65, 0x00, 0x01];
const QUAD_ENABLED = 0x02; // in status register 2, as the factory leaves it

/** The memory cells: erasing sets bits, programming clears them. */
export class Flash {
  constructor(bytes) {
    this.bytes = bytes;
    bytes.fill(0xff);
  }

  /** From now on the contents are those of a file, and every change goes there. */
  keepIn(path) {
    if (!existsSync(path)) writeFileSync(path, this.bytes.subarray(0, FLASH_SIZE));
    const kept = readFileSync(path);
    if (kept.length !== FLASH_SIZE) throw new Error(`${path} has ${kept.length} bytes, the flash has ${FLASH_SIZE}`);
    this.bytes.set(kept);
    this.file = openSync(path, 'r+');
  }

  /** Writes an image as a flash tool does. */
  load(offset, data) {
    if (offset < 0 || offset + data.length > FLASH_SIZE) throw new Error('the image does not fit into the flash');
    this.bytes.set(data, offset);
    this.#save(offset, data.length);
  }

  erase(offset, length) {
    this.bytes.fill(0xff, offset, Math.min(offset + length, FLASH_SIZE));
    this.#save(offset, length);
  }

  program(offset, data) {
    data.subarray(0, FLASH_SIZE - offset).forEach((byte, index) => (this.bytes[offset + index] &= byte));
    this.#save(offset, data.length);
  }

  close() {
    if (this.file !== undefined) closeSync(this.file);
    this.file = undefined;
  }

  #save(offset, length) {
    if (this.file === undefined) return;
    writeSync(this.file, this.bytes, offset, Math.min(length, FLASH_SIZE - offset), offset);
  }
}

// 4.10.13: SSI registers
const CTRLR0 = 0x00;
const CTRLR1 = 0x04;
const SSIENR = 0x08;
const SR = 0x28;
const DR0_FIRST = 0x60;
const DR0_LAST = 0xec;

const TRANSMIT_FIFO_NOT_FULL = 1 << 1;
const TRANSMIT_FIFO_EMPTY = 1 << 2;
const RECEIVE_FIFO_NOT_EMPTY = 1 << 3;
const MODE_EEPROM_READ = 3; // send the command, then receive CTRLR1 + 1 bytes

/** The SSI as a way to send commands to the flash chip; reading through the memory map needs nothing of it. */
export class Ssi extends BasePeripheral {
  registers = new Uint32Array(64);
  command = [];
  received = [];

  readUint32(offset) {
    if (offset === SR) {
      const received = this.received.length > 0 ? RECEIVE_FIFO_NOT_EMPTY : 0;
      return TRANSMIT_FIFO_EMPTY | TRANSMIT_FIFO_NOT_FULL | received;
    }
    if (offset >= DR0_FIRST && offset <= DR0_LAST) return this.received.shift() ?? 0;
    return this.registers[offset >> 2] ?? 0;
  }

  writeUint32(offset, value) {
    if (offset >= DR0_FIRST && offset <= DR0_LAST) {
      this.#send(value & 0xff);
      return;
    }
    if (offset === SSIENR) {
      this.command = [];
      this.received = [];
    }
    if (offset >> 2 < this.registers.length) this.registers[offset >> 2] = value;
  }

  #send(byte) {
    if (((this.registers[CTRLR0 >> 2] >> 8) & 3) === MODE_EEPROM_READ) {
      this.command.push(byte);
      const length = (this.registers[CTRLR1 >> 2] & 0xffff) + 1;
      this.received = Array.from({ length }, (_, index) => this.#answer(this.command.length + index));
      return;
    }
    // Chip select goes up between commands, when everything that was received has been read.
    if (this.received.length === 0) this.command = [];
    this.received.push(this.#answer(this.command.length));
    this.command.push(byte);
  }

  /** What the chip says in the given byte of a command, counted from the command's own. */
  #answer(index) {
    switch (this.command[0]) {
      case 0x9f:
        return JEDEC_ID[index - 1] ?? 0;
      case 0x4b:
        return UNIQUE_ID[index - 5] ?? 0;
      case 0x35:
        return QUAD_ENABLED;
      default:
        return 0; // status register 1: not busy
    }
  }
}

// 2.6.3.5: XIP control
const STAT = 0x08;
const STREAM_ADDR = 0x14;
const STREAM_CTR = 0x18;
const STREAM_FIFO = 0x1c;

const FLUSH_READY = 1 << 0;
const FIFO_EMPTY = 1 << 1;
const DREQ_XIP_STREAM = 37;

/** XIP control: the cache, which needs no model, and the stream that reads flash for a DMA channel. */
export class XipControl extends BasePeripheral {
  registers = new Uint32Array(8);

  readUint32(offset) {
    if (offset === STAT) return FLUSH_READY | (this.registers[STREAM_CTR >> 2] ? 0 : FIFO_EMPTY);
    if (offset === STREAM_FIFO) return this.next();
    return this.registers[offset >> 2] ?? 0;
  }

  writeUint32(offset, value) {
    if (offset >> 2 < this.registers.length) this.registers[offset >> 2] = value;
    if (offset === STREAM_CTR) this.#request();
  }

  /** The next word of the stream. */
  next() {
    if (this.registers[STREAM_CTR >> 2] === 0) return 0;
    const word = this.rp2040.readUint32(this.registers[STREAM_ADDR >> 2]);
    this.registers[STREAM_ADDR >> 2] += 4;
    this.registers[STREAM_CTR >> 2] -= 1;
    this.#request();
    return word;
  }

  #request() {
    if (this.registers[STREAM_CTR >> 2] > 0) this.rp2040.dma.setDREQ(DREQ_XIP_STREAM);
    else this.rp2040.dma.clearDREQ(DREQ_XIP_STREAM);
  }
}

/** The same stream at the address where DMA reads it without holding up everybody else. */
export class XipStream extends BasePeripheral {
  constructor(rp2040, name, control) {
    super(rp2040, name);
    this.control = control;
  }

  readUint32() {
    return this.control.next();
  }
}
