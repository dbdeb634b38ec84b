"""The emulated board, on the cable of tests/hostile/wire.py."""

import os
import socket
import struct
import subprocess
import time

from house import ask_plainly, assert_card, question, wait_until
from wire import checksum
from wires import BOARD

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
TYPE = os.path.join(TESTS, "emulated", "type.py")


def type_line(line):
    """Types a line on the board's console, and gives what it says."""
    said = subprocess.run([TYPE, os.environ["MOTE_CONSOLE"], line], capture_output=True, text=True, check=True)
    return said.stdout


def called(name):
    wait_until(lambda: f"{name}.local" in type_line("name"), f"it is called {name}")


def is_found_and_its_card_fetched_by_name(house):
    called("mote")
    assert assert_card(house.find("mote"), "mote") == BOARD
    with open(os.environ["MOTE_LOG"], encoding="utf-8") as log:
        assert "at http://mote.local/" in log.read()


def who_has_no_idea_of_mdns_gets_an_answer(house):
    [(answer, (address, _))] = ask_plainly(house.here, question("mote.local", number=4711))
    assert answer[:2] == b"\x12\x67" and answer.endswith(bytes([10, 0, 2, 15])) and address == BOARD, answer


def another_name_is_followed(house):
    _, listener = house.look()
    wait_until(lambda: "mote" in listener.present, "it is found")
    assert "ok" in type_line("name kitchen")
    called("kitchen")
    # It took the name before back.
    wait_until(lambda: listener.present == {"kitchen"}, f"it is found by its new name: {listener.history}")
    assert_card(house.find("kitchen"), "kitchen")
    assert "hyphens" in type_line("name kitchen.local")


def a_name_that_somebody_else_has_stays_theirs(house):
    house.taken("hall")
    type_line("name hall")
    called("hall-2")
    assert_card(house.find("hall-2"), "hall-2")
    assert house.find("hall").port == 9
    type_line("name mote")
    called("mote")


def noise_does_not_keep_it_from_answering(house):
    packets = [b"\xff" * 1400, os.urandom(600), b"\0" * 12, question("mote.local")[:-1],
               b"\0\0\x84\0\0\0\xff\xff\xff\xff\xff\xff" + b"\0" * 1400]
    for number in range(200):
        ask_plainly(house.here, packets[number % len(packets)], seconds=0.001)
        ask_plainly(house.here, packets[number % len(packets)], to=(BOARD, 5353), seconds=0.001)
    time.sleep(1)
    assert len(ask_plainly(house.here, question("mote.local"))) == 1
    assert_card(house.find("mote"), "mote")


def who_was_never_there_is_not_waited_for(house):
    # Questions by ordinary DNS from addresses that nobody has: the answers cannot be delivered.
    body = question("mote.local")
    udp = struct.pack(">4H", 40000, 5353, 8 + len(body), 0) + body
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as raw:
        raw.bind(("cable", 0))
        for last in range(200, 205):
            head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 255, 17, 0,
                               bytes([10, 0, 2, last]), bytes([224, 0, 0, 251]))
            head = head[:10] + struct.pack(">H", checksum(head)) + head[12:]
            raw.send(b"\x01\0\x5e\0\0\xfb" + b"\x02mote9" + b"\x08\0" + head + udp)
    time.sleep(2)
    assert len(ask_plainly(house.here, question("mote.local"))) == 1
    assert_card(house.find("mote"), "mote")


CASES = [
    is_found_and_its_card_fetched_by_name,
    who_has_no_idea_of_mdns_gets_an_answer,
    another_name_is_followed,
    a_name_that_somebody_else_has_stays_theirs,
    noise_does_not_keep_it_from_answering,
    who_was_never_there_is_not_waited_for,
]
