// What the processor finds at an address, and when: memory at once, a peripheral of rp2040js after the clock was told how
// far we are. Nothing there, or an address that is not aligned, is a fault.

export const RAM = 0x20000000;
export const RAM_SIZE = 264 * 1024;
export const ROM_SIZE = 16 * 1024;
const USB_RAM = 0x50100000;
const USB_RAM_SIZE = 4096;

/** Thrown by fail(), and caught where an instruction or an exception began. */
export const FAULT = { toString: () => 'a fault that was not caught' };

export class Bus {
  constructor(mcu) {
    this.mcu = mcu;
    this.clock = mcu.clock;
    this.rom16 = new Uint16Array(mcu.bootrom.buffer);
    this.flash8 = mcu.flash;
    this.flash16 = new Uint16Array(mcu.flash.buffer);
    this.flash32 = new Int32Array(mcu.flash.buffer);
    this.ram8 = mcu.sram;
    this.ram16 = new Uint16Array(mcu.sram.buffer);
    this.ram32 = new Int32Array(mcu.sram.buffer);
    this.nanos = 8; // that a cycle takes
    this.cycles = 0;
    this.spent = 0; // cycles that the clock does not know yet
    this.budget = 0; // cycles until something else has to be looked at
    this.reason = ''; // of the last fault
  }

  /** Tells the clock how far we are. */
  settle() {
    const { spent } = this;
    this.spent = 0;
    this.cycles += spent;
    this.clock.tick(spent * this.nanos);
  }

  fail(reason) {
    this.reason = reason;
    throw FAULT;
  }

  fetch(address) {
    const offset = (address - RAM) >>> 0;
    if (offset < RAM_SIZE) return this.ram16[offset >>> 1];
    if (address >>> 0 < ROM_SIZE) return this.rom16[address >>> 1];
    return this.fail(`no code at ${hex(address)}`);
  }

  load32(address) {
    const offset = (address - RAM) >>> 0;
    if (address & 3) this.fail(`a word read at ${hex(address)}, which is not aligned`);
    if (offset < RAM_SIZE) return this.ram32[offset >>> 2];
    if (address >>> 26 === 4) return this.flash32[(address & 0xffffff) >>> 2];
    this.touch(address, 'read');
    return this.mcu.readUint32(address >>> 0);
  }

  load16(address) {
    const offset = (address - RAM) >>> 0;
    if (address & 1) this.fail(`a half word read at ${hex(address)}, which is not aligned`);
    if (offset < RAM_SIZE) return this.ram16[offset >>> 1];
    if (address >>> 26 === 4) return this.flash16[(address & 0xffffff) >>> 1];
    this.touch(address, 'read');
    return this.mcu.readUint16(address >>> 0);
  }

  load8(address) {
    const offset = (address - RAM) >>> 0;
    if (offset < RAM_SIZE) return this.ram8[offset];
    if (address >>> 26 === 4) return this.flash8[address & 0xffffff];
    this.touch(address, 'read');
    return this.mcu.readUint8(address >>> 0);
  }

  store32(address, value) {
    const offset = (address - RAM) >>> 0;
    if (address & 3) this.fail(`a word write at ${hex(address)}, which is not aligned`);
    if (offset < RAM_SIZE) {
      this.ram32[offset >>> 2] = value;
    } else {
      this.touch(address, 'write');
      if (address >>> 26 !== 4) this.mcu.writeUint32(address >>> 0, value >>> 0);
    }
  }

  store16(address, value) {
    if (address & 1) this.fail(`a half word write at ${hex(address)}, which is not aligned`);
    this.touch(address, 'write');
    if (address >>> 26 !== 4) this.mcu.writeUint16(address >>> 0, value & 0xffff);
  }

  store8(address, value) {
    this.touch(address, 'write');
    if (address >>> 26 !== 4) this.mcu.writeUint8(address >>> 0, value & 0xff);
  }

  /** Before an access beside RAM: is anything there? It may look at the clock, set an alarm, or raise an interrupt. */
  touch(address, what) {
    const top = address >>> 28;
    const exists =
      top === 0xd || // SIO
      address >>> 12 === 0xe000e || // system control
      (address - USB_RAM) >>> 0 < USB_RAM_SIZE ||
      address >>> 26 === 4 || // flash
      (what === 'read' && address >>> 0 < ROM_SIZE) ||
      this.mcu.findPeripheral(address) !== undefined;
    if (!exists) this.fail(`a ${what} at ${hex(address)}, where nothing is`);
    if (top === 4) this.spent += 2; // the slow bus
    this.settle();
    this.budget = 0;
  }
}

export const hex = (value) => `0x${(value >>> 0).toString(16).padStart(value >>> 16 ? 8 : 4, '0')}`;
