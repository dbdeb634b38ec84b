"""Documents that are small on the wire and large or wrong inside: each gets one answer, soon, and it is JSON."""

import json
import time

from client import call, message

# What may be said about a document that is wrong: parse error, invalid request, method not found, invalid params,
# internal error never.
WRONG = (-32700, -32600, -32601, -32602)


def ask(world, body, allowed=WRONG, may_be_fine=True, statuses=(200,), **more):
    """Sends a body; it must be refused in JSON with one of these codes, or be fine if that may be."""
    begun = time.monotonic()
    answer = world.ask(world.target.post(body, **more))
    took = time.monotonic() - begun
    shown = repr(body)[:120]
    assert took < world.bound, f"{shown}: it took {took:.2f} s"
    assert answer.status in statuses, f"{shown}: {answer}"
    document = answer.json()
    if "error" in document:
        assert document["error"]["code"] in allowed, f"{shown}: {answer}"
    else:
        assert may_be_fine, f"{shown} is fine: {answer}"
    return document


def raw(text, params=b"", number=b"1", method=b"GetTask"):
    """A call written by hand: `text` stands where the parameters do."""
    return b'{"jsonrpc":"2.0","id":' + number + b',"method":"' + method + b'","params":' + (text or params) + b"}"


def depth_bombs(world):
    room = world.body_max - 300
    for opening, closing in [(b"[", b"]"), (b'{"a":', b"}"), (b'[{"a":', b"}]")]:
        inner = b"1"
        for depth in [8, 32, 33, 64, 65, 100, 200, 500, 1000, 4000, room // (len(opening) + len(closing))]:
            if depth * (len(opening) + len(closing)) > room:
                continue
            bomb = opening * depth + inner + closing * depth
            # As parameters, as an id, as the whole, in what is kept, and never closed.
            ask(world, raw(bomb), may_be_fine=False)
            ask(world, raw(b"{}", number=bomb), may_be_fine=False)
            ask(world, bomb, may_be_fine=False)
            ask(world, raw(b'{"id":"none","metadata":' + bomb + b"}"), allowed=(*WRONG, -32001))
            ask(world, raw(opening * depth), may_be_fine=False)
            ask(world, opening * depth, may_be_fine=False)
            kept = json.dumps(message("hello")).replace('"messageId"', '"metadata": {"x": BOMB}, "messageId"').encode()
            ask(world, raw(kept.replace(b"BOMB", bomb), method=b"SendMessage"), allowed=(*WRONG, -32010))
    for closing in [b"]", b"}", b"]}" * 1000]:
        ask(world, closing, may_be_fine=False)


def huge_numbers(world):
    numbers = [
        b"1e999999", b"-1e999999", b"1e-999999", b"1E+400", b"9" * 400, b"-" + b"9" * 400, b"0." + b"3" * 400, b"-0",
        b"-0.0",
        b"0e0", b"1e0", b"18446744073709551616", b"9223372036854775808", b"-9223372036854775809", b"4294967296",
        b"2147483648",
        b"-1", b"1.5", b"1e2", b"340282366920938463463374607431768211456", b"1" + b"0" * 2000, b"0.1e1",
    ]
    bad = [b"01", b"+1", b".5", b"5.", b"1e", b"1e+", b"--1", b"0x10", b"Infinity", b"-Infinity", b"NaN", b"1_000",
           b"1,0",
           "１".encode(), b"1 2", b"1f", b"-"]
    for number in numbers:
        for method, params in [("GetTask", b'{"id":"none","historyLength":N}'), ("ListTasks", b'{"pageSize":N}'),
                               ("ListTasks", b'{"historyLength":N}'), ("tasks/get", b'{"id":"none","historyLength":N}'),
                               ("GetTask", b'{"id":N}'), ("ListTasks", b'{"pageToken":N}'),
                               ("ListTasks", b'{"pageToken":"N"}'),
                               ("GetTask", b"N"), ("GetTask", b'{"id":"none","metadata":{"x":N}}')]:
            ask(world, raw(params.replace(b"N", number), method=method.encode()), allowed=(*WRONG, -32001))
        kept = json.dumps(message("hello", metadata={"x": "BOMB"})).replace('"BOMB"', "BOMB").encode()
        ask(world, raw(kept.replace(b"BOMB", number), method=b"SendMessage"))
        # An id comes back as it was, or is refused: it is never another number.
        document = ask(world, raw(b'{"id":"none"}', number=number), allowed=(*WRONG, -32001))
        if document.get("id") is not None:
            text = world.ask(world.target.post(raw(b'{"id":"none"}', number=number))).body
            assert b'"id":' + number + b"," in text, f"{number[:50]} became {text[:100]}"
    for number in bad:
        ask(world, raw(b'{"id":"none","historyLength":' + number + b"}"), may_be_fine=False)
        ask(world, raw(b"{}", number=number), may_be_fine=False)
    for text in ["watch temperature 99999999999999999999 times", "watch temperature every 1e99 ms",
                 "alert when temperature above "
                 + 300 * "9", "watch temperature -1 times", "watch temperature 0 times",
                 "watch temperature for 1e9999 seconds",
                 "alert when temperature above NaN", "alert when temperature above -", "read temperature \U0001f480",
                 "watch temperature every -5 ms"]:
        document = ask(world, json.dumps(call("SendMessage", {**message(text),
                                                              "configuration": {"returnImmediately": True}})).encode())
        task = document.get("result", {}).get("task")
        if task:
            world.cancel(task["id"])
    for data in [b'{"skill":"watch","sensor":"temperature","times":1e99,"everyMs":-1}',
                 b'{"skill":"alert","above":1e999}',
                 b'{"skill":"watch","times":' + b"9" * 300 + b"}", b'{"skill":{"skill":"watch"}}',
                 b'{"skill":"watch","skill":"set"}']:
        said = b'{"messageId":"m","role":"ROLE_USER","parts":[{"data":' + data + b"}]}"
        params = b'{"configuration":{"returnImmediately":true},"message":' + said + b"}"
        task = ask(world, raw(params, method=b"SendMessage")).get("result", {}).get("task")
        if task:
            world.cancel(task["id"])


huge_numbers.evicts = True


def text_that_is_no_utf8(world):
    for bad in [b"\xff", b"\xc0\xaf", b"\xc1\xbf", b"\xe0\x80\xaf", b"\xf0\x80\x80\xaf", b"\xf8\x88\x80\x80\x80",
                b"\xed\xa0\x80",
                b"\xed\xbf\xbf", b"\xf4\x90\x80\x80", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x92", b"\x80", b"\xbf\xbf",
                b"\xc3\x28",
                b"\xfe\xff", b"a\xcc", b"\xf0\x28\x8c\xbc"]:
        for body in [raw(b'{"id":"' + bad + b'"}'), raw(b'{"' + bad + b'":1}'), raw(b"{}", number=b'"' + bad + b'"'),
                     raw(b"{}", method=bad), bad, b'"' + bad, raw(b"{}") + bad,
                     raw(b'{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hello' + bad + b'"}]}}',
                         method=b"SendMessage"),
                     raw(b'{"message":{"messageId":"' + bad + b'","role":"ROLE_USER","parts":[{"text":"hello"}]}}',
                         method=b"SendMessage")]:
            ask(world, body, may_be_fine=False)
        # In a header it is somebody's Latin-1; in a target it is not allowed.
        field = b"X-Name: " + bad
        answer = world.ask(world.target.get("/status")[:-2] + field + b"\r\n\r\n", method="GET")
        assert answer.status == 200, answer
        answer = world.ask(world.target.get("/status").replace(b"/status", b"/status" + bad, 1), method="GET")
        assert answer.status == 400, answer
    for field in ["A2A-Version", "Last-Event-ID", "A2A-Extensions"]:
        request = world.target.post(call("GetTask", {"id": "none"}))
        answer = world.ask(request.replace(b"\r\n\r\n", f"\r\n{field}: ".encode() + b"\xff\xc0\xaf\r\n\r\n", 1))
        assert answer.status in (200, 400), answer
        answer.json()


def escapes_that_are_wrong(world):
    for text in [rb"\ud800", rb"\udc00", rb"\ud800\ud800", rb"\udc00\ud800", rb"\ud800x", rb"\uD83D\u0041"]:
        # Half a pair names no character: refused, or something else in its place; never half a pair in UTF-8.
        for body in [raw(b'{"id":"' + text + b'"}'), raw(b"{}", number=b'"' + text + b'"'),
                     raw(b'{"message":{"messageId":"' + text + b'","role":"ROLE_USER","parts":[{"text":"hello '
                         + text + b'"}]}}', method=b"SendMessage")]:
            ask(world, body, allowed=(*WRONG, -32001))
    for text in [rb"\x41", rb"\u12", rb"\u", rb"\uGGGG", rb"\U00000041", b"\\", rb"\u-123", rb"\u 123", b"\x00", b"\n",
                 b"\t", b"\x1f",
                 b"\\'", rb"\0", b"\\\n"]:
        for body in [raw(b'{"id":"' + text + b'"}'), raw(b'{"' + text + b'":1}'),
                     raw(b"{}", number=b'"' + text + b'"')]:
            ask(world, body, may_be_fine=False)
    document = ask(world, raw(rb'{"id":"none"}', number=rb'"\u0041\/\ud83d\ude00"'), allowed=(-32001,))
    assert document["id"] == "A/\U0001f600", document


def members_that_are_there_twice(world):
    for body in [
        b'{"jsonrpc":"2.0","id":1,"id":2,"method":"GetTask","params":{"id":"none"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"GetTask","method":"CancelTask","params":{"id":"none"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"GetTask","m\\u0065thod":"CancelTask","params":{"id":"none"}}',
        b'{"jsonrpc":"2.0","jsonrpc":"1.0","id":1,"method":"GetTask","params":{"id":"none"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"none"},"params":{"id":"other"}}',
        raw(b'{"id":"none","id":"other"}'),
        raw(b'{"message":{"messageId":"m","messageId":"n","role":"ROLE_USER","parts":[{"text":"hello"}]}}',
            method=b"SendMessage"),
        raw(b'{"message":{"messageId":"m","role":"ROLE_USER","role":"ROLE_AGENT","parts":[{"text":"hello"}]}}',
            method=b"SendMessage"),
        raw(b'{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hello","text":"reboot"}]}}',
            method=b"SendMessage"),
    ]:
        # One or the other or an error, but the same every time.
        first = ask(world, body, allowed=(*WRONG, -32001))
        assert all(ask(world, body, allowed=(*WRONG, -32001)).keys() == first.keys() for _ in range(3)), body


def documents_that_are_none(world):
    good = json.dumps(call("GetTask", {"id": "none"})).encode()
    for body in [b"", b" ", b"\r\n", b"null", b"true", b"1", b'""', b"[]", b"{}", b"{", b"}", b'{"', b'{"a"', b'{"a":',
                 b'{"a":1', b'{"a":1,',
                 b'{"a":1,}', b"{,}", b"[1,]", b"[,1]", b'{"a" 1}', b"{a:1}", b"{'a':1}", b'{"a":undefined}',
                 b"/* */{}", b"{}//", b"{}{}",
                 good + b"x", good + good, good + b"\x00", b"\x00" + good, b"\xef\xbb\xbf" + good, b"\xff\xfe" + good,
                 good[:-1], good[1:],
                 good.replace(b'"2.0"', b'"1.0"'), good.replace(b'"2.0"', b"2.0"), good.replace(b'"2.0"', b"null"),
                 b"[" + good + b"]",
                 b"[" + good + b"," + good + b"]", good.replace(b"1,", b"{},"), good.replace(b"1,", b"[],"),
                 good.replace(b"1,", b"true,"),
                 b"<xml/>", b"a=b&c=d", good.decode().encode("utf-16"), good.decode().encode("utf-32"),
                 b"\x1f\x8b\x08\x00" + good]:
        ask(world, body, may_be_fine=False, statuses=(200, 400))


def documents_as_large_as_they_may_be(world):
    room = world.body_max
    for filler, where in [("x", "text"), ("\u20ac", "text"), ("x", "id"), ("x", "metadata")]:
        for size in [room, room - 1]:
            params = message("hello")
            if where == "text":
                params["message"]["parts"][0]["text"] = "FILL"
            elif where == "id":
                params["message"]["messageId"] = "FILL"
            else:
                params["message"]["metadata"] = {"x": "FILL"}
            body = json.dumps(call("SendMessage", params), ensure_ascii=False)
            left = size - len(body) + 4
            body = body.replace("FILL",
                                filler * (left // len(filler.encode())) + "x" * (left % len(filler.encode()))).encode()
            assert len(body) == size
            document = ask(world, body, allowed=(*WRONG, -32010, -32011, -32603, -32000), statuses=(200, 503))
            code = document.get("error", {}).get("code")
            assert code != -32603, f"{where}: {document}"
    for size in [room + 1, 2 * room]:
        answer = world.ask(world.target.post(b" " * size))
        assert answer.status == 413 and answer.is_last() and answer.json()["error"], answer


def many_small_things(world):
    parts = [{"text": ""}] * (world.body_max // 24 if world.kind == "device" else 10000)
    ask(world, json.dumps(call("SendMessage", {"message": {"messageId": "m", "role": "ROLE_USER",
                                                           "parts": parts}})).encode()[:world.body_max],
        allowed=(*WRONG, -32010, -32011, -32005))
    for params in [{"x" + str(number): number for number in range(500)}, {"id": "none", "x": [0] * 2500},
                   {"id": ["none"] * 800},
                   {"message": [{}] * 1500}, {"message": {"parts": {}}}, {"message": {"parts": [[]]}},
                   {"message": None}]:
        ask(world, call("GetTask", params), allowed=(*WRONG, -32001))
        ask(world, call("SendMessage", params))
    spaces = b" " * (world.body_max - 200)
    ask(world, spaces + json.dumps(call("GetTask", {"id": "none"})).encode(), allowed=(-32001,))


def heads_as_large_as_they_may_be(world):
    for count, size, allowed in [(1, 100, {200}), (10, 30, {200}), (1, 9000, {431}), (1, 60000, {431}),
                                 (200, 200, {431}), (3000, 1, {431})]:
        fields = [f"X-{number}: {size * 'x'}" for number in range(count)]
        answer = world.ask(world.target.get("/status", fields=fields), method="GET")
        assert answer.status in allowed and answer.is_last() == (answer.status == 431), f"{count} x {size}: {answer}"
    for size, allowed in [(100, {404}), (5000, {414, 431}), (100_000, {414, 431})]:
        answer = world.ask(world.target.get("/" + size * "x"), method="GET")
        assert answer.status in allowed, f"{size}: {answer}"
    answer = world.ask(world.target.get("/status?" + "&".join(f"a{number}=b" for number in range(60))), method="GET")
    assert answer.status in (200, 414), answer
    answer = world.ask(world.target.head(8000 * "X", "/"), method="GET")
    assert answer.status in (400, 405, 431), answer


CASES = [
    depth_bombs,
    huge_numbers,
    text_that_is_no_utf8,
    escapes_that_are_wrong,
    members_that_are_there_twice,
    documents_that_are_none,
    documents_as_large_as_they_may_be,
    many_small_things,
    heads_as_large_as_they_may_be,
]
