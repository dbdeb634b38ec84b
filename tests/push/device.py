"""The device under test: a host-sim that we start with the rules that a case wants, or a board that is there already and is
told them on its console."""

import os
import re
import signal
import socket
import subprocess
import tempfile
import time

import dialects
from client import OTHER_TOKEN, TOKEN, Honest, Target

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


class Rules:
    """What the owner allows: ranges and `http` as words, `none` of them, or no notifications: `off`; hosts, and who is asked
    to prove that it is meant. Where nothing is said it is what the device allows by itself."""

    def __init__(self, allow=(), hosts=(), challenge=None, preset=None):
        self.allow, self.hosts, self.challenge, self.preset = tuple(allow), tuple(hosts), challenge, preset

    def key(self):
        return self.allow, self.hosts, self.challenge, self.preset


class Device:
    """Callers of it, in every dialect."""

    def __init__(self, url):
        self.target = Target(url)
        self.honest, self.stranger = Honest(self.target), Honest(self.target, OTHER_TOKEN)

    def v1_0(self):
        return dialects.V1_0(self.honest)

    def callers(self):
        return [dialect(self.honest) for dialect in dialects.ALL]

    def others(self):
        return [dialect(self.stranger) for dialect in dialects.ALL]

    def status(self):
        return self.honest.status()["push"]

    def jwks(self):
        answer = self.honest.ask(self.target.get("/.well-known/jwks.json", token=""), method="GET")
        assert answer.status == 200, answer
        return answer.json()

    def tidy(self):
        """Ends what a case has left behind: nobody is notified of it any more."""
        for caller in [dialects.V1_0(self.honest), dialects.V1_0(self.stranger)]:
            for task in caller.call("ListTasks", {"pageSize": 100})["tasks"]:
                listed = caller.ask("ListTaskPushNotificationConfigs", {"taskId": task["id"]}).json()
                for config in listed.get("result", {}).get("configs", []):
                    caller.delete(task["id"], config["id"])
                if task["status"]["state"] in ("TASK_STATE_WORKING", "TASK_STATE_SUBMITTED", "TASK_STATE_INPUT_REQUIRED"):
                    caller.ask("CancelTask", {"id": task["id"]})


class Sim(Device):
    """A host-sim of our own."""

    def __init__(self, rules, trust, bind="127.0.0.1"):
        binary = os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")), "release", "host-sim")
        assert os.path.exists(binary), f"no {binary}: cargo build --release -p host-sim"
        self.folder = tempfile.TemporaryDirectory(prefix="mote-push-")
        self.tokens, self.log_path = (os.path.join(self.folder.name, name) for name in ["tokens", "log"])
        self.grant(other=True)
        words = ["--bind", bind, "--port", "0", "--agent", "sensor", "--token-file", self.tokens]
        if rules.allow == ("off",):
            words += ["--no-push"]
        elif rules.allow:
            words += ["--webhooks", ",".join(rules.allow)]
        for host in rules.hosts:
            words += ["--webhook-host", host]
        if rules.challenge:
            words += ["--challenge", rules.challenge]
        if rules.preset:
            words += ["--preset", rules.preset]
        if trust:
            words += ["--trust", trust]
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen([binary, *words], stdout=log, stderr=subprocess.STDOUT)
        super().__init__(self._url())

    def _url(self):
        deadline = time.monotonic() + 20
        while not (found := re.search(r"http://(?:127\.0\.0\.1|0\.0\.0\.0)(:\d+)", self.log())):
            assert self.process.poll() is None and time.monotonic() < deadline, f"host-sim does not start: {self.log()}"
            time.sleep(0.05)
        return f"http://127.0.0.1{found[1]}"

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            return log.read()

    def grant(self, other):
        with open(self.tokens, "w", encoding="utf-8") as file:
            file.write(f"owner:read+act+operator:{TOKEN}\n" + (f"other:read:{OTHER_TOKEN}\n" if other else ""))

    def revoke_other(self):
        self.grant(other=False)
        self.process.send_signal(signal.SIGHUP)

    def restore_other(self):
        self.grant(other=True)
        self.process.send_signal(signal.SIGHUP)
        deadline = time.monotonic() + 5
        while self.stranger.ask(self.target.get("/status", token=OTHER_TOKEN), method="GET").status == 401:
            assert time.monotonic() < deadline, "the token is not back"
            time.sleep(0.05)

    def rotate(self):
        """Another key to sign with."""
        self.process.send_signal(signal.SIGUSR1)

    def assert_fine(self):
        assert self.process.poll() is None, f"host-sim has ended: {self.log()[-2000:]}"
        assert "panicked" not in self.log(), self.log()[-2000:]

    def close(self):
        self.process.terminate()
        self.process.wait(10)
        self.folder.cleanup()


class Board(Device):
    """A board that somebody else has started. What is typed about webhooks counts from its next start on."""

    RANGES = ["http", "private", "link-local", "loopback"]

    def __init__(self, url):
        super().__init__(url)
        self.console = os.environ["MOTE_CONSOLE"]
        self.rules, self.uptime = Rules(), 0

    def type(self, line):
        """Types a line on its console; what it answers."""
        with socket.socket(socket.AF_UNIX) as serial:
            serial.connect(self.console)
            serial.settimeout(20)
            serial.sendall(line.encode() + b"\n")
            said = b""
            try:
                while piece := serial.recv(4096):
                    said += piece
                    serial.settimeout(0.2)
            except TimeoutError:
                pass
        return said.decode("utf-8", "replace")

    def obey(self, rules):
        """Tells it what the owner allows, and starts it again if that is something new."""
        if rules.key() == self.rules.key():
            return
        for what in self.RANGES:
            if (what in rules.allow) != (what in self.rules.allow):
                self.tell(f"webhooks {'allow' if what in rules.allow else 'refuse'} {what}")
        for host in set(rules.hosts) ^ set(self.rules.hosts):
            self.tell(f"webhooks {'host' if host in rules.hosts else 'forget'} {host}")
        if rules.challenge != self.rules.challenge:
            self.tell(f"webhooks challenge {rules.challenge or 'usual'}")
        self.rules = rules
        self.restart()

    def tell(self, line):
        said = self.type(line)
        assert "from the next restart on" in said, f"{line}: {said}"

    def trust(self, roots):
        """Pastes root certificates; they count from the next start on."""
        for root in roots:
            said = self.type(root.pem())
            assert "SHA-256" in said or "ok" in said, f"a root certificate is not taken: {said}"

    def restart(self):
        asked = time.monotonic()
        self.type("reboot")
        deadline = asked + 60
        while True:
            try:
                status = self.honest.status()
                # It restarts half a second after it was asked. Who did not restart is up for longer than that is ago.
                since_ms = 1000 * (time.monotonic() - asked)
                if status["uptimeMs"] < since_ms - 400 and "time" in status:
                    break
            except (OSError, AssertionError):
                pass
            assert time.monotonic() < deadline, "the board does not come back, or not to its time"
            time.sleep(0.2)
        self.uptime = 0

    def rotate(self):
        self.type("rotate key")

    def revoke_other(self):
        self.type("token revoke other")

    def restore_other(self):
        said = self.type("token add other read")
        [self.stranger.token] = re.findall(r"shown this once: ([A-Za-z0-9_-]{32})", said)

    def log(self):
        path = os.environ.get("MOTE_LOG")
        if not path:
            return ""
        with open(path, encoding="utf-8", errors="replace") as log:
            return log.read()

    def assert_fine(self):
        uptime = self.honest.status()["uptimeMs"]
        assert uptime >= self.uptime, "the board has restarted"
        self.uptime = uptime

    def close(self):
        pass
