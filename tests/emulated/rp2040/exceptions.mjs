// Exceptions of a Cortex-M0+: interrupts, faults, the two stacks, and what ends a sleep. Sections are those of the ARMv6-M
// Architecture Reference Manual.

import { Bus, FAULT } from './bus.mjs';

const NMI = 2;
const HARD_FAULT = 3;
const SV_CALL = 11;
const PEND_SV = 14;
const SYS_TICK = 15;
const EXTERNAL = 16;

const THREAD_PRIORITY = 4; // below the lowest of an exception
const FRAME = 0x20;

export class Exceptions extends Bus {
  /** Called with what went wrong, and where, before the handler of the firmware runs. */
  onFault = () => {};

  constructor(mcu) {
    super(mcu);
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
    this.sleep = ''; // or 'interrupt', 'event': what the processor waits for
    this.lockedUp = false;

    this.lines = 0;
    this.latched = 0;
    // What the peripherals of rp2040js read and write.
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

  /** The priority of an exception: the lower the number, the more urgent (B1.5.4). */
  priority(exception) {
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
      if (this.pendingSVCall && this.priority(SV_CALL) === priority) return SV_CALL;
      if (this.pendingPendSV && this.priority(PEND_SV) === priority) return PEND_SV;
      if (this.pendingSystick && this.priority(SYS_TICK) === priority) return SYS_TICK;
      const level = interrupts & this.interruptPriorities[priority];
      if (level) return EXTERNAL + 31 - Math.clz32(level & -level);
    }
    return 0;
  }

  takeInterrupt() {
    this.interruptsUpdated = false;
    const exception = this.vectPending;
    if (exception === 0 || this.priority(exception) >= this.priority(this.IPSR)) return;
    // WFI ends even where the interrupt itself must wait (B1.5.19).
    if (this.sleep === 'interrupt') this.sleep = '';
    if (this.masked && exception !== NMI) {
      if (exception === SV_CALL) this.hardFault('a call of the supervisor while interrupts are off');
      return;
    }
    this.sleep = '';
    if (exception === NMI) this.pendingNMI = false;
    else if (exception === SV_CALL) this.pendingSVCall = false;
    else if (exception === PEND_SV) this.pendingPendSV = false;
    else if (exception === SYS_TICK) this.pendingSystick = false;
    else this.latched &= ~(1 << (exception - EXTERNAL));
    try {
      this.enterException(exception);
    } catch (reason) {
      if (reason !== FAULT) throw reason;
      this.hardFault();
    }
  }

  /** A fault in the handler of faults stops the processor for good; only a reset helps (B1.5.15). */
  hardFault(reason = this.reason) {
    this.onFault(reason, this.registers[15]);
    this.lockedUp = this.IPSR === HARD_FAULT || this.IPSR === NMI;
    if (this.lockedUp) this.onFault('the processor has locked up', this.registers[15]);
    else this.enterException(HARD_FAULT);
  }

  enterException(exception) {
    const { r } = this;
    const padding = (r[13] >> 2) & 1;
    const frame = (r[13] - FRAME) & ~7;
    const flags = (this.result & 0x80000000) | (this.result === 0 ? 0x40000000 : 0) | (this.carry << 29);
    const status = flags | (this.overflow << 28) | (1 << 24) | (padding << 9) | this.IPSR;
    const saved = [r[0], r[1], r[2], r[3], r[12], r[14], r[15] & ~1, status];
    try {
      saved.forEach((value, index) => this.store32((frame + 4 * index) | 0, value));
    } catch (reason) {
      // No room on the stack. The handler of faults runs nevertheless, without a frame that is worth reading.
      if (reason !== FAULT || exception !== HARD_FAULT) throw reason;
    }
    r[13] = frame;
    r[14] = this.IPSR !== 0 ? 0xfffffff1 : this.usesProcessStack ? 0xfffffffd : 0xfffffff9;
    this.useStack(false);
    this.IPSR = exception;
    this.event = true;
    r[15] = this.load32(this.VTOR + 4 * exception) & ~1;
  }

  leaveException(how) {
    const { r } = this;
    try {
      this.IPSR = 0;
      this.useStack((how & 0xf) === 0xd);
      const frame = r[13];
      const [r0, r1, r2, r3, r12, lr, pc, status] = Array.from({ length: 8 }, (_, n) => this.load32(frame + 4 * n));
      [r[0], r[1], r[2], r[3], r[12], r[14], r[15]] = [r0, r1, r2, r3, r12, lr, pc];
      r[13] = (frame + FRAME) | ((status & 0x200) >> 7);
      this.result = status & 0x40000000 ? 0 : status < 0 ? -1 : 1;
      this.carry = (status >>> 29) & 1;
      this.overflow = (status >>> 28) & 1;
      this.IPSR = status & 0x3f;
    } catch (reason) {
      if (reason !== FAULT) throw reason;
      this.hardFault();
    }
    this.event = true;
    this.interruptsUpdated = true;
  }

  readSpecial(which, flags) {
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

  writeSpecial(which, value) {
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
        if (this.IPSR === 0) this.useStack((value & 2) !== 0);
        break;
    }
  }

  useStack(process) {
    if (this.usesProcessStack === process) return;
    this.usesProcessStack = process;
    const { otherStack } = this;
    this.otherStack = this.r[13];
    this.r[13] = otherStack;
  }
}
