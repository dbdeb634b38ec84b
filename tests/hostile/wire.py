#!/usr/bin/env python3
"""A network of its own for an emulated board, as bad as it is asked to be:

    tests/hostile/wire.py [--loss PERCENT] [--reorder PERCENT] [--twice PERCENT] [--delay MS] [--jitter MS] [--seed N]
                          [--record FILE] COMMAND [ARGUMENT...]
    e.g. tests/hostile/wire.py --loss 2 tests/with-board.sh arm tests/hostile/soak.py

Runs the command in a network namespace that ends with it. Inside there is one cable: the board at one end, this
machine's TCP at the other, and this program in between, which loses, delays, repeats and reorders Ethernet frames as it
is told. (The kernel's netem would do, where it is built in.) It also answers DHCP, before the cable gets bad, and makes
the addresses 10.0.2.2 to 10.0.2.5, so that there can be clients with different ones. The board is told that its gateway, who
knows names, and who knows the time, if anybody, are at the first of them. What gets through is recorded as a
pcap file, where that is asked for. tests/emulate.sh finds all of it in
MOTE_NETDEV and MOTE_BOARD_URL. Standard library only; ends with the status of the command, or 77 where there may be no
namespace.
"""

import argparse
import fcntl
import heapq
import json
import os
import random
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

# Nothing is left behind in the checkout.
sys.dont_write_bytecode = True
from namespace import enter  # noqa: E402

BOARD = "10.0.2.15"
HERE = ["10.0.2.2", "10.0.2.3", "10.0.2.4", "10.0.2.5"]
TAP = "cable"
FRAME_MAX = 2048
# Linux: <linux/if_tun.h>
TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000
INSIDE = "MOTE_WIRE_INSIDE"


def open_tap():
    tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH14x", TAP.encode(), IFF_TAP | IFF_NO_PI))
    return tap


def configure():
    """Gives this end of the cable its addresses."""
    run = lambda *words: subprocess.run(["ip", *words], check=True)
    run("link", "set", "lo", "up")
    for address in HERE:
        run("address", "add", f"{address}/24", "dev", TAP)
    run("link", "set", TAP, "up")


class Cable(threading.Thread):
    """Carries frames between the tap and QEMU, each in its own time or not at all."""

    def __init__(self, tap, how):
        super().__init__(daemon=True)
        self.tap, self.how = tap, how
        self.random = random.Random(how.seed)
        self.board = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.board.bind(("127.0.0.1", 0))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind(("127.0.0.1", 0))
            self.qemu = probe.getsockname()
        self.board.setblocking(False)
        self.waiting = []
        self.record = open(how.record, "wb") if how.record else None
        if self.record:
            self.record.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, FRAME_MAX, 1))
        self.count = {"carried": 0, "lost": 0, "late": 0, "twice": 0}

    def netdev(self):
        here, there = self.board.getsockname()[1], self.qemu[1]
        return (f"dgram,id=n0,local.type=inet,local.host=127.0.0.1,local.port={there},"
                f"remote.type=inet,remote.host=127.0.0.1,remote.port={here}")

    def run(self):
        to_board, to_us = self._to_board, self._to_us
        while True:
            pause = max(0, self.waiting[0][0] - time.monotonic()) if self.waiting else None
            ready, _, _ = select.select([self.tap, self.board], [], [], pause)
            if self.tap in ready:
                self._take(lambda: os.read(self.tap, FRAME_MAX), to_board)
            if self.board in ready:
                self._take(lambda: self.board.recv(FRAME_MAX), to_us)
            while self.waiting and self.waiting[0][0] <= time.monotonic():
                _, _, deliver, frame = heapq.heappop(self.waiting)
                deliver(frame)

    def _take(self, read, deliver):
        for _ in range(64):
            try:
                frame = read()
            except BlockingIOError:
                return
            except OSError:
                return  # QEMU is not there yet, or not any more
            answer = dhcp(frame)
            if answer:
                self._to_board(answer)
                continue
            self._carry(frame, deliver)

    def _carry(self, frame, deliver):
        how, chance = self.how, lambda percent: self.random.random() * 100 < percent
        if chance(how.loss):
            self.count["lost"] += 1
            return
        self.count["carried"] += 1
        for number in range(2 if chance(how.twice) else 1):
            delay = how.delay + self.random.random() * how.jitter
            if chance(how.reorder):
                # Later than what is sent behind it.
                self.count["late"] += 1
                delay += how.delay + 2 * how.jitter + 5
            self.count["twice"] += number
            if delay == 0:
                deliver(frame)
            else:
                order = self.count["carried"] * 2 + number
                heapq.heappush(self.waiting, (time.monotonic() + delay / 1000, order, deliver, frame))

    def _keep(self, frame):
        if self.record:
            now = time.time()
            self.record.write(struct.pack("<IIII", int(now), int(now % 1 * 1e6), len(frame), len(frame)) + frame)

    def _to_board(self, frame):
        self._keep(frame)
        try:
            self.board.sendto(frame, self.qemu)
        except OSError:
            pass  # QEMU is not there yet, or not any more

    def _to_us(self, frame):
        self._keep(frame)
        try:
            os.write(self.tap, frame)
        except OSError:
            pass  # the interface takes no frame that is no frame


def checksum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    total = (total & 0xFFFF) + (total >> 16)
    return 0xFFFF & ~(total + (total >> 16))


def dhcp(frame):
    """Answers a frame if it is a DHCP client's, as RFC 2131 has it: always the same address, for a day."""
    if len(frame) < 282 or frame[12:14] != b"\x08\x00" or frame[23] != 17 or frame[36:38] != b"\x00\x43":
        return None
    asked, options = frame[42:282], frame[282:]
    kind, at = None, 0
    while at + 2 < len(options) and options[at] != 255:
        if options[at] == 0:
            at += 1
            continue
        if options[at] == 53:
            kind = options[at + 2]
        at += 2 + options[at + 1]
    reply = {1: 2, 3: 5}.get(kind)
    if reply is None:
        return None
    board, server = socket.inet_aton(BOARD), socket.inet_aton(HERE[0])
    day = struct.pack(">I", 86400)
    said = (bytes([53, 1, reply, 54, 4]) + server + bytes([51, 4]) + day + bytes([1, 4, 255, 255, 255, 0, 3, 4])
            + server + bytes([6, 4]) + server + b"\xff")
    body = b"\x02" + asked[1:16] + board + server + asked[24:236] + asked[236:240] + said
    udp = struct.pack(">HHHH", 67, 68, 8 + len(body), 0) + body
    head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, server, board)
    head = head[:10] + struct.pack(">H", checksum(head)) + head[12:]
    return frame[6:12] + b"\x02mote1" + b"\x08\x00" + head + udp


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ["loss", "reorder", "twice", "delay", "jitter"]:
        parser.add_argument(f"--{name}", type=float, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--record")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    how = parser.parse_args()
    if not how.command:
        sys.exit(__doc__)
    enter(INSIDE, "/dev/net/tun", mounts=False)
    tap = open_tap()
    configure()
    cable = Cable(tap, how)
    cable.start()
    environment = dict(os.environ, MOTE_NETDEV=cable.netdev(), MOTE_BOARD_URL=f"http://{BOARD}:80")
    del environment[INSIDE]
    command = subprocess.Popen(how.command, env=environment)
    # Whoever ends this program means the command.
    for word in [signal.SIGTERM, signal.SIGINT]:
        signal.signal(word, lambda word, _: command.send_signal(word))
    status = command.wait()
    print(f"the cable: {json.dumps(cable.count)}")
    sys.exit(status if status >= 0 else 128 - status)


if __name__ == "__main__":
    main()
