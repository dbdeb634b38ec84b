"""Two network namespaces with a cable between them: the devices at one end, the clients at the other."""

import os
import subprocess
import time

from house import House

# The clients' end, and that of the devices.
NEAR, FAR = "near", "far"
HERE = "10.77.0.1"
THERE = ["10.77.0.2", "10.77.0.3"]
# Where the board's cable ends: tests/hostile/wire.py.
AT_BOARD, BOARD = "10.0.2.2", "10.0.2.15"


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
