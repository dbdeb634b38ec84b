#!/usr/bin/env python3
"""The life of a board: what becomes of it when it panics, hangs, restarts or learns what time it is.

    tests/emulated/life.py arm|riscv|rp2040

Starts the emulated board, does it to it over its console and its network, and looks at the status after the next start.
The image of the RP2040 is the one that is flashed: it has no command that makes it fail, so the emulator does it to it.
Standard library only. Ends with a line that counts what passed and failed.
"""

import base64
import hashlib
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
EMULATE = os.path.join(HERE, "..", "emulate.sh")
PATIENCE_SECONDS = 60
TRIALS_OF_RP2040 = {"hang": signal.SIGUSR1, "overflow": signal.SIGUSR2}


class Board:
    """An emulated board, its log, its console and its network."""

    def __init__(self, name, flags=""):
        self.name = name
        self.folder = tempfile.TemporaryDirectory()
        self.console_path = os.path.join(self.folder.name, "console")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        environment = dict(os.environ, MOTE_CONSOLE=self.console_path, MOTE_QEMU_FLAGS=flags)
        self.process = subprocess.Popen(
            [EMULATE, name, str(self.port)], env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
        self.lines = []
        self.news = threading.Condition()
        threading.Thread(target=self._listen, daemon=True).start()
        # Building comes first, and may take minutes.
        self.wait_for_line("^ready ", 1800)
        self.serial = socket.socket(socket.AF_UNIX)
        self.serial.connect(self.console_path)
        self.serial.settimeout(PATIENCE_SECONDS)
        # Every emulation is a first start: nobody was known. The console shows the token, too, to whoever types first.
        self.token = token_in(self.wait_for_line("token of owner")[0])
        self.first_words = self.ask("")

    def _listen(self):
        for line in self.process.stdout:
            with self.news:
                self.lines.append(line.rstrip())
                self.news.notify_all()
        with self.news:
            self.lines.append("the board has ended")
            self.news.notify_all()

    def wait_for_line(self, pattern, seconds=PATIENCE_SECONDS, after=0):
        """Waits for a line of the log behind the one with number `after`, and returns it with its number."""
        deadline = time.monotonic() + seconds
        with self.news:
            while True:
                for number, line in enumerate(self.lines[after:], after):
                    if re.search(pattern, line):
                        return line, number
                    if line == "the board has ended":
                        raise AssertionError("the board has ended:\n" + "\n".join(self.lines))
                if not self.news.wait(deadline - time.monotonic()):
                    raise AssertionError(f"no {pattern!r} in the log:\n" + "\n".join(self.lines))

    def type(self, line):
        self.serial.sendall(line.encode() + b"\n")

    def ask(self, line, end=b"\n"):
        """Types a line and returns what is answered, up to `end`."""
        self.type(line)
        answer = b""
        while not answer.endswith(end):
            piece = self.serial.recv(4096)
            assert piece, "the console has ended:\n" + "\n".join(self.lines)
            answer += piece
        return answer.decode().strip()

    def get(self, path):
        """Fetches a path; the first tries may meet a board that is still starting."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                with urllib.request.urlopen(self.request(path), timeout=10) as answer:
                    return json.load(answer)
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def request(self, path, body=None, token=None):
        """A request with a token: the owner's unless it is another one, or none if that is empty."""
        headers = {"Content-Type": "application/json"}
        if token != "":
            headers["Authorization"] = f"Bearer {token or self.token}"
        return urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", body, headers)

    def is_let_in(self, token):
        """Whether a token opens the door; an empty one is none."""
        try:
            with urllib.request.urlopen(self.request("/status", token=token), timeout=10) as answer:
                return answer.status == 200
        except urllib.error.HTTPError as error:
            assert error.code == 401 and error.headers["WWW-Authenticate"], error
            return False

    def send(self, text, **more):
        """Sends a message and returns the task, or the message that answers it."""
        message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": text}], **more}
        body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}
        with urllib.request.urlopen(self.request("/", json.dumps(body).encode()), timeout=30) as answer:
            result = json.load(answer)["result"]
        return result.get("task") or result["message"]

    def restarts(self):
        return sum("mote " in line and " on " in line for line in self.lines)

    def restarted(self, do):
        """Does something, waits for the next start and returns its status."""
        after = len(self.lines)
        do()
        _, number = self.wait_for_line("started because of", after=after)
        self.wait_for_line(" at http://", after=number)
        return self.get("/status")

    def emulator(self):
        """The process that emulates."""
        name = "node" if self.name == "rp2040" else "qemu"
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as children:
            for pid in children.read().split():
                with open(f"/proc/{pid}/comm") as comm:
                    if name in comm.read():
                        return int(pid)
        raise AssertionError(f"no {name} runs")

    def suffer(self, trial):
        """Makes the firmware fail."""
        if self.name == "rp2040":
            os.kill(self.emulator(), TRIALS_OF_RP2040[trial])
        else:
            self.type(f"trial {trial}")

    def emulator_seconds(self):
        """Processor time of the emulator so far."""
        with open(f"/proc/{self.emulator()}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self):
        os.kill(self.process.pid, signal.SIGTERM)
        self.process.wait(20)
        self.folder.cleanup()


class TimeServer(threading.Thread):
    """An SNTP server on loopback that says it is always the same time."""

    NOW = 1_800_000_000  # 2027-01-15T08:00:00Z

    def __init__(self):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]

    def run(self):
        while True:
            asked, sender = self.socket.recvfrom(512)
            stamp = struct.pack(">II", self.NOW + 2_208_988_800, 0)
            # Version 4, server, stratum 2; the client's transmit time goes back as the originate time.
            answer = struct.pack(">BBbbII4s", 0x24, 2, 6, -20, 0, 0, b"MOTE") + stamp + asked[40:48] + stamp + stamp
            self.socket.sendto(answer, sender)


def token_in(words):
    """The token that is shown there."""
    [token] = re.findall(r"shown this once: ([A-Za-z0-9_-]{32})(?:\s|$)", words)
    return token


def value(task):
    [artifact] = task["artifacts"]
    [data] = [part["data"] for part in artifact["parts"] if "data" in part]
    return data["value"]


# Each case gets a board that runs, and leaves one.

def a_first_start_says_so(board):
    status = board.get("/status")
    assert status["reset"] == {"reason": "power on", "detail": ""}, status
    assert "time" not in status, status


def a_first_start_shows_a_token_once(board):
    assert token_in(board.first_words) == board.token, board.first_words
    assert board.is_let_in(board.token) and not board.is_let_in("") and not board.is_let_in("a-guess-at-a-token")
    assert board.get("/status")["door"] == {"open": False, "principals": 1}, board.get("/status")
    # The next start knows it, and nobody shows it again.
    after = len(board.lines)
    board.restarted(lambda: board.ask("reboot"))
    assert board.is_let_in(board.token) and not board.is_let_in("")
    assert not any("shown this once" in line for line in board.lines[after:]), board.lines[after:]
    assert "not understood" in board.ask("dance")
    assert sum(board.token in line for line in board.lines) == 1, board.lines


def tokens_are_made_replaced_retired_and_revoked(board):
    first = token_in(board.ask("token add anna read+act"))
    assert "in use" in board.ask("token add anna read")
    assert "read, act and operator" in board.ask("token add ben all")
    assert board.is_let_in(first)
    second = token_in(board.ask("token replace anna", b"token retire anna\r\n"))
    list_of_them = board.ask("tokens", b"everybody else\r\n")
    assert "owner: read+act+operator, 1 token\r\nanna: read+act, 2 tokens" in list_of_them, list_of_them
    board.restarted(lambda: board.ask("reboot"))
    assert board.is_let_in(first) and board.is_let_in(second)
    assert board.ask("token retire anna") == "ok"
    assert not board.is_let_in(first) and board.is_let_in(second)
    assert board.ask("token revoke anna") == "ok"
    assert not board.is_let_in(second) and board.is_let_in(board.token)
    board.restarted(lambda: board.ask("reboot"))
    assert not board.is_let_in(first) and not board.is_let_in(second) and board.is_let_in(board.token)
    assert not any(token in line for token in (first, second) for line in board.lines), board.lines


def an_open_door_is_open_after_a_restart_until_it_is_shut(board):
    assert "open off" in board.ask("open on")
    assert board.is_let_in("")
    board.restarted(lambda: board.ask("reboot"))
    assert board.is_let_in("") and not board.is_let_in("a-guess-at-a-token")
    assert board.get("/status")["door"] == {"open": True, "principals": 1}, board.get("/status")
    assert board.ask("open off") == "ok"
    assert not board.is_let_in("")
    board.restarted(lambda: board.ask("reboot"))
    assert not board.is_let_in("") and board.is_let_in(board.token)


def the_last_token_can_be_revoked_and_the_console_lets_somebody_in_again(board):
    assert "token add NAME" in board.ask("token revoke owner")
    assert not board.is_let_in(board.token)
    # Nobody is known: the next start is a first one again.
    after = len(board.lines)
    assert board.ask("reboot") == "ok"
    line, number = board.wait_for_line("token of owner", after=after)
    board.wait_for_line(" at http://", after=number)
    assert token_in(line) != board.token and token_in(board.ask("")) == token_in(line)
    board.token = token_in(line)
    assert board.is_let_in(board.token)


def names_and_origins_are_typed_and_count_from_the_next_start_on(board):
    def ask(**fields):
        request = board.request("/status")
        for name, text in fields.items():
            request.add_header(name, text)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, answer.headers["Access-Control-Allow-Origin"]
        except urllib.error.HTTPError as error:
            return error.code, error.headers["Access-Control-Allow-Origin"]

    panel = "https://panel.example:8443"
    assert "without a port" in board.ask("names mote.lan:80")
    assert "lower case" in board.ask("origins panel.example")
    assert "next restart" in board.ask("names mote.lan")
    assert "next restart" in board.ask(f"origins {panel}")
    assert ask(Host="mote.lan") == (421, None) and ask(Origin=panel) == (403, None)
    board.restarted(lambda: board.ask("reboot"))
    assert ask(Host="mote.lan")[0] == 200 and ask(Host="Mote.LAN:80")[0] == 200
    assert ask(Host="evil.example")[0] == 421
    assert ask(Origin=panel) == (200, panel) and ask(Origin="https://evil.example")[0] == 403
    assert "next restart" in board.ask("names") and "next restart" in board.ask("origins")
    board.restarted(lambda: board.ask("reboot"))
    assert ask(Host="mote.lan") == (421, None) and ask(Origin=panel) == (403, None)


def whom_it_may_call_is_typed_and_counts_from_the_next_start_on(board):
    assert board.ask("webhooks") == "push notifications by https to public addresses"
    assert "http, private" in board.ask("webhooks allow everything")
    assert "a host is a name" in board.ask("webhooks host http://hooks.lan")
    assert "next restart" in board.ask("webhooks allow private")
    assert "only to: hooks.lan:8443" in board.ask("webhooks host hooks.lan:8443")
    assert "none" in board.ask("trust")
    # What is pasted is taken for a certificate by its outermost length.
    roots = [bytes([0x30, 0x82, *(size - 4).to_bytes(2, "big"), *([seed] * (size - 4))]) for seed, size in ((1, 500), (2, 1024))]
    for root in roots:
        pem = base64.encodebytes(root).decode()
        assert "next restart" in board.ask(f"-----BEGIN CERTIFICATE-----\n{pem}-----END CERTIFICATE-----")
    pem = base64.encodebytes(roots[0][:-48]).decode()
    assert "not all of one" in board.ask(f"-----BEGIN CERTIFICATE-----\n{pem}-----END CERTIFICATE-----")
    fingerprints = [hashlib.sha256(root).hexdigest().upper() for root in roots]
    listed = board.ask("trust", f"{fingerprints[1][-2:]}\r\n".encode()).replace(":", "")
    assert all(fingerprint in listed for fingerprint in fingerprints), listed
    after = len(board.lines)
    board.restarted(lambda: board.ask("reboot"))
    board.wait_for_line("public, private addresses, and only to: hooks.lan:8443; 2 root certificates", after=after)
    for line in ("trust forget 2", "trust forget 1", "webhooks forget hooks.lan:8443", "webhooks refuse private"):
        assert "next restart" in board.ask(line), line
    assert "none of that number" in board.ask("trust forget 1")
    after = len(board.lines)
    board.restarted(lambda: board.ask("reboot"))
    board.wait_for_line("by https to public addresses; 0 root certificates", after=after)


def without_a_clock_there_is_no_time(board):
    task = board.send("read temperature")
    assert "timestamp" not in task["status"] and "1970" not in json.dumps(task), task


def the_console_answers(board):
    assert "wifi SSID" in board.ask("help", b"restart\r\n")
    assert "no radio" in board.ask("wifi home secret123")
    assert "8 to 63" in board.ask("wifi home short")
    assert "not understood" in board.ask("dance")
    assert "no ADDRESS" in board.ask("ntp somewhere")
    status = json.loads(board.ask("status", b"}}\n"))
    assert status["board"] in ("qemu-arm", "qemu-riscv", "w5500-pico") and status["address"] == "10.0.2.15", status


def the_time_comes_from_the_network(board):
    server = TimeServer()
    server.start()
    # The machine that emulates has 127.0.0.1 of this one at that address.
    assert board.ask(f"ntp 10.0.2.2:{server.port}") == "ok"
    board.wait_for_line("the time is known: 2027-01-15T08:00:0")
    assert board.get("/status")["time"].startswith("2027-01-15T08:00:"), board.get("/status")
    task = board.send("read temperature")
    assert task["status"]["timestamp"].startswith("2027-01-15T08:00:"), task
    assert board.ask("ntp") == "ok"


def a_restart_keeps_what_was_calibrated(board):
    before = value(board.send("read temperature"))
    asked = board.send("calibrate temperature")
    assert asked["status"]["state"] == "TASK_STATE_INPUT_REQUIRED", asked
    done = board.send("50", taskId=asked["id"], contextId=asked["contextId"])
    assert done["status"]["state"] == "TASK_STATE_COMPLETED", done
    status = board.restarted(lambda: board.send("reboot"))
    assert status["reset"]["reason"] == "asked to", status
    after = value(board.send("read temperature"))
    assert 45 < after < 55 and before < 40, (before, after)


def a_signing_key_is_changed_on_the_console_and_outlives_a_restart(board):
    def kids():
        return [key["kid"] for key in board.get("/.well-known/jwks.json")["keys"]]

    first = kids()
    assert board.ask("rotate key").startswith("ok"), board.lines
    second = kids()
    assert second == [second[0], first[0]] and second[0] != first[0], (first, second)
    after = len(board.lines)
    board.restarted(lambda: board.send("reboot"))
    assert kids() == second
    assert not any("signing key" in line for line in board.lines[after:]), board.lines


def a_panic_is_remembered(board):
    status = board.restarted(lambda: board.suffer("panic"))
    assert status["reset"]["reason"] == "panic", status
    assert "somebody asked for a 'panic'" in status["reset"]["detail"], status
    assert status["reset"]["detail"].endswith(")") and ".rs:" in status["reset"]["detail"], status


def a_stack_overflow_faults_and_is_remembered(board):
    status = board.restarted(lambda: board.suffer("overflow"))
    assert status["reset"]["reason"] == "stack overflow", status


def a_loop_that_stands_still_is_named(board):
    status = board.restarted(lambda: board.suffer("stall"))
    assert status["reset"]["reason"] == "stuck" and "network" in status["reset"]["detail"], status


def an_executor_that_hangs_is_bitten(board):
    status = board.restarted(lambda: board.suffer("hang"))
    assert status["reset"]["reason"] == "watchdog", status


def what_happened_is_told_once(board):
    status = board.restarted(lambda: board.ask("reboot"))
    assert status["reset"]["reason"] == "asked to", status


def a_cable_that_was_out_is_no_reason_to_restart(board):
    after, restarts = len(board.lines), board.restarts()
    os.kill(board.emulator(), signal.SIGHUP)
    _, after = board.wait_for_line("the address is gone", after=after)
    os.kill(board.emulator(), signal.SIGHUP)
    board.wait_for_line(" at http://", after=after)
    assert board.send("read temperature")["status"]["state"] == "TASK_STATE_COMPLETED"
    assert board.restarts() == restarts


def an_idle_board_sleeps(board):
    restarts = board.restarts()
    before, begun = board.emulator_seconds(), time.monotonic()
    # Longer than the watchdog waits: a board that nobody talks to must not be bitten.
    time.sleep(12)
    load = (board.emulator_seconds() - before) / (time.monotonic() - begun)
    print(f"   idle load {100 * load:.1f} % of a core")
    assert load < 0.25, load
    assert board.restarts() == restarts, "it restarted while nobody asked"


CASES = [
    a_first_start_says_so,
    a_first_start_shows_a_token_once,
    tokens_are_made_replaced_retired_and_revoked,
    an_open_door_is_open_after_a_restart_until_it_is_shut,
    the_last_token_can_be_revoked_and_the_console_lets_somebody_in_again,
    names_and_origins_are_typed_and_count_from_the_next_start_on,
    whom_it_may_call_is_typed_and_counts_from_the_next_start_on,
    without_a_clock_there_is_no_time,
    the_console_answers,
    the_time_comes_from_the_network,
    a_restart_keeps_what_was_calibrated,
    a_signing_key_is_changed_on_the_console_and_outlives_a_restart,
    a_panic_is_remembered,
    a_stack_overflow_faults_and_is_remembered,
    a_loop_that_stands_still_is_named,
    an_executor_that_hangs_is_bitten,
    what_happened_is_told_once,
    a_cable_that_was_out_is_no_reason_to_restart,
    an_idle_board_sleeps,
]
# A flashed image has no trials, and QEMU's machines have cables that are always in.
NOT_ON_RP2040 = [a_panic_is_remembered, a_loop_that_stands_still_is_named]
ONLY_ON_RP2040 = [a_cable_that_was_out_is_no_reason_to_restart]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    board = Board(sys.argv[1])
    left_out = NOT_ON_RP2040 if board.name == "rp2040" else ONLY_ON_RP2040
    cases = [case for case in CASES if case not in left_out]
    failed = 0
    try:
        for case in cases:
            try:
                case(board)
                print(f"ok {case.__name__}", flush=True)
            except (AssertionError, OSError, KeyError, ValueError) as error:
                failed += 1
                print(f"FAIL {case.__name__}: {error!r}", flush=True)
    finally:
        board.end()
    print(f"{len(cases) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
