"""The emulated board, on the cable of tests/hostile/wire.py."""

import os
import subprocess
import time

from house import ask_plainly, assert_card, question, wait_until
from wires import BOARD

TYPE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "emulated", "type.py")


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


CASES = [
    is_found_and_its_card_fetched_by_name,
    who_has_no_idea_of_mdns_gets_an_answer,
    another_name_is_followed,
    a_name_that_somebody_else_has_stays_theirs,
    noise_does_not_keep_it_from_answering,
]
