"""What most Linux machines find devices with: avahi, and through it every program that looks a name up."""

import os
import pathlib
import shutil
import subprocess
import tempfile

from house import Skip, wait_until
from wires import THERE

BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path=PATH</listen><auth>EXTERNAL</auth><policy context="default">
<allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/><allow user="*"/></policy></busconfig>
"""
AVAHI = """[server]
host-name=laptop
use-ipv6=no
allow-interfaces=near
enable-dbus=yes
"""


class Avahi:
    """An avahi of our own, with a bus of its own. Nobody outside this namespace sees either."""

    def __init__(self):
        for tool in ["avahi-daemon", "avahi-browse", "avahi-resolve", "dbus-daemon"]:
            if not shutil.which(tool):
                raise Skip(f"{tool} (as root on Debian: apt-get install avahi-daemon avahi-utils libnss-mdns)")
        self.folder = tempfile.TemporaryDirectory()
        here = pathlib.Path(self.folder.name)
        here.chmod(0o755)
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
        os.makedirs("/run/avahi-daemon")
        (here / "bus.conf").write_text(BUS.replace("PATH", f"{here}/bus"))
        (here / "avahi.conf").write_text(AVAHI)
        self.environment = dict(os.environ, DBUS_SYSTEM_BUS_ADDRESS=f"unix:path={here}/bus")
        bus = ["dbus-daemon", f"--config-file={here}/bus.conf", "--nofork", "--nopidfile"]
        self.processes = [subprocess.Popen(bus)]
        wait_until((here / "bus").exists, "there is a bus")
        daemon = ["avahi-daemon", "--no-drop-root", "--no-chroot", "--no-rlimits", "-f", f"{here}/avahi.conf"]
        self.processes.append(subprocess.Popen(daemon, env=self.environment, stderr=subprocess.DEVNULL))
        wait_until(lambda: self.run("avahi-resolve", "-n", "laptop.local").returncode == 0, "avahi answers")

    def run(self, *words):
        return subprocess.run(words, env=self.environment, capture_output=True, text=True, timeout=20, check=False)

    def close(self):
        for process in reversed(self.processes):
            process.terminate()
            process.wait(10)
        subprocess.run(["umount", "/run"], check=False)
        self.folder.cleanup()


def avahi_finds_it_and_curl_by_its_name(house):
    avahi = Avahi()
    try:
        port = house.sim("--mdns", "--bind", THERE[0]).name("mote")
        found = wait_until(lambda: [line for line in avahi.run("avahi-browse", "-rpt", "_a2a._tcp").stdout.splitlines()
                                    if line.startswith("=")], "avahi-browse finds it")
        [_, _, protocol, name, kind, domain, host, address, its_port, text] = found[0].split(";")
        assert (protocol, name, kind, domain) == ("IPv4", "mote", "_a2a._tcp", "local"), found
        assert (host, address, its_port) == ("mote.local", THERE[0], str(port)), found
        assert '"path=/.well-known/agent-card.json"' in text, found
        assert avahi.run("avahi-resolve", "-4n", "mote.local").stdout.split() == ["mote.local", THERE[0]]
        if "mdns" not in pathlib.Path("/etc/nsswitch.conf").read_text(encoding="ascii"):
            raise Skip("libnss-mdns, for programs that look names up (Debian: apt-get install libnss-mdns)")
        url = f"http://mote.local:{port}/.well-known/agent-card.json"
        fetched = avahi.run("curl", "-fsS", "-m", "10", url)
        assert '"skills"' in fetched.stdout, fetched
    finally:
        avahi.close()


def avahi_and_the_device_agree_who_has_a_name(house):
    avahi = Avahi()
    try:
        sim = house.sim("--mdns-name", "laptop", "--bind", THERE[0])
        sim.name("laptop-2")
        assert avahi.run("avahi-resolve", "-4n", "laptop-2.local").stdout.split() == ["laptop-2.local", THERE[0]]
        assert avahi.run("avahi-resolve", "-4n", "laptop.local").stdout.split()[1] == house.here
    finally:
        avahi.close()


CASES = [avahi_finds_it_and_curl_by_its_name, avahi_and_the_device_agree_who_has_a_name]
