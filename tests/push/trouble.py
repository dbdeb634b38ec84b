"""Receivers that are slow, broken or hostile. Whatever they do, what they were to be told is told in the end, in order, or
given up and counted; and nobody else notices.

Pauses between attempts begin at half a second to one second and double. No case needs more than three attempts."""

import time

from dialects import Webhook
from telling import assert_complete, distinct, told
from world import Elsewhere, wait_until

# Answers that say yes, each in its own way: nothing is sent twice.
YES = ["201", "202", "204", "late:1", "continue", "chunked", "trickle", "until-close"]
# Answers that say no, or nothing that can be understood. Then 200.
NO = ["500", "503", "429", "429:1", "retry-date:2", "408", "cut-head", "cut-answer", "reset", "cut-request", "garbage",
      "garbage-status"]
# Yes by their status, but nobody can be expected to read all of it. Taken or tried again, it must go on.
BOTH = ["huge-body", "huge-head"]
# What takes until the device's patience ends.
PATIENCE_SECONDS = 90


def begin(world, device, receiver, words, behind=("200",)):
    """One task for each word, with a webhook that does as the word says, and then answers."""
    caller, tasks = device.v1_0(), {}
    for word in words:
        receiver.script(path_of(word), word, *behind)
        tasks[word] = caller.send("read temperature", Webhook(receiver.url(path_of(word))))
    return caller, tasks


def path_of(word):
    return "/" + word.replace(":", "-")


def in_portions(world, words):
    """A board has few places for webhooks."""
    size = 3 if world.is_board else len(words)
    return [words[at:at + size] for at in range(0, len(words), size)]


def yes_in_many_ways(world):
    device, receiver = world.device(), world.receiver()
    for words in in_portions(world, YES):
        caller, tasks = begin(world, device, receiver, words, behind=())
        for word, task in tasks.items():
            posts = told(receiver, path_of(word), caller, seconds=40)
            assert_complete(posts, caller, task)
            time.sleep(0.1)
            assert len(receiver.posts(path_of(word))) == len(distinct(posts)), f"{word}: told twice"


def no_is_tried_again(world):
    """The same event again, later ones behind it."""
    device, receiver = world.device(), world.receiver()
    before = device.status()["failed"]
    for words in in_portions(world, NO):
        caller, tasks = begin(world, device, receiver, words)
        for word, task in tasks.items():
            posts = told(receiver, path_of(word), caller, seconds=40)
            assert_complete(posts, caller, task)
            requests = [it for it in receiver.requests if it.path == path_of(word)]
            first, second = requests[:2]
            assert first.is_cut or first.body == second.body, f"{word}: {first} and then {second}"
            assert second.body.startswith(first.body), f"{word}: {first} and then {second}"
            # Some time passes in between, whatever it is.
            assert second.at - first.at > 0.3, f"{word}: tried again after {second.at - first.at:.2f} s"
            assert len(requests) == len(distinct(posts)) + (0 if first.is_cut else 1) + (1 if first.is_cut else 0), requests
    wait_until(lambda: device.status()["failed"] >= before + len(NO), "each is counted")


def pauses_grow(world):
    device, receiver = world.device(), world.receiver()
    receiver.script("/again", "500", "500", "500", "200")
    caller = device.v1_0()
    task = caller.send("read temperature", Webhook(receiver.url("/again")))
    posts = told(receiver, "/again", caller, seconds=40)
    assert_complete(posts, caller, task)
    pauses = [later.at - earlier.at for earlier, later in zip(posts[:3], posts[1:4], strict=True)]
    assert len({post.body for post in posts[:4]}) == 1, posts
    assert pauses[2] > pauses[0] and pauses[2] > 1.5, pauses


def retry_after_is_respected(world):
    device, receiver = world.device(), world.receiver()
    receiver.script("/seconds", "429:4", "200")
    receiver.script("/unavailable", "503:4", "200")
    receiver.script("/date", "retry-date:5", "200")
    caller = device.v1_0()
    for path in ["/seconds", "/unavailable", "/date"]:
        caller.send("read temperature", Webhook(receiver.url(path)))
    for path in ["/seconds", "/unavailable", "/date"]:
        first, second = told(receiver, path, caller, seconds=40)[:2]
        assert first.body == second.body, path
        assert 3 < second.at - first.at < 20, f"{path}: {second.at - first.at:.1f} s"


def later_events_wait_behind(world):
    """While the first is tried again and again the task goes on; nothing overtakes."""
    device, receiver = world.device(), world.receiver()
    for caller in device.callers():
        path = f"/{caller.name}"
        receiver.script(path, "500", "500", "200")
        task = caller.send("watch temperature 5 times every 20 ms", Webhook(receiver.url(path)))
        posts = told(receiver, path, caller, seconds=40)
        assert_complete(posts, caller, task)
        assert posts[0].body == posts[1].body == posts[2].body, posts[:3]


def no_answer_at_all(world):
    """The device hangs up in its own time, and tries again."""
    device, receiver = world.device(), world.receiver()
    words = ["never"]
    caller, tasks = begin(world, device, receiver, words)
    for word, task in tasks.items():
        assert_complete(told(receiver, path_of(word), caller, seconds=PATIENCE_SECONDS), caller, task)


def answers_that_do_not_end(world):
    device, receiver = world.device(), world.receiver()
    words = [*BOTH, "endless-head", "endless-body", "held-body"]
    for portion in in_portions(world, words):
        caller, tasks = begin(world, device, receiver, portion)
        for word, task in tasks.items():
            assert_complete(told(receiver, path_of(word), caller, seconds=PATIENCE_SECONDS), caller, task)


def redirects_are_not_followed(world):
    device, receiver, elsewhere = world.device(), world.receiver(), world.receiver()
    caller = device.v1_0()
    words = [f"{word}:{elsewhere.url('/elsewhere')}" for word in ["redirect", "moved"]]
    for number, word in enumerate(words):
        receiver.script(f"/{number}", word)
        caller.send("read temperature", Webhook(receiver.url(f"/{number}"), token=world.secret("token")))
        receiver.wait_posts(1, f"/{number}")
    # Nor is the path on the same host.
    receiver.script("/same", "redirect:/target")
    caller.send("read temperature", Webhook(receiver.url("/same")))
    receiver.wait_posts(1, "/same")
    time.sleep(2)
    assert elsewhere.connections == 0, elsewhere.requests
    assert not receiver.posts("/target"), receiver.posts("/target")


def given_up_and_counted(world):
    """Who says that it will never want it is not asked again for the same, and /status says so."""
    device, receiver = world.device(), world.receiver()
    before = device.status()["givenUp"]
    receiver.script("/gone", "410")
    caller = device.v1_0()
    caller.send("read temperature", Webhook(receiver.url("/gone")))
    receiver.wait_posts(1, "/gone")
    wait_until(lambda: device.status()["givenUp"] > before, "it is counted")
    # What the task did meanwhile is something new: it is told once.
    time.sleep(2.5)
    count = len(receiver.posts("/gone"))
    time.sleep(2.5)
    assert len(receiver.posts("/gone")) == count, "it goes on"


def nobody_is_there(world):
    """A port that is closed, an address that swallows everything, a name that there is not: the task does not care."""
    device = world.device()
    closed = world.receiver()
    url = closed.url("/closed")
    closed.close()
    caller = device.v1_0()
    before = device.status()["failed"]
    for where in [url, "http://no-such-name.test:8000/x"]:
        begun = time.monotonic()
        caller.send("read temperature", Webhook(where), wait=True)
        assert time.monotonic() - begun < 3, "the task waits for its webhook"
    wait_until(lambda: device.status()["failed"] >= before + 2, "each failure is counted", 30)


def every_fourth_answer_is_lost(world):
    """In order and complete, whatever happens on the way."""
    device, receiver = world.device(), world.receiver()
    receiver.script("/some", *(3 * ["200", "200", "200", "cut-answer"]), "200")
    caller = device.v1_0()
    task = caller.send("watch temperature 40 times every 100 ms", Webhook(receiver.url("/some")))
    assert_complete(told(receiver, "/some", caller, seconds=60), caller, task)


def many_at_once(world):
    """Many tasks in every dialect, with webhooks that fail now and then in every way: each is told everything."""
    if world.is_board:
        raise Elsewhere("a board has few places")
    device, receiver = world.device(), world.receiver()
    callers, tasks = device.callers(), []
    for number in range(60):
        caller, path = callers[number % 3], f"/{number}"
        receiver.script(path, NO[number % len(NO)], "200", YES[number % len(YES)], NO[number % 5], "200")
        tasks.append((caller, path, caller.send("watch temperature 6 times every 50 ms", Webhook(receiver.url(path)))))
    for caller, path, task in tasks:
        assert_complete(told(receiver, path, caller, seconds=60), caller, task)


CASES = [
    yes_in_many_ways, no_is_tried_again, pauses_grow, retry_after_is_respected, later_events_wait_behind,
    redirects_are_not_followed, given_up_and_counted, nobody_is_there, every_fourth_answer_is_lost, many_at_once,
    no_answer_at_all, answers_that_do_not_end,
]
