#!/usr/bin/env python3
"""Hostile clients against a device that is there already: a board, an emulated one, or host-sim.

    tests/hostile/run.py BASE_URL [NAME...]        all cases, or those whose names contain one of the words

    tests/with-sim.sh "sensor --preset pico" tests/hostile/run.py
    tests/hostile/wire.py tests/with-board.sh arm tests/hostile/run.py

A board has to be at the end of a cable, as wire.py makes one: behind QEMU's own network its clients have QEMU's TCP and
not their own. After each case an honest client must be served within its usual time, the tasks must be as they were,
and so must the tables and the sockets. Environment: MOTE_TOKEN, the token of a principal named owner that may do
everything; MOTE_OTHER_TOKEN, one of another principal that may only read; MOTE_LOG, the file that has the device's log;
MOTE_COUNT, the number of connections in a row. What cannot be run without one of them is skipped and named; with
CI=true that is a failure. Standard library only.
"""

import os
import sys
import time

import bombs
import crowds
import door
import injection
import slow
import smuggling
from client import Target
from world import Elsewhere, Skip, World

MODULES = [smuggling, injection, bombs, door, crowds, slow]


def main():
    urls = [word for word in sys.argv[1:] if word.startswith("http://")]
    names = [word for word in sys.argv[1:] if not word.startswith("http://")]
    if len(urls) != 1:
        sys.exit(__doc__)
    world = World(Target(urls[0]))
    print(f"{world.board}: an answer takes {1000 * world.usual:.1f} ms, {world.connections} connections are served at "
          f"a time, {world.blocks} blocks of the log are used", flush=True)
    passed, failed, skipped = 0, [], []
    for module in MODULES:
        for case in module.CASES:
            name = f"{module.__name__}.{case.__name__}"
            if names and not any(word in name for word in names):
                continue
            begun, stage = time.monotonic(), "before"
            try:
                world.before()
                stage = "case"
                case(world)
                stage = "after"
                world.after(evicts=getattr(case, "evicts", False))
                passed += 1
                print(f"ok {name} ({time.monotonic() - begun:.1f} s)", flush=True)
            except Elsewhere as reason:
                print(f"-- {name}: {reason}", flush=True)
            except Skip as reason:
                skipped.append(name)
                print(f"skip {name}: {reason}", flush=True)
            except (AssertionError, OSError, KeyError, ValueError) as error:
                failed.append(name)
                print(f"FAIL {name}: {'' if stage == 'case' else stage + ': '}{error!r}", flush=True)
    print(f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped")
    if skipped and os.environ.get("CI") == "true":
        print("CI: a skipped case is a failure")
        sys.exit(1)
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
