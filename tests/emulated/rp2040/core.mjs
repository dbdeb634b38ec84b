// The processor, a Cortex-M0+. rp2040js brings one, which decodes with a chain of comparisons, lets unaligned and stray
// accesses pass, and forgets SEV; this one takes its place, is several times faster and faults where the real one does.
// Sections are those of the ARMv6-M Architecture Reference Manual.

import { FAULT, hex, RAM, RAM_SIZE, ROM_SIZE } from './bus.mjs';
import { Exceptions } from './exceptions.mjs';

export class Core extends Exceptions {
  /** Called at a breakpoint in ROM with its number. */
  onRomCall = () => {};

  stopped = false;

  /** Nothing to do until an alarm of the clock or something from outside. */
  get isAsleep() {
    return this.lockedUp || (this.sleep !== '' && !this.interruptsUpdated);
  }

  set SP(value) {
    this.registers[13] = value & ~3;
  }

  set LR(value) {
    this.registers[14] = value;
  }

  get PC() {
    return this.registers[15];
  }

  set PC(value) {
    this.registers[15] = value;
  }

  /** Runs until the clock shows `until`, or until stopped. A sleeping processor only lets the clock run. */
  run(until) {
    const { clock } = this;
    while (clock.nanosCounter < until && !this.stopped) {
      if (this.interruptsUpdated && !this.lockedUp) this.takeInterrupt();
      const alarm = clock.nextAlarm === null ? until : Math.min(clock.nextAlarm.nanos, until);
      if (this.sleep !== '' || this.lockedUp) {
        clock.tick(alarm - clock.nanosCounter);
        continue;
      }
      this.nanos = 1e9 / this.mcu.clkSys;
      this.spent = 0;
      this.budget = Math.max(1, Math.ceil((alarm - clock.nanosCounter) / this.nanos));
      this.execute();
      this.settle();
    }
  }

  /** Ends run() after the current instruction. */
  stop() {
    this.stopped = true;
    this.budget = 0;
  }

  execute() {
    const { r, flash16, flash32, flash8, ram8, ram16, ram32 } = this;
    let pc = r[15] & ~1;
    let at = pc;
    let result = this.result;
    let carry = this.carry;
    let overflow = this.overflow;
    let spent = 0;
    let leave = 0;

    try {
      do {
        at = pc;
        const code = pc >>> 24 === 0x10 ? flash16[(pc & 0xffffff) >>> 1] : this.fetch(pc);
        pc = (pc + 2) | 0;
        spent += 1;

        switch (code >>> 11) {
          case 0b00000: {
            // LSLS, MOVS
            const shift = (code >> 6) & 31;
            const value = r[(code >> 3) & 7];
            if (shift !== 0) carry = (value >>> (32 - shift)) & 1;
            r[code & 7] = result = value << shift;
            break;
          }
          case 0b00001: {
            // LSRS
            const shift = (code >> 6) & 31;
            const value = r[(code >> 3) & 7];
            carry = (value >>> ((shift + 31) & 31)) & 1;
            r[code & 7] = result = shift === 0 ? 0 : (value >>> shift) | 0;
            break;
          }
          case 0b00010: {
            // ASRS
            const shift = (code >> 6) & 31;
            const value = r[(code >> 3) & 7];
            carry = (value >>> ((shift + 31) & 31)) & 1;
            r[code & 7] = result = shift === 0 ? value >> 31 : value >> shift;
            break;
          }
          case 0b00011: {
            // ADDS, SUBS of a register or three bits
            const a = r[(code >> 3) & 7];
            const b = code & 0x400 ? (code >> 6) & 7 : r[(code >> 6) & 7];
            if (code & 0x200) {
              result = (a - b) | 0;
              carry = a >>> 0 >= b >>> 0 ? 1 : 0;
              overflow = ((a ^ b) & (a ^ result)) >>> 31;
            } else {
              result = (a + b) | 0;
              carry = result >>> 0 < a >>> 0 ? 1 : 0;
              overflow = ((a ^ result) & (b ^ result)) >>> 31;
            }
            r[code & 7] = result;
            break;
          }
          case 0b00100: // MOVS
            r[(code >> 8) & 7] = result = code & 0xff;
            break;
          case 0b00101:
          case 0b00111: {
            // CMP, SUBS of eight bits
            const a = r[(code >> 8) & 7];
            const b = code & 0xff;
            result = (a - b) | 0;
            carry = a >>> 0 >= b ? 1 : 0;
            overflow = ((a ^ b) & (a ^ result)) >>> 31;
            if (code & 0x1000) r[(code >> 8) & 7] = result;
            break;
          }
          case 0b00110: {
            // ADDS of eight bits
            const a = r[(code >> 8) & 7];
            const b = code & 0xff;
            result = (a + b) | 0;
            carry = result >>> 0 < a >>> 0 ? 1 : 0;
            overflow = ((a ^ result) & (b ^ result)) >>> 31;
            r[(code >> 8) & 7] = result;
            break;
          }

          case 0b01000: {
            if (code & 0x400) {
              // A5.2.3: ADD, CMP, MOV, BX, BLX of all registers
              const m = (code >> 3) & 15;
              const d = ((code >> 4) & 8) | (code & 7);
              const value = m === 15 ? pc + 2 : r[m];
              switch ((code >> 8) & 3) {
                case 0: {
                  const sum = ((d === 15 ? pc + 2 : r[d]) + value) | 0;
                  if (d === 15) {
                    pc = sum & ~1;
                    spent += 1;
                  } else {
                    r[d] = d === 13 ? sum & ~3 : sum;
                  }
                  break;
                }
                case 1: {
                  const a = d === 15 ? pc + 2 : r[d];
                  result = (a - value) | 0;
                  carry = a >>> 0 >= value >>> 0 ? 1 : 0;
                  overflow = ((a ^ value) & (a ^ result)) >>> 31;
                  break;
                }
                case 2:
                  if (d === 15) {
                    pc = value & ~1;
                    spent += 1;
                  } else {
                    r[d] = d === 13 ? value & ~3 : value;
                  }
                  break;
                case 3:
                  spent += 1;
                  if (code & 0x80) {
                    r[14] = pc | 1;
                  } else if (value >>> 28 === 0xf && this.IPSR !== 0) {
                    leave = value;
                    this.budget = 0;
                    break;
                  }
                  // Only Thumb code runs here.
                  if (!(value & 1)) this.fail('a jump to Arm code');
                  pc = value & ~1;
                  break;
              }
              break;
            }
            // A5.2.2: data processing
            const d = code & 7;
            const a = r[d];
            const b = r[(code >> 3) & 7];
            switch ((code >> 6) & 15) {
              case 0: // ANDS
                r[d] = result = a & b;
                break;
              case 1: // EORS
                r[d] = result = a ^ b;
                break;
              case 2: {
                // LSLS
                const shift = b & 0xff;
                if (shift !== 0) carry = shift > 32 ? 0 : (a >>> (32 - shift)) & 1;
                r[d] = result = shift > 31 ? 0 : a << shift;
                break;
              }
              case 3: {
                // LSRS
                const shift = b & 0xff;
                if (shift !== 0) carry = shift > 32 ? 0 : (a >>> (shift - 1)) & 1;
                r[d] = result = shift > 31 ? 0 : (a >>> shift) | 0;
                break;
              }
              case 4: {
                // ASRS
                const shift = b & 0xff;
                if (shift !== 0) carry = shift > 31 ? a >>> 31 : (a >>> (shift - 1)) & 1;
                r[d] = result = a >> Math.min(shift, 31);
                break;
              }
              case 5: {
                // ADCS
                const sum = (a >>> 0) + (b >>> 0) + carry;
                result = sum | 0;
                carry = sum > 0xffffffff ? 1 : 0;
                overflow = ((a ^ result) & (b ^ result)) >>> 31;
                r[d] = result;
                break;
              }
              case 6: {
                // SBCS
                const difference = (a >>> 0) - (b >>> 0) - (1 - carry);
                result = difference | 0;
                carry = difference >= 0 ? 1 : 0;
                overflow = ((a ^ b) & (a ^ result)) >>> 31;
                r[d] = result;
                break;
              }
              case 7: {
                // RORS
                const shift = b & 0xff;
                result = shift & 31 ? (a >>> (shift & 31)) | (a << (32 - (shift & 31))) : a;
                if (shift !== 0) carry = result >>> 31;
                r[d] = result;
                break;
              }
              case 8: // TST
                result = a & b;
                break;
              case 9: // RSBS
                result = -b | 0;
                carry = b === 0 ? 1 : 0;
                overflow = (b & result) >>> 31;
                r[d] = result;
                break;
              case 10: // CMP
                result = (a - b) | 0;
                carry = a >>> 0 >= b >>> 0 ? 1 : 0;
                overflow = ((a ^ b) & (a ^ result)) >>> 31;
                break;
              case 11: // CMN
                result = (a + b) | 0;
                carry = result >>> 0 < a >>> 0 ? 1 : 0;
                overflow = ((a ^ result) & (b ^ result)) >>> 31;
                break;
              case 12: // ORRS
                r[d] = result = a | b;
                break;
              case 13: // MULS
                r[d] = result = Math.imul(a, b);
                break;
              case 14: // BICS
                r[d] = result = a & ~b;
                break;
              case 15: // MVNS
                r[d] = result = ~b;
                break;
            }
            break;
          }

          case 0b01001: {
            // LDR of a literal
            const address = ((pc + 2) & ~3) + ((code & 0xff) << 2);
            spent += 1;
            if (address >>> 24 === 0x10) {
              r[(code >> 8) & 7] = flash32[(address & 0xffffff) >>> 2];
            } else {
              this.spent = spent;
              r[(code >> 8) & 7] = this.load32(address);
              spent = this.spent;
            }
            break;
          }
          case 0b01010:
          case 0b01011: {
            // A5.2.4: loads and stores at the sum of two registers
            const address = (r[(code >> 3) & 7] + r[(code >> 6) & 7]) | 0;
            const offset = (address - RAM) >>> 0;
            const t = code & 7;
            spent += 1;
            switch ((code >> 9) & 7) {
              case 0: // STR
                if (offset < RAM_SIZE && !(address & 3)) {
                  ram32[offset >>> 2] = r[t];
                } else {
                  this.spent = spent;
                  this.store32(address, r[t]);
                  spent = this.spent;
                }
                break;
              case 1: // STRH
                if (offset < RAM_SIZE && !(address & 1)) {
                  ram16[offset >>> 1] = r[t];
                } else {
                  this.spent = spent;
                  this.store16(address, r[t]);
                  spent = this.spent;
                }
                break;
              case 2: // STRB
                if (offset < RAM_SIZE) {
                  ram8[offset] = r[t];
                } else {
                  this.spent = spent;
                  this.store8(address, r[t]);
                  spent = this.spent;
                }
                break;
              case 4: // LDR
                if (offset < RAM_SIZE && !(address & 3)) {
                  r[t] = ram32[offset >>> 2];
                } else {
                  this.spent = spent;
                  r[t] = this.load32(address);
                  spent = this.spent;
                }
                break;
              case 5: // LDRH
                if (offset < RAM_SIZE && !(address & 1)) {
                  r[t] = ram16[offset >>> 1];
                } else {
                  this.spent = spent;
                  r[t] = this.load16(address);
                  spent = this.spent;
                }
                break;
              case 3: // LDRSB
              case 6: {
                // LDRB
                let value = 0;
                if (offset < RAM_SIZE) {
                  value = ram8[offset];
                } else if (address >>> 24 === 0x10) {
                  value = flash8[address & 0xffffff];
                } else {
                  this.spent = spent;
                  value = this.load8(address);
                  spent = this.spent;
                }
                r[t] = code & 0x800 ? value : (value << 24) >> 24;
                break;
              }
              case 7: // LDRSH
                this.spent = spent;
                r[t] = (this.load16(address) << 16) >> 16;
                spent = this.spent;
                break;
            }
            break;
          }
          case 0b01100: {
            // STR
            const address = (r[(code >> 3) & 7] + ((code >> 4) & 0x7c)) | 0;
            const offset = (address - RAM) >>> 0;
            spent += 1;
            if (offset < RAM_SIZE && !(address & 3)) {
              ram32[offset >>> 2] = r[code & 7];
            } else {
              this.spent = spent;
              this.store32(address, r[code & 7]);
              spent = this.spent;
            }
            break;
          }
          case 0b01101: {
            // LDR
            const address = (r[(code >> 3) & 7] + ((code >> 4) & 0x7c)) | 0;
            const offset = (address - RAM) >>> 0;
            spent += 1;
            if (offset < RAM_SIZE && !(address & 3)) {
              r[code & 7] = ram32[offset >>> 2];
            } else if (address >>> 24 === 0x10 && !(address & 3)) {
              r[code & 7] = flash32[(address & 0xffffff) >>> 2];
            } else {
              this.spent = spent;
              r[code & 7] = this.load32(address);
              spent = this.spent;
            }
            break;
          }
          case 0b01110: {
            // STRB
            const address = (r[(code >> 3) & 7] + ((code >> 6) & 31)) | 0;
            const offset = (address - RAM) >>> 0;
            spent += 1;
            if (offset < RAM_SIZE) {
              ram8[offset] = r[code & 7];
            } else {
              this.spent = spent;
              this.store8(address, r[code & 7]);
              spent = this.spent;
            }
            break;
          }
          case 0b01111: {
            // LDRB
            const address = (r[(code >> 3) & 7] + ((code >> 6) & 31)) | 0;
            const offset = (address - RAM) >>> 0;
            spent += 1;
            if (offset < RAM_SIZE) {
              r[code & 7] = ram8[offset];
            } else if (address >>> 24 === 0x10) {
              r[code & 7] = flash8[address & 0xffffff];
            } else {
              this.spent = spent;
              r[code & 7] = this.load8(address);
              spent = this.spent;
            }
            break;
          }
          case 0b10000: {
            // STRH
            const address = (r[(code >> 3) & 7] + ((code >> 5) & 0x3e)) | 0;
            const offset = (address - RAM) >>> 0;
            spent += 1;
            if (offset < RAM_SIZE && !(address & 1)) {
              ram16[offset >>> 1] = r[code & 7];
            } else {
              this.spent = spent;
              this.store16(address, r[code & 7]);
              spent = this.spent;
            }
            break;
          }
          case 0b10001: {
            // LDRH
            const address = (r[(code >> 3) & 7] + ((code >> 5) & 0x3e)) | 0;
            const offset = (address - RAM) >>> 0;
            spent += 1;
            if (offset < RAM_SIZE && !(address & 1)) {
              r[code & 7] = ram16[offset >>> 1];
            } else {
              this.spent = spent;
              r[code & 7] = this.load16(address);
              spent = this.spent;
            }
            break;
          }
          case 0b10010: {
            // STR on the stack
            const address = (r[13] + ((code & 0xff) << 2)) | 0;
            const offset = (address - RAM) >>> 0;
            spent += 1;
            if (offset < RAM_SIZE) {
              ram32[offset >>> 2] = r[(code >> 8) & 7];
            } else {
              this.spent = spent;
              this.store32(address, r[(code >> 8) & 7]);
              spent = this.spent;
            }
            break;
          }
          case 0b10011: {
            // LDR from the stack
            const address = (r[13] + ((code & 0xff) << 2)) | 0;
            const offset = (address - RAM) >>> 0;
            spent += 1;
            if (offset < RAM_SIZE) {
              r[(code >> 8) & 7] = ram32[offset >>> 2];
            } else {
              this.spent = spent;
              r[(code >> 8) & 7] = this.load32(address);
              spent = this.spent;
            }
            break;
          }
          case 0b10100: // ADR
            r[(code >> 8) & 7] = ((pc + 2) & ~3) + ((code & 0xff) << 2);
            break;
          case 0b10101: // ADD of the stack pointer
            r[(code >> 8) & 7] = r[13] + ((code & 0xff) << 2);
            break;

          case 0b10110:
          case 0b10111:
            // A5.2.5: miscellaneous
            switch ((code >> 8) & 15) {
              case 0b0000: // ADD, SUB of the stack pointer
                r[13] += code & 0x80 ? -((code & 0x7f) << 2) : (code & 0x7f) << 2;
                break;
              case 0b0010: {
                const value = r[(code >> 3) & 7];
                switch ((code >> 6) & 3) {
                  case 0:
                    r[code & 7] = (value << 16) >> 16; // SXTH
                    break;
                  case 1:
                    r[code & 7] = (value << 24) >> 24; // SXTB
                    break;
                  case 2:
                    r[code & 7] = value & 0xffff; // UXTH
                    break;
                  case 3:
                    r[code & 7] = value & 0xff; // UXTB
                    break;
                }
                break;
              }
              case 0b0100:
              case 0b0101: {
                // PUSH
                const list = (code & 0xff) | ((code & 0x100) << 6);
                let address = r[13] - (count(list) << 2);
                r[13] = address;
                this.spent = spent;
                for (let n = 0; n < 15; n++) {
                  if (!(list & (1 << n))) continue;
                  const offset = (address - RAM) >>> 0;
                  if (offset < RAM_SIZE) ram32[offset >>> 2] = r[n];
                  else this.store32(address, r[n]);
                  address += 4;
                  this.spent += 1;
                }
                spent = this.spent;
                break;
              }
              case 0b0110: // CPS
                this.masked = (code & 0x10) !== 0;
                if (!this.masked) {
                  this.interruptsUpdated = true;
                  this.budget = 0;
                }
                break;
              case 0b1010: {
                const value = r[(code >> 3) & 7];
                const swapped = ((value >>> 8) & 0x00ff00ff) | ((value << 8) & 0xff00ff00);
                switch ((code >> 6) & 3) {
                  case 0:
                    r[code & 7] = (swapped >>> 16) | (swapped << 16); // REV
                    break;
                  case 1:
                    r[code & 7] = swapped; // REV16
                    break;
                  case 3:
                    r[code & 7] = (swapped << 16) >> 16; // REVSH
                    break;
                  default:
                    this.fail(`no instruction ${hex(code)}`);
                }
                break;
              }
              case 0b1100:
              case 0b1101: {
                // POP
                let address = r[13];
                this.spent = spent;
                for (let n = 0; n < 8; n++) {
                  if (!(code & (1 << n))) continue;
                  r[n] = this.load32(address);
                  address += 4;
                  this.spent += 1;
                }
                if (code & 0x100) {
                  const value = this.load32(address);
                  this.spent += 3;
                  address += 4;
                  r[13] = address;
                  if (value >>> 28 === 0xf && this.IPSR !== 0) {
                    leave = value;
                    this.budget = 0;
                  } else {
                    if (!(value & 1)) this.fail('a return to Arm code');
                    pc = value & ~1;
                  }
                } else {
                  r[13] = address;
                }
                spent = this.spent;
                break;
              }
              case 0b1110: // BKPT
                if (at >>> 0 >= ROM_SIZE) this.fail('a breakpoint without a debugger');
                this.spent = spent;
                this.settle();
                this.onRomCall(code & 0xff);
                this.budget = 0;
                spent = 0;
                break;
              case 0b1111:
                switch ((code >> 4) & 15) {
                  case 2: // WFE
                    spent += 1;
                    if (this.event) this.event = false;
                    else this.sleep = 'event';
                    this.budget = 0;
                    break;
                  case 3: // WFI
                    spent += 1;
                    this.sleep = 'interrupt';
                    this.interruptsUpdated = true;
                    this.budget = 0;
                    break;
                  case 4: // SEV
                    this.event = true;
                    break;
                }
                break;
              default:
                this.fail(`no instruction ${hex(code)}`);
            }
            break;

          case 0b11000: {
            // STM
            const n = (code >> 8) & 7;
            let address = r[n];
            this.spent = spent;
            for (let t = 0; t < 8; t++) {
              if (!(code & (1 << t))) continue;
              const offset = (address - RAM) >>> 0;
              if (offset < RAM_SIZE && !(address & 3)) ram32[offset >>> 2] = r[t];
              else this.store32(address, r[t]);
              address += 4;
              this.spent += 1;
            }
            r[n] = address;
            spent = this.spent;
            break;
          }
          case 0b11001: {
            // LDM
            const n = (code >> 8) & 7;
            let address = r[n];
            this.spent = spent;
            for (let t = 0; t < 8; t++) {
              if (!(code & (1 << t))) continue;
              r[t] = this.load32(address);
              address += 4;
              this.spent += 1;
            }
            if (!(code & (1 << n))) r[n] = address;
            spent = this.spent;
            break;
          }

          case 0b11010:
          case 0b11011: {
            // B on a condition, SVC
            let taken = false;
            switch ((code >> 8) & 15) {
              case 0:
                taken = result === 0;
                break;
              case 1:
                taken = result !== 0;
                break;
              case 2:
                taken = carry !== 0;
                break;
              case 3:
                taken = carry === 0;
                break;
              case 4:
                taken = result < 0;
                break;
              case 5:
                taken = result >= 0;
                break;
              case 6:
                taken = overflow !== 0;
                break;
              case 7:
                taken = overflow === 0;
                break;
              case 8:
                taken = carry !== 0 && result !== 0;
                break;
              case 9:
                taken = carry === 0 || result === 0;
                break;
              case 10:
                taken = result >>> 31 === overflow;
                break;
              case 11:
                taken = result >>> 31 !== overflow;
                break;
              case 12:
                taken = result !== 0 && result >>> 31 === overflow;
                break;
              case 13:
                taken = result === 0 || result >>> 31 !== overflow;
                break;
              case 14:
                this.fail('an undefined instruction, which is how a program aborts');
                break;
              case 15:
                this.pendingSVCall = true;
                this.interruptsUpdated = true;
                this.budget = 0;
                break;
            }
            if (taken) {
              pc = (pc + 2 + ((code << 24) >> 23)) | 0;
              spent += 1;
            }
            break;
          }
          case 0b11100: // B
            pc = (pc + 2 + ((code << 21) >> 20)) | 0;
            spent += 1;
            break;

          case 0b11110: {
            // A5.3: 32 bits long
            const more = pc >>> 24 === 0x10 ? flash16[(pc & 0xffffff) >>> 1] : this.fetch(pc);
            pc = (pc + 2) | 0;
            spent += 2;
            if ((more & 0xd000) === 0xd000) {
              // BL
              const sign = (code >> 10) & 1;
              const high = (~((more >> 13) ^ sign) & 1) << 23;
              const low = (~((more >> 11) ^ sign) & 1) << 22;
              r[14] = pc | 1;
              pc = (pc + ((-sign << 24) | high | low | ((code & 0x3ff) << 12) | ((more & 0x7ff) << 1))) | 0;
            } else if ((code & 0xffe0) === 0xf380 && (more & 0xff00) === 0x8800) {
              // MSR
              const value = r[code & 15];
              if ((more & 0xf8) === 0) {
                result = value & 0x40000000 ? 0 : value < 0 ? -1 : 1;
                carry = (value >>> 29) & 1;
                overflow = (value >>> 28) & 1;
              } else {
                this.writeSpecial(more & 0xff, value);
              }
              this.budget = 0;
            } else if ((code & 0xffe0) === 0xf3e0 && (more & 0xf000) === 0x8000) {
              // MRS
              const flags = (result & 0x80000000) | (result === 0 ? 0x40000000 : 0) | (carry << 29) | (overflow << 28);
              r[(more >> 8) & 15] = this.readSpecial(more & 0xff, flags);
            } else if (code !== 0xf3bf || (more & 0xff00) !== 0x8f00) {
              // The last ones are the barriers, which have nothing to wait for.
              this.fail(`no instruction ${hex(code)} ${hex(more)}`);
            }
            break;
          }
          default:
            this.fail(`no instruction ${hex(code)}`);
        }
      } while (spent < this.budget);
      r[15] = pc;
    } catch (reason) {
      if (reason !== FAULT) throw reason;
      r[15] = at;
      this.result = result;
      this.carry = carry;
      this.overflow = overflow;
      this.hardFault();
      return;
    }
    this.result = result;
    this.carry = carry;
    this.overflow = overflow;
    this.spent = spent;
    if (leave !== 0) this.leaveException(leave);
  }
}

function count(list) {
  let bits = 0;
  for (let rest = list; rest !== 0; rest &= rest - 1) bits++;
  return bits;
}
