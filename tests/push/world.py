"""What every case finds: devices with the rules that it wants, receivers at addresses of every kind, and servers for names
and the time. All of it is in a network of its own."""

import os
import subprocess
import tempfile
import time

from authority import Authority
from device import Board, Rules, Sim
from names import Clock, Names
from receiver import Receiver

# Addresses of every kind, all of them ours here. Nobody outside ever hears of it.
PUBLIC = ["11.22.33.44", "11.22.33.45"]
PRIVATE = "192.168.77.7"
LINK_LOCAL = "169.254.77.7"
METADATA = "169.254.169.254"


class Skip(Exception):
    """The case cannot be run because something was not given to us, and what."""


class Elsewhere(Exception):
    """The case is about something that there is not here, and what."""


def furnish():
    """Makes the namespace's network: everything leads to us, and so do names."""
    run = lambda *words: subprocess.run(words, check=True)
    run("ip", "link", "set", "lo", "up")
    with tempfile.NamedTemporaryFile("w", encoding="ascii", suffix=".conf") as file:
        file.write("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
        file.flush()
        run("mount", "--bind", file.name, "/etc/resolv.conf")


class World:
    """The network and the devices in it. `url` is where a board is; without it there are host-sims."""

    def __init__(self, url=None):
        self.is_board = url is not None
        # An address of ours that the device may call under `self.usual`, and the one that it has itself.
        self.here = "10.0.2.2" if self.is_board else "127.0.0.1"
        self.own = "10.0.2.15" if self.is_board else "127.0.0.1"
        device = ["dev", "cable"] if self.is_board else ["dev", "lo"]
        for address in [*PUBLIC, PRIVATE, LINK_LOCAL, METADATA]:
            subprocess.run(["ip", "address", "add", f"{address}/32", *device], check=True)
        self.names = Names(self.here)
        self.clock = Clock(self.here) if self.is_board else None
        self.authority, self.authority_384 = Authority("p256"), Authority("p384", "mote tests, 384 bits")
        self.stranger = Authority("p256", "somebody else")
        self.trust = os.path.join(self.authority.folder.name, "trusted.pem")
        with open(self.trust, "w", encoding="ascii") as file:
            file.write(self.authority.root.pem() + self.authority_384.root.pem())
        self.devices, self.receivers, self.secrets = {}, [], set()
        self.board = Board(url) if self.is_board else None
        if self.is_board:
            self.board.trust([self.authority.root, self.authority_384.root])
        # What most cases are under: our address, and plain HTTP. A host-sim on loopback allows both by itself.
        self.usual = Rules(["private", "http"] if self.is_board else [])

    def device(self, rules=None):
        """A device under these rules."""
        rules = rules or self.usual
        if self.is_board:
            self.board.obey(rules)
            return self.board
        if rules.key() not in self.devices:
            self.devices[rules.key()] = Sim(rules, self.trust)
        return self.devices[rules.key()]

    def receiver(self, address=None, port=0, identity=None):
        """A receiver that ends with the case."""
        receiver = Receiver(address or self.here, port, identity)
        self.receivers.append(receiver)
        return receiver

    def used(self):
        return [self.board] if self.is_board else list(self.devices.values())

    def after(self):
        """Nothing is left of a case, the devices are well, and no secret is in their logs."""
        for device in self.used():
            device.assert_fine()
            device.tidy()
            log = device.log()
            assert not any(secret in log for secret in self.secrets), "a secret of a webhook is in the log"
        for receiver in self.receivers:
            receiver.close()
        self.receivers.clear()

    def secret(self, word):
        """A secret that must not turn up anywhere."""
        made = f"{word}-{len(self.secrets)}-that-nobody-else-may-see"
        self.secrets.add(made)
        return made

    def close(self):
        for device in self.devices.values():
            device.close()


def wait_until(look, what, seconds=20):
    """Waits until `look()` is true, and gives what it gave."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < deadline, f"{what}: not in {seconds} s"
        time.sleep(0.05)
    return found
