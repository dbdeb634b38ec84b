// The boot ROM. The real one is not ours to ship, so this is another one with the same doors (RP2040 datasheet, 2.8): the
// start from flash, the tables of functions, and the functions that firmware asks for. Behind each function are two
// instructions: a breakpoint, at which the machine calls JavaScript, and the return.

import { FLASH_SIZE, PAGE, SECTOR } from './flash.mjs';

const FUNCTION_TABLE = 0x14;
const DATA_TABLE = 0x16;
const LOOKUP = 0x18;
export const ENDLESS_LOOP = 0x20;
const TABLES = 0x100;
const CODE = 0x200;

const BREAKPOINT = 0xbe00;
const RETURN = 0x4770; // bx lr
const LOOP = 0xe7fe; // b .

const FLASH = 0x10000000;
const BOOT2 = 0x20041f00; // where the second stage runs: the last 256 bytes of RAM
const BOOT2_SIZE = 256;
const VECTORS = FLASH + BOOT2_SIZE;

// Typical times of the flash chip; the processor does nothing else meanwhile.
const SECTOR_NANOS = 45e6;
const PAGE_NANOS = 0.4e6;

export class Rom {
  /** Called when the firmware asks for the USB boot loader. */
  onUsbBoot = () => {};

  constructor(flash) {
    this.flash = flash;
    this.functions = [['', this.lookup], ...Object.entries(this.#table())];
    this.words = this.#assemble();
  }

  install(mcu) {
    mcu.bootrom.set(this.words);
  }

  /** Starts the second stage in flash, as after a reset; or, where an image has none, what stands behind it. */
  boot(mcu, core) {
    const stage = this.flash.bytes.subarray(0, BOOT2_SIZE);
    core.VTOR = 0;
    if (stage.every((byte) => byte === 0xff)) {
      core.VTOR = VECTORS;
      core.SP = mcu.readUint32(VECTORS);
      core.PC = mcu.readUint32(VECTORS + 4) & ~1;
      return;
    }
    const checksum = new DataView(stage.buffer, stage.byteOffset).getUint32(BOOT2_SIZE - 4, true);
    if (crc32(stage.subarray(0, BOOT2_SIZE - 4)) !== checksum) {
      throw new Error('wrong checksum over the first 256 bytes of flash: the chip would not start this image');
    }
    stage.forEach((byte, index) => mcu.writeUint8(BOOT2 + index, byte));
    core.SP = BOOT2;
    core.LR = 0; // tells the second stage to go on to the image instead of returning
    core.PC = BOOT2;
  }

  /** Runs the function behind a breakpoint in ROM. */
  call(number, mcu, core) {
    const [r0, r1, r2, r3] = core.registers;
    const result = this.functions[number][1].call(this, mcu, r0, r1, r2, r3);
    if (result !== undefined) core.registers[0] = result;
  }

  /** rom_table_lookup(table, code): an address, or 0. */
  lookup(mcu, table, code) {
    for (let at = table; mcu.readUint16(at) !== 0; at += 4) {
      if (mcu.readUint16(at) === code) return mcu.readUint16(at + 2);
    }
    return 0;
  }

  #table() {
    const nothing = () => {};
    return {
      P3: (_, value) => ones(value),
      R3: (_, value) => reverse(value),
      L3: (_, value) => Math.clz32(value),
      T3: (_, value) => (value === 0 ? 32 : 31 - Math.clz32(value & -value)),
      MS: set,
      S4: set,
      MC: copy,
      C4: copy,
      IF: nothing, // connect_internal_flash
      EX: nothing, // flash_exit_xip
      FC: nothing, // flash_flush_cache
      CX: nothing, // flash_enter_cmd_xip
      RE: (mcu, offset, count) => {
        if (offset % SECTOR || count % SECTOR) throw new Error(`flash_range_erase(${offset}, ${count}): not whole sectors`);
        this.flash.erase(offset % FLASH_SIZE, count);
        mcu.clock.tick((count / SECTOR) * SECTOR_NANOS);
      },
      RP: (mcu, offset, source, count) => {
        if (offset % PAGE || count % PAGE) throw new Error(`flash_range_program(${offset}, ${count}): not whole pages`);
        // The chip cannot be read while it is written.
        if (source >>> 24 === FLASH >>> 24) throw new Error('flash_range_program from flash');
        this.flash.program(offset % FLASH_SIZE, bytes(mcu, source, count));
        mcu.clock.tick((count / PAGE) * PAGE_NANOS);
      },
      UB: () => this.onUsbBoot(),
    };
  }

  #assemble() {
    const words = new Uint32Array(0x1000);
    const view = new DataView(words.buffer);
    const put = (at, ...halves) => halves.forEach((half, index) => view.setUint16(at + 2 * index, half, true));
    const thumb = (address) => address | 1;
    const entry = (number) => CODE + 4 * number;

    view.setUint32(0, BOOT2, true);
    for (const vector of [0x04, 0x08, 0x0c]) view.setUint32(vector, thumb(ENDLESS_LOOP), true);
    put(ENDLESS_LOOP, LOOP);
    put(0x10, 0x754d, 0x0301); // "Mu", 1, version 3
    put(FUNCTION_TABLE, TABLES);
    put(LOOKUP, thumb(entry(0)));
    this.functions.forEach(([code, _], number) => {
      put(entry(number), BREAKPOINT | number, RETURN);
      if (code) put(TABLES + 4 * (number - 1), letters(code), thumb(entry(number)));
    });
    // No data: a table with nothing but its end.
    put(DATA_TABLE, TABLES + 4 * (this.functions.length - 1));
    return words;
  }
}

const letters = (code) => code.charCodeAt(0) | (code.charCodeAt(1) << 8);

function set(mcu, target, value, count) {
  for (let index = 0; index < count; index++) mcu.writeUint8(target + index, value & 0xff);
  return target;
}

function copy(mcu, target, source, count) {
  for (let index = 0; index < count; index++) mcu.writeUint8(target + index, mcu.readUint8(source + index));
  return target;
}

const bytes = (mcu, source, count) => Uint8Array.from({ length: count }, (_, index) => mcu.readUint8(source + index));

function ones(value) {
  let count = 0;
  for (let rest = value; rest !== 0; rest &= rest - 1) count++;
  return count;
}

function reverse(value) {
  let result = 0;
  for (let bit = 0; bit < 32; bit++) result |= ((value >>> bit) & 1) << (31 - bit);
  return result >>> 0;
}

/** The checksum of the second stage: most significant bit first, not inverted at the end. */
function crc32(data) {
  let crc = 0xffffffff;
  for (const byte of data) {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x80000000 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  }
  return crc >>> 0;
}
