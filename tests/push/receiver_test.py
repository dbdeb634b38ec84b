#!/usr/bin/env python3
"""The receiver of docs/examples lets through what a device has signed, and nothing else.

    tests/push/receiver_test.py TARGET_FOLDER        tests/push/receiver_test.sh has set up what it needs

The first cases get tokens from our own signer (tests/examples/sign.rs), the last ones from host-sim. Ends with a line that
counts what passed and failed.
"""

import hashlib
import http.server
import json
import os
import queue
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.error
import urllib.parse
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "docs", "examples")
sys.path.insert(0, EXAMPLES)
import receiver  # noqa: E402

TARGET = sys.argv[1] if len(sys.argv) == 2 else sys.exit(__doc__)
PATIENCE_SECONDS = 30
HOOK = "https://me.example/hook?from=mote"
TOKEN = "the-token-of-this-webhook"
SECRET = "a-secret-of-thirty-two-bytes-or-more"
BODY = json.dumps({"statusUpdate": {"taskId": "task-1"}}).encode()


class Process:
    """A program whose lines are read as they come."""

    def __init__(self, *command):
        self.lines = queue.Queue()
        self.program = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.program.stdout:
            self.lines.put(line.rstrip("\n"))

    def ask(self, *words):
        self.program.stdin.write("\t".join(words) + "\n")
        return self.line()

    def line(self):
        return self.lines.get(timeout=PATIENCE_SECONDS)

    def wait_for(self, pattern):
        while not (found := re.search(pattern, self.line())):
            pass
        return found

    def end(self):
        self.program.kill()
        self.program.wait()


class Signer(Process):
    """Our own signer, with its keys where a device has them."""

    def __init__(self):
        super().__init__(os.path.join(TARGET, "debug", "examples", "sign"))
        signer, self.fetches = self, 0

        class Keys(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                signer.fetches += 1
                content = signer.ask("keys").encode()
                self.send_response(200)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        self.server = http.server.HTTPServer(("127.0.0.1", 0), Keys)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def sign(self, body=BODY, late=0, jti="e-1", task="task-1", audience=HOOK, secret=None, iat=None):
        iat = iat or str(int(time.time()) - late)
        words = [iat, jti, task, audience, hashlib.sha256(body).hexdigest()]
        return self.ask("share", secret, *words) if secret else self.ask("sign", *words)

    def end(self):
        self.server.shutdown()
        super().end()


class Hook(Process):
    """The example, as one starts it."""

    def __init__(self, device, url, *more):
        example = os.path.join(EXAMPLES, "receiver.py")
        super().__init__(sys.executable, example, "--device", device, "--url", url, "--port", "0", *more)
        port = self.wait_for(r"listening on port (\d+)")[1]
        self.url = f"http://127.0.0.1:{port}/hook"

    def post(self, token, body=BODY, shown=TOKEN):
        headers = {"Content-Type": "application/json", "X-A2A-Notification-Signature": token}
        if shown:
            headers["X-A2A-Notification-Token"] = shown
        return fetch(urllib.request.Request(self.url, body, headers))

    def processed(self):
        """What was let through so far."""
        lines = []
        while not self.lines.empty():
            lines.append(self.lines.get())
        return lines


def fetch(request):
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def with_hook(*more):
    """Gives a case a signer and a receiver that trusts it, and ends both."""
    def decorate(case):
        def run():
            signer = Signer()
            hook = Hook(signer.url, HOOK, "--token", TOKEN, *more)
            try:
                case(signer, hook)
            finally:
                hook.end()
                signer.end()
        run.__name__ = case.__name__
        return run
    return decorate


def expect(answer, status, words=""):
    assert answer[0] == status and words in answer[1], answer


def forge(token, **changes):
    """The same signature over other claims."""
    header, claims, signature = token.split(".")
    claims = json.loads(receiver.jwt.utils.base64url_decode(claims)) | changes
    return ".".join([header, receiver.jwt.utils.base64url_encode(json.dumps(claims).encode()).decode(), signature])


@with_hook()
def a_good_one_is_let_through_and_keys_are_fetched_once(signer, hook):
    for number in range(3):
        expect(hook.post(signer.sign(jti=f"e-{number}")), 200, "ok")
    assert signer.fetches == 1, signer.fetches
    line = "task task-1: " + json.dumps(json.loads(BODY))
    assert [hook.line() for _ in range(3)] == [line] * 3


@with_hook()
def an_event_that_comes_again_is_not_processed_again(signer, hook):
    first = signer.sign()
    expect(hook.post(first), 200, "ok")
    hook.line()
    expect(hook.post(first), 200, "seen before")
    # A retry is signed anew, and has the same name.
    retry = signer.sign(late=5)
    assert retry != first
    expect(hook.post(retry), 200, "seen before")
    expect(hook.post(signer.sign(jti="e-2")), 200, "ok")
    hook.line()
    assert hook.processed() == []


@with_hook()
def a_refused_one_does_not_spoil_the_good_one(signer, hook):
    token = signer.sign()
    expect(hook.post(token, body=BODY + b" "), 401, "body")
    expect(hook.post(token), 200, "ok")


@with_hook()
def what_was_changed_is_refused(signer, hook):
    token = signer.sign()
    other = b"{}"
    expect(hook.post(token, body=other), 401, "body")
    digest = hashlib.sha256(other).hexdigest()
    expect(hook.post(forge(token, request_body_sha256=digest), body=other), 401, "signature")
    expect(hook.post(forge(token, iat=int(time.time()) + 1)), 401, "signature")
    expect(hook.post(token[:-2]), 401)
    for nothing in ["", "x", "a.b.c", "..", token.split(".")[0]]:
        expect(hook.post(nothing), 401)
    assert hook.processed() == []


@with_hook()
def what_is_late_is_refused_whatever_it_says(signer, hook):
    expect(hook.post(signer.sign(late=200)), 200)
    expect(hook.post(signer.sign(late=400, jti="e-2")), 401, "expired")
    # A clock that is too far ahead.
    expect(hook.post(signer.sign(late=-400, jti="e-3")), 401, "iat")
    # A device that does not know the time.
    expect(hook.post(signer.sign(iat="-", jti="e-4")), 401, "iat")


@with_hook()
def what_is_for_somebody_else_is_refused(signer, hook):
    for audience in ["https://other.example/hook", "https://me.example/hook", HOOK + "&x", ""]:
        expect(hook.post(signer.sign(audience=audience)), 401)


@with_hook()
def another_token_is_refused_before_anything_is_looked_at(signer, hook):
    for shown in [None, "another-token", TOKEN + "x"]:
        expect(hook.post(signer.sign(), shown=shown), 401, "token")
    assert signer.fetches == 0, signer.fetches


@with_hook()
def another_device_and_another_algorithm_are_refused(signer, hook):
    stranger = Signer()
    try:
        stranger.ask("rotate")
        expect(hook.post(stranger.sign()), 401, "does not publish")
    finally:
        stranger.end()
    expect(hook.post(signer.sign(secret=SECRET)), 401)
    # The public key as a shared secret: the trick that a receiver falls for which believes the header.
    expect(hook.post(signer.sign(secret=json.loads(signer.ask("keys"))["keys"][0]["x"])), 401)
    header = receiver.jwt.utils.base64url_encode(b'{"alg":"none"}').decode()
    expect(hook.post(header + "." + signer.sign().split(".")[1] + "."), 401)


@with_hook("--secret", SECRET)
def a_shared_secret_is_enough_and_the_only_one(signer, hook):
    expect(hook.post(signer.sign(secret=SECRET)), 200, "ok")
    expect(hook.post(signer.sign(secret=SECRET + "x", jti="e-2")), 401)
    expect(hook.post(signer.sign(jti="e-3")), 401)
    assert signer.fetches == 0, signer.fetches


@with_hook()
def a_challenge_is_answered(_, hook):
    for wanted in ["5f1c", "a b&c=ä"]:
        expect(fetch(hook.url + "?" + urllib.parse.urlencode({"validationToken": wanted})), 200, wanted)
    expect(fetch(hook.url), 400)


def keys_are_fetched_again_for_a_new_one_but_not_at_anybodys_wish():
    signer = Signer()
    try:
        now = [1000.0]
        keys = receiver.DeviceKeys(signer.url, clock=lambda: now[0])

        def kid():
            return receiver.jwt.get_unverified_header(signer.sign())["kid"]

        def is_found(name):
            try:
                return bool(keys.find(name))
            except receiver.Refused:
                return False

        first = kid()
        assert is_found(first)
        assert [is_found(f"none-{n}") for n in range(5)] == [False] * 5 and signer.fetches == 1
        signer.ask("rotate")
        second = kid()
        assert not is_found(second), "it is too early to fetch again"
        now[0] += receiver.REFETCH_SECONDS
        assert is_found(second) and is_found(first) and signer.fetches == 2, "both are published"
        signer.ask("rotate")
        now[0] += receiver.REFETCH_SECONDS
        assert is_found(kid()) and is_found(second) and not is_found(first)
    finally:
        signer.end()


def nothing_is_forgotten_that_could_be_shown_again():
    signer = Signer()
    try:
        now, many = [time.time()], receiver.REMEMBERED + 2
        one = receiver.Receiver(receiver.DeviceKeys(signer.url), HOOK, lambda *_: None, clock=lambda: now[0])
        headers = {"X-A2A-Notification-Signature": signer.sign(jti="e-0")}
        assert one.receive(headers, BODY)
        # As if there had been many others at the same time.
        one.done.update({f"other-{number}": now[0] + 1000 for number in range(many)})
        assert one.receive({"X-A2A-Notification-Signature": signer.sign(jti="e-1")}, BODY)
        assert not one.receive(headers, BODY), "it was shown again, and processed again"
        # What nobody can show any more makes room.
        now[0] += 1001
        one.check = lambda *_: {"jti": "e-2", "taskId": "task-1"}
        assert one.receive({}, BODY) and len(one.done) == receiver.REMEMBERED and "e-2" in one.done
    finally:
        signer.end()


@with_hook()
def what_cannot_be_processed_is_answered_and_may_come_again(signer, hook):
    for _ in range(2):
        expect(hook.post(signer.sign(body=b"no json"), body=b"no json"), 500)
    expect(hook.post(signer.sign(jti="e-2")), 200, "ok")


def processing_that_fails_is_tried_again():
    signer = Signer()
    try:
        done, troubles = [], [RuntimeError("the database is away")]

        def process(task, event):
            if troubles:
                raise troubles.pop()
            done.append((task, event))

        keys = receiver.DeviceKeys(signer.url)
        one = receiver.Receiver(keys, HOOK, process)
        headers = {"X-A2A-Notification-Signature": signer.sign()}
        try:
            one.receive(headers, BODY)
            raise AssertionError("it was processed")
        except RuntimeError:
            pass
        assert one.receive(headers, BODY) and not one.receive(headers, BODY) and len(done) == 1
    finally:
        signer.end()


class Sim(Process):
    """host-sim."""

    def __init__(self, *flags):
        super().__init__(os.path.join(TARGET, "release", "host-sim"), "--port", "0", *flags)
        self.url = self.wait_for(r"listening on (http://\S+)/")[1]

    def kids(self):
        status, text = fetch(self.url + "/.well-known/jwks.json")
        assert status == 200, text
        return [key["kid"] for key in json.loads(text)["keys"]]

    def rotate(self):
        self.program.send_signal(signal.SIGUSR1)
        self.wait_for("new signing key")

    def send(self, hook, **authentication):
        config = {"url": hook, "token": TOKEN}
        if authentication:
            config["authentication"] = authentication
        message = {"kind": "message", "messageId": "m", "role": "user",
                   "parts": [{"kind": "text", "text": "read temperature"}]}
        params = {"message": message, "configuration": {"pushNotificationConfig": config}}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": params}).encode()
        status, text = fetch(urllib.request.Request(self.url, body, {"Content-Type": "application/json"}))
        assert status == 200 and "error" not in json.loads(text), text
        return json.loads(text)["result"]["id"]


def what_host_sim_sends_is_let_through():
    sim = Sim()
    try:
        for more, authentication in [
            ([], {}),
            ([], {"schemes": ["Bearer"]}),
            (["--secret", SECRET], {"schemes": ["HS256"], "credentials": SECRET}),
        ]:
            # The port is known when it listens; what it is called, before that.
            with http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as free:
                port = free.server_port
            url = f"http://127.0.0.1:{port}/hook"
            hook = Hook(sim.url, url, "--token", TOKEN, "--port", str(port), *more)
            try:
                task = sim.send(url, **authentication)
                found = hook.wait_for(r"^task (\S+): (.*completed.*)$")
                assert found[1] == task and json.loads(found[2])["id"] == task, found[0]
            finally:
                hook.end()
    finally:
        sim.end()


def a_key_of_host_sim_is_changed_by_a_signal_and_kept_in_a_file():
    with tempfile.TemporaryDirectory() as folder:
        flags = ("--store", os.path.join(folder, "flash"))
        sim = Sim(*flags)
        try:
            first = sim.kids()
            sim.rotate()
            second = sim.kids()
            assert len(first) == 1 and len(second) == 2 and second[1] == first[0] != second[0], (first, second)
        finally:
            sim.end()
        sim = Sim(*flags)
        try:
            assert sim.kids() == second
        finally:
            sim.end()


def main():
    cases = [
        a_good_one_is_let_through_and_keys_are_fetched_once,
        an_event_that_comes_again_is_not_processed_again,
        a_refused_one_does_not_spoil_the_good_one,
        what_was_changed_is_refused,
        what_is_late_is_refused_whatever_it_says,
        what_is_for_somebody_else_is_refused,
        another_token_is_refused_before_anything_is_looked_at,
        another_device_and_another_algorithm_are_refused,
        a_shared_secret_is_enough_and_the_only_one,
        a_challenge_is_answered,
        keys_are_fetched_again_for_a_new_one_but_not_at_anybodys_wish,
        processing_that_fails_is_tried_again,
        nothing_is_forgotten_that_could_be_shown_again,
        what_cannot_be_processed_is_answered_and_may_come_again,
        what_host_sim_sends_is_let_through,
        a_key_of_host_sim_is_changed_by_a_signal_and_kept_in_a_file,
    ]
    failed = 0
    for case in cases:
        try:
            case()
            print(f"ok   {case.__name__}", flush=True)
        except Exception:
            failed += 1
            print(f"FAIL {case.__name__}\n{traceback.format_exc()}", flush=True)
    print(f"receiver: {len(cases) - failed} passed, {failed} failed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
