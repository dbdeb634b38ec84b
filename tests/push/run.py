#!/usr/bin/env python3
"""Push notifications from outside: webhooks that answer, or answer wrongly, late or never; names and certificates that are
not what they should be; and clients that want a device to call where it may not.

    tests/push/run.py sim [NAME...]        against host-sims that it starts; all cases, or those whose names contain a word
    tests/hostile/wire.py tests/with-board.sh arm tests/push/run.py [NAME...]        against an emulated board

Runs in a network namespace, where it is everybody whom the device can reach. Standard library and the `openssl` command;
status 77 where there may be no namespace. Environment: MOTE_TOKEN and MOTE_OTHER_TOKEN, the tokens of a principal that may
do everything and of one that may only read; MOTE_CONSOLE and MOTE_LOG of a board.
"""

import os
import sys
import time

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "hostile"))
os.environ.setdefault("MOTE_TOKEN", "the-token-of-the-push-suite")
os.environ.setdefault("MOTE_OTHER_TOKEN", "a-token-of-somebody-else")
# Nothing here goes through a proxy.
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"

import addresses
import certificates
import configs
import deliveries
import trouble
from namespace import enter
from world import Elsewhere, Skip, World, furnish

MODULES = [configs, deliveries, trouble, addresses, certificates]


def main():
    if len(sys.argv) < 2 or not (sys.argv[1] == "sim" or sys.argv[1].startswith("http://")):
        sys.exit(__doc__)
    where, names = sys.argv[1], sys.argv[2:]
    if where == "sim":
        enter("MOTE_PUSH_INSIDE")
        furnish()
    world = World(None if where == "sim" else where)
    passed, failed, skipped = 0, [], []
    try:
        for module in MODULES:
            for case in module.CASES:
                name = f"{module.__name__}.{case.__name__}"
                if names and not any(word in name for word in names):
                    continue
                begun, stage = time.monotonic(), "case"
                try:
                    try:
                        case(world)
                    finally:
                        stage = "after" if sys.exc_info()[0] is None else stage
                        world.after()
                    passed += 1
                    print(f"ok {name} ({time.monotonic() - begun:.1f} s)", flush=True)
                except Elsewhere as reason:
                    print(f"-- {name}: {reason}", flush=True)
                except Skip as reason:
                    skipped.append(name)
                    print(f"skip {name}: {reason}", flush=True)
                except (AssertionError, OSError, KeyError, ValueError, TypeError, IndexError) as error:
                    failed.append(name)
                    print(f"FAIL {name}: {'' if stage == 'case' else stage + ': '}{error!r}"[:2000], flush=True)
    finally:
        world.close()
    print(f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped")
    if skipped and os.environ.get("CI") == "true":
        print("CI: a skipped case is a failure")
        sys.exit(1)
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
