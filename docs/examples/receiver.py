#!/usr/bin/env python3
"""Receives the push notifications of a Mote and lets nothing through that the device has not signed.

    pip install 'pyjwt[crypto]'
    receiver.py --device http://192.168.0.7 --url https://me.example/hook [--port 9000] [--token TOKEN] [--secret SECRET]

--url is what the webhook is called in the configuration, to the letter. TOKEN is the configuration's `token`, SECRET its
`authentication.credentials` where the scheme is HS256. It speaks plain HTTP: put it behind whatever has your certificate.
"""

import argparse
import collections
import hashlib
import hmac
import http.server
import json
import sys
import time
import traceback
import urllib.parse
import urllib.request

import jwt

WINDOW_SECONDS = 300  # what is older is refused, whatever it says
LEEWAY_SECONDS = 30  # clocks differ
REFETCH_SECONDS = 60  # keys are not fetched more often, whoever sends tokens with names of keys that do not exist
REMEMBERED = 10_000  # events at least; none is forgotten before its age refuses it
BODY_BYTES = 1024 * 1024


class Refused(Exception):
    """Why a notification is not let through."""


class DeviceKeys:
    """The public keys of the device, fetched once, and again when a token names one that is not among them."""

    def __init__(self, url, clock=time.monotonic):
        self.url, self.clock = url, clock
        self.known, self.fetched_at = {}, None

    def find(self, kid):
        is_due = self.fetched_at is None or self.clock() - self.fetched_at >= REFETCH_SECONDS
        if kid not in self.known and is_due:
            self.fetched_at = self.clock()
            try:
                with urllib.request.urlopen(self.url, timeout=10) as answer:
                    keys = json.load(answer)["keys"]
                # A key that was published before and is not any more is no longer good.
                self.known = {key["kid"]: jwt.PyJWK(key, algorithm="ES256").key for key in keys}
            except (OSError, ValueError, KeyError, TypeError, jwt.PyJWTError) as error:
                raise Refused(f"the device's keys could not be fetched: {error}") from error
        if kid not in self.known:
            raise Refused("signed with a key that the device does not publish")
        return self.known[kid]


class Receiver:
    """Checks notifications. `process` gets the task's id and the event, each event once."""

    def __init__(self, keys, url, process, token=None, secret=None, clock=time.time):
        self.keys, self.url, self.process = keys, url, process
        self.token, self.secret, self.clock = token, secret, clock
        self.done = collections.OrderedDict()  # events, and until when somebody could show them again

    def receive(self, headers, body):
        """Lets a notification through, or raises Refused. Says whether it is a new one."""
        if self.token is not None:
            shown = headers.get("X-A2A-Notification-Token", "")
            if not hmac.compare_digest(shown.encode(), self.token.encode()):
                raise Refused("the token is not the configured one")
        claims = self.check(headers.get("X-A2A-Notification-Signature", ""), body)
        # The device sends an event again until it hears that it arrived. That is no attack, but it is not processed twice.
        is_new = claims["jti"] not in self.done
        if is_new:
            self.process(claims["taskId"], json.loads(body))
        # Not before: if processing fails, the next attempt is welcome. And again each time: every attempt is signed anew.
        self.done[claims["jti"]] = self.clock() + WINDOW_SECONDS + 2 * LEEWAY_SECONDS
        self.done.move_to_end(claims["jti"])
        while len(self.done) > REMEMBERED and next(iter(self.done.values())) < self.clock():
            self.done.popitem(last=False)
        return is_new

    def check(self, signature, body):
        try:
            # Which algorithm is right is ours to say, and never the token's.
            if self.secret is not None:
                algorithm, key = "HS256", self.secret
            else:
                algorithm, key = "ES256", self.keys.find(jwt.get_unverified_header(signature).get("kid"))
            claims = jwt.decode(
                signature, key, algorithms=[algorithm], audience=self.url, leeway=LEEWAY_SECONDS,
                options={"require": ["iat", "exp", "jti", "aud", "taskId", "request_body_sha256"]},
            )
        except jwt.PyJWTError as error:
            raise Refused(f"the signature is not good: {error}") from error
        if self.clock() - claims["iat"] > WINDOW_SECONDS + LEEWAY_SECONDS:
            raise Refused("it is too old")
        if not hmac.compare_digest(str(claims["request_body_sha256"]), hashlib.sha256(body).hexdigest()):
            raise Refused("the body is not the one that was signed")
        return claims


class Hook(http.server.BaseHTTPRequestHandler):
    """The webhook. One at a time is enough for a device, and keeps its events in order."""

    timeout = 10

    def do_GET(self):
        # The device asks whether this webhook is meant, before it sends anything.
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        wanted = query.get("validationToken", [""])[0]
        self.answer(200 if wanted else 400, wanted or "validationToken is missing")

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > BODY_BYTES:
            return self.answer(413, "the body is too large, or of no length")
        try:
            is_new = self.server.receiver.receive(self.headers, self.rfile.read(int(length)))
        except Refused as refused:
            self.log_message("refused: %s", refused)
            return self.answer(401, str(refused))
        except Exception:
            # It was good, and nothing came of it: the device sends it again.
            self.log_message("not processed: %s", traceback.format_exc())
            return self.answer(500, "it could not be processed")
        return self.answer(200, "ok" if is_new else "seen before")

    def answer(self, status, text):
        content = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", required=True, help="where the device is")
    parser.add_argument("--url", required=True, help="the webhook, as it was configured")
    parser.add_argument("--bind", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=9000)
    parser.add_argument("--token")
    parser.add_argument("--secret")
    args = parser.parse_args()

    keys = DeviceKeys(args.device.rstrip("/") + "/.well-known/jwks.json")
    server = http.server.HTTPServer((args.bind, args.port), Hook)
    server.receiver = Receiver(keys, args.url, show, args.token, args.secret)
    print(f"listening on port {server.server_port}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)


def show(task_id, event):
    print(f"task {task_id}: {json.dumps(event)}", flush=True)


if __name__ == "__main__":
    main()
