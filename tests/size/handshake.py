#!/usr/bin/env python3
"""What a call over TLS takes on the emulated Arm board, beside one without.

    tests/size/handshake.py

Counts the instructions of a notification to a receiver on this machine: in the clear, and over TLS with certificates of
several kinds; and looks at how deep the stack has been. What TLS takes is nearly all curves: keys to agree on, and one
signature to check for each certificate and one for the proof. Needs openssl; shows numbers and has no ceilings.
"""

import json
import sys
import time
import urllib.request
from pathlib import Path

for folder in ["emulated", "push"]:
    sys.path.insert(0, str(Path(__file__).parent.parent / folder))
from authority import Authority  # noqa: E402
from life import Board  # noqa: E402
from receiver import Receiver  # noqa: E402

# This machine, as the board sees it.
HOST = "10.0.2.2"
NOTIFICATIONS = 4


def main():
    p256, p384 = Authority("p256", "one"), Authority("p384", "two")
    kinds = {
        "in the clear": None,
        "P-256, one certificate": p256.leaf([HOST]),
        "P-256, two certificates": p256.leaf([HOST], issuer=p256.middle()),
        "P-384 of two authorities, P-256 of the receiver": p384.leaf([HOST], "p256", issuer=p384.middle()),
        "P-384, two certificates": p384.leaf([HOST], issuer=p384.middle()),
    }
    # A nanosecond is an instruction: the board's own clock counts them.
    board = Board("arm", "-icount shift=0")
    try:
        prepare(board, [p256.root, p384.root])
        clear = None
        for name, identity in kinds.items():
            count, each = measure(board, identity)
            clear = each if clear is None else clear
            print(f"{each:12,}  instructions for a notification, {name} ({count} of them); {each - clear:,} more", flush=True)
        stack = board.get("/status")["stackBytes"]
        print(f"{stack['deepest']:12,}  bytes of stack at the deepest, of {stack['all']:,}")
    finally:
        board.end()


def prepare(board, roots):
    for root in roots:
        board.serial.sendall(root.pem().encode())
        said = b""
        while not (b"SHA-256" in said or b"ok" in said) or not said.endswith(b"\n"):
            said += board.serial.recv(4096)
    for line in ["webhooks allow http", "webhooks allow private"]:
        said = board.ask(line)
        assert "next restart" in said, f"{line}: {said}"
    at = len(board.lines)
    board.type("reboot")
    board.wait_for_line(" at http://", after=at)
    # What is left of its last words.
    board.serial.settimeout(2)
    try:
        while board.serial.recv(4096):
            pass
    except TimeoutError:
        board.serial.settimeout(60)


def measure(board, identity):
    """Notifications that came, and the instructions that each took."""
    with Receiver(identity=identity) as receiver:
        before = int(board.ask("trial count"))
        config = {"url": receiver.url("/hook", HOST)}
        message = {"messageId": "h", "role": "ROLE_USER", "parts": [{"text": f"watch temperature {NOTIFICATIONS} times every 0 ms"}]}
        params = {"message": message, "configuration": {"taskPushNotificationConfig": config, "returnImmediately": True}}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params}).encode()
        with urllib.request.urlopen(board.request("/", body), timeout=60) as answer:
            told = json.load(answer)
            assert "result" in told, told
        receiver.wait_posts(1, seconds=120)
        count = 0
        while count < len(receiver.posts()):
            count = len(receiver.posts())
            time.sleep(8)
        return count, (int(board.ask("trial count")) - before) // count


if __name__ == "__main__":
    main()
