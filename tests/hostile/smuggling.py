"""Requests whose end two readers could see in different places: there must be exactly as many answers as a strict
reader sees requests, in their order, and none of them to a request that was hidden in another one."""

import json

from client import TOKEN, call, message

# How long to wait for an answer that must not come; longer where answers take longer.
QUIET_SECONDS = 0.25
MEDIA = "application/json"


def quiet(world):
    return max(QUIET_SECONDS, 20 * world.usual)


def body(number):
    """A call that is answered with its id."""
    return json.dumps(call("GetTask", {"id": "none"}, number)).encode()


def lines(world, *fields, start="POST / HTTP/1.1", host=True, end="\r\n"):
    """The head of a POST with these fields and no length unless they give one."""
    head = [start]
    if host:
        head.append(f"Host: {world.target.authority}")
    if TOKEN:
        head.append(f"Authorization: Bearer {TOKEN}")
    head.extend([f"Content-Type: {MEDIA}", *fields, "", ""])
    return end.join(head).encode("latin-1")


def good(world, number):
    """A request that is good, and hidden in others."""
    return world.target.post(body(number))


def seen(answers):
    """What was answered: a status, or the id of the call where it was one."""
    found = []
    for answer in answers:
        content = answer.json() if answer.status == 200 and answer.field("content-type") == MEDIA else {}
        found.append(content["id"] if "id" in content else answer.status)
    return found


def check(world, name, data, *allowed, ends=None):
    """Sends bytes and compares what is answered with what may be; `ends`: the device must hang up."""
    for pieces in [[data], [data[:len(data) // 2], data[len(data) // 2:]]]:
        with world.target.connect() as connection:
            for piece in pieces:
                connection.try_send(piece)
            answers, is_ended = connection.answers(quiet(world))
            found = seen(answers)
            assert found in allowed, f"{name}: {found}, not {' or '.join(map(str, allowed))}"
            # Behind a refusal nothing can be trusted: the connection has to end, and the last answer says so.
            if ends or (ends is None and isinstance(found[-1], int) and found[-1] >= 400):
                assert answers[-1].is_last(), f"{name}: {answers[-1]}"
                assert is_ended or connection.is_ended(3), f"{name}: it goes on"


def two_lengths(world):
    first, hidden = body("first"), good(world, "hidden")
    length = f"Content-Length: {len(first)}"
    more = f"Content-Length: {len(first) + len(hidden)}"
    chunked = "Transfer-Encoding: chunked"
    for name, fields in {
        "the same twice": [length, length],
        "two that differ": [length, more],
        "two that differ, the other way": [more, length],
        "the second in other letters": [length, f"cONTENT-lENGTH: {len(first) + len(hidden)}"],
        "a list of the same": [f"Content-Length: {len(first)}, {len(first)}"],
        "a list": [f"Content-Length: {len(first)}, 0"],
        "zero and more": ["Content-Length: 0", length],
        "with a coding behind": [length, chunked],
        "with a coding before": [chunked, length],
    }.items():
        check(world, name, lines(world, *fields) + first + hidden, [400])


def strange_lengths(world):
    first, hidden = body("first"), good(world, "hidden")
    for value in [
        f"+{len(first)}", f"-{len(first)}", "-0", f"0x{len(first):x}", f"{len(first):x}h", f"{len(first)}.0", "1e2",
        f"{len(first)} 0", f"{len(first)};", f"'{len(first)}'", f'"{len(first)}"', "", " ", "abc", "NaN",
        "١٢".encode().decode("latin-1"),
        f"{len(first)}\x0b", f"{len(first)}\x00", "\x0c5", "0 0", ",", "0,", "5 ,", "\xa05", f"{len(first)}_0",
    ]:
        check(world, f"Content-Length {value!r}", lines(world, f"Content-Length: {value}") + first + hidden, [400])
    for value in ["18446744073709551616", "18446744073709551615", "4294967296", "9" * 100, "9223372036854775808",
                  f"{2**64 + len(first)}", f"{2**32 + len(first)}", str(world.body_max + 1)]:
        check(world, f"Content-Length {value}", lines(world, f"Content-Length: {value}") + first + hidden, [413])
    # Zeros in front are a number like any other to a strict reader; to a stricter one they are none.
    for value in [f"0{len(first)}", f"0000000000{len(first)}", f"  {len(first)}", f"{len(first)} \t",
                  f"\t{len(first)}"]:
        data = lines(world, f"Content-Length: {value}") + first + hidden
        check(world, f"Content-Length {value!r}", data, ["first", "hidden"], [400])


def transfer_codings(world):
    hidden = good(world, "hidden")
    first = body("first")
    chunks = f"{len(first):x}\r\n".encode() + first + b"\r\n0\r\n\r\n"
    for field in [
        "Transfer-Encoding: chunked", "transfer-encoding: CHUNKED", "Transfer-Encoding: xchunked",
        "Transfer-Encoding: chunked, identity", "Transfer-Encoding: identity", "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: identity, chunked", "Transfer-Encoding: ", "Transfer-Encoding: chunked;q=1",
        "Transfer-Encoding:\tchunked", "Transfer-Encoding: \"chunked\"", "Transfer-Encoding: cow",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Transfer-Encoding: x\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\xa0", "Transfer-Encoding: ch\x80unked",
    ]:
        # Codings are not decoded here: what follows is nobody's.
        check(world, field, lines(world, field) + chunks + hidden, [411], [400], [501])
        check(world, field + " and a length", lines(world, field, "Content-Length: 4") + chunks + hidden, [400])
    for field in [
        "Transfer-Encoding : chunked", " Transfer-Encoding: chunked", "Transfer-Encoding\t: chunked",
        "Transfer-Encoding\x00: chunked", "Transfer-Encoding: chunked\x00", "X: y\nTransfer-Encoding: chunked",
        "X: y\rTransfer-Encoding: chunked", "Transfer-Encoding\n: chunked", "Transfer-Encoding:\r\n chunked",
        "X: y\r\n Transfer-Encoding: chunked", "Transfer-Encoding: \x0bchunked", "Transfer\x80Encoding: chunked",
        "Transfer-Encoding: chunked\r", "Transfer-Encoding: chunked\x7f",
    ]:
        check(world, repr(field), lines(world, field, f"Content-Length: {len(first)}") + first + hidden, [400])
    # A name that only looks like it is another name: there is a body of that length, and the next request.
    for field in ["Transfer_Encoding: chunked", "Transfer-Encoding-: chunked", "XTransfer-Encoding: chunked",
                  "TE: chunked",
                  "Content_Length: 0", "Content-Length-: 0", "Trailer: Content-Length"]:
        data = lines(world, field, f"Content-Length: {len(first)}") + first + hidden
        check(world, field, data, ["first", "hidden"], ends=False)
    # No HTTP/1.0 client may send one.
    old = lines(world, "Transfer-Encoding: chunked", start="POST / HTTP/1.0")
    check(world, "chunked in HTTP/1.0", old + chunks + hidden, [411], [400])


def strange_lines(world):
    first, hidden = body("first"), good(world, "hidden")
    length = f"Content-Length: {len(first)}"
    check(world, "bare line feeds", lines(world, length, end="\n") + first + hidden, [400])
    check(world, "bare carriage returns", lines(world, length, end="\r") + first + hidden, [400])
    for name, field in {
        "a folded line": "X: a\r\n b", "a folded line with a tab": "X: a\r\n\tb",
        "a first line that is folded": " X: a",
        "a space before the colon": "X : a", "no colon": "X", "no name": ": a", "a name with a space": "X Y: a",
        "a NUL in a name": "X\x00: a", "a NUL in a value": "X: a\x00b", "a bare CR in a value": "X: a\rb",
        "a bare LF in a value": "X: a\nb", "a delete": "X: \x7f", "an escape": "X: \x1b[2J", "a name of a colon": "::",
        "a name in brackets": "(X): a", "a name in Latin-1": "\xe4: a",
    }.items():
        check(world, name, lines(world, field, length) + first + hidden, [400])
    for name, field in {"an empty value": "X:", "a tab": "X:\ta\tb", "Latin-1 in a value": "X: \xe4\xff",
                        "a colon in a value": "X: a: b"}.items():
        check(world, name, lines(world, field, length) + first + hidden, ["first", "hidden"], ends=False)
    for start in ["POST  / HTTP/1.1", "POST /  HTTP/1.1", "POST\t/ HTTP/1.1", "POST / HTTP/1.1 ", " POST / HTTP/1.1",
                  "POST / http/1.1", "POST / HTTP/1.1x", "POST / HTTP/1.01", "POST / HTTP/1,1",
                  "POST / HTTP 1.1", "POST / ", "POST", "POST / / HTTP/1.1", "P\x00ST / HTTP/1.1",
                  "POST /\x00 HTTP/1.1",
                  "POST /\xff HTTP/1.1", "POST /\x7f HTTP/1.1", "(POST) / HTTP/1.1", "\x16\x03\x01\x02\x00\x01\x00"]:
        check(world, repr(start), lines(world, length, start=start) + first + hidden, [400])
    for start in ["POST / HTTP/2.0", "POST / HTTP/0.9", "POST / HTTP/3", "POST / HTTP/1.2", "POST / HTTP/9.9",
                  "POST / HTTP/01.1"]:
        check(world, start, lines(world, length, start=start) + first + hidden, [505], [400])


def other_protocols(world):
    hidden = good(world, "hidden")
    check(world, "HTTP/0.9", b"GET /\r\n" + hidden, [400])
    check(world, "HTTP/2 with prior knowledge", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9) + hidden, [505], [400])
    check(world, "TLS", bytes.fromhex("16030100c8010000c40303") + bytes(range(200)), [400])
    check(world, "SSH", b"SSH-2.0-OpenSSH_9.6\r\n", [400])
    check(world, "a proxy's greeting", b"PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n" + hidden, [400])
    check(world, "SMTP", b"EHLO x\r\nMAIL FROM:<a@b>\r\n", [400])
    check(world, "nothing but bytes", bytes(range(256)), [400])
    check(world, "empty lines first", b"\r\n\r\n" + hidden, ["hidden"], [400])
    for upgrade in ["h2c", "websocket", "TLS/1.0"]:
        request = world.target.get("/status", fields=["Connection: Upgrade, HTTP2-Settings", f"Upgrade: {upgrade}",
                                                      "HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA"])
        with world.target.connect() as connection:
            answer = connection.send(request).answer(method="GET")
            assert answer.status == 200 and answer.field("upgrade") is None, answer
    check(world, "CONNECT", lines(world, start=f"CONNECT {world.target.authority} HTTP/1.1") + hidden,
          [404, "hidden"], [405, "hidden"], [400], [404], [405], [501], ends=False)


def bodies_where_none_belong(world):
    first, hidden = body("first"), good(world, "hidden")
    smuggled = good(world, "smuggled")
    head = world.target.get("/status")[:-2] + f"Content-Length: {len(smuggled)}\r\n\r\n".encode()
    with world.target.connect() as connection:
        answers, _ = connection.send(head + smuggled + hidden).answers(quiet(world))
        assert [answer.status for answer in answers] in ([200, 200], [200], [400]), answers
        assert "smuggled" not in str(seen(answers)), f"the body of a GET was taken for a request: {answers}"
    for method, status in [("PUT", 405), ("DELETE", 405), ("PATCH", 405), ("TRACE", 405), ("get", 405),
                           ("M-SEARCH", 405)]:
        data = lines(world, f"Content-Length: {len(smuggled)}", start=f"{method} / HTTP/1.1") + smuggled + hidden
        check(world, method, data, [status, "hidden"], [status], [400], ends=False)
    # A POST that gives no length has no body: what follows is the next request, good or not.
    check(world, "no length", lines(world) + hidden, [411], [400], [None, "hidden"], [415, "hidden"], ends=False)
    check(world, "a body longer than it says", lines(world, f"Content-Length: {len(first) - 1}") + first + hidden,
          [None, 400])
    # HEAD has no body in its answer, whatever it asks for.
    with world.target.connect() as connection:
        connection.send(world.target.head("HEAD", "/status") + world.target.get("/status"))
        assert connection.answer(method="HEAD").status == 200
        assert connection.answer(method="GET").status == 200


def expectations(world):
    first, hidden = body("first"), good(world, "hidden")
    length = f"Content-Length: {len(first)}"
    check(world, "a body that does not wait", lines(world, length, "Expect: 100-continue") + first + hidden,
          ["first", "hidden"], [400], ends=False)
    for value in ["100-continue, x", "200-ok", "x", "100-continue;q=1", "100-continue\tx"]:
        check(world, value, lines(world, length, f"Expect: {value}") + first + hidden, [417], [400], [417, "hidden"],
              ends=False)
    # With nothing to wait for there is nothing to say.
    with world.target.connect() as connection:
        connection.send(world.target.get("/status", fields=["Expect: 100-continue"]))
        answer = connection.answer(method="GET", skip_continue=False)
        assert answer.status in (200, 417), answer
    # A refusal is not followed by a 100, nor the other way round.
    with world.target.connect() as connection:
        connection.send(world.target.head(path="/nowhere", length=len(first), fields=["Expect: 100-continue"]))
        answer = connection.answer(skip_continue=False)
        assert answer.status == 404 and answer.is_last(), answer
        connection.try_send(first + hidden)
        assert connection.is_ended(3)


def whole_urls_as_targets(world):
    first, hidden = body("first"), good(world, "hidden")
    length = f"Content-Length: {len(first)}"
    own = lines(world, length, start=f"POST http://{world.target.authority}/ HTTP/1.1")
    check(world, "our own", own + first + hidden, ["first", "hidden"], [400], ends=False)
    for target in ["http://evil.example/", "http://evil.example@127.0.0.1/", "http://evil.example:80/",
                   "//evil.example/",
                   "http:///", "http://", "ftp://evil.example/", "http://[::1]evil/", "/..//", "/%2e%2e/", "\\", "/\\",
                   "http:/", "https:evil", "?", "#", "/#/", "/a2a#x", "http://127.0.0.1\\@evil.example/"]:
        with world.target.connect() as connection:
            data = lines(world, length, start=f"POST {target} HTTP/1.1") + first + hidden
            answers, _ = connection.send(data).answers(quiet(world))
            found = seen(answers)
            # Another host's request is not ours to answer; a path that is not there is not there.
            assert found in ([400], [404], [404, "hidden"], [421], [421, "hidden"],
                             [400, "hidden"]), f"{target}: {found}"


def requests_in_a_row_are_answered_in_a_row(world):
    numbers = [f"n{number}" for number in range(20)]
    with world.target.connect() as connection:
        answers, _ = connection.send(b"".join(good(world, number) for number in numbers)).answers(quiet(world))
        assert seen(answers) == numbers, seen(answers)
    # A bad one in the middle ends it: what is behind is not looked at.
    with world.target.connect() as connection:
        data = good(world, "one") + b"BAD\x00\r\n\r\n" + good(world, "two")
        answers, _ = connection.try_send(data).answers(quiet(world))
        assert seen(answers) == ["one", 400], seen(answers)
    # So does one that asks for the end.
    with world.target.connect() as connection:
        data = world.target.post(body("one"), fields=["Connection: close"]) + good(world, "two")
        answers, is_ended = connection.try_send(data).answers(quiet(world))
        assert seen(answers) == ["one"] and (is_ended or connection.is_ended(3)), seen(answers)
    # And HTTP/1.0.
    with world.target.connect() as connection:
        data = world.target.post(body("one"), version="HTTP/1.0") + good(world, "two")
        answers, _ = connection.try_send(data).answers(quiet(world))
        assert seen(answers) == ["one"], seen(answers)


def a_request_behind_a_stream_waits_for_its_end(world):
    with world.target.connect() as connection:
        stream = world.target.post(call("SendStreamingMessage", message("watch temperature 3 times every 50 ms")))
        connection.send(stream + good(world, "behind"))
        head = connection.answer_head()
        assert head.field("content-type") == "text/event-stream", head
        events = list(connection.events())
        assert events[-1][1]["result"]["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED", events[-1]
        assert connection.answer().json()["id"] == "behind"


CASES = [
    two_lengths,
    strange_lengths,
    transfer_codings,
    strange_lines,
    other_protocols,
    bodies_where_none_belong,
    expectations,
    whole_urls_as_targets,
    requests_in_a_row_are_answered_in_a_row,
    a_request_behind_a_stream_waits_for_its_end,
]
