#!/usr/bin/env python3
"""Where the instructions of a call go: the emulated Arm board's own, function by function, exactly.

    tests/emulated/profile.py [FUNCTIONS]        how many functions to show (40)

QEMU executes the board's benchmark (`trial bench` on its console: twenty sends and twenty cards without a network) one
instruction at a time and writes down each address; llvm-nm says whose it is. Interrupts that come in between are in it.
Time is counted in instructions, so that no watchdog and no timeout minds how slow that is.
"""

import bisect
import collections
import os
import socket
import subprocess
import sys
import tempfile
import time

from life import Board


def symbols(image):
    """The functions of an image: their addresses, in order, and their names."""
    listing = subprocess.run(["llvm-nm", "-C", "--defined-only", image], capture_output=True, text=True, check=True).stdout
    found = {}
    for line in listing.splitlines():
        address, kind, name = line.split(" ", 2)
        if kind in "tTwW" and not name.startswith("$"):
            found[int(address, 16) & ~1] = name
    return sorted(found), found


def command(monitor, line):
    monitor.sendall(line.encode() + b"\n")
    time.sleep(0.5)


def main():
    shown = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    folder = tempfile.TemporaryDirectory()
    path, log = os.path.join(folder.name, "monitor"), os.path.join(folder.name, "log")
    board = Board("arm", f"-icount shift=0 -accel tcg,one-insn-per-tb=on -monitor unix:{path},server=on,wait=off -D {log}")
    image = subprocess.run([os.path.join(os.path.dirname(__file__), "../../firmware/build.sh"), "qemu-arm", "--quiet"],
                           capture_output=True, text=True, check=True).stdout.strip()
    monitor = socket.socket(socket.AF_UNIX)
    monitor.connect(path)
    command(monitor, "log exec,nochain")
    board.serial.settimeout(300)
    print(board.ask("trial bench"), flush=True)
    command(monitor, "log none")
    board.end()

    starts, names = symbols(image)
    counts = collections.Counter()
    with open(log) as lines:
        for line in lines:
            if not line.startswith("Trace"):
                continue
            # Trace 0: 0x7f.. [cs_base/pc/flags/cflags] and the name
            pc = int(line.split("[", 1)[1].split("/")[1], 16)
            place = bisect.bisect_right(starts, pc) - 1
            counts[names[starts[place]] if place >= 0 else "?"] += 1
    total = counts.total()
    print(f"{total} instructions in all")
    for name, count in counts.most_common(shown):
        print(f"{count:9} {100 * count / total:5.1f} %  {name[:150]}")


if __name__ == "__main__":
    main()
