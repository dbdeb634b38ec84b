"""host-sims that are found, with and without others of the same name."""

import struct

from house import GROUP, KIND, ask_plainly, assert_card, get, question, wait_until
from wires import FAR, HERE, NEAR, THERE, run
from zeroconf import NonUniqueNameException, ZeroconfServiceTypes


def is_found_and_its_card_fetched_by_name(house):
    sim = house.sim("--mdns", "--bind", THERE[0])
    port = sim.name("mote")
    info = house.find("mote")
    assert info.port == port and assert_card(info, "mote") == THERE[0]
    assert KIND in ZeroconfServiceTypes.find(zc=house.zeroconf(), timeout=3)


def is_not_found_unless_somebody_says_so(house):
    house.sim("--bind", THERE[0])
    other = house.sim("--mdns", "--bind", THERE[1])
    other.name("mote")
    _, listener = house.look()
    wait_until(lambda: listener.present, "the other one is found")
    assert listener.history == [("came", "mote")]


def two_of_the_same_name_are_both_found(house):
    sims = [house.sim("--mdns", "--bind", address) for address in THERE]
    wait_until(lambda: all(sim.names() for sim in sims), "both have a name")
    found = {name: house.find(name) for name in ["mote", "mote-2"]}
    assert {assert_card(info, name) for name, info in found.items()} == set(THERE)
    # Each knows its own name, and not the other one's.
    for name, other in [("mote", "mote-2"), ("mote-2", "mote")]:
        [address] = found[name].parsed_addresses()
        assert get(address, found[name].port, f"{other}.local")[0] == 421


def two_on_one_machine_are_both_found(house):
    sims = [house.sim("--mdns", "--bind", THERE[0]) for _ in range(2)]
    wait_until(lambda: all(sim.names() for sim in sims), "both have a name")
    ports = {house.find(name).port for name in ["mote", "mote-2"]}
    assert len(ports) == 2


def a_name_that_somebody_else_has_stays_theirs(house):
    house.taken("kitchen")
    sim = house.sim("--mdns-name", "kitchen", "--bind", THERE[0])
    sim.name("kitchen-2")
    assert_card(house.find("kitchen-2"), "kitchen-2")
    assert house.find("kitchen").port == 9
    assert sim.names() == [sim.names()[-1]], "it was never called kitchen"


def its_own_name_is_defended(house):
    house.sim("--mdns", "--bind", THERE[0]).name("mote")
    try:
        house.taken("mote")
        raise AssertionError("somebody took its name")
    except NonUniqueNameException:
        pass
    assert_card(house.find("mote"), "mote")


def who_stops_is_gone(house):
    sim = house.sim("--mdns", "--bind", THERE[0])
    sim.name("mote")
    _, listener = house.look()
    wait_until(lambda: "mote" in listener.present, "it is found")
    assert sim.stop() == 0
    # Without a goodbye it would be known for more than an hour.
    wait_until(lambda: "mote" not in listener.present, "it is gone", 5)


def who_comes_back_elsewhere_is_found_there(house):
    sim = house.sim("--mdns", "--bind", THERE[0])
    sim.name("mote")
    client, listener = house.look()
    wait_until(lambda: "mote" in listener.present, "it is found")
    # It could not say goodbye.
    sim.kill()
    port = house.sim("--mdns", "--bind", THERE[1]).name("mote")
    info = wait_until(lambda: (info := house.resolve(client, "mote")).parsed_addresses() == [THERE[1]] and info,
                      "it is found where it is now")
    assert info.port == port and assert_card(info, "mote") == THERE[1]


def follows_its_machine_to_another_address(house):
    sim = house.sim("--mdns", "--bind", "0.0.0.0")
    sim.name("mote")
    client, listener = house.look()
    wait_until(lambda: "mote" in listener.present, "it is found")
    assert house.resolve(client, "mote").parsed_addresses() == [THERE[0]]
    try:
        move(house, ["10.77.0.9"])
        wait_until(lambda: house.resolve(client, "mote").parsed_addresses() == ["10.77.0.9"], "it is found there")
        assert_card(house.resolve(client, "mote"), "mote")
    finally:
        move(house, THERE)


def move(house, addresses):
    """Gives the devices' end of the cable other addresses."""
    ip = lambda *words: run(*house.there, "ip", *words)
    ip("address", "flush", "dev", FAR)
    for address in addresses:
        ip("address", "add", f"{address}/24", "dev", FAR)
    ip("route", "replace", "default", "dev", FAR)


def two_networks_that_become_one_find_out(house):
    run("ip", "link", "set", NEAR, "down")
    sims = [house.sim("--mdns", "--bind", THERE[0]), house.sim("--mdns", "--bind", HERE, near=True)]
    for sim in sims:
        sim.name("mote")
    run("ip", "link", "set", NEAR, "up")
    # Both answer, and each hears that it is not alone.
    def names():
        ask_plainly(HERE, question("mote.local"), seconds=0.2)
        packet = question("mote.local")
        # From the port of those who speak mDNS it is for everybody.
        client = house.zeroconf()
        client.send(Raw(packet), *GROUP)
        return sorted(sim.names()[-1].split(".")[0] for sim in sims) == ["http://mote", "http://mote-2"]
    wait_until(names, "one of them gives way", 20)
    for name in ["mote", "mote-2"]:
        assert_card(house.find(name), name)


class Raw:
    """A packet for those who want to make it themselves."""

    def __init__(self, packet):
        self.packet = packet

    def packets(self):
        return [self.packet]


def who_has_no_idea_of_mdns_gets_an_answer(house):
    port = house.sim("--mdns", "--bind", THERE[0]).name("mote")
    [(answer, (address, source))] = ask_plainly(HERE, question("mote.local", number=4711))
    number, flags, questions, answers, _, _ = struct.unpack(">6H", answer[:12])
    assert (number, flags, questions, answers) == (4711, 0x8400, 1, 1), answer
    asked = question("mote.local")[12:]
    # Ten seconds, and an address of four bytes.
    assert answer[12:] == asked + asked + struct.pack(">IH", 10, 4) + bytes([10, 77, 0, 2]), answer
    assert (address, source) == (THERE[0], GROUP[1]) and port
    assert ask_plainly(HERE, question("lamp.local"), seconds=0.5) == []


def packets_of_noise_change_nothing(house):
    house.sim("--mdns", "--bind", THERE[0]).name("mote")
    full = question("mote.local")
    noise = [b"", b"\0" * 12, b"\xff" * 1400, *(full[:end] for end in range(len(full))),
             struct.pack(">6H", 0, 0, 1, 0, 0, 0) + b"\xc0\x0c\0\x01\0\x01",
             struct.pack(">6H", 0, 0x8400, 0, 65535, 65535, 65535) + b"\0" * 1400]
    for packet in noise:
        assert ask_plainly(HERE, packet, seconds=0.01) == []
    assert len(ask_plainly(HERE, full)) == 1
    assert_card(house.find("mote"), "mote")


CASES = [
    is_found_and_its_card_fetched_by_name,
    is_not_found_unless_somebody_says_so,
    two_of_the_same_name_are_both_found,
    two_on_one_machine_are_both_found,
    a_name_that_somebody_else_has_stays_theirs,
    its_own_name_is_defended,
    who_stops_is_gone,
    who_comes_back_elsewhere_is_found_there,
    follows_its_machine_to_another_address,
    two_networks_that_become_one_find_out,
    who_has_no_idea_of_mdns_gets_an_answer,
    packets_of_noise_change_nothing,
]
