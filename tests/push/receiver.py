#!/usr/bin/env python3
"""A webhook receiver that does as it is told, right or wrong, and keeps every request as it came.

    tests/push/receiver.py [--bind ADDRESS] [--port N] [--tls HOST[,HOST...] --root FILE] [--script PATH=WORD[,WORD...]]
                           [--challenge PATH=WORD]
    e.g. tests/push/receiver.py --port 9000 --script /hook=500,429:1,200

Shows one line of JSON for each request. With --tls it makes an authority and a certificate for these hosts, and writes the
authority's own to FILE, for whoever is to trust it. Each POST to a path takes the next word of that path's script, the
last one again and again; without a script it is 200. A word is a status, with seconds behind a colon as its Retry-After,
or one of those in BEHAVIOURS below. A GET with `validationToken` is answered with that token, or by the challenge's word.
The cases use the class Receiver. Standard library only.
"""

import argparse
import email.utils
import json
import os
import socket
import ssl
import struct
import threading
import time
import urllib.parse

from authority import Authority

PATIENCE_SECONDS = 20
HEAD_MAX = 65536
HUGE = 4 * 1024 * 1024


class Request:
    """One request, taken apart. `body` is all of it, unless `is_cut`."""

    def __init__(self, head, connection):
        first, *lines = head.decode("latin-1").split("\r\n")
        self.method, self.target, self.version = first.split(" ")
        self.fields = [(name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]
        parts = urllib.parse.urlsplit(self.target)
        self.path, self.query = parts.path, dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))
        self.head, self.body, self.connection = head, b"", connection
        self.is_cut, self.number, self.at, self.answered = False, None, time.monotonic(), None

    def __repr__(self):
        return f"<{self.number}: {self.method} {self.target} {self.fields} {self.body[:400]!r}>"

    def all(self, name):
        return [value for field, value in self.fields if field == name.lower()]

    def field(self, name):
        values = self.all(name)
        assert len(values) <= 1, f"more than one {name}: {self}"
        return values[0] if values else None

    def json(self):
        return json.loads(self.body.decode("utf-8"))


class Exchange:
    """A request and the connection to answer it on."""

    def __init__(self, receiver, sock, request):
        self.receiver, self.sock, self.request = receiver, sock, request
        self.is_open = True

    def write(self, data):
        self.sock.sendall(data)

    def answer(self, status, body=b"", fields=(), content_type="text/plain"):
        lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body)}", *fields]
        if body:
            lines.append(f"Content-Type: {content_type}")
        self.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body)

    def close(self, reset=False):
        if reset:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.is_open = False

    def wait(self, seconds=None):
        """Waits, but not when the receiver ends or the device hangs up."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while not self.receiver.is_ended and (deadline is None or time.monotonic() < deadline):
            left = 0.2 if deadline is None else min(0.2, max(0.001, deadline - time.monotonic()))
            self.sock.settimeout(left)
            try:
                if self.sock.recv(4096) == b"":
                    self.close()
                    return False
            except TimeoutError:
                pass
            finally:
                self.sock.settimeout(PATIENCE_SECONDS)
        return not self.receiver.is_ended


def late(exchange, seconds):
    if exchange.wait(float(seconds)):
        exchange.answer(200)


def never(exchange, _):
    exchange.wait()
    exchange.close()


def huge_head(exchange, _):
    exchange.write(b"HTTP/1.1 200 Whatever\r\n")
    for number in range(HUGE // 1024):
        exchange.write(f"X-{number}: ".encode() + 1010 * b"h" + b"\r\n")
    exchange.write(b"Content-Length: 0\r\n\r\n")


def endless_head(exchange, _):
    exchange.write(b"HTTP/1.1 200 Whatever\r\nX-Long: ")
    while True:
        exchange.write(1024 * b"h")


def huge_body(exchange, _):
    exchange.write(f"HTTP/1.1 200 Whatever\r\nContent-Length: {HUGE}\r\n\r\n".encode())
    for _ in range(HUGE // 1024):
        exchange.write(1024 * b"b")


def endless_body(exchange, _):
    exchange.write(b"HTTP/1.1 200 Whatever\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        exchange.write(b"400\r\n" + 1024 * b"b" + b"\r\n")


def redirect(exchange, url):
    exchange.answer(307, fields=[f"Location: {url}"])


def moved(exchange, url):
    exchange.answer(301, fields=[f"Location: {url}"])


def cut_head(exchange, _):
    exchange.write(b"HTTP/1.1 200 What")
    exchange.close()


def cut_answer(exchange, _):
    exchange.close()


def reset(exchange, _):
    exchange.close(reset=True)


def cut_request(exchange, _):
    """Half of the request was read; the rest never is."""
    exchange.close(reset=True)


cut_request.is_early = True


def garbage(exchange, _):
    exchange.write(b"\x00\xff\x01 no answer at all \r\n\r\n" + bytes(range(256)))
    exchange.close()


def garbage_status(exchange, _):
    exchange.write(b"HTTP/1.1 2OO fine\r\nContent-Length: 0\r\n\r\n")
    exchange.close()


def hundred_continue(exchange, _):
    exchange.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    exchange.answer(200)


def chunked(exchange, _):
    exchange.write(b"HTTP/1.1 200 Whatever\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfine\r\n0\r\n\r\n")


def trickle(exchange, _):
    for byte in b"HTTP/1.1 200 Whatever\r\nContent-Length: 4\r\n\r\nfine":
        exchange.write(bytes([byte]))
        time.sleep(0.01)


def until_close(exchange, _):
    exchange.write(b"HTTP/1.0 200 Whatever\r\n\r\nfine")
    exchange.close()


def held_body(exchange, _):
    """A head that says yes and a body that never comes."""
    exchange.write(b"HTTP/1.1 200 Whatever\r\nContent-Length: 4\r\n\r\n")
    exchange.wait()
    exchange.close()


def retry_date(exchange, seconds):
    """429 with a date in its Retry-After."""
    when = email.utils.formatdate(time.time() + float(seconds), usegmt=True)
    exchange.answer(429, fields=[f"Retry-After: {when}"])


BEHAVIOURS = {
    "late": late, "never": never, "huge-head": huge_head, "endless-head": endless_head, "huge-body": huge_body,
    "endless-body": endless_body, "redirect": redirect, "moved": moved, "cut-head": cut_head, "cut-answer": cut_answer,
    "reset": reset, "cut-request": cut_request, "garbage": garbage, "garbage-status": garbage_status,
    "continue": hundred_continue, "chunked": chunked, "trickle": trickle, "until-close": until_close,
    "held-body": held_body, "retry-date": retry_date,
}


def behave(word, exchange):
    name, _, argument = word.partition(":")
    if name in BEHAVIOURS:
        BEHAVIOURS[name](exchange, argument)
    else:
        exchange.answer(int(name), fields=[f"Retry-After: {argument}"] if argument else [])


def meet(word, exchange):
    """Answers a challenge: echo, wrong, empty, json, or any other word."""
    token = exchange.request.query["validationToken"].encode()
    if word == "echo":
        exchange.answer(200, token)
    elif word == "wrong":
        exchange.answer(200, token[::-1] + b"x")
    elif word == "longer":
        exchange.answer(200, token + b"x")
    elif word == "empty":
        exchange.answer(200)
    elif word == "error":
        exchange.answer(500, token)
    else:
        behave(word, exchange)


class Receiver:
    """Listens until it is closed. `identity` is one of an Authority's: then it speaks TLS."""

    def __init__(self, address="127.0.0.1", port=0, identity=None, show=None):
        self.identity, self.show = identity, show
        self.requests, self.handshakes, self.connections, self.is_ended = [], [], 0, False
        self.scripts, self.challenges, self.challenged = {}, {}, []
        # The names that were asked for in TLS, None where there was none.
        self.asked_for = []
        self.changed = threading.Condition()
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.listener = socket.create_server((address, port), family=family, backlog=64)
        self.address, self.port = self.listener.getsockname()[:2]
        if identity:
            self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.tls.load_cert_chain(identity.chain, identity.key)
            self.tls.sni_callback = lambda _, name, __: self.asked_for.append(name)
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.is_ended = True
        # A listener that is only closed still has its accept.
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()

    def url(self, path="/hook", host=None):
        host = host or self.address
        return f"{'https' if self.identity else 'http'}://{f'[{host}]' if ':' in host else host}:{self.port}{path}"

    def script(self, path, *words):
        with self.changed:
            self.scripts[path] = list(words)

    def challenge(self, path, word):
        self.challenges[path] = word

    def posts(self, path=None):
        """The whole POST requests so far, to that path."""
        with self.changed:
            return [it for it in self.requests if it.method == "POST" and not it.is_cut and path in (None, it.path)]

    def wait(self, look, seconds=PATIENCE_SECONDS, what="a request"):
        """Waits until `look(self)` is true, and gives what it gave."""
        deadline = time.monotonic() + seconds
        with self.changed:
            while not (found := look(self)):
                left = deadline - time.monotonic()
                assert left > 0, f"{what} has not come in {seconds} s; there were {self.requests}"
                # `look` may look at other things than requests.
                self.changed.wait(min(left, 0.1))
            return found

    def wait_posts(self, count, path=None, seconds=PATIENCE_SECONDS):
        self.wait(lambda it: len(it.posts(path)) >= count, seconds, f"POST {count} to {path}")
        return self.posts(path)

    def _accept(self):
        while not self.is_ended:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            with self.changed:
                self.connections += 1
                number = self.connections
            threading.Thread(target=self._serve, args=(sock, number), daemon=True).start()

    def _serve(self, sock, number):
        try:
            sock.settimeout(PATIENCE_SECONDS)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.identity:
                sock = self._handshake(sock)
            if sock:
                with sock:
                    rest = b""
                    while (rest := self._exchange(sock, number, rest)) is not None:
                        pass
        except OSError:
            pass  # the device has hung up, or we have

    def _handshake(self, sock):
        try:
            secured = self.tls.wrap_socket(sock, server_side=True)
            outcome = f"{secured.version()} {secured.cipher()[0]}"
        except (ssl.SSLError, OSError) as error:
            sock.close()
            secured, outcome = None, f"failed: {error}"
        with self.changed:
            self.handshakes.append(outcome)
            self.changed.notify_all()
        return secured

    def _exchange(self, sock, number, received):
        """Reads one request and answers it: what was read behind it, or None when that was the last one."""
        while b"\r\n\r\n" not in received:
            piece = sock.recv(4096)
            if not piece or len(received) > HEAD_MAX:
                return None
            received += piece
        head, received = received.split(b"\r\n\r\n", 1)
        request = Request(head, number)
        length = int(request.field("content-length") or 0)
        is_chunked = (request.field("transfer-encoding") or "").lower() == "chunked"
        word = self._word(request)
        if getattr(BEHAVIOURS.get(word.partition(":")[0]), "is_early", False):
            while len(received) < length // 2:
                received += sock.recv(256)
            request.body, request.is_cut = received, True
        elif is_chunked:
            request.body, received = read_chunks(sock, received)
        else:
            while len(received) < length:
                piece = sock.recv(4096)
                if not piece:
                    request.is_cut = True
                    break
                received += piece
            request.body, received = received[:length], received[length:]
        self._keep(request)
        exchange = Exchange(self, sock, request)
        if request.is_cut and not getattr(BEHAVIOURS.get(word.partition(":")[0]), "is_early", False):
            return None
        if request.method == "GET" and "validationToken" in request.query:
            meet(word, exchange)
        elif request.method == "POST":
            behave(word, exchange)
        else:
            exchange.answer(405)
        request.answered = time.monotonic()
        last = (request.field("connection") or "").lower() == "close"
        return received if exchange.is_open and not last else None

    def _word(self, request):
        with self.changed:
            if request.method == "GET" and "validationToken" in request.query:
                return self.challenges.get(request.path, "echo")
            words = self.scripts.get(request.path) or ["200"]
            return words.pop(0) if len(words) > 1 else words[0]

    def _keep(self, request):
        with self.changed:
            request.number = len(self.requests)
            self.requests.append(request)
            if request.method == "GET":
                self.challenged.append(request)
            self.changed.notify_all()
        if self.show:
            self.show(request)


def read_chunks(sock, received):
    body = b""
    while True:
        while b"\r\n" not in received:
            received += sock.recv(4096)
        size, received = received.split(b"\r\n", 1)
        size = int(size, 16)
        while len(received) < size + 2:
            received += sock.recv(4096)
        assert received[size:size + 2] == b"\r\n", received[:size + 2]
        body, received = body + received[:size], received[size + 2:]
        if size == 0:
            return body, received


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bind", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--tls")
    parser.add_argument("--root")
    parser.add_argument("--script", action="append", default=[])
    parser.add_argument("--challenge", action="append", default=[])
    how = parser.parse_args()
    authority = Authority() if how.tls else None
    identity = authority.leaf(how.tls.split(",")) if authority else None
    if authority and how.root:
        with open(how.root, "w", encoding="ascii") as file:
            file.write(authority.root.pem())

    def show(request):
        print(json.dumps({"number": request.number, "method": request.method, "target": request.target,
                          "fields": request.fields, "body": request.body.decode("utf-8", "replace")}), flush=True)

    receiver = Receiver(how.bind, how.port, identity, show)
    for script in how.script:
        path, _, words = script.partition("=")
        receiver.script(path, *words.split(","))
    for challenge in how.challenge:
        receiver.challenge(*challenge.split("=", 1))
    print(json.dumps({"url": receiver.url(), "pid": os.getpid()}), flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
