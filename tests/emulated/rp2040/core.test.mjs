// Is the processor one? Its instructions are compared with those of rp2040js, which has another one; where they differ
// the manual has the last word. Faults, sleep and interrupts, which rp2040js does not have like the chip, stand alone.
//
//     node --test tests/emulated/rp2040/

import assert from 'node:assert/strict';
import test from 'node:test';

import { Core } from './core.mjs';
import { RP2040 } from './rp2040js.mjs';

const CODE = 0x20000100;
const HANDLER = 0x20000200;
const DATA = 0x20001000;
const DATA_WORDS = 0x580;
const STACK = 0x20002000;
const CASES = 60_000;

const HARD_FAULT = 3;
const TIMER = 0;
const NOP = 0xbf00;
const WFE = 0xbf20;
const WFI = 0xbf30;
const SEV = 0xbf40;
const CPSID = 0xb672;
const BX_LR = 0x4770;
const LOOP = 0xe7fe;

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

function machine() {
  const mcu = new RP2040();
  mcu.logger = quiet;
  return mcu;
}

/** A processor in front of some code, with a handler that returns behind every exception. */
function processor(...code) {
  const mcu = machine();
  const core = new Core(mcu);
  mcu.core = core;
  code.forEach((half, index) => mcu.writeUint16(CODE + 2 * index, half));
  mcu.writeUint16(HANDLER, BX_LR);
  for (let exception = 1; exception < 48; exception++) mcu.writeUint32(0x20000000 + 4 * exception, HANDLER | 1);
  core.VTOR = 0x20000000;
  core.SP = STACK;
  core.PC = CODE;
  return core;
}

const run = (core, cycles) => core.run(core.clock.nanos + 8 * cycles);

/** The same numbers in every run. */
function random(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test('instructions do what they do in rp2040js, except where that one is wrong', () => {
  const [theirs, ours] = [machine(), machine()];
  const core = new Core(ours);
  ours.core = core;
  const below = random(1);
  const interesting = [0, 1, 0x1f, 0x20, 0x21, 0xff, 0x7fffffff, 0x80000000, 0xffffffff];
  const number = () => (below(5) === 0 ? interesting[below(interesting.length)] : below(2 ** 32));
  const words = new Uint32Array(DATA_WORDS);
  let compared = 0;

  for (let round = 0; round < CASES; round++) {
    const code = below(0xe800); // all that are 16 bits long
    const registers = Array.from({ length: 16 }, number);
    // Addresses that are there.
    const offset = (code >> 6) & 7;
    if (/^(0101|011|1000|1100)/.test(bits(code))) {
      for (let n = 0; n < 8; n++) registers[n] = DATA + 4 * below(256);
      if (code >> 12 === 0b0101) registers[offset] = 4 * below(16);
    }
    registers[13] = STACK + 4 * below(64);
    registers[15] = CODE;
    if (isOutOfScope(code, registers)) continue;
    const negative = below(2) === 1;
    const zero = !negative && below(2) === 1;
    const [carry, overflow] = [below(2), below(2)];

    for (let n = 0; n < words.length; n++) words[n] = number() | 1; // a return address is one of Thumb code
    for (const mcu of [theirs, ours]) {
      mcu.sram.set(new Uint8Array(words.buffer), DATA - 0x20000000);
      mcu.writeUint16(CODE, code);
      mcu.core.registers.set(registers);
    }
    Object.assign(theirs.core, { N: negative, Z: zero, C: !!carry, V: !!overflow });
    Object.assign(core, { result: zero ? 0 : negative ? -1 : 1, carry, overflow, budget: 1 });
    core.onFault = (reason) => assert.fail(`${bits(code)}: ${reason}`);
    theirs.core.executeInstruction();
    core.execute();

    const flags = [core.result < 0, core.result === 0, !!core.carry, !!core.overflow];
    const { N, Z, C, V } = theirs.core;
    const what = `${bits(code)} of ${registers.map((value) => value.toString(16))}`;
    core.registers[15] &= ~1;
    theirs.core.registers[15] &= ~1;
    assert.deepEqual(core.registers, theirs.core.registers, what);
    assert.deepEqual(flags, [N, Z, C, V], what);
    assert.ok(Buffer.compare(ours.sram, theirs.sram) === 0, what);
    compared++;
  }
  assert.ok(compared > CASES / 2, `${compared}`);
});

const bits = (code) => code.toString(2).padStart(16, '0');

/** What cannot be compared: no instructions, what has an effect elsewhere, and where rp2040js is wrong. */
function isOutOfScope(code, registers) {
  const pattern = bits(code);
  const shift = registers[(code >> 3) & 7] & 0xff;
  const mask = (code >> 8) & 7;
  return (
    /^1011(0001|0011|0110|0111|100[01]|101010|1011|1110|1111)/.test(pattern) || // none, or CPS, BKPT, hints
    /^1101111/.test(pattern) || // UDF, SVC
    /^01000111/.test(pattern) || // BX, BLX: most numbers are no address of code
    (/^0101/.test(pattern) && ((code >> 6) & 7) === ((code >> 3) & 7)) || // twice the base
    (/^01000(10|110)/.test(pattern) && (code & 0x87) === 0x87) || // a jump of ADD or MOV, or CMP with the PC
    (/^010001/.test(pattern) && ((code >> 3) & 15) === 15) ||
    (/^1011110[01]/.test(pattern) && (code & 0x1ff) === 0) || // a list of nothing
    (/^1100/.test(pattern) && (code & 0xff) === 0) ||
    (/^11000/.test(pattern) && code & (1 << mask)) || // wrong: STM with its base in the list writes it back
    (/^010000(0010|0011|0100|0111)/.test(pattern) && (shift === 0 || shift > 31)) || // wrong: carry of long shifts
    /^010000(0101|0110)/.test(pattern) // wrong: overflow of ADCS and SBCS
  );
}

test('ADCS and SBCS take the carry into the overflow', () => {
  const core = processor(0x4148, NOP); // adcs r0, r1
  Object.assign(core, { carry: 1, overflow: 0 });
  core.registers.set([0x7fffffff, 0]);
  core.budget = 1;
  core.execute();
  assert.deepEqual([core.registers[0], core.overflow, core.carry], [0x80000000, 1, 0]);

  const other = processor(0x4188, NOP); // sbcs r0, r1
  Object.assign(other, { carry: 0, overflow: 0 });
  other.registers.set([0x80000000, 0]);
  other.budget = 1;
  other.execute();
  assert.deepEqual([other.registers[0], other.overflow, other.carry], [0x7fffffff, 1, 1]);
});

for (const [what, code, address] of [
  ['a word that is not aligned', 0x6808, DATA + 1], // ldr r0, [r1]
  ['a half word that is not aligned', 0x8808, DATA + 1], // ldrh r0, [r1]
  ['a read where nothing is', 0x6808, 0x30000000],
  ['a write below the end of RAM', 0x6008, 0x1ffffffc], // str r0, [r1]
  ['a write to ROM', 0x6008, 0x100],
  ['a breakpoint without a debugger', 0xbe00, 0],
  ['an undefined instruction', 0xde00, 0],
]) {
  test(`${what} is a fault`, () => {
    const core = processor(code);
    core.registers[1] = address;
    core.budget = 1;
    core.execute();
    assert.equal(core.IPSR, HARD_FAULT);
    assert.equal(core.PC, HANDLER);
    assert.equal(core.mcu.readUint32(core.registers[13] + 0x18), CODE, 'the frame says where');
  });
}

test('a fault in the handler of faults locks up', () => {
  const core = processor(0xde00);
  core.mcu.writeUint16(HANDLER, 0xde00);
  run(core, 10);
  assert.ok(core.lockedUp && core.isAsleep);
});

test('the handler of faults runs even where the stack has no room', () => {
  const core = processor(0xb500); // push {lr}
  core.SP = 0x20000000;
  core.mcu.writeUint16(HANDLER, LOOP);
  run(core, 10);
  assert.deepEqual([core.IPSR, core.PC, core.lockedUp], [HARD_FAULT, HANDLER, false]);
});

test('an event that came before the wait ends it', () => {
  const core = processor(SEV, WFE, WFE, LOOP);
  run(core, 20);
  assert.ok(core.isAsleep);
  assert.equal(core.PC, CODE + 6, 'the second wait lasts');
});

test('an interrupt is served, and the program goes on', () => {
  const core = processor(WFE, NOP, LOOP);
  core.enabledInterrupts = 1 << TIMER;
  run(core, 20);
  assert.ok(core.isAsleep);
  // adds r0, #1; str r0, [r1]; bx lr
  [0x3001, 0x6008, BX_LR].forEach((half, index) => core.mcu.writeUint16(HANDLER + 2 * index, half));
  core.registers.set([7, DATA, 9, 10]);
  core.setInterrupt(TIMER, true);
  core.setInterrupt(TIMER, false); // the line is low again, and the NVIC has it nevertheless
  run(core, 40);
  assert.equal(core.mcu.readUint32(DATA), 8);
  assert.deepEqual([...core.registers.subarray(0, 4)], [7, DATA, 9, 10]);
  assert.deepEqual([core.IPSR, core.PC, core.registers[13]], [0, CODE + 4, STACK]);
});

test('WFI ends by an interrupt that is masked, without its handler', () => {
  const core = processor(CPSID, WFI, LOOP);
  core.enabledInterrupts = 1 << TIMER;
  run(core, 20);
  assert.ok(core.isAsleep);
  core.setInterrupt(TIMER, true);
  run(core, 20);
  assert.deepEqual([core.isAsleep, core.IPSR, core.PC], [false, 0, CODE + 4]);
});
