"""What every case finds: somebody who looks for services, devices that can be started, and how to ask them."""

import http.client
import json
import os
import socket
import struct
import subprocess
import tempfile
import time

from zeroconf import IPVersion, ServiceBrowser, ServiceInfo, ServiceListener, Zeroconf

KIND = "_a2a._tcp.local."
CARD = "/.well-known/agent-card.json"
GROUP = ("224.0.0.251", 5353)


class Skip(Exception):
    """The case cannot be run because something is not installed, and what."""


def wait_until(look, what, seconds=15):
    """Waits until `look()` is true, and gives what it gave."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < deadline, f"{what}: not in {seconds} s"
        time.sleep(0.05)
    return found


class Sim:
    """A host-sim somewhere."""

    def __init__(self, way, *flags):
        self.log = tempfile.TemporaryFile("w+")
        words = [*way, os.environ["MOTE_SIM"], "--open", "--port", "0", *flags]
        self.process = subprocess.Popen(words, stdout=self.log, stderr=subprocess.STDOUT)

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def names(self):
        """The URLs by which it said it can be found, in order."""
        return [line.split()[1] for line in self.said().splitlines() if line.startswith("name ")]

    def name(self, name):
        """Waits until it has that name, and gives its port."""
        start = f"http://{name}.local:"
        url = wait_until(lambda: next(iter(self.names()[-1:]), "").startswith(start) and self.names()[-1],
                         f"it is called {name}")
        return int(url.removeprefix(start).rstrip("/"))

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        return self.process.wait(10)

    def kill(self):
        self.process.kill()
        self.process.wait()


class Listener(ServiceListener):
    """Somebody who looks for services, and remembers what came and went."""

    def __init__(self):
        self.present, self.history = set(), []

    def _note(self, what, name):
        self.history.append((what, name.removesuffix("." + KIND)))

    def add_service(self, _, __, name):
        self._note("came", name)
        self.present.add(name.removesuffix("." + KIND))

    def remove_service(self, _, __, name):
        self._note("went", name)
        self.present.discard(name.removesuffix("." + KIND))

    def update_service(self, _, __, name):
        self._note("changed", name)


class House:
    """The network. `here` is our address in it, `there` what a command begins with that runs at its other end."""

    def __init__(self, here, there, holder, url=None):
        self.here, self.there, self.holder, self.url = here, there, holder, url
        self.sims, self.zeroconfs = [], []

    def sim(self, *flags, near=False):
        """Starts a host-sim at the other end of the cable, or at ours."""
        self.sims.append(Sim([] if near else self.there, *flags))
        return self.sims[-1]

    def zeroconf(self):
        """Somebody who speaks mDNS, and knows nothing yet."""
        self.zeroconfs.append(Zeroconf(interfaces=[self.here], ip_version=IPVersion.V4Only))
        return self.zeroconfs[-1]

    def look(self):
        """Looks for agents."""
        listener, client = Listener(), self.zeroconf()
        ServiceBrowser(client, KIND, listener)
        return client, listener

    def find(self, name, seconds=15):
        """Finds the agent of that name, as somebody who has just come."""
        client, listener = self.look()
        wait_until(lambda: name in listener.present, f"{name} is found; there are {listener.history}", seconds)
        return self.resolve(client, name)

    def resolve(self, client, name):
        info = ServiceInfo(KIND, f"{name}.{KIND}")
        assert info.request(client, 5000), f"{name} is found, but not where it is"
        return info

    def taken(self, name, port=9):
        """Somebody else has that name."""
        info = ServiceInfo(KIND, f"{name}.{KIND}", port, server=f"{name}.local.",
                           addresses=[socket.inet_aton(self.here)], properties={"path": "/elsewhere"})
        client = self.zeroconf()
        client.register_service(info)
        return client, info

    def after(self):
        for client in self.zeroconfs:
            client.close()
        for sim in self.sims:
            sim.stop()
        self.zeroconfs.clear()
        self.sims.clear()

    def tell_logs(self):
        for sim in self.sims:
            print("\n".join(sim.said().splitlines()[:6] + sim.names()))

    def close(self):
        if self.holder:
            self.holder.kill()
            self.holder.wait()


def get(address, port, host, path=CARD):
    """Asks a device under a name. Gives the status, and what it says."""
    connection = http.client.HTTPConnection(address, port, timeout=10)
    connection.putrequest("GET", path, skip_host=True)
    connection.putheader("Host", host)
    connection.endheaders()
    answer = connection.getresponse()
    status, body = answer.status, answer.read()
    connection.close()
    return status, body


def assert_card(info, name):
    """What was found leads to the card, and the device knows its name."""
    assert info.server == f"{name}.local.", info.server
    assert info.decoded_properties == {"txtvers": "1", "path": CARD}, info.decoded_properties
    [address] = info.parsed_addresses()
    host = f"{name}.local" if info.port == 80 else f"{name}.local:{info.port}"
    status, card = get(address, info.port, host, info.decoded_properties["path"])
    assert status == 200 and json.loads(card)["skills"], (status, card)
    # Who is led here by another name is not: a page could have that name.
    status, _ = get(address, info.port, "evil.local")
    assert status == 421, status
    return address


def question(name, kind=1, number=0):
    """A question as a packet."""
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    return struct.pack(">6H", number, 0, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">2H", kind, 1)


def ask_plainly(here, packet, to=GROUP, seconds=3):
    """Asks as somebody who has no idea of mDNS, from a port of their own. Gives all answers."""
    answers = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plain:
        plain.bind((here, 0))
        plain.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(here))
        plain.settimeout(seconds)
        plain.sendto(packet, to)
        try:
            while True:
                answers.append(plain.recvfrom(2000))
                plain.settimeout(0.3)
        except TimeoutError:
            return answers
