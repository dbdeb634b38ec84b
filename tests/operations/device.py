"""A device as its operator sees it: requests with a token, on a connection each, and every byte of them counted."""

import json
import os
import socket
import time
from urllib.parse import urlsplit

TOKEN, OTHER_TOKEN = os.environ.get("MOTE_TOKEN", ""), os.environ.get("MOTE_OTHER_TOKEN", "")
PATIENCE_SECONDS = 60


class Answer:
    def __init__(self, raw):
        head, _, body = raw.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split()[1])
        self.fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        self.body = unchunked(body) if self.fields.get("transfer-encoding") == "chunked" else body

    def text(self):
        return self.body.decode()

    def json(self):
        return json.loads(self.body)


def unchunked(body):
    """The body, which must come to its proper end."""
    whole = b""
    while True:
        size, _, body = body.partition(b"\r\n")
        size = int(size, 16)
        if size == 0:
            assert body == b"\r\n", f"something behind the last chunk: {body}"
            return whole
        whole, body = whole + body[:size], body[size + 2:]


class Device:
    def __init__(self, url):
        self.host, self.port = urlsplit(url).hostname, urlsplit(url).port
        self.sent_bytes = 0

    def ask(self, method, path, body=b"", token=TOKEN, **fields):
        head = [f"{method} {path} HTTP/1.1", f"Host: {self.host}", "Connection: close"]
        head += [f"Authorization: Bearer {token}"] if token else []
        head += [f"Content-Length: {len(body)}"] if method == "POST" else []
        head += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
        request = "\r\n".join(head).encode() + b"\r\n\r\n" + body
        with socket.create_connection((self.host, self.port), PATIENCE_SECONDS) as connection:
            connection.sendall(request)
            self.sent_bytes += len(request)
            raw = b""
            while piece := connection.recv(65536):
                raw += piece
        return Answer(raw)

    def patient(self):
        """The same device, for somebody who comes back when there is no room, as is asked of clients."""
        return Patient(f"http://{self.host}:{self.port}")

    def get(self, path, token=TOKEN):
        return self.ask("GET", path, token=token)

    def post(self, body, token=TOKEN, **fields):
        fields.setdefault("Content_Type", "application/json")
        return self.ask("POST", "/", body if isinstance(body, bytes) else json.dumps(body).encode(), token, **fields)

    def call(self, method, params, token=TOKEN, **fields):
        return self.post({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, token, **fields)

    def send_1_0(self, text, method="SendMessage", token=TOKEN, **fields):
        message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": text}]}
        return self.call(method, {"message": message}, token, **fields)

    def send_0_3(self, text):
        message = {"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": text}]}
        return self.call("message/send", {"message": message})

    def send_0_1(self, text, task):
        message = {"role": "user", "parts": [{"type": "text", "text": text}]}
        return self.call("tasks/send", {"id": task, "message": message})

    def log(self, after=None, token=TOKEN):
        answer = self.get("/log" if after is None else f"/log?after={after}", token)
        assert answer.status == 200, (answer.status, answer.body)
        return answer.json()


class Patient(Device):
    def ask(self, *request, **fields):
        for _ in range(30):
            answer = super().ask(*request, **fields)
            if answer.status != 503:
                break
            time.sleep(float(answer.fields["retry-after"]))
        return answer
