// The emulator itself, npm's rp2040js: tests/tools/device.sh installs it outside the checkout.

import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

const cache = process.env.MOTE_CACHE || join(homedir(), '.cache', 'mote');

export const { BasePeripheral, RP2040 } = createRequire(join(cache, 'rp2040js', 'package.json'))('rp2040js');
