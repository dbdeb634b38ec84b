#!/usr/bin/env python3
"""What the emulated Arm board needs when it works.

    tests/size/emulated.py                 counts instructions, bytes per connection, and requests per second
    tests/size/emulated.py BASE_URL        after a suite has run there: how deep the stack has been; with MOTE_TOKEN

Fails where ceilings.txt beside this file allows less. Requests per second are shown and have no ceiling: the machine that
emulates is noisy, and faster or slower than any real board.
"""

import http.client
import json
import os
import sys
import time
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "emulated"))
from life import Board  # noqa: E402

SEND = json.dumps({
    "jsonrpc": "2.0", "id": 1, "method": "SendMessage",
    "params": {"message": {"messageId": "b", "role": "ROLE_USER", "parts": [{"text": "read temperature"}]}},
})
REQUESTS = 100


def main():
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    sys.exit(stack(sys.argv[1]) if len(sys.argv) == 2 else work())


def ceiling(what):
    """The number behind `what` in the ceilings."""
    for line in (Path(__file__).parent / "ceilings.txt").read_text().splitlines():
        words = line.split()
        if words and words[0] == what:
            return int(words[1])
    sys.exit(f"ceilings.txt has no {what}")


def judge(numbers):
    """Shows what was measured beside what is allowed; 1 if something takes more."""
    over = False
    for what, words, number in numbers:
        allowed = ceiling(what)
        over |= number > allowed
        print(f"{number:10}  {words} (at most {allowed}){' TOO MUCH' if number > allowed else ''}")
    return int(over)


def stack(url):
    token = os.environ.get("MOTE_TOKEN")
    request = urllib.request.Request(url + "/status", headers={"Authorization": f"Bearer {token}"} if token else {})
    with urllib.request.urlopen(request, timeout=30) as answer:
        status = json.load(answer)
    measured = status["stackBytes"]
    words = f"bytes of stack at the deepest on {status['board']}, of {measured['all']}"
    return judge([("stack-bytes", words, measured["deepest"])])


def send(board, connection):
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {board.token}"}
    connection.request("POST", "/", SEND, headers)
    answer = connection.getresponse()
    body = json.load(answer)
    assert body["result"]["task"]["status"]["state"] == "TASK_STATE_COMPLETED", body


def count(board):
    """Instructions of a send, from the first byte that the network card has to the last that it sends."""
    connection = http.client.HTTPConnection("127.0.0.1", board.port, timeout=60)
    send(board, connection)
    before = int(board.ask("trial count"))
    for _ in range(REQUESTS):
        send(board, connection)
    return (int(board.ask("trial count")) - before) // REQUESTS


# By then the board has its address and its name, and has said so twice.
SETTLED_MS = 6000


def wait_for_quiet(board):
    """Waits until the board has nothing of its own to do: what it does meanwhile would be counted, too."""
    url = f"http://127.0.0.1:{board.port}/status"
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {board.token}"})
    while True:
        with urllib.request.urlopen(request, timeout=60) as answer:
            if json.load(answer)["uptimeMs"] >= SETTLED_MS:
                return
        time.sleep(0.2)


def work():
    # A nanosecond is an instruction: the board's own clock counts them.
    board = Board("arm", "-icount shift=0")
    try:
        wait_for_quiet(board)
        bench = json.loads(board.ask("trial bench"))
        all_in_all = count(board)
    finally:
        board.end()
    status = judge([
        ("instructions-per-send", "instructions of ours for a send, without the network", bench["instructionsPerSend"]),
        ("instructions-per-card", "instructions of ours for the card, without the network", bench["instructionsPerCard"]),
        ("instructions-per-token", "instructions for the token of a notification", bench["instructionsPerToken"]),
        ("instructions-all-in-all", "instructions of all for a send, with HTTP and TCP", all_in_all),
    ])
    board = Board("arm")
    try:
        line, _ = board.wait_for_line("bytes: .* a connection")
        print("            " + line.split("bytes: ", 1)[1])
        print(f"{rate(board, keep=True):10.0f}  sends a second over one connection, on this machine now")
        print(f"{rate(board, keep=False):10.0f}  sends a second over a new connection each, on this machine now")
    finally:
        board.end()
    return status


def rate(board, keep):
    begun = time.monotonic()
    connection = None
    for _ in range(REQUESTS):
        if connection is None or not keep:
            connection = http.client.HTTPConnection("127.0.0.1", board.port, timeout=60)
        send(board, connection)
        if not keep:
            connection.close()
    return REQUESTS / (time.monotonic() - begun)


if __name__ == "__main__":
    main()
