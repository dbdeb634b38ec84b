"""What arrives at a webhook: everything, in order, once, in the words of the dialect in which it was asked for, and signed."""

import time
import urllib.parse

import signature
import dialects
from device import Rules
from dialects import Webhook
from telling import assert_complete, distinct, readings, told
from world import Elsewhere, wait_until

WATCH = "watch temperature 5 times every 20 ms"
SLOW_WATCH = "watch temperature 5 times every 300 ms"
ALERT = "alert when temperature above -200"
LONG = "alert when temperature above 1000"


def every_event_of_a_watch(world):
    """Asked for in the send itself, by a client that hangs up."""
    device, receiver = world.device(), world.receiver()
    tasks = [(caller, caller.send(WATCH, Webhook(receiver.url(f"/{caller.name}")))) for caller in device.callers()]
    for caller, task in tasks:
        posts = told(receiver, f"/{caller.name}", caller)
        assert len(readings(assert_complete(posts, caller, task))) == 5, posts
        assert len(posts) == len(distinct(posts)), "one was told twice, though it was taken"


def the_trace_of_the_task(world):
    """Whoever traces its calls finds the notifications in the same trace, each attempt under a span of its own."""
    device, receiver = world.device(), world.receiver()
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    for caller in device.callers():
        caller.fields.append(f"traceparent: 00-{trace}-00f067aa0ba902b7-01")
        caller.send(WATCH, Webhook(receiver.url(f"/traced-{caller.name}")))
        parents = [post.all("traceparent") for post in told(receiver, f"/traced-{caller.name}", caller)]
        assert all(len(it) == 1 and it[0].startswith(f"00-{trace}-") and it[0].endswith("-01") for it in parents), parents
        spans = [it[0].split("-")[2] for it in parents]
        assert len(set(spans)) == len(spans) and "00f067aa0ba902b7" not in spans, spans
    caller = device.v1_0()
    caller.send(WATCH, Webhook(receiver.url("/untraced")))
    assert not any(post.all("traceparent") for post in told(receiver, "/untraced", caller)), "a trace that nobody began"


def every_event_of_an_alert(world):
    device, receiver = world.device(), world.receiver()
    for caller in device.callers():
        task = caller.send(ALERT, Webhook(receiver.url(f"/{caller.name}")))
        posts = told(receiver, f"/{caller.name}", caller)
        assert len(readings(assert_complete(posts, caller, task))) == 1, posts


def the_same_as_in_a_stream(world):
    """1.0: one notification for each event of the task's own stream, and the same bytes in it."""
    device, receiver = world.device(), world.receiver()
    caller = device.v1_0()
    with caller.stream(SLOW_WATCH, Webhook(receiver.url("/same"))) as connection:
        events = [event["result"] for _, event in connection.events()]
    assert "task" in events[0], events[0]
    posts = [post.json() for post in told(receiver, "/same", caller)]
    # A stream begins with the task as it is. Whether a webhook is told that, too, or of its first state is its own choice.
    streamed = [it for it in events if "task" not in it]
    pushed = [it for it in posts if "task" not in it]
    assert pushed[-len(streamed):] == streamed, f"{pushed} instead of {streamed}"
    assert len(posts) <= len(events), posts


def one_notification_per_event(world):
    """0.3 and 0.1: the whole task each time, as it was then."""
    device, receiver = world.device(), world.receiver()
    for caller in device.callers()[1:]:
        task = caller.send(SLOW_WATCH, Webhook(receiver.url(f"/{caller.name}")))
        posts = told(receiver, f"/{caller.name}", caller)
        assert_complete(posts, caller, task)
        counts = [len(readings(post.json())) for post in posts]
        assert set(range(1, 6)) <= set(counts), f"readings in each: {counts}"
        if caller.name == "0.3":
            assert all(post.json()["kind"] == "task" and post.json()["contextId"] for post in posts), posts
        else:
            assert all("kind" not in post.json() and post.json()["sessionId"] for post in posts), posts


def set_while_it_works(world):
    """A webhook that comes later is told of what comes then; the task's end, at least."""
    device, receiver = world.device(), world.receiver()
    for caller in device.callers():
        task = caller.send(SLOW_WATCH)
        caller.set(task, Webhook(receiver.url(f"/{caller.name}")))
        posts = told(receiver, f"/{caller.name}", caller)
        assert all(caller.task_of(post.json()) == task for post in posts)
        distinct(posts)
        if caller.name != "1.0":
            assert_complete(posts, caller, task)
        assert len(posts) >= 3, posts


def asking_and_being_answered(world):
    device, receiver = world.device(), world.receiver()
    caller = device.v1_0()
    task = caller.send("calibrate temperature", Webhook(receiver.url("/ask")))
    told(receiver, "/ask", caller, {"input_required"})
    message = {"messageId": "reply", "role": "ROLE_USER", "taskId": task, "parts": [{"text": "21.5"}]}
    caller.call("SendMessage", {"message": message})
    assert_complete(told(receiver, "/ask", caller), caller, task)


def a_cancelled_task(world):
    device, receiver = world.device(), world.receiver()
    for caller in device.callers():
        task = caller.send(LONG, Webhook(receiver.url(f"/{caller.name}")))
        caller.cancel(task)
        posts = told(receiver, f"/{caller.name}", caller)
        assert caller.state_of(posts[-1].json()) == "canceled", posts


def the_head_is_as_it_was_asked_for(world):
    device, receiver = world.device(), world.receiver()
    for caller in device.callers():
        webhook = Webhook(receiver.url(f"/{caller.name}?for=me&x=%2F"), token=world.secret("token"), scheme="Custom",
                          credentials=world.secret("credentials"))
        caller.send("read temperature", webhook, wait=True)
        for post in told(receiver, f"/{caller.name}", caller):
            assert post.target == f"/{caller.name}?for=me&x=%2F", post
            assert post.field("host") == f"{receiver.address}:{receiver.port}", post
            assert post.field("content-type") == caller.content_type, post
            assert post.field("x-a2a-notification-token") == webhook.token, post
            assert post.field("authorization") == f"Custom {webhook.credentials}", post
            assert post.field("content-length") == str(len(post.body)) or post.field("transfer-encoding") == "chunked"
            assert post.field("user-agent"), post
        plain = Webhook(receiver.url(f"/{caller.name}/plain"))
        caller.send("read temperature", plain, wait=True)
        for post in told(receiver, f"/{caller.name}/plain", caller):
            assert post.field("x-a2a-notification-token") is None and post.field("authorization") is None, post


def signed_by_the_device(world):
    """Whoever has the keys that the device publishes knows that it was the device, that the body is what it sent, to whom
    and about what; and sees an event that comes again."""
    device, receiver = world.device(), world.receiver()
    receiver.script("/signed", "200", "500", "200")
    caller, url = device.v1_0(), receiver.url("/signed")
    task = caller.send(WATCH, Webhook(url))
    posts = told(receiver, "/signed", caller)
    jwks = device.jwks()
    claims = [signature.check(post, jwks, task, url) for post in posts]
    assert len({it["jti"] for it in claims}) == len({post.body for post in posts}) == len(posts) - 1, claims
    # Another task's notification, or one to somebody else, is another.
    other = caller.send("read temperature", Webhook(receiver.url("/other")))
    [first, *_] = told(receiver, "/other", caller)
    assert signature.check(first, jwks, other, receiver.url("/other"))["jti"] not in {it["jti"] for it in claims}


def signed_over_all_of_a_body(world):
    """In every dialect, and with bodies of several kilobytes, which nobody has in one piece."""
    device, receiver = world.device(), world.receiver()
    jwks = device.jwks()
    for caller in device.callers():
        url = receiver.url(f"/{caller.name}")
        task = caller.send("watch temperature 25 times every 0 ms", Webhook(url))
        posts = told(receiver, f"/{caller.name}", caller)
        for post in posts:
            signature.check(post, jwks, task, url)
        assert_complete(posts, caller, task)


def signed_with_a_shared_key(world):
    """HMAC with a key that the client gives; the key itself is never sent."""
    device, receiver = world.device(), world.receiver()
    for caller in device.callers():
        key, url = world.secret("a-key-of-more-than-32-bytes"), receiver.url(f"/{caller.name}")
        task = caller.send("read temperature", Webhook(url, scheme="HS256", credentials=key))
        for post in told(receiver, f"/{caller.name}", caller):
            signature.check(post, None, task, url, secret=key.encode())
            assert key.encode() not in post.head + post.body and post.field("authorization") is None, post
        method, params = caller.set_call(task, Webhook(url, scheme="HS256", credentials="too short"))
        assert "credentials" in str(caller.is_refused(method, params, -32602).error)


def signed_as_a_bearer(world):
    """Bearer without credentials: the device's own signature is what it shows."""
    device, receiver = world.device(), world.receiver()
    caller = device.callers()[1]
    config = {"url": receiver.url("/bearer"), "authentication": {"schemes": ["Bearer"]}}
    params = caller.params("read temperature")
    params["configuration"]["pushNotificationConfig"] = config
    task = caller.call("message/send", params)["id"]
    for post in told(receiver, "/bearer", caller):
        signature.check(post, device.jwks(), task, receiver.url("/bearer"))
        assert post.field("authorization") == "Bearer " + post.field("x-a2a-notification-signature"), post


def two_keys_while_they_change(world):
    """A receiver that has fetched the keys before and one that fetches them later both know who it was."""
    device, receiver = world.device(), world.receiver()
    caller, posts = device.v1_0(), []
    before = device.jwks()
    device.rotate()
    wait_until(lambda: device.jwks() != before, "another key")
    for number, old in enumerate([before, device.jwks()]):
        task = caller.send("read temperature", Webhook(receiver.url(f"/{number}")))
        [post, *_] = told(receiver, f"/{number}", caller)
        signature.check(post, device.jwks(), task, receiver.url(f"/{number}"))
        posts.append((post, task, number))
    kids = [{key["kid"] for key in keys["keys"]} for keys in [before, device.jwks()]]
    assert len(kids[1]) == 2 and len(kids[0] & kids[1]) == 1, kids
    # What was signed before is still known.
    device.rotate()
    wait_until(lambda: {key["kid"] for key in device.jwks()["keys"]} != kids[1], "a third key")
    for post, task, number in posts:
        signature.check(post, device.jwks(), task, receiver.url(f"/{number}"))


def the_challenge_comes_first(world):
    """0.1 asks before it tells. A webhook that repeats the token is meant, any other is not, and is never told anything."""
    device, receiver = world.device(), world.receiver()
    caller = device.callers()[2]
    good = caller.send("read temperature", Webhook(receiver.url("/good?x=1")), wait=True)
    wrong = ["wrong", "longer", "empty", "error", "404", "redirect:/good", "cut-answer"]
    for word in wrong:
        receiver.challenge(f"/{word.partition(':')[0]}", word)
        caller.send("read temperature", Webhook(receiver.url(f"/{word.partition(':')[0]}")), wait=True)
    assert_complete(told(receiver, "/good", caller), caller, good)
    [challenge, *more] = [it for it in receiver.requests if it.path == "/good"]
    assert challenge.method == "GET" and challenge.query["x"] == "1" and len(challenge.query["validationToken"]) >= 16
    assert all(it.method == "POST" for it in more), more
    for word in wrong:
        path = f"/{word.partition(':')[0]}"
        receiver.wait(lambda it: any(one.path == path for one in it.requests), what=f"a challenge of {path}")
    time.sleep(2)
    tokens = [it.query["validationToken"] for it in receiver.challenged]
    assert len(set(tokens)) == len(tokens), "a token was used twice"
    assert {it.path for it in receiver.posts()} == {"/good"}, receiver.posts()
    # It says who asks no more than it must.
    assert all(it.field("authorization") is None for it in receiver.challenged)


def the_others_are_not_challenged_unless_told(world):
    device, receiver = world.device(), world.receiver()
    for caller in device.callers()[:2]:
        caller.send("read temperature", Webhook(receiver.url(f"/{caller.name}")), wait=True)
        told(receiver, f"/{caller.name}", caller)
    assert not receiver.challenged, receiver.challenged


def all_are_challenged_where_the_owner_wants_it(world):
    device, receiver = world.device(Rules(world.usual.allow, challenge="always")), world.receiver()
    receiver.challenge("/wrong", "wrong")
    for caller in device.callers():
        caller.send("read temperature", Webhook(receiver.url("/wrong")), wait=True)
        caller.send("read temperature", Webhook(receiver.url(f"/{caller.name}")), wait=True)
        told(receiver, f"/{caller.name}", caller)
        first = next(it for it in receiver.requests if it.path == f"/{caller.name}")
        assert first.method == "GET", first
    time.sleep(1)
    assert not receiver.posts("/wrong"), receiver.posts("/wrong")


def nobody_is_challenged_where_the_owner_says_so(world):
    device, receiver = world.device(Rules(world.usual.allow, challenge="never")), world.receiver()
    caller = device.callers()[2]
    caller.send("read temperature", Webhook(receiver.url("/old")), wait=True)
    told(receiver, "/old", caller)
    assert not receiver.challenged, receiver.challenged


def several_webhooks_of_a_task(world):
    """Each gets everything, in its own order, in its own dialect."""
    device, receivers = world.device(), [world.receiver() for _ in range(3)]
    new, middle, old = device.callers()
    task = new.send(SLOW_WATCH, Webhook(receivers[0].url("/new"), id="new"))
    middle.set(task, Webhook(receivers[1].url("/middle"), id="middle"))
    old.set(task, Webhook(receivers[2].url("/old")))
    assert_complete(told(receivers[0], "/new", new), new, task)
    assert_complete(told(receivers[1], "/middle", middle), middle, task)
    told(receivers[2], "/old", old)


def a_slow_one_delays_no_other(world):
    """One never answers, another has nobody behind it: the good one gets everything at once."""
    device, bad, good = world.device(), world.receiver(), world.receiver()
    bad.script("/never", "never")
    dead = world.receiver()
    dead_url = dead.url("/dead")
    dead.close()
    caller = device.v1_0()
    for url in [bad.url("/never"), dead_url]:
        caller.send(LONG, Webhook(url))
    bad.wait(lambda it: any(one.path == "/never" for one in it.requests), what="the call that is never answered")
    for number in range(3):
        begun = time.monotonic()
        task = caller.send("read temperature", Webhook(good.url(f"/{number}")))
        assert_complete(told(good, f"/{number}", caller), caller, task)
        took = time.monotonic() - begun
        assert took < 4, f"the good one waits {took:.1f} s for the bad ones"


def slow_ones_do_not_shut_others_out(world):
    """As many as somebody may have, none of which answers, made anew whenever one was given up for now: somebody else's is
    told all the same, in a bounded time."""
    device = world.device() if world.is_board else world.device(Rules(world.usual.allow, preset="pico"))
    bad, good = world.receiver(), world.receiver()
    bad.script("/never", "never")
    bad.script("/slow", "late:10")
    owner, other = device.v1_0(), dialects.V1_0(device.stranger)
    other.patience, tasks, renewed = 0, [], 0

    def fill():
        try:
            while True:
                path = "/slow" if len(tasks) % 3 == 0 else "/never"
                tasks.append(other.send("read temperature", Webhook(bad.url(path), id="bad")))
        except dialects.Refusal as refusal:
            assert refusal.code != -32602, refusal

    fill()
    bad.wait_posts(1)
    begun = time.monotonic()
    mine = owner.send("read temperature", Webhook(good.url("/mine")))
    while not any(owner.state_of(post.json()) == "completed" for post in good.posts("/mine")):
        assert time.monotonic() - begun < 45, f"{len(good.posts('/mine'))} notifications in 45 s, {renewed} times made anew"
        time.sleep(1)
        # Whoever deletes what has failed and makes it anew has failed at nothing.
        renewed += 1
        while tasks:
            other.ask("DeleteTaskPushNotificationConfig", {"taskId": tasks.pop(), "id": "bad"})
        fill()
    assert_complete(good.posts("/mine"), owner, mine)


def nothing_is_lost_while_it_is_behind(world):
    """A webhook slower than the task gets several chunks in one, and all of them."""
    device, receiver = world.device(), world.receiver()
    for caller in device.callers():
        path = f"/{caller.name}"
        receiver.script(path, "late:0.4")
        task = caller.send("watch temperature 20 times every 50 ms", Webhook(receiver.url(path)))
        posts = told(receiver, path, caller, seconds=40)
        assert len(readings(assert_complete(posts, caller, task))) == 20
        assert len(posts) < 20, f"{len(posts)} calls of 0.4 s for a second of work: nothing was put together"


def deletion_stops_it(world):
    device, receiver = world.device(), world.receiver()
    for caller in device.callers()[:2]:
        path = f"/{caller.name}"
        task = caller.send("watch temperature 10 times every 200 ms", Webhook(receiver.url(path), id="mine"))
        receiver.wait_posts(2, path)
        caller.delete(task, "mine")
        at_most = len(receiver.posts(path)) + 1
        wait_until(lambda: caller.get_task(task)["status"]["state"].lower().endswith("completed"), "its end")
        time.sleep(0.5)
        assert len(receiver.posts(path)) <= at_most, receiver.posts(path)
        assert all(caller.state_of(post.json()) != "completed" for post in receiver.posts(path))


def revocation_stops_it(world):
    """Whoever is out is out, with all webhooks; others notice nothing."""
    device, receiver = world.device(), world.receiver()
    owner, other = device.v1_0(), dialects.V1_0(device.stranger)
    try:
        mine = owner.send("watch temperature 10 times every 300 ms", Webhook(receiver.url("/mine")))
        other.send("watch temperature 100 times every 100 ms", Webhook(receiver.url("/theirs")))
        receiver.wait_posts(2, "/theirs")
        device.revoke_other()
        time.sleep(0.5)
        count = len(receiver.posts("/theirs"))
        assert_complete(told(receiver, "/mine", owner), owner, mine)
        assert len(receiver.posts("/theirs")) == count, "it goes on"
    finally:
        device.restore_other()


def status_counts_them(world):
    device, receiver = world.device(), world.receiver()
    caller = device.v1_0()
    before = device.status()
    caller.send(LONG, Webhook(receiver.url("/counted")))
    receiver.wait_posts(1, "/counted")
    wait_until(lambda: device.status()["delivered"] > before["delivered"], "what was delivered is counted")
    now = device.status()
    assert now["used"] >= 1 and now["all"] >= now["used"] and now["failed"] == before["failed"], (before, now)


def a_receiver_that_starts_again(world):
    """Nobody is there for a while; then everything comes, from where it was, in order."""
    device, receiver = world.device(), world.receiver()
    caller = device.v1_0()
    task = caller.send("watch temperature 10 times every 200 ms", Webhook(receiver.url("/again")))
    receiver.wait_posts(2, "/again")
    receiver.close()
    time.sleep(1)
    again = world.receiver(port=receiver.port)
    told(again, "/again", caller, seconds=30)
    posts = receiver.posts("/again") + again.posts("/again")
    assert len(readings(assert_complete(posts, caller, task))) == 10


def a_network_that_comes_back(world):
    if not world.is_board:
        raise Elsewhere("host-sim has no cable")
    import subprocess
    device, receiver = world.device(), world.receiver()
    caller = device.v1_0()
    task = caller.send("watch temperature 10 times every 300 ms", Webhook(receiver.url("/cable")))
    receiver.wait_posts(2, "/cable")
    subprocess.run(["ip", "link", "set", "cable", "down"], check=True)
    time.sleep(3)
    subprocess.run(["ip", "link", "set", "cable", "up"], check=True)
    posts = told(receiver, "/cable", caller, seconds=90)
    assert len(readings(assert_complete(posts, caller, task))) == 10


def long_urls_and_secrets(world):
    """As long as they may be, and with everything that may stand in them."""
    device, receiver = world.device(), world.receiver()
    caller = device.v1_0()
    path = "/" + "a" * 150
    token = "".join(chr(code) for code in range(0x21, 0x7F)) + " and a space"
    caller.send("read temperature", Webhook(receiver.url(path), token=token, scheme="Bearer", credentials=300 * "c"))
    post = told(receiver, path, caller)[0]
    assert post.field("x-a2a-notification-token") == token, post
    assert post.field("authorization") == "Bearer " + 300 * "c", post
    assert urllib.parse.urlsplit(post.target).path == path


CASES = [
    every_event_of_a_watch, the_trace_of_the_task, every_event_of_an_alert, the_same_as_in_a_stream, one_notification_per_event,
    set_while_it_works, asking_and_being_answered, a_cancelled_task, the_head_is_as_it_was_asked_for,
    signed_by_the_device, signed_over_all_of_a_body, signed_with_a_shared_key, signed_as_a_bearer,
    two_keys_while_they_change, the_challenge_comes_first,
    the_others_are_not_challenged_unless_told, all_are_challenged_where_the_owner_wants_it,
    nobody_is_challenged_where_the_owner_says_so, several_webhooks_of_a_task, a_slow_one_delays_no_other,
    slow_ones_do_not_shut_others_out,
    nothing_is_lost_while_it_is_behind, deletion_stops_it, revocation_stops_it, status_counts_them,
    a_receiver_that_starts_again, a_network_that_comes_back, long_urls_and_secrets,
]
