"""Two network namespaces with a cable between them: the devices at one end, the clients at the other."""

import os
import shutil
import subprocess
import sys
import time

from house import House

INSIDE = "MOTE_DISCOVERY_INSIDE"
# The clients' end, and that of the devices.
NEAR, FAR = "near", "far"
HERE = "10.77.0.1"
THERE = ["10.77.0.2", "10.77.0.3"]
# Where the board's cable ends: tests/hostile/wire.py.
AT_BOARD, BOARD = "10.0.2.2", "10.0.2.15"


def enter():
    """Runs this program again, in a namespace that ends with it."""
    if os.environ.get(INSIDE) == "1":
        return
    if not shutil.which("unshare") or not shutil.which("ip") or not shutil.which("nsenter"):
        print("missing: unshare, nsenter or ip (as root on Debian: apt-get install util-linux iproute2)")
        sys.exit(77)
    way = ["unshare", "--net", "--mount"]
    if os.geteuid() != 0:
        way.insert(1, "--map-root-user")
    if subprocess.run([*way, "true"], check=False).returncode != 0:
        print("there may be no network namespace here: be root")
        sys.exit(77)
    os.execvpe(way[0], [*way, sys.executable, *sys.argv], dict(os.environ, **{INSIDE: "1"}))


def run(*words):
    subprocess.run(words, check=True)


def lay():
    """Makes the other namespace, and the cable."""
    holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
    own = os.readlink("/proc/self/ns/net")
    while os.readlink(f"/proc/{holder.pid}/ns/net") == own:
        time.sleep(0.01)
    there = ["nsenter", f"--net=/proc/{holder.pid}/ns/net"]
    run("ip", "link", "set", "lo", "up")
    run(*there, "ip", "link", "set", "lo", "up")
    run("ip", "link", "add", NEAR, "type", "veth", "peer", "name", FAR, "netns", str(holder.pid))
    run("ip", "address", "add", f"{HERE}/24", "dev", NEAR)
    for address in THERE:
        run(*there, "ip", "address", "add", f"{address}/24", "dev", FAR)
    run("ip", "link", "set", NEAR, "up")
    run(*there, "ip", "link", "set", FAR, "up")
    run(*there, "ip", "route", "add", "default", "dev", FAR)
    return House(HERE, there, holder)


def at_board(url):
    return House(AT_BOARD, [], None, url)
