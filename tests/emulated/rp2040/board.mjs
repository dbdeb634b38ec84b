// The board, a W5500-EVB-Pico: which pin goes where, what a reset changes and what it keeps.

import { randomFillSync } from 'node:crypto';

import { Console } from './console.mjs';
import { Core } from './core.mjs';
import { Flash, Ssi, XipControl, XipStream } from './flash.mjs';
import { RP2040 } from './rp2040js.mjs';
import { ENDLESS_LOOP, Rom } from './rom.mjs';
import { ChipReset, completeSystemControl, Rosc } from './system.mjs';
import { W5500 } from './w5500.mjs';

const PIN = { select: 17, reset: 20, interrupt: 21, led: 25 };
const LOW = 0;
const HIGH = 1;

// The sensor gives 0.706 V at 27 degrees, and 4096 stands for 3.3 V (RP2040 datasheet, 4.9.5).
const TEMPERATURE_CHANNEL = 4;
const TEMPERATURE = Math.round((0.706 / 3.3) * 4096);

const FLASH = 0x10000000;
const RAM = 0x20000000;
const WATCHDOG = 0x40058;
const WATCHDOG_CTRL = 0x00;
const WATCHDOG_LOAD = 0x04;
const WATCHDOG_ENABLE = 1 << 30;

export class Board {
  /** Called with what a person in front of the board would see or a debugger would tell. */
  onNote = () => {};

  /** Called when the firmware asks for the USB boot loader: nothing runs on the board any more. */
  onUsbBoot = () => {};

  constructor(elf, flashFile) {
    this.w5500 = new W5500();
    this.console = new Console();
    this.#powerOn();
    this.flash = new Flash(this.mcu.flash);
    if (flashFile) this.flash.keepIn(flashFile);
    for (const { address, data } of elf.segments()) this.flash.load(address - FLASH, data);
    this.rom = new Rom(this.flash);
    this.rom.onUsbBoot = () => {
      this.core.stop();
      this.onUsbBoot();
    };
    this.#start();
  }

  /** Nanoseconds since the last reset, as the chip counts them. */
  get nanos() {
    return this.mcu.clock.nanos;
  }

  /** Nanoseconds until something happens by itself; 0 while the processor works. */
  get idleNanos() {
    if (!this.core.isAsleep) return 0;
    const { nextAlarm } = this.mcu.clock;
    return nextAlarm === null ? Infinity : nextAlarm.nanos - this.nanos;
  }

  get ram() {
    return this.mcu.sram;
  }

  /** Runs until its clock shows `until`. Returns true if the board was reset, and its clock began again. */
  run(until) {
    this.core.run(until);
    if (!this.resetCause) return false;
    this.#reset();
    return true;
  }

  /** The program stands still; interrupts go on. */
  hang() {
    this.core.sleep = '';
    this.core.PC = ENDLESS_LOOP;
  }

  /** The stack ends where RAM does. */
  exhaustStack() {
    this.core.SP = RAM;
  }

  #powerOn() {
    this.mcu = new RP2040();
    this.mcu.logger = { debug() {}, info() {}, warn() {}, error() {} };
    // Memory holds anything when the power comes: firmware that relies on zeros fails here, too.
    randomFillSync(this.mcu.sram);
  }

  /** A reset makes a new chip: all registers are as they are after one. Memory stays, and what tells about the reset. */
  #reset() {
    const before = this.mcu;
    const cause = this.resetCause;
    this.onNote(`reset by ${cause}`);
    this.mcu = new RP2040();
    for (const member of ['logger', 'sram', 'sramView', 'flash', 'flash16', 'flashView']) this.mcu[member] = before[member];
    this.#start();
    this.#keepWatchdog(before.peripherals[WATCHDOG], cause);
  }

  /** The watchdog tells of its own reset. Another one does not reach it: it goes on and tells what it told before. */
  #keepWatchdog(before, cause) {
    const watchdog = this.mcu.peripherals[WATCHDOG];
    watchdog.scratchData.set(before.scratchData);
    watchdog.reason = before.reason;
    if (cause === 'the watchdog' || !before.enable) return;
    watchdog.writeUint32(WATCHDOG_LOAD, before.timer.counter);
    watchdog.writeUint32(WATCHDOG_CTRL, WATCHDOG_ENABLE);
  }

  #start() {
    const { mcu } = this;
    this.resetCause = undefined;
    this.core = new Core(mcu);
    mcu.core = this.core;
    this.core.onRomCall = (number) => this.rom.call(number, mcu, this.core);
    this.core.onFault = (reason, address) => this.onNote(`fault at 0x${address.toString(16)}: ${reason}`);
    this.#connect();
    this.rom.install(mcu);
    this.rom.boot(mcu, this.core);
  }

  #connect() {
    const { mcu, core } = this;
    completeSystemControl(mcu.ppb, core, () => this.#requestReset('the firmware'));
    const watchdog = mcu.peripherals[WATCHDOG];
    watchdog.writeUint32(WATCHDOG_LOAD, 0xffffff); // so that enabling it does not bite by itself
    watchdog.onWatchdogTrigger = () => {
      watchdog.timer.enable = false; // or it fires again at the same instant, for ever
      this.#requestReset('the watchdog');
    };
    const xip = new XipControl(mcu, 'XIP_CTRL');
    Object.assign(mcu.peripherals, {
      0x14000: xip,
      0x18000: new Ssi(mcu, 'SSI'),
      0x40060: new Rosc(mcu, 'ROSC'),
      0x40064: new ChipReset(mcu, 'VREG_AND_CHIP_RESET'),
      0x50400: new XipStream(mcu, 'XIP_AUX', xip),
    });
    mcu.adc.channelValues[TEMPERATURE_CHANNEL] = TEMPERATURE;
    mcu.gpio[PIN.led].addListener((now, before) => {
      if (now === HIGH) this.onNote('led on');
      else if (before === HIGH) this.onNote('led off');
    });
    this.console.connect(mcu);
    this.#connectEthernet();
  }

  #connectEthernet() {
    const { mcu, w5500 } = this;
    const [spi] = mcu.spi;
    let answer = 0;
    let isSelected = false;
    // A byte takes its time on the bus: were it there at once, the transmit side would run away from the receive side.
    const arrival = mcu.clock.createAlarm(() => spi.completeTransmit(answer));
    spi.onTransmit = (byte) => {
      answer = isSelected ? w5500.exchange(byte) : 0;
      arrival.schedule((spi.dataBits * 1e9) / spi.clockFrequency);
    };
    mcu.gpio[PIN.select].addListener((now) => {
      isSelected = now === LOW;
      if (isSelected) w5500.select();
    });
    mcu.gpio[PIN.reset].addListener((now) => now === LOW && w5500.reset());
    const interrupt = mcu.gpio[PIN.interrupt];
    interrupt.setInputValue(true);
    w5500.onInterrupt = (level) => {
      if (level !== interrupt.rawInputValue) interrupt.setInputValue(level);
    };
    w5500.reset();
  }

  #requestReset(cause) {
    this.resetCause = cause;
    this.core.stop();
  }
}
