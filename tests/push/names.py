"""Servers that the device asks before it calls anybody: names and the time. Both say what they are told to."""

import socket
import struct
import threading
import time

A, CNAME = 1, 5


def name_bytes(name):
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\x00"


class Names(threading.Thread):
    """A DNS server. A name has a list of answers, each a list of addresses: a question takes the next one, the last one
    stays. Names that nobody has told it do not exist. There are other answers: `silence`, `garbage`, `another` (to a question
    that was not asked), `alias:NAME:ADDRESS` (another name, and the address of that one), `loop` (its own alias)."""

    def __init__(self, address, port=53):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((address, port))
        self.answers, self.asked = {}, []
        self.start()

    def tell(self, name, *answers):
        self.answers[name] = [[answer] if isinstance(answer, str) else answer for answer in answers]

    def count(self, name):
        """How often somebody has asked for an address of it."""
        return self.asked.count(name)

    def run(self):
        while True:
            try:
                packet, sender = self.socket.recvfrom(1500)
            except OSError:
                return
            answer = self.answer(packet)
            if answer:
                self.socket.sendto(answer, sender)

    def answer(self, packet):
        number, flags = packet[:2], packet[2]
        labels, at = [], 12
        while packet[at]:
            labels.append(packet[at + 1:at + 1 + packet[at]].decode("latin-1").lower())
            at += 1 + packet[at]
        name, question = ".".join(labels), packet[12:at + 5]
        [kind] = struct.unpack(">H", packet[at + 1:at + 3])
        known = self.answers.get(name)
        if kind == A:
            self.asked.append(name)
        found = []
        if known and kind == A:
            found = known.pop(0) if len(known) > 1 else known[0]
            word, *behind = found[0].split(":") if found else [""]
            if word == "silence":
                return None
            if word == "garbage":
                return number + b"\x81\x80\x00\x01\x00\xff" + 40 * b"\xc0\x0c"
            if word == "another":
                number, found = bytes([number[0] ^ 0xFF, number[1]]), behind
            if word == "alias":
                other, address = (name_bytes(behind[0]), socket.inet_aton(behind[1]))
                records = (b"\xc0\x0c" + struct.pack(">HHIH", CNAME, 1, 0, len(other)) + other
                           + other + struct.pack(">HHIH", A, 1, 0, 4) + address)
                return (number + b"\x81\x80" + struct.pack(">HHHH", 1, 2, 0, 0) + question + records)
            if word == "loop":
                own = name_bytes(name)
                records = b"\xc0\x0c" + struct.pack(">HHIH", CNAME, 1, 0, len(own)) + own
                return number + b"\x81\x80" + struct.pack(">HHHH", 1, 1, 0, 0) + question + records
        records = b"".join(b"\xc0\x0c" + struct.pack(">HHIH", A, 1, 0, 4) + socket.inet_aton(it) for it in found)
        # Answer, recursion desired and available; 3: no such name.
        code = 0 if known is not None else 3
        return (number + bytes([0x80 | (flags & 0x79), 0x80 | code]) + struct.pack(">HHHH", 1, len(found), 0, 0) + question
                + records)


class Clock(threading.Thread):
    """An SNTP server; `ahead` is how much its clock is before ours, in seconds."""

    def __init__(self, address, port=123, ahead=0):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((address, port))
        self.ahead = ahead
        self.start()

    def run(self):
        while True:
            asked, sender = self.socket.recvfrom(512)
            now = time.time() + self.ahead
            stamp = struct.pack(">II", int(now) + 2_208_988_800, int(now % 1 * 2**32))
            # Version 4, server, stratum 2; the client's transmit time goes back as the originate time.
            answer = struct.pack(">BBbbII4s", 0x24, 2, 6, -20, 0, 0, b"MOTE") + stamp + asked[40:48] + stamp + stamp
            self.socket.sendto(answer, sender)
