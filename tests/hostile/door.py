"""Who may ask, and how often: tokens, the names in Host and Origin, what kind of body, and other people's tasks."""

import base64
import json
import time

from client import OTHER_TOKEN, TOKEN, Honest, call, message
from crowds import other_addresses
from world import Elsewhere, Skip

GET_NOTHING = call("GetTask", {"id": "none"})
# One wrong token for each way to be wrong; `guesses` adds those that look like the right one.
STRANGE_CREDENTIALS = [
    "Bearer", "Bearer ", "Bearer x", "bearer", "Basic", "Basic Og==", "Basic !!!!", "Basic bm9jb2xvbg==",
    "Basic " + 200 * "A",
    "Digest username=x", "Negotiate YII=", "x", "Bearer " + 129 * "x", "Bearer " + 1000 * "x", "Bearer a b",
    "Bearer a,Bearer b",
    "Basic " + base64.b64encode(b"\xff\xfe:\x00").decode(), "Bearer null", "Bearer undefined", "Bearer \t",
]


def guesses():
    """Tokens that are almost the right one."""
    right = TOKEN
    return [right[:-1], right + "x", right[1:], right.swapcase(), right + " " + right, right[::-1], f'"{right}"',
            f"{right},", f"x{right}",
            right[:-1] + ("a" if right[-1] != "a" else "b"), f"{right}%00", base64.b64encode(right.encode()).decode(),
            f"{right}={right}"]


def assert_unknown(answer, what):
    """401, each scheme offered once, and an error that a client can read."""
    if answer.status == 429:
        assert answer.field("retry-after"), f"{what}: {answer}"
        return
    assert answer.status == 401, f"{what}: {answer}"
    schemes = [value.split()[0].lower() for value in answer.all("www-authenticate")]
    assert {"basic", "bearer"} <= set(schemes) and len(set(schemes)) == len(schemes), f"{what}: {answer}"
    assert answer.json()["error"], f"{what}: {answer}"


def without_a_token_nobody_comes_in(world):
    world.need_token()
    for method, params in [("SendMessage", message("read temperature")),
                           ("SendStreamingMessage", message("read temperature")),
                           ("GetTask", {"id": world.live[0]}), ("ListTasks", {}), ("CancelTask", {"id": world.live[0]}),
                           ("SubscribeToTask", {"id": world.live[0]}), ("GetExtendedAgentCard", {}),
                           ("message/send", {}),
                           ("message/stream", {}), ("tasks/get", {"id": world.live[0]}), ("tasks/send", {}),
                           ("tasks/sendSubscribe", {}),
                           ("tasks/cancel", {"id": world.live[0]}), ("agent/getAuthenticatedExtendedCard", {}),
                           ("nothing", {})]:
        assert_unknown(world.ask_once(world.target.post(call(method, params), token="")), method)
    for path in ["/status", "/log", "/metrics", "/agent/authenticatedExtendedCard"]:
        assert_unknown(world.ask_once(world.target.get(path, token=""), method="GET"), path)
    assert_unknown(world.ask_once(world.target.post(b"\xff not JSON", token="")), "no JSON")
    for path in ["/.well-known/agent-card.json", "/.well-known/agent.json"]:
        card = world.ask_once(world.target.get(path, token=""), method="GET")
        assert card.status == 200 and card.json()["name"], card
        # What only an operator may do is nobody else's business.
        assert "reboot" not in card.body.decode(), card
        text = json.dumps(card.json())
        assert "bearer" in text.lower() and "X-API-Key" in text, text


def wrong_tokens_are_no_tokens(world):
    world.need_token()
    time.sleep(1)
    for value in STRANGE_CREDENTIALS + [f"Bearer {guess}" for guess in guesses()]:
        request = world.target.post(GET_NOTHING, token="", fields=[f"Authorization: {value}"])
        assert_unknown(world.ask_once(request), value[:20])
    for value in [*guesses(), "", " ", "x"]:
        assert_unknown(world.ask_once(world.target.post(GET_NOTHING, token="", fields=[f"X-API-Key: {value}"])),
                       "X-API-Key")
    for field in [f"Cookie: token={TOKEN}", f"X-Token: {TOKEN}", f"Proxy-Authorization: Bearer {TOKEN}",
                  f"Authorization: {TOKEN}", f"Authorization: Token {TOKEN}", f"X-Authorization: Bearer {TOKEN}",
                  f"authorization : Bearer {TOKEN}", basic("other", TOKEN), basic("", TOKEN), basic("owner", ""),
                  basic(TOKEN, ""), basic("owner:owner", TOKEN), basic("owner", TOKEN + "\n")]:
        answer = world.ask_once(world.target.post(GET_NOTHING, token="", fields=[field]))
        assert answer.status in (400, 401, 429), f"{field.replace(TOKEN, '...')}: {answer}"


def basic(name, token):
    """The header of HTTP Basic."""
    return "Authorization: Basic " + base64.b64encode(f"{name}:{token}".encode()).decode()


def two_credentials_are_not_a_choice(world):
    """A right one behind a wrong one, or beside it, must not depend on who reads first."""
    world.need_token()
    right, wrong = f"Authorization: Bearer {TOKEN}", "Authorization: Bearer wrong-wrong-wrong-wrong"
    for fields in [[wrong, right], [right, wrong]]:
        answer = world.ask_once(world.target.post(GET_NOTHING, token="", fields=fields))
        assert answer.status in (400, 401, 429), f"{len(fields)} credentials: {answer}"


def every_scheme_lets_the_right_one_in(world):
    world.need_token()
    for fields in [[f"Authorization: Bearer {TOKEN}"], [f"authorization: bearer {TOKEN}"],
                   [f"AUTHORIZATION: BEARER {TOKEN}"],
                   [f"X-API-Key: {TOKEN}"], [f"x-api-key:{TOKEN}"], [basic("owner", TOKEN)]]:
        answer = world.ask(world.target.post(GET_NOTHING, token="", fields=fields))
        assert answer.status == 200 and answer.code() == -32001, answer


def credentials_in_a_target_do_not_count(world):
    world.need_token()
    for name in ["token", "access_token", "api_key", "apikey", "key", "X-API-Key", "Authorization", "auth"]:
        for target in [f"/?{name}={TOKEN}", f"/?{name}=Bearer%20{TOKEN}"]:
            answer = world.ask_once(world.target.post(GET_NOTHING, token="", path=target))
            assert answer.status in (400, 401, 414, 429), f"{name}: {answer}"
    answer = world.ask_once(world.target.get(f"/status?access_token={TOKEN}", token=""), method="GET")
    assert answer.status in (400, 401, 414, 429), answer
    answer = world.ask_once(world.target.post(GET_NOTHING, token="",
                                              path=f"http://owner:{TOKEN}@{world.target.authority}/"))
    assert answer.status in (400, 401, 404, 421, 429), answer


def guessing_locks_nobody_out(world):
    """Guesses are refused, more and more of them before they are read; the right token comes in as ever, from the same
    address: that is why a token must be long."""
    world.need_token()
    statuses = {}
    for number in range(600):
        request = world.target.post(GET_NOTHING, token="", fields=[f"Authorization: Bearer guess-number-{number:016}"])
        answer = world.ask_once(request)
        statuses[answer.status] = statuses.get(answer.status, 0) + 1
        assert answer.status in (401, 429), answer
        if answer.status == 429:
            assert answer.field("retry-after"), answer
        if number % 20 == 0:
            took = world.timed()
            assert took < world.bound, f"the right one waits {took:.2f} s behind {number} guesses"
    print(f"   {statuses}", flush=True)
    assert statuses.get(429, 0) > 300, f"strangers are not counted: {statuses}"


def strangers_are_slowed_down(world):
    world.need_token()
    if world.kind == "host":
        raise Elsewhere("a laptop takes more than we can ask")
    answers = [world.ask_once(world.target.post(GET_NOTHING, token="")) for _ in range(800)]
    late = [answer for answer in answers if answer.status == 429]
    assert late and all(answer.field("retry-after") for answer in late), [answer.status for answer in answers][-5:]
    assert all(answer.status in (401, 429) for answer in answers)
    # Another address is another stranger.
    try:
        _, other = other_addresses(world)
    except Elsewhere:
        return
    with world.target.connect(other) as connection:
        assert connection.send(world.target.post(GET_NOTHING, token="")).answer().status == 401


def who_asks_too_often_is_told_when(world):
    """A principal beyond its rate hears of it in its dialect and in HTTP 200: real clients drop the body of others."""
    world.need_token()
    if world.kind == "host":
        raise Elsewhere("a laptop takes more than we can ask")
    calls = [("GetTask", {"id": "none"}), ("message/send", {}), ("tasks/send", {})]
    told, number = {}, 0
    begun, connection = time.monotonic(), world.target.connect()
    while len(told) < 3 and time.monotonic() - begun < 30:
        number += 1
        method, params = calls[number % 3]
        answer = connection.send(world.target.post(call(method, params, number))).answer()
        assert answer.status == 200 and answer.json()["id"] == number, answer
        if answer.field("retry-after"):
            told[method] = answer.code()
        if answer.is_last():
            connection.close()
            connection = world.target.connect()
    connection.close()
    print(f"   {number} calls in {time.monotonic() - begun:.1f} s", flush=True)
    assert len(told) == 3 and all(code not in (-32001, -32602, -32603) for code in told.values()), told
    time.sleep(3)


def more_streams_than_one_may_have(world):
    streams = []
    try:
        for _ in range(6 if world.kind == "device" else 2):
            connection = world.target.connect()
            streams.append(connection)
            answer = connection.send(world.target.post(call("SubscribeToTask", {"id": world.live[0]}))).answer_head()
            assert answer.status in (200, 503), answer
            if answer.field("content-type") != "text/event-stream":
                assert answer.field("retry-after"), answer
                break
        else:
            assert world.kind == "host", "one caller may follow as often as it likes"
    finally:
        for connection in streams:
            connection.close()
        # The device finds out with the next comments that it sends.
        world.wait("readers", lambda: world.honest.status()["readers"]["used"], world.readers, 10)


def names_in_host(world):
    here, port = world.target.host, world.target.port
    for host in [world.target.authority, f"{here}:{port}", "localhost", f"localhost:{port}", "127.0.0.1", "[::1]",
                 f"[::1]:{port}", "LOCALHOST"]:
        answer = world.ask(world.target.post(GET_NOTHING, host=host))
        assert answer.status == 200, f"{host}: {answer}"
    for host in ["evil.example", f"evil.example:{port}", f"{here}.evil.example", f"localhost.evil.example:{port}",
                 "evil-localhost", "localhostevil", "0x7f000001.example", "127.0.0.1.nip.io", "xn--nxasmq6b", "a.b.c",
                 "mote",
                 "*", "-", "_", "localhost.localdomain", "local", "localhost..", "evil.example."]:
        for request, method in [(world.target.post(GET_NOTHING, host=host), "POST"),
                                (world.target.get("/status", host=host), "GET")]:
            answer = world.ask(request, method=method)
            assert answer.status in (421, 400), f"{host}: {answer}"
            if host in ("evil.example", "a.b.c"):
                assert answer.status == 421 and answer.json()["error"], f"{host}: {answer}"
    # No browser takes what ends in a number for a name, and a dot at the end changes nothing: these may come in or not.
    for host in [f"{here}.", f"{here}.:{port}", "localhost.", "2130706433", "0x7f000001", "127.1", "0177.0.0.1",
                 "127.0.0.01",
                 "256.256.256.256", "1.2.3", "1.2.3.4.5"]:
        answer = world.ask(world.target.post(GET_NOTHING, host=host))
        assert answer.status in (200, 400, 421), f"{host}: {answer}"
    for host in ["", " ", ":80", "localhost:", "localhost:+80", "localhost:99999", "localhost:80:80", "a@localhost",
                 f"evil.example@{here}",
                 f"{here}@evil.example", f"{here}:{port}@evil.example", "localhost/", "localhost#", "localhost?",
                 "[::1", "::1", "[]", "[::1]x", "[::1%25lo]",
                 "[v1.a]", "localhost,evil.example", "localhost evil.example", "http://localhost", "localhost\\",
                 "\"localhost\"", "localhost\t",
                 "[::ffff:127.0.0.1]evil", "\u0131ocalhost", "loc%61lhost"]:
        head = world.target.head(length=len(json.dumps(GET_NOTHING)), host=False, fields=[f"Host: {host}"])
        answer = world.ask(head + json.dumps(GET_NOTHING).encode())
        is_space = host == "localhost\t"
        assert answer.status in ((400, 421, 200) if is_space else (400, 421)), f"{host!r}: {answer}"
    body = json.dumps(GET_NOTHING).encode()
    twice = world.target.head(length=len(body), fields=[f"Host: {world.target.authority}"]) + body
    assert world.ask(twice).status == 400
    evil = world.target.head(length=len(body), fields=["hOST: evil.example"]) + body
    assert world.ask(evil).status == 400
    assert world.ask(world.target.head(length=len(body), host=False) + body).status == 400
    # What a proxy says about the name is not what we go by.
    answer = world.ask(world.target.post(GET_NOTHING, host="evil.example",
                                         fields=[f"X-Forwarded-Host: {here}", f"Forwarded: host={here}"]))
    assert answer.status == 421, answer


def origins(world):
    own = f"http://{world.target.authority}"
    port = world.target.port
    answer = world.ask(world.target.post(GET_NOTHING, fields=[f"Origin: {own}"]))
    assert answer.status == 200, answer
    for origin in ["http://evil.example", "null", "https://evil.example", f"{own}.evil.example",
                   f"http://evil.example.{world.target.host}",
                   f"http://evil{world.target.host}", f"http://{world.target.host}:{port + 1}",
                   f"http://{world.target.host}:1", "file://", "chrome-extension://abcdef", f"{own}/",
                   f"{own}@evil.example", f"http://evil.example/{world.target.authority}", f"{own},http://evil.example",
                   f"http://evil.example {own}", "http://", "x", "*", "http://localhost.evil.example",
                   f"{own}\\.evil.example", f"ws://{world.target.authority}",
                   f"http://{world.target.authority}#", "data:", f"{own} ", "about:blank", "http://[::1].evil.example",
                   f"{own}:80:80"]:
        for request in [world.target.post(GET_NOTHING, fields=[f"Origin: {origin}"]),
                        world.target.post(GET_NOTHING, fields=[f"oRIGIN: {origin}"])]:
            answer = world.ask(request)
            is_space = origin == f"{own} "
            assert answer.status in ((403, 400, 200) if is_space else (403, 400)), f"{origin}: {answer}"
            assert_no_cors(answer)
        if origin in ("http://evil.example", "null"):
            assert answer.status == 403 and answer.json()["error"], f"{origin}: {answer}"
        for path in ["/status", "/log", "/metrics", "/.well-known/agent-card.json"]:
            answer = world.ask(world.target.get(path, fields=[f"Origin: {origin}"]), method="GET")
            assert_no_cors(answer)
        wanted = ["Access-Control-Request-Method: POST", "Access-Control-Request-Headers: content-type, authorization"]
        preflight = world.target.head("OPTIONS", "/", fields=[f"Origin: {origin}", *wanted])
        answer = world.ask(preflight, method="OPTIONS")
        assert answer.status in (200, 204, 400, 401, 403), f"{origin}: {answer}"
        assert_no_cors(answer)
    answer = world.ask(world.target.post(GET_NOTHING, fields=[f"Origin: {own}", "Origin: http://evil.example"]))
    assert answer.status in (400, 403), f"two origins: {answer}"
    answer = world.ask(world.target.post(GET_NOTHING, fields=["Origin: http://evil.example", f"Origin: {own}"]))
    assert answer.status in (400, 403), f"two origins: {answer}"


def assert_no_cors(answer):
    allowed = [name for name, _ in answer.fields if name.startswith("access-control-allow")]
    assert not allowed, f"a page of somebody else's may read it: {answer}"


def kinds_of_body(world):
    body = json.dumps(GET_NOTHING).encode()
    for kind in ["application/json", "Application/JSON", "application/json; charset=utf-8",
                 "application/json;charset=UTF-8", "application/a2a+json"]:
        assert world.ask(world.target.post(body, content_type=kind)).status == 200, kind
    for kind in [None, "text/plain", "text/plain; application/json", "application/x-www-form-urlencoded",
                 "multipart/form-data; boundary=x", "application/jsonx",
                 "application/json-patch", "xapplication/json", "text/json", "application/xml", "*/*", "json",
                 "application/", ";application/json",
                 "text/plain, application/json", "\"application/json\""]:
        answer = world.ask(world.target.post(body, content_type=kind))
        assert answer.status == 415 and answer.code() == -32005, f"{kind}: {answer}"
    for kinds in [["text/plain", "application/json"], ["application/json", "text/plain"]]:
        fields = [f"Content-Type: {kind}" for kind in kinds]
        answer = world.ask(world.target.post(body, content_type=None, fields=fields))
        assert answer.status in (400, 415), f"{kinds}: {answer}"


def need_other(world):
    world.need_token()
    if not OTHER_TOKEN:
        raise Skip("no MOTE_OTHER_TOKEN: there is nobody else")
    return Honest(world.target, token=OTHER_TOKEN)


def foreign_tasks_look_like_missing_ones(world):
    need_other(world)
    missing = "00000000-0000-4000-8000-000000000000"
    for task_id in [*world.live, world.finished]:
        context = world.honest.task(task_id)["contextId"]
        for name, make in {
            "get": lambda task, _: call("GetTask", {"id": task}),
            "get with a history": lambda task, _: call("GetTask", {"id": task, "historyLength": 9}),
            "cancel": lambda task, _: call("CancelTask", {"id": task}),
            "subscribe": lambda task, _: call("SubscribeToTask", {"id": task}),
            "get in 0.3": lambda task, _: call("tasks/get", {"id": task}),
            "cancel in 0.3": lambda task, _: call("tasks/cancel", {"id": task}),
            "resubscribe": lambda task, _: call("tasks/resubscribe", {"id": task}),
            "follow up": lambda task, _: call("SendMessage", message("50", taskId=task)),
            "follow up in its context": lambda task, context: call("SendMessage",
                                                                   message("50", taskId=task, contextId=context)),
            "follow up in 0.3": lambda task, _: call("message/send",
                                                     {"message": {"kind": "message", "messageId": "m", "role": "user",
                                                                  "taskId": task,
                                                                                "parts": [{"kind": "text",
                                                                                           "text": "50"}]}}),
            "stream a follow up": lambda task, _: call("SendStreamingMessage", message("50", taskId=task)),
            "list its context": lambda _, context: call("ListTasks", {"contextId": context}),
            "push": lambda task, _: call("CreateTaskPushNotificationConfig",
                                         {"taskId": task, "config": {"url": "http://127.0.0.1/"}}),
            "pushed": lambda task, _: call("GetTaskPushNotificationConfig", {"taskId": task, "id": "x"}),
            "push in 0.3": lambda task, _: call("tasks/pushNotificationConfig/set",
                                                {"taskId": task,
                                                 "pushNotificationConfig": {"url": "http://127.0.0.1/"}}),
            "push in 0.1": lambda task, _: call("tasks/pushNotification/get", {"id": task}),
        }.items():
            foreign = world.ask(world.target.post(make(task_id, context), token=OTHER_TOKEN))
            nothing = world.ask(world.target.post(make(missing, missing), token=OTHER_TOKEN))
            plain = lambda answer: (answer.status, [field for field in answer.fields if field[0] != "content-length"],
                                    answer.body.replace(task_id.encode(), missing.encode()).replace(context.encode(),
                                                                                                    missing.encode()))
            assert plain(foreign) == plain(nothing), f"{name}: {foreign} is not {nothing}"
    for params in [message("again", referenceTaskIds=[world.finished]),
                   message("again", contextId=world.honest.task(world.finished)["contextId"])]:
        answer = world.ask(world.target.post(call("SendMessage", params), token=OTHER_TOKEN))
        is_reading = "value" in answer.body.decode() and not answer.json()["result"].get("message")
        assert not is_reading, f"it knows what we asked for: {answer}"


foreign_tasks_look_like_missing_ones.evicts = True


def nobody_is_listed_to_others(world):
    other = need_other(world)
    own = other.send("read temperature")["id"]
    listed = other.call("ListTasks", {"pageSize": 100})
    ids = {task["id"] for task in listed["tasks"]}
    assert own in ids and not ids & {*world.live, world.finished}, ids
    assert listed["totalSize"] == len(ids), listed["totalSize"]
    assert own not in {task["id"] for task in world.honest.call("ListTasks", {"pageSize": 100})["tasks"]}
    answer = world.call("GetTask", {"id": own})
    assert answer.code() == -32001, answer


nobody_is_listed_to_others.evicts = True


def the_same_id_of_two_callers_is_two_tasks(world):
    """In A2A 0.1 callers name their tasks: nobody finds out, or spoils, what another one called the same."""
    need_other(world)
    params = {"id": "our-task", "message": {"role": "user", "parts": [{"type": "text",
                                                                       "text": "alert when temperature above 3000"}]}}
    # Followed, as there is no other way not to wait for it in this dialect.
    with world.target.connect() as connection:
        connection.send(world.target.post(call("tasks/sendSubscribe", params)))
        assert connection.answer_head().field("content-type") == "text/event-stream"
        next(connection.events())
    first = world.call("tasks/get", {"id": "our-task"}).json()["result"]
    assert first["status"]["state"] in ("working", "submitted"), first
    try:
        read = {"id": "our-task", "message": {"role": "user", "parts": [{"type": "text", "text": "read temperature"}]}}
        second = world.ask(world.target.post(call("tasks/send", read), token=OTHER_TOKEN)).json()["result"]
        assert second["status"]["state"] == "completed" and second["sessionId"] != first["sessionId"], second
        again = world.call("tasks/get", {"id": "our-task"}).json()["result"]
        assert again["status"]["state"] == "working" and again["sessionId"] == first["sessionId"], again
        cancelled = world.ask(world.target.post(call("tasks/cancel", {"id": "our-task"}), token=OTHER_TOKEN))
        assert cancelled.code() == -32002, cancelled
        assert world.call("tasks/get", {"id": "our-task"}).json()["result"]["status"]["state"] == "working"
    finally:
        world.call("tasks/cancel", {"id": "our-task"})


the_same_id_of_two_callers_is_two_tasks.evicts = True


def who_may_only_look_does_not_act(world):
    other = need_other(world)
    before = world.honest.status()["uptimeMs"]
    asked = other.send("set led on")
    assert asked["status"]["state"] == "TASK_STATE_AUTH_REQUIRED", asked
    for credential in ["wrong-wrong-wrong-wrong", OTHER_TOKEN, "", None, 5, {"credential": TOKEN}, [TOKEN]]:
        params = message("", taskId=asked["id"], contextId=asked["contextId"])
        params["message"]["parts"] = [{"data": {"credential": credential}}]
        answer = world.ask(world.target.post(call("SendMessage", params), token=OTHER_TOKEN))
        state = answer.json()["result"]["task"]["status"]["state"]
        assert state == "TASK_STATE_AUTH_REQUIRED", f"{credential!r}: {state}"
        # Whatever was shown is not kept: neither the right ones nor the wrong ones.
        kept = world.ask(world.target.post(call("GetTask", {"id": asked["id"], "historyLength": 50}),
                                           token=OTHER_TOKEN))
        for secret in [OTHER_TOKEN, "wrong-wrong-wrong-wrong"]:
            assert secret.encode() not in kept.body, f"a credential is kept: {kept}"
    params["message"]["parts"] = [{"data": {"credential": TOKEN}}]
    done = world.ask(world.target.post(call("SendMessage", params), token=OTHER_TOKEN)).json()["result"]["task"]
    assert done["status"]["state"] == "TASK_STATE_COMPLETED", done
    # Nor in any answer behind it: every answer that is read is searched for the token.
    other.task(asked["id"])
    other.call("ListTasks", {"historyLength": 50, "includeArtifacts": True, "pageSize": 50})
    for text in ["reboot", "forget wifi"]:
        answer = world.ask(world.target.post(call("SendMessage", message(text)), token=OTHER_TOKEN))
        result = answer.json().get("result", {})
        assert result.get("task", {}).get("status", {}).get("state") != "TASK_STATE_COMPLETED", answer
    time.sleep(1)
    assert world.honest.status()["uptimeMs"] > before, "it has restarted"


who_may_only_look_does_not_act.evicts = True


def nobody_takes_all_of_the_log(world):
    """Somebody who may only read fills what it can of the log, with tasks that ask for a credential and never end."""
    other = need_other(world)
    if world.kind == "host":
        raise Elsewhere("a laptop has more than we can fill")
    large = message("set led on")
    large["message"]["parts"].append({"data": "x" * 6000})
    mine, refused = [], None
    while refused is None and len(mine) < 20:
        answer = world.ask_once(world.target.post(call("SendMessage", large), token=OTHER_TOKEN))
        result = answer.json().get("result")
        refused = None if result else answer
        mine += [result["task"]["id"]] if result else []
    try:
        assert refused is not None and refused.field("retry-after"), f"all of {len(mine)} were taken: {refused}"
        for _ in range(3):
            assert world.honest.send("read temperature")["status"]["state"] == "TASK_STATE_COMPLETED"
    finally:
        for task_id in mine:
            other.cancel(task_id)


nobody_takes_all_of_the_log.evicts = True


def operators_skills_are_in_their_own_card_only(world):
    need_other(world)
    own = world.call("GetExtendedAgentCard", {})
    assert "reboot" in own.body.decode(), own
    other = world.ask(world.target.post(call("GetExtendedAgentCard", {}), token=OTHER_TOKEN))
    assert other.status in (200, 403) and "reboot" not in other.body.decode(), other


def the_log_has_no_secrets(world):
    world.need_token()
    log = world.log()
    # A board shows its first token once, when it has made it.
    assert log.count(TOKEN) <= (1 if world.is_board else 0), "a token is in the log"
    assert not OTHER_TOKEN or OTHER_TOKEN not in log, "a token is in the log"
    assert "guess-number-" not in log and "wrong-wrong" not in log, "what was tried is in the log"


CASES = [
    without_a_token_nobody_comes_in,
    wrong_tokens_are_no_tokens,
    two_credentials_are_not_a_choice,
    every_scheme_lets_the_right_one_in,
    credentials_in_a_target_do_not_count,
    names_in_host,
    origins,
    kinds_of_body,
    foreign_tasks_look_like_missing_ones,
    nobody_is_listed_to_others,
    the_same_id_of_two_callers_is_two_tasks,
    who_may_only_look_does_not_act,
    nobody_takes_all_of_the_log,
    operators_skills_are_in_their_own_card_only,
    more_streams_than_one_may_have,
    who_asks_too_often_is_told_when,
    guessing_locks_nobody_out,
    strangers_are_slowed_down,
    the_log_has_no_secrets,
]
