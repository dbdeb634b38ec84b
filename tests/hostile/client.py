"""Clients: one that sends whatever bytes it is given and reads answers by the letter, and an honest one."""

import json
import os
import socket
import struct
import time
import urllib.parse

TOKEN = os.environ.get("MOTE_TOKEN", "")
OTHER_TOKEN = os.environ.get("MOTE_OTHER_TOKEN", "")
PATIENCE_SECONDS = 30
# Linux: <linux/tcp.h>
TCP_REPAIR = 19


class Broken(AssertionError):
    """What came is no answer, or not all of one."""


class Answer:
    """One answer, taken apart."""

    def __init__(self, status, fields, body):
        self.status, self.fields, self.body = status, fields, body

    def __repr__(self):
        return f"<{self.status} {self.fields} {self.body[:300]!r}>"

    def all(self, name):
        """The values of all fields of that name."""
        return [value for field, value in self.fields if field == name.lower()]

    def field(self, name):
        values = self.all(name)
        assert len(values) <= 1, f"more than one {name}: {self}"
        return values[0] if values else None

    def json(self):
        """The document. An error before the first event of a stream is one, too."""
        body = self.body
        if self.field("content-type") == "text/event-stream" and body.startswith(b"event: error\ndata: "):
            body = body.removeprefix(b"event: error\ndata: ")
        try:
            return json.loads(body.decode("utf-8"))
        except ValueError as error:
            raise Broken(f"no JSON ({error}): {self}") from None

    def code(self):
        """The code of the JSON-RPC error."""
        error = self.json().get("error")
        assert error, f"no error: {self}"
        return error["code"]

    def is_last(self):
        return self.field("connection") == "close"


class Target:
    """Where the device is."""

    def __init__(self, url):
        parts = urllib.parse.urlsplit(url)
        self.url, self.host, self.port = url.rstrip("/"), parts.hostname, parts.port or 80
        self.authority = self.host if self.port == 80 else f"{self.host}:{self.port}"

    def connect(self, source=None, receive_bytes=None, timeout=PATIENCE_SECONDS):
        """Opens a connection; `source` is an address of ours, `receive_bytes` makes it a reader with little room."""
        sock = socket.socket()
        try:
            if receive_bytes:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
            sock.settimeout(timeout)
            if source:
                sock.bind((source, 0))
            sock.connect((self.host, self.port))
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError:
            sock.close()
            raise
        return Connection(self, sock)

    def head(self, method="POST", path="/", length=None, fields=(), token=TOKEN, host=True, version="HTTP/1.1",
             content_type="application/json"):
        """The head of a request, as an honest client writes it unless told otherwise."""
        lines = [f"{method} {path} {version}"]
        if host:
            lines.append(f"Host: {self.authority if host is True else host}")
        if token:
            lines.append(f"Authorization: Bearer {token}")
        if length is not None:
            if content_type:
                lines.append(f"Content-Type: {content_type}")
            lines.append(f"Content-Length: {length}")
        lines.extend(fields)
        return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "surrogateescape")

    def get(self, path, **more):
        return self.head("GET", path, **more)

    def post(self, body, **more):
        """A whole request with a body: bytes, or something to make JSON of."""
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        return self.head(length=len(body), **more) + body


class Connection:
    """One connection: raw bytes out, answers in."""

    def __init__(self, target, sock):
        self.target, self.sock, self.rest = target, sock, b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()

    def send(self, data):
        self.sock.sendall(data)
        return self

    def try_send(self, data):
        """Sends as much as the device takes; it may have hung up, and that is its right."""
        try:
            self.sock.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass
        return self

    def finish(self):
        """Says that no more comes, and goes on listening."""
        self.sock.shutdown(socket.SHUT_WR)
        return self

    def reset(self):
        """Ends with a reset instead of a word."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()

    def vanish(self):
        """Ends without anything on the wire. Status: whether this process may do that."""
        try:
            self.sock.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, 1)
        except OSError:
            return False
        self.sock.close()
        return True

    def close(self):
        self.sock.close()

    def _more(self):
        piece = self.sock.recv(65536)
        self.rest += piece
        if any(token and token.encode() in self.rest for token in (TOKEN, OTHER_TOKEN)):
            raise Broken("an answer has the token in it")
        return bool(piece)

    def _until(self, mark):
        while mark not in self.rest:
            if not self._more():
                raise Broken(f"the connection ended in the middle of {self.rest[:200]!r}")
        found, self.rest = self.rest.split(mark, 1)
        return found

    def _exactly(self, count):
        while len(self.rest) < count:
            if not self._more():
                raise Broken(f"the connection ended {count - len(self.rest)} bytes too early")
        found, self.rest = self.rest[:count], self.rest[count:]
        return found

    def answer_head(self, timeout=PATIENCE_SECONDS):
        """Reads a head by the letter: every line is what RFC 9112 says, and none is there twice that may not be."""
        self.sock.settimeout(timeout)
        first, *lines = self._until(b"\r\n\r\n").split(b"\r\n")
        words = first.split(b" ", 2)
        if len(words) < 3 or words[0] != b"HTTP/1.1" or len(words[1]) != 3 or not words[1].isdigit():
            raise Broken(f"no status line: {first[:200]!r}")
        fields = []
        for line in lines:
            name, colon, value = line.partition(b":")
            is_token = name and all(byte in TOKEN_BYTES for byte in name)
            if not colon or not is_token or any(byte < 0x20 or byte == 0x7F for byte in value.strip(b" \t")):
                raise Broken(f"no header line: {line[:200]!r}")
            fields.append((name.decode().lower(), value.strip().decode("latin-1")))
        return Answer(int(words[1]), fields, b"")

    def answer(self, timeout=PATIENCE_SECONDS, method="POST", skip_continue=True):
        """Reads one answer, all of it."""
        answer = self.answer_head(timeout)
        while skip_continue and answer.status == 100:
            answer = self.answer_head(timeout)
        length, coding = answer.field("content-length"), answer.field("transfer-encoding")
        if length is not None and coding is not None:
            raise Broken(f"two lengths: {answer}")
        if method == "HEAD" or answer.status in (100, 204, 304):
            return answer
        if coding is not None:
            assert coding == "chunked", answer
            answer.body = b"".join(self.chunks())
        elif length is not None:
            answer.body = self._exactly(int(length))
        else:
            while self._more():
                pass
            answer.body, self.rest = self.rest, b""
        return answer

    def chunks(self):
        while True:
            size = int(self._until(b"\r\n"), 16)
            chunk = self._exactly(size)
            if self._exactly(2) != b"\r\n":
                raise Broken("a chunk has no end")
            if size == 0:
                return
            yield chunk

    def answers(self, timeout=PATIENCE_SECONDS):
        """Reads answers until the device hangs up or has no more to say for `timeout` seconds: what came, and whether
        it hung up. For the first one there is more time: the machine may be busy with others."""
        found = []
        while True:
            try:
                if not self.rest:
                    self.sock.settimeout(timeout if found else max(timeout, 5))
                    if not self._more():
                        return found, True
                found.append(self.answer(timeout))
            except ConnectionResetError:
                return found, True
            except TimeoutError:
                if self.rest:
                    raise Broken(f"half an answer: {self.rest[:200]!r}") from None
                return found, False

    def leave(self):
        """Hangs up as a polite client does, and waits until the device has noticed."""
        try:
            self.finish()
            self.is_ended(2)
        except OSError:
            pass  # it has hung up already
        self.close()

    def is_ended(self, timeout=PATIENCE_SECONDS):
        """Waits for the device to hang up; whatever it says before is dropped."""
        self.sock.settimeout(timeout)
        try:
            while self.sock.recv(65536):
                pass
            return True
        except ConnectionResetError:
            return True
        except TimeoutError:
            return False

    def events(self, timeout=PATIENCE_SECONDS):
        """Reads the events of a stream whose head was read; each as (id, JSON). Every line must be one that we know."""
        self.sock.settimeout(timeout)
        buffered = b""
        for chunk in self.chunks():
            buffered += chunk
            while b"\n\n" in buffered:
                block, buffered = buffered.split(b"\n\n", 1)
                number, data = None, None
                for line in block.split(b"\n"):
                    if line.startswith(b":") and data is None:
                        continue
                    if line.startswith(b"id: ") and number is None and data is None and line[4:].isdigit():
                        number = int(line[4:])
                    elif line.startswith(b"data: ") and data is None:
                        data = line[6:]
                    else:
                        raise Broken(f"no line of an event: {line[:200]!r} in {block[:400]!r}")
                if data is not None:
                    if any(byte < 0x20 for byte in data):
                        raise Broken(f"a control character in an event: {data[:400]!r}")
                    yield number, json.loads(data.decode("utf-8"))
        if buffered:
            raise Broken(f"half an event: {buffered[:200]!r}")


TOKEN_BYTES = frozenset(b"!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


def message(text, **more):
    """The parameters of a send in A2A 1.0."""
    return {"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": text}], **more}}


def call(method, params, number=1):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


class Honest:
    """A client that asks for what it may have, one request after the other, each on a connection of its own. Where it
    is told to come back it does."""

    def __init__(self, target, token=TOKEN, source=None):
        self.target, self.token, self.source = target, token, source

    def ask(self, request, patience=PATIENCE_SECONDS, method="POST"):
        """Sends a whole request; asks again when it is told to, for as long as its patience lasts."""
        [answer] = self.ask_all([request], patience, method)
        return answer

    def ask_all(self, requests, patience=PATIENCE_SECONDS, method="POST"):
        """The same with several requests, one after the other on one connection."""
        deadline = time.monotonic() + patience
        while True:
            connection = self.target.connect(self.source)
            try:
                answers = []
                for request in requests:
                    answers.append(connection.try_send(request).answer(method=method))
                    if answers[-1].is_last():
                        break
            finally:
                connection.leave()
            later = max((float(value) for answer in answers for value in answer.all("retry-after")), default=None)
            if later is None or time.monotonic() + later > deadline:
                return answers
            time.sleep(later)

    def call(self, name, params, **more):
        """Makes a call and returns its result."""
        answer = self.ask(self.target.post(call(name, params), token=self.token), **more)
        assert answer.status == 200 and "result" in answer.json(), f"{name}: {answer}"
        return answer.json()["result"]

    def send(self, text, is_long=False, **more):
        """Sends a message; returns the task, or the message that answers. A long task is not waited for."""
        params = message(text, **more)
        if is_long:
            params["configuration"] = {"returnImmediately": True}
        result = self.call("SendMessage", params)
        return result.get("task") or result["message"]

    def task(self, task_id):
        return self.call("GetTask", {"id": task_id, "historyLength": 100})

    def cancel(self, task_id):
        return self.call("CancelTask", {"id": task_id})

    def status(self):
        answer = self.ask(self.target.get("/status", token=self.token), method="GET")
        assert answer.status == 200, answer
        return answer.json()

    def stream(self, text, **more):
        """Begins a stream: its connection, behind the head."""
        connection = self.target.connect(self.source, **more)
        connection.send(self.target.post(call("SendStreamingMessage", message(text)), token=self.token))
        head = connection.answer_head()
        assert head.status == 200 and head.field("content-type") == "text/event-stream", head
        return connection
