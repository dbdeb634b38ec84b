// Small parts of the chip that rp2040js leaves out: what a Cortex-M0+ says about itself, the ring oscillator, whose
// noise is the board's randomness, and what is told about resets. Sections are those of the RP2040 datasheet.

import { randomInt } from 'node:crypto';

import { BasePeripheral } from './rp2040js.mjs';

// System control block, 2.4.8
const ICPR = 0x280;
const AIRCR = 0xd0c;
const SCR = 0xd10;
const CCR = 0xd14;
const DHCSR = 0xdf0;

const RESET_REQUEST = 0x05fa0004; // with the key that guards it
const ALWAYS_ALIGNED = 0x208;

/** Completes the system control block: a reset on request, no debugger, interrupts that can be taken back. */
export function completeSystemControl(ppb, core, onReset) {
  const read = ppb.readUint32.bind(ppb);
  const write = ppb.writeUint32.bind(ppb);
  ppb.readUint32 = (offset) => {
    switch (offset) {
      case AIRCR:
      case SCR:
      case DHCSR:
        return 0;
      case CCR:
        return ALWAYS_ALIGNED;
    }
    return read(offset);
  };
  ppb.writeUint32 = (offset, value) => {
    if (offset === AIRCR) {
      if ((value & 0xffff0004) >>> 0 === RESET_REQUEST) onReset();
    } else if (offset === ICPR) {
      core.latched &= ~value;
    } else {
      write(offset, value);
    }
  };
}

// 2.17.8
const ROSC_STATUS = 0x18;
const ROSC_RANDOMBIT = 0x1c;
const ROSC_STABLE = 0x80001000; // and enabled

export class Rosc extends BasePeripheral {
  registers = new Uint32Array(16);

  readUint32(offset) {
    if (offset === ROSC_RANDOMBIT) return randomInt(2);
    if (offset === ROSC_STATUS) return ROSC_STABLE;
    return this.registers[offset >> 2] ?? 0;
  }

  writeUint32(offset, value) {
    if (offset >> 2 < this.registers.length) this.registers[offset >> 2] = value;
  }
}

// 2.10.6 and 2.12.8
const CHIP_RESET = 0x08;
const HAD_POWER_ON = 1 << 8;

/** The voltage regulator, and beside it the register that tells why the whole chip was reset: it got power. */
export class ChipReset extends BasePeripheral {
  registers = new Uint32Array(4);

  readUint32(offset) {
    return offset === CHIP_RESET ? HAD_POWER_ON : (this.registers[offset >> 2] ?? 0);
  }

  writeUint32(offset, value) {
    if (offset >> 2 < this.registers.length) this.registers[offset >> 2] = value;
  }
}
