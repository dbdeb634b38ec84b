// The processor, a Cortex-M0+. rp2040js brings one, which decodes with a chain of comparisons, lets unaligned and stray
// accesses pass, and forgets SEV; this one takes its place, is several times faster and faults where the real one does.
// Sections are those of the ARMv6-M Architecture Reference Manual.

const HARD_FAULT = 3;
const SV_CALL = 11;
const PEND_SV = 14;
const SYS_TICK = 15;
const EXTERNAL = 16;
const NMI = 2;

const THREAD_PRIORITY = 4; // below the lowest of an exception
const FRAME = 0x20;

const RAM = 0x20000000;
const RAM_SIZE = 264 * 1024;
const ROM_SIZE = 16 * 1024;
const USB_RAM = 0x50100000;
const USB_RAM_SIZE = 4096;

const FAULT = { toString: () => 'a fault that was not caught' };

export class Core {
  /** Called at a breakpoint in ROM with its number. */
  onRomCall = () => {};

  /** Called with what went wrong, and where, before the handler of the firmware runs. */
  onFault = () => {};

  constructor(mcu) {
    this.mcu = mcu;
    this.clock = mcu.clock;
    this.registers = new Uint32Array(16);
    this.r = new Int32Array(this.registers.buffer);
    // Flags: negative and zero are those of the last result.
    this.result = 1;
    this.carry = 0;
    this.overflow = 0;
    this.masked = false; // PRIMASK
    this.usesProcessStack = false;
    this.otherStack = 0;
    this.control = 0;
    this.IPSR = 0; // number of the running exception, 0 in thread mode
    this.event = false;
    this.sleep = ''; // or 'interrupt', 'event': which instruction waits, and for what
    this.stopped = false;
    this.lockedUp = false;

    // What the peripherals of rp2040js read and write.
    this.lines = 0;
    this.latched = 0;
    this.enabledInterrupts = 0;
    this.interruptPriorities = [-1, 0, 0, 0];
    this.pendingNMI = false;
    this.pendingSVCall = false;
    this.pendingPendSV = false;
    this.pendingSystick = false;
    this.interruptsUpdated = false;
    this.VTOR = 0;
    this.SHPR2 = 0;
    this.SHPR3 = 0;
    this.cycles = 0;

    this.rom16 = new Uint16Array(mcu.bootrom.buffer);
    this.flash8 = mcu.flash;
    this.flash16 = new Uint16Array(mcu.flash.buffer);
    this.flash32 = new Int32Array(mcu.flash.buffer);
    this.ram8 = mcu.sram;
    this.ram16 = new Uint16Array(mcu.sram.buffer);
    this.ram32 = new Int32Array(mcu.sram.buffer);
    this.nanos = 8; // that a cycle takes
    this.spent = 0; // cycles that the clock does not know yet
    this.budget = 0; // cycles until something else has to be looked at
  }

  get waiting() {
    return this.sleep !== '';
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

  get pendingInterrupts() {
    return this.lines | this.latched;
  }

  set pendingInterrupts(value) {
    this.latched = value & ~this.lines;
  }

  /** The level of an interrupt line. A rising edge is remembered, as the NVIC does (B3.4). */
  setInterrupt(number, level) {
    const bit = 1 << number;
    if (!level) {
      this.lines &= ~bit;
    } else if (!(this.lines & bit)) {
      this.lines |= bit;
      this.latched |= bit;
      this.interruptsUpdated = true;
    }
  }

  /** Runs until the clock shows `until`, or until stopped. A sleeping processor only lets the clock run. */
  run(until) {
    const { clock } = this;
    while (clock.nanosCounter < until && !this.stopped) {
      if (this.interruptsUpdated) this.#takeInterrupt();
      const alarm = clock.nextAlarm === null ? until : Math.min(clock.nextAlarm.nanos, until);
      if (this.sleep !== '' || this.lockedUp) {
        clock.tick(alarm - clock.nanosCounter);
        continue;
      }
      this.nanos = 1e9 / this.mcu.clkSys;
      this.spent = 0;
      this.budget = Math.max(1, Math.ceil((alarm - clock.nanosCounter) / this.nanos));
      this.#execute();
      this.#settle();
    }
  }

  /** Ends run() after the current instruction. */
  stop() {
    this.stopped = true;
    this.budget = 0;
  }

  // A2.2: the clock is told before anything that may look at it.
  #settle() {
    const { spent } = this;
    this.spent = 0;
    this.cycles += spent;
    this.clock.tick(spent * this.nanos);
  }

  #execute() {
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
        const code = pc >>> 24 === 0x10 ? flash16[(pc & 0xffffff) >>> 1] : this.#fetch(pc);
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
                  if (!(value & 1)) this.#fail('a jump to Arm code');
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
              r[(code >> 8) & 7] = this.#load32(address);
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
                  this.#store32(address, r[t]);
                  spent = this.spent;
                }
                break;
              case 1: // STRH
                if (offset < RAM_SIZE && !(address & 1)) {
                  ram16[offset >>> 1] = r[t];
                } else {
                  this.spent = spent;
                  this.#store16(address, r[t]);
                  spent = this.spent;
                }
                break;
              case 2: // STRB
                if (offset < RAM_SIZE) {
                  ram8[offset] = r[t];
                } else {
                  this.spent = spent;
                  this.#store8(address, r[t]);
                  spent = this.spent;
                }
                break;
              case 4: // LDR
                if (offset < RAM_SIZE && !(address & 3)) {
                  r[t] = ram32[offset >>> 2];
                } else {
                  this.spent = spent;
                  r[t] = this.#load32(address);
                  spent = this.spent;
                }
                break;
              case 5: // LDRH
                if (offset < RAM_SIZE && !(address & 1)) {
                  r[t] = ram16[offset >>> 1];
                } else {
                  this.spent = spent;
                  r[t] = this.#load16(address);
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
                  value = this.#load8(address);
                  spent = this.spent;
                }
                r[t] = code & 0x800 ? value : (value << 24) >> 24;
                break;
              }
              case 7: // LDRSH
                this.spent = spent;
                r[t] = (this.#load16(address) << 16) >> 16;
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
              this.#store32(address, r[code & 7]);
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
              r[code & 7] = this.#load32(address);
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
              this.#store8(address, r[code & 7]);
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
              r[code & 7] = this.#load8(address);
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
              this.#store16(address, r[code & 7]);
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
              r[code & 7] = this.#load16(address);
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
              this.#store32(address, r[(code >> 8) & 7]);
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
              r[(code >> 8) & 7] = this.#load32(address);
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
                  else this.#store32(address, r[n]);
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
                    this.#fail(`no instruction ${hex(code)}`);
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
                  r[n] = this.#load32(address);
                  address += 4;
                  this.spent += 1;
                }
                if (code & 0x100) {
                  const value = this.#load32(address);
                  this.spent += 3;
                  address += 4;
                  r[13] = address;
                  if (value >>> 28 === 0xf && this.IPSR !== 0) {
                    leave = value;
                    this.budget = 0;
                  } else {
                    if (!(value & 1)) this.#fail('a return to Arm code');
                    pc = value & ~1;
                  }
                } else {
                  r[13] = address;
                }
                spent = this.spent;
                break;
              }
              case 0b1110: // BKPT
                if (at >>> 0 >= ROM_SIZE) this.#fail('a breakpoint without a debugger');
                this.spent = spent;
                this.#settle();
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
                this.#fail(`no instruction ${hex(code)}`);
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
              else this.#store32(address, r[t]);
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
              r[t] = this.#load32(address);
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
                this.#fail('an undefined instruction, which is how a program aborts');
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
            const more = pc >>> 24 === 0x10 ? flash16[(pc & 0xffffff) >>> 1] : this.#fetch(pc);
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
                this.#writeSpecial(more & 0xff, value);
              }
              this.budget = 0;
            } else if ((code & 0xffe0) === 0xf3e0 && (more & 0xf000) === 0x8000) {
              // MRS
              const flags = (result & 0x80000000) | (result === 0 ? 0x40000000 : 0) | (carry << 29) | (overflow << 28);
              r[(more >> 8) & 15] = this.#readSpecial(more & 0xff, flags);
            } else if (code !== 0xf3bf || (more & 0xff00) !== 0x8f00) {
              // The last ones are the barriers, which have nothing to wait for.
              this.#fail(`no instruction ${hex(code)} ${hex(more)}`);
            }
            break;
          }
          default:
            this.#fail(`no instruction ${hex(code)}`);
        }
      } while (spent < this.budget);
      r[15] = pc;
    } catch (reason) {
      if (reason !== FAULT) throw reason;
      r[15] = at;
      this.result = result;
      this.carry = carry;
      this.overflow = overflow;
      this.#hardFault();
      return;
    }
    this.result = result;
    this.carry = carry;
    this.overflow = overflow;
    this.spent = spent;
    if (leave !== 0) this.#leaveException(leave);
  }

  #fail(reason) {
    this.reason = reason;
    throw FAULT;
  }

  #fetch(address) {
    const offset = (address - RAM) >>> 0;
    if (offset < RAM_SIZE) return this.ram16[offset >>> 1];
    if (address >>> 0 < ROM_SIZE) return this.rom16[address >>> 1];
    return this.#fail(`no code at ${hex(address)}`);
  }

  #load32(address) {
    const offset = (address - RAM) >>> 0;
    if (address & 3) this.#fail(`a word read at ${hex(address)}, which is not aligned`);
    if (offset < RAM_SIZE) return this.ram32[offset >>> 2];
    if (address >>> 26 === 4) return this.flash32[(address & 0xffffff) >>> 2];
    this.#touch(address, 'read');
    return this.mcu.readUint32(address >>> 0);
  }

  #load16(address) {
    const offset = (address - RAM) >>> 0;
    if (address & 1) this.#fail(`a half word read at ${hex(address)}, which is not aligned`);
    if (offset < RAM_SIZE) return this.ram16[offset >>> 1];
    if (address >>> 26 === 4) return this.flash16[(address & 0xffffff) >>> 1];
    this.#touch(address, 'read');
    return this.mcu.readUint16(address >>> 0);
  }

  #load8(address) {
    const offset = (address - RAM) >>> 0;
    if (offset < RAM_SIZE) return this.ram8[offset];
    if (address >>> 26 === 4) return this.flash8[address & 0xffffff];
    this.#touch(address, 'read');
    return this.mcu.readUint8(address >>> 0);
  }

  #store32(address, value) {
    const offset = (address - RAM) >>> 0;
    if (address & 3) this.#fail(`a word write at ${hex(address)}, which is not aligned`);
    if (offset < RAM_SIZE) {
      this.ram32[offset >>> 2] = value;
    } else {
      this.#touch(address, 'write');
      if (address >>> 26 !== 4) this.mcu.writeUint32(address >>> 0, value >>> 0);
    }
  }

  #store16(address, value) {
    if (address & 1) this.#fail(`a half word write at ${hex(address)}, which is not aligned`);
    this.#touch(address, 'write');
    if (address >>> 26 !== 4) this.mcu.writeUint16(address >>> 0, value & 0xffff);
  }

  #store8(address, value) {
    this.#touch(address, 'write');
    if (address >>> 26 !== 4) this.mcu.writeUint8(address >>> 0, value & 0xff);
  }

  /** Before an access beside RAM: is anything there? It may look at the clock, set an alarm, or raise an interrupt. */
  #touch(address, what) {
    const top = address >>> 28;
    const exists =
      top === 0xd || // SIO
      address >>> 12 === 0xe000e || // system control
      (address - USB_RAM) >>> 0 < USB_RAM_SIZE ||
      address >>> 26 === 4 || // flash
      (what === 'read' && address >>> 0 < ROM_SIZE) ||
      this.mcu.findPeripheral(address) !== undefined;
    if (!exists) this.#fail(`a ${what} at ${hex(address)}, where nothing is`);
    if (top === 4) this.spent += 2; // the slow bus
    this.#settle();
    this.budget = 0;
  }

  #readSpecial(which, flags) {
    switch (which) {
      case 0:
        return flags;
      case 1:
      case 3:
        return flags | this.IPSR;
      case 5:
      case 7:
        return this.IPSR;
      case 8:
        return this.usesProcessStack ? this.otherStack : this.r[13];
      case 9:
        return this.usesProcessStack ? this.r[13] : this.otherStack;
      case 16:
        return this.masked ? 1 : 0;
      case 20:
        return (this.control & 1) | (this.usesProcessStack ? 2 : 0);
    }
    return 0;
  }

  #writeSpecial(which, value) {
    switch (which) {
      case 8:
      case 9:
        if (this.usesProcessStack === (which === 9)) this.r[13] = value & ~3;
        else this.otherStack = value & ~3;
        break;
      case 16:
        this.masked = (value & 1) !== 0;
        this.interruptsUpdated = true;
        break;
      case 20:
        this.control = value & 1;
        if (this.IPSR === 0) this.#useStack((value & 2) !== 0);
        break;
    }
  }

  #useStack(process) {
    if (this.usesProcessStack === process) return;
    this.usesProcessStack = process;
    const { otherStack } = this;
    this.otherStack = this.r[13];
    this.r[13] = otherStack;
  }

  /** The priority of an exception: the lower the number, the more urgent (B1.5.4). */
  #priority(exception) {
    switch (exception) {
      case 0:
        return THREAD_PRIORITY;
      case NMI:
        return -2;
      case HARD_FAULT:
        return -1;
      case SV_CALL:
        return this.SHPR2 >>> 30;
      case PEND_SV:
        return (this.SHPR3 >> 22) & 3;
      case SYS_TICK:
        return this.SHPR3 >>> 30;
    }
    return this.interruptPriorities.findIndex((interrupts) => interrupts & (1 << (exception - EXTERNAL)));
  }

  /** The most urgent pending exception, or 0. */
  get vectPending() {
    if (this.pendingNMI) return NMI;
    const interrupts = this.pendingInterrupts & this.enabledInterrupts;
    for (let priority = 0; priority < THREAD_PRIORITY; priority++) {
      if (this.pendingSVCall && this.#priority(SV_CALL) === priority) return SV_CALL;
      if (this.pendingPendSV && this.#priority(PEND_SV) === priority) return PEND_SV;
      if (this.pendingSystick && this.#priority(SYS_TICK) === priority) return SYS_TICK;
      const level = interrupts & this.interruptPriorities[priority];
      if (level) return EXTERNAL + 31 - Math.clz32(level & -level);
    }
    return 0;
  }

  #takeInterrupt() {
    this.interruptsUpdated = false;
    const exception = this.vectPending;
    if (exception === 0 || this.#priority(exception) >= this.#priority(this.IPSR)) return;
    // WFI ends even where the interrupt itself must wait (B1.5.19).
    if (this.sleep === 'interrupt') this.sleep = '';
    if (this.masked && exception !== NMI) {
      if (exception === SV_CALL) this.#hardFault('a call of the supervisor while interrupts are off');
      return;
    }
    this.sleep = '';
    if (exception === NMI) this.pendingNMI = false;
    else if (exception === SV_CALL) this.pendingSVCall = false;
    else if (exception === PEND_SV) this.pendingPendSV = false;
    else if (exception === SYS_TICK) this.pendingSystick = false;
    else this.latched &= ~(1 << (exception - EXTERNAL));
    try {
      this.#enterException(exception);
    } catch (reason) {
      if (reason !== FAULT) throw reason;
      this.#hardFault();
    }
  }

  /** A fault in the handler of faults stops the processor for good; only a reset helps (B1.5.15). */
  #hardFault(reason = this.reason) {
    this.onFault(reason, this.registers[15]);
    this.lockedUp = this.IPSR === HARD_FAULT || this.IPSR === NMI;
    if (this.lockedUp) return;
    try {
      this.#enterException(HARD_FAULT);
    } catch (second) {
      if (second !== FAULT) throw second;
      this.onFault(`${this.reason}, on the way to the handler`, this.registers[15]);
      this.lockedUp = true;
    }
  }

  #enterException(exception) {
    const { r } = this;
    const padding = (r[13] >> 2) & 1;
    const frame = (r[13] - FRAME) & ~7;
    const flags = (this.result & 0x80000000) | (this.result === 0 ? 0x40000000 : 0) | (this.carry << 29);
    const status = flags | (this.overflow << 28) | (1 << 24) | (padding << 9) | this.IPSR;
    const saved = [r[0], r[1], r[2], r[3], r[12], r[14], r[15] & ~1, status];
    saved.forEach((value, index) => this.#store32((frame + 4 * index) | 0, value));
    r[13] = frame;
    r[14] = this.IPSR !== 0 ? 0xfffffff1 : this.usesProcessStack ? 0xfffffffd : 0xfffffff9;
    this.#useStack(false);
    this.IPSR = exception;
    this.event = true;
    r[15] = this.#load32(this.VTOR + 4 * exception) & ~1;
  }

  #leaveException(how) {
    const { r } = this;
    try {
      this.IPSR = 0;
      this.#useStack((how & 0xf) === 0xd);
      const frame = r[13];
      const [r0, r1, r2, r3, r12, lr, pc, status] = Array.from({ length: 8 }, (_, n) => this.#load32(frame + 4 * n));
      [r[0], r[1], r[2], r[3], r[12], r[14], r[15]] = [r0, r1, r2, r3, r12, lr, pc];
      r[13] = (frame + FRAME) | ((status & 0x200) >> 7);
      this.result = status & 0x40000000 ? 0 : status < 0 ? -1 : 1;
      this.carry = (status >>> 29) & 1;
      this.overflow = (status >>> 28) & 1;
      this.IPSR = status & 0x3f;
    } catch (reason) {
      if (reason !== FAULT) throw reason;
      this.#hardFault();
    }
    this.event = true;
    this.interruptsUpdated = true;
  }
}

function count(list) {
  let bits = 0;
  for (let rest = list; rest !== 0; rest &= rest - 1) bits++;
  return bits;
}

const hex = (value) => `0x${(value >>> 0).toString(16).padStart(value >>> 16 ? 8 : 4, '0')}`;
