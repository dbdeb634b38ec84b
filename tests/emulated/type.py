#!/usr/bin/env python3
"""Types a line on a board's console, and shows what is answered until nothing comes for a second.

    tests/emulated/type.py CONSOLE LINE        CONSOLE is the socket that tests/emulate.sh made at MOTE_CONSOLE
"""

import socket
import sys


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    console, line = sys.argv[1:]
    with socket.socket(socket.AF_UNIX) as serial:
        serial.connect(console)
        serial.settimeout(20)
        serial.sendall(line.encode() + b"\n")
        try:
            while piece := serial.recv(4096):
                sys.stdout.write(piece.decode())
                serial.settimeout(1)
        except TimeoutError:
            pass


if __name__ == "__main__":
    main()
