"""Text that wants to be more than text: line ends, control characters and the words of protocols, in everything that
comes back. It must come back as it was sent, and never become a header, an event, or a line of the log."""

import json

from client import TOKEN, Broken, call, message

MARK = "INJECTED"
# Header names that an answer may have.
KNOWN_FIELDS = {
    "content-type", "content-length", "transfer-encoding", "connection", "cache-control", "x-accel-buffering", "allow",
    "retry-after", "etag", "last-modified", "www-authenticate", "vary", "access-control-allow-origin",
    "access-control-allow-methods", "access-control-allow-headers", "access-control-expose-headers",
    "access-control-max-age", "x-content-type-options", "referrer-policy", "content-security-policy", "content-encoding",
}
# Short: an id has 64 bytes at most, and a JSON-RPC id 80 as it is written, with six for each of the worst.
TEXTS = {
    "a header": f"a\r\n{MARK}: 1",
    "two line ends": f"a\r\n\r\n{MARK}",
    "an answer": f"\r\n\r\nHTTP/1.1 200 {MARK}",
    "an event": f"a\n\ndata: {MARK}",
    "fields of an event": f"a\nid: 9\nevent: {MARK}",
    "a bare CR": f"a\rdata: {MARK}",
    "CRs": f"a\r\rid: {MARK}",
    "NUL": f"a\x00{MARK}",
    "line separators": f"a\u2028data: {MARK}\u2029",
    "next line": f"a\x85{MARK}",
    "an escape": f"\x1b[2J\x1b]0;{MARK}\x07",
    "form feed": f"\x0b\x0c{MARK}",
    "a BOM": f"\ufeff{MARK}",
    "JSON": f'","{MARK}":"',
    "a backslash": f'\\"{MARK}\\',
    "markup": f"</script><b>{MARK}",
    "right to left": f"\u202e{MARK}\u2066",
    "four bytes": f"\U0001f480{MARK}",
    "a format": f"%s%n{{}}{{0}}{MARK}",
    "a comment": f"\n: {MARK}",
}


def clean(answer):
    """Its head has only fields that we know, none twice, and its body no control characters but line ends of ours."""
    names = [name for name, _ in answer.fields]
    strange = set(names) - KNOWN_FIELDS
    assert not strange, f"strange fields: {strange}"
    twice = {name for name in names if names.count(name) > 1} - {"www-authenticate", "vary"}
    assert not twice, f"fields that are there twice: {twice}"
    assert MARK not in str(answer.fields), answer
    assert not any(byte < 0x20 and byte != 0x0A for byte in answer.body), f"control characters: {answer.body[:500]!r}"
    return answer


def strings(value):
    """All strings of a JSON document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from strings(item)


def is_there(text, document):
    assert text in strings(document), f"{text!r} did not come back: {json.dumps(document)[:600]}"


def answered(world, body, **more):
    return clean(world.ask(world.target.post(body, **more)))


def in_messages_and_metadata(world):
    for name, text in TEXTS.items():
        params = message("read temperature", messageId=text, metadata={text: [text, {text: text}]})
        params["message"]["parts"].append({"text": text, "metadata": {text: 1}})
        params["message"]["parts"].append({"data": {text: text}})
        params["metadata"] = {text: text}
        document = answered(world, call("SendMessage", params)).json()
        result = document.get("result")
        assert result, f"{name}: {document}"
        task_id = (result.get("task") or result["message"]).get("id")
        if task_id:
            for method, wanted in [("GetTask", {"id": task_id, "historyLength": 5}),
                                   ("ListTasks", {"historyLength": 5, "pageSize": 1, "includeArtifacts": True})]:
                kept = answered(world, call(method, wanted)).json()
                is_there(text, kept["result"])


in_messages_and_metadata.evicts = True


def in_ids_of_calls(world):
    for text in TEXTS.values():
        for escape in [True, False]:
            body = json.dumps(call("GetTask", {"id": "none"}, text), ensure_ascii=escape).encode()
            document = answered(world, body).json()
            assert document["id"] in (text, None), f"{text!r} became {document['id']!r}"
            stream = answered(world, call("SubscribeToTask", {"id": "none"}, text))
            assert stream.json()["id"] in (text, None), stream


def in_ids_of_tasks_and_contexts(world):
    for text in TEXTS.values():
        # Asked for by an id that is not there, in every dialect: refused, and not repeated as anything else.
        for method in ["GetTask", "CancelTask", "SubscribeToTask", "tasks/get", "tasks/cancel", "tasks/resubscribe"]:
            answer = answered(world, call(method, {"id": text}))
            assert answer.code() in (-32001, -32602), answer
        for more in [{"taskId": text}, {"contextId": text}, {"taskId": text, "contextId": text}]:
            document = answered(world, call("SendMessage", message("read temperature", **more))).json()
            if "taskId" in more:
                assert document["error"]["code"] in (-32001, -32602), document
            elif "result" in document:
                is_there(text, document["result"])
        references = answered(world, call("SendMessage", message("again", referenceTaskIds=[text])))
        assert references.status == 200, references


in_ids_of_tasks_and_contexts.evicts = True


def in_ids_that_clients_choose(world):
    """In A2A 0.1 the client names its task, and the session."""
    for name, text in TEXTS.items():
        params = {"id": text, "sessionId": text, "metadata": {text: text},
                  "message": {"role": "user", "parts": [{"type": "text", "text": "read temperature"}],
                              "metadata": {text: text}}}
        document = answered(world, call("tasks/send", params, text)).json()
        if "error" in document:
            assert document["error"]["code"] == -32602, f"{name}: {document}"
            continue
        assert document["result"]["id"] == text and document["id"] == text, f"{name}: {document}"
        kept = answered(world, call("tasks/get", {"id": text, "historyLength": 3})).json()
        assert kept["result"]["id"] == text and kept["result"]["sessionId"] == text, f"{name}: {kept}"


in_ids_that_clients_choose.evicts = True


def in_streams(world):
    for name, text in TEXTS.items():
        old = {"id": text + "s", "sessionId": text, "metadata": {text: text},
               "message": {"role": "user", "parts": [{"type": "text", "text": "read temperature"}]}}
        new = message("watch temperature 2 times every 1 ms", messageId=text, contextId=text, metadata={text: text})
        new["message"]["parts"].append({"text": text})
        for method, params in [("tasks/sendSubscribe", old), ("SendStreamingMessage", new)]:
            with world.target.connect() as connection:
                connection.send(world.target.post(call(method, params, text)))
                head = clean(connection.answer_head())
                if head.field("content-type") != "text/event-stream":
                    continue
                numbers = []
                for number, event in connection.events():
                    assert event["id"] == text, f"{name}: {event}"
                    numbers.append(number)
                assert numbers == sorted(set(numbers)) and numbers, f"{name}: {numbers}"


in_streams.evicts = True


def in_headers(world):
    body = call("GetTask", {"id": "none"})
    for value in ["1.0\t2", "\xff\xfe", "'\"<>&", 400 * "x", "../../etc/passwd", "%0d%0aX: INJECTED", "1.0, 0.3", "-1",
                  "99999999999999999999", "a,b,,;=", "\u2028".encode().decode("latin-1"), "{}", "%00"]:
        for name in ["A2A-Version", "A2A-Extensions", "X-A2A-Extensions", "Last-Event-ID", "Accept", "User-Agent",
                     "Cookie",
                     "X-Forwarded-For", "X-Forwarded-Host", "Forwarded", "If-None-Match", "If-Modified-Since", "Range",
                     "Content-Encoding", "Accept-Encoding", "Connection"]:
            head = f"{name}: {value}".encode("latin-1").decode("utf-8", "surrogateescape")
            answer = answered(world, body, fields=[head])
            assert answer.status in (200, 400, 415), f"{name}: {value!r}: {answer}"
        head = f"If-None-Match: {value}".encode("latin-1").decode("utf-8", "surrogateescape")
        card = clean(world.ask(world.target.get("/.well-known/agent-card.json", fields=[head]), method="GET"))
        assert card.status == 200, card
    for name in ["X-Forwarded-Host", "Forwarded", "X-Original-URL", "X-Rewrite-URL", "X-HTTP-Method-Override"]:
        card = world.ask(world.target.get("/.well-known/agent-card.json", fields=[f"{name}: {MARK}.example"]),
                         method="GET")
        assert card.status == 200 and MARK.encode() not in card.body, card


def in_paths(world):
    for path in [f"/{MARK}", f"/%0d%0a{MARK}:%201", f"/?x=%0d%0a{MARK}", f"/status?{MARK}",
                 f"/a2a?A2A-Version=%0d%0a{MARK}",
                 f"/.well-known/agent-card.json?{MARK}=%00", f"/..%2f{MARK}", f"/{MARK}%ff%fe", f"/<b>{MARK}",
                 f"/;{MARK}"]:
        for method in ["GET", "POST"]:
            body = json.dumps(call("GetTask", {"id": "none"})).encode()
            request = world.target.get(path) if method == "GET" else world.target.post(body, path=path)
            answer = clean(world.ask(request, method=method))
            assert answer.status in (200, 400, 404, 405), f"{path}: {answer}"
            assert MARK.encode() not in answer.body, f"{path} is repeated: {answer}"


def in_methods_of_calls(world):
    for text in TEXTS.values():
        answer = answered(world, call(text, {}))
        assert answer.code() in (-32601, -32600), answer
        answer = answered(world, call("SendMessage", {text: text}))
        assert answer.code() == -32602, answer
        answer = answered(world, {"jsonrpc": text, "id": 1, "method": "GetTask", "params": {"id": "none"}})
        assert answer.code() in (-32600, -32001), answer


def no_line_of_the_log_is_a_clients(world):
    """Everything above is over: the log must have no line that begins where a client wanted it to, and no token."""
    log = world.log()
    for line in log.splitlines():
        plain = line.split("\u2028")
        for piece in plain:
            for start in [MARK, f"data: {MARK}", f"id: {MARK}", f"event: {MARK}"]:
                if piece.startswith(start):
                    raise Broken(f"a client has written a line of the log: {line!r}")
        has_control = any(ord(letter) < 0x20 and letter not in "\t\x1b" for letter in line)
        if has_control or "\x1b]0;" in line or "\x1b[2J" in line:
            raise Broken(f"control characters in the log: {line!r}")
    if TOKEN:
        # A board shows its first token once.
        assert log.count(TOKEN) <= (1 if world.is_board else 0), "the log has the token in it"


CASES = [
    in_messages_and_metadata,
    in_ids_of_calls,
    in_ids_of_tasks_and_contexts,
    in_ids_that_clients_choose,
    in_streams,
    in_headers,
    in_paths,
    in_methods_of_calls,
    no_line_of_the_log_is_a_clients,
]
