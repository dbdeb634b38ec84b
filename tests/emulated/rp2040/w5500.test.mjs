// Does the model of the W5500 do what its driver counts on? Everything goes over the bus, as the driver does it.

import assert from 'node:assert/strict';
import test from 'node:test';

import { W5500 } from './w5500.mjs';

const COMMON = 0;
const SOCKET = 1;
const TX = 2;
const RX = 3;
const OURS = [2, 0, 0, 0, 0, 1];

function write(chip, block, address, ...bytes) {
  chip.select();
  for (const byte of [address >> 8, address & 0xff, (block << 3) | 4, ...bytes]) chip.exchange(byte);
}

function read(chip, block, address, count) {
  chip.select();
  for (const byte of [address >> 8, address & 0xff, block << 3]) chip.exchange(byte);
  return Array.from({ length: count }, () => chip.exchange(0));
}

const word = ([high, low]) => (high << 8) | low;

/** A chip as the driver leaves it: one socket with all the memory, filtering, telling of what it receives. */
function open() {
  const chip = new W5500();
  chip.pin = true;
  chip.sent = [];
  chip.onInterrupt = (level) => (chip.pin = level);
  chip.onSend = (frame) => chip.sent.push(frame);
  write(chip, COMMON, 0x09, ...OURS);
  write(chip, COMMON, 0x18, 1);
  write(chip, SOCKET, 0x2c, 4);
  write(chip, SOCKET, 0x1e, 16, 16);
  write(chip, SOCKET, 0x00, 0x84);
  write(chip, SOCKET, 0x01, 0x01);
  return chip;
}

const frame = (length, fill, to = OURS) => Buffer.concat([Buffer.from(to), Buffer.alloc(length - 6, fill)]);

/** What the driver does when the pin is low: one frame. */
function take(chip) {
  const at = word(read(chip, SOCKET, 0x28, 2));
  write(chip, SOCKET, 0x02, 4);
  const size = word(read(chip, RX, at, 2));
  const got = Buffer.from(read(chip, RX, (at + 2) & 0xffff, size - 2));
  const next = (at + size) & 0xffff;
  write(chip, SOCKET, 0x28, next >> 8, next & 0xff);
  write(chip, SOCKET, 0x01, 0x40);
  return got;
}

test('it says who it is, and that the cable is in', () => {
  const chip = new W5500();
  assert.deepEqual(read(chip, COMMON, 0x39, 1), [4]);
  assert.equal(read(chip, COMMON, 0x2e, 1)[0] & 1, 1);
});

test('frames come one after the other, and the pin stays low until the last one', () => {
  const chip = open();
  assert.ok(chip.pin);
  const frames = [frame(60, 1), frame(1514, 2), frame(61, 3)];
  frames.forEach((each) => chip.receive(each));
  for (const each of frames) {
    assert.ok(!chip.pin);
    assert.deepEqual(take(chip), each);
  }
  assert.ok(chip.pin);
  assert.equal(word(read(chip, SOCKET, 0x26, 2)), 0);
});

test('only what is for us or for everybody comes in', () => {
  const chip = open();
  chip.receive(frame(60, 1, [2, 0, 0, 0, 0, 9]));
  assert.ok(chip.pin);
  chip.receive(frame(60, 2, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff]));
  assert.ok(!chip.pin);
});

test('what has no room is lost, and nothing else is', () => {
  const chip = open();
  for (let n = 0; n < 20; n++) chip.receive(frame(1514, n));
  let count = 0;
  for (; !chip.pin; count++) assert.deepEqual(take(chip), frame(1514, count));
  assert.equal(count, Math.floor(0x4000 / 1516));
});

test('memory goes round, and its pointers do', () => {
  const chip = open();
  for (let n = 0; n < 100; n++) {
    chip.receive(frame(1500, n));
    assert.deepEqual(take(chip), frame(1500, n));

    const at = word(read(chip, SOCKET, 0x24, 2));
    const next = (at + 1500) & 0xffff;
    write(chip, TX, at, ...frame(1500, n));
    write(chip, SOCKET, 0x24, next >> 8, next & 0xff);
    write(chip, SOCKET, 0x01, 0x20);
    assert.deepEqual(chip.sent.pop(), frame(1500, n));
    assert.equal(word(read(chip, SOCKET, 0x20, 2)), 0x4000);
  }
});

test('a short frame is made as long as Ethernet wants it', () => {
  const chip = open();
  write(chip, TX, 0, ...frame(20, 7));
  write(chip, SOCKET, 0x24, 0, 20);
  write(chip, SOCKET, 0x01, 0x20);
  assert.equal(chip.sent[0].length, 60);
});

test('a reset forgets everything', () => {
  const chip = open();
  chip.receive(frame(60, 1));
  write(chip, COMMON, 0x00, 0x80);
  assert.ok(chip.pin);
  assert.deepEqual(read(chip, COMMON, 0x09, 6), [0, 0, 0, 0, 0, 0]);
  chip.receive(frame(60, 1));
  assert.ok(chip.pin);
});
