"""Not to just anyone: URLs that lead where the owner has not allowed, however they are written, and names that lead there
today, or only every other time."""

import re
import time

from device import Rules, Sim
from dialects import Refusal, Webhook
from telling import assert_complete, told
from world import LINK_LOCAL, METADATA, PRIVATE, PUBLIC, Elsewhere, wait_until

LONG = "alert when temperature above 1000"
# Under rules that allow plain HTTP and nothing else. Never one of them is called.
INSIDE = [
    "http://127.0.0.1/", "http://127.0.0.1:8080/hook", "http://127.0.0.2/", "http://127.255.255.254/", "http://0.0.0.0/",
    "http://localhost/", "http://LOCALHOST:8080/", "http://localhost./", "http://a.localhost/", "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[::]/",
    "http://[::127.0.0.1]/", "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/",
    "http://10.0.0.1/", "http://10.255.255.255/", "http://172.16.0.1/", "http://172.31.255.255/", "http://192.168.0.1/",
    "http://100.64.0.1/", "http://[fc00::1]/", "http://[fd12:3456::1]/", "http://[::ffff:10.0.0.1]/",
    "http://169.254.0.1/", f"http://{METADATA}/latest/meta-data/", "http://[fe80::1]/", "http://[::ffff:169.254.169.254]/",
    "http://224.0.0.1/", "http://239.255.255.250:1900/", "http://255.255.255.255/", "http://[ff02::1]/",
    "http://240.0.0.1/", "http://0.1.2.3/", "http://192.0.0.1/", "http://198.18.0.1/",
]
# Spellings that some reader of URLs understands as an address of the inside, or as another host than the next one does.
ODD = [
    "http://2130706433/", "http://0x7f000001/", "http://0x7f.0.0.1/", "http://017700000001/", "http://0177.0.0.1/",
    "http://127.1/", "http://127.0.1/", "http://127.0.0.1./", "http://127.000.000.001/", "http://1.2.3/",
    "http://[fe80::1%25eth0]/", "http://[::1", "http://::1/", "http://[127.0.0.1]/", "http://127.0.0.1%2f@a.example/",
    "http://a.example@127.0.0.1/", "http://user@a.example/", "http://user:pass@a.example/", "http://@a.example/",
    "http://a.example#@127.0.0.1/", "http://a.example\\@127.0.0.1/", "http://127.0.0.1\\.a.example/",
    "http://a.example/#fragment", "http://a.example /", " http://a.example/", "http://a.example/ ", "http://a.example/\n",
    "http://a.example/\r\nHost: b", "http://a.example/\t", "http://\u2460\u2461\u2466.0.0.1/", "http://\uff11\uff12\uff17.0.0.1/",
    "http://a\u3002example/", "http://\u00e4.example/", "http://a_b.example/", "http://-a.example/", "http://a..example/",
    "http:///hook", "http://", "http:a.example/", "http:/a.example/", "//a.example/", "/hook", "a.example", "ftp://a.example/",
    "file:///etc/passwd", "gopher://a.example/", "javascript:alert(1)", "http://a.example:0/", "http://a.example:65536/",
    "http://a.example:-1/", "http://a.example:080/", "http://a.example:8o/", "http://a.example:+80/", "http://a.example:/",
    "http://a.example:22/", "http://a.example:25/", "http://a.example:6 379/", "http://a.example/%zz",
]


def assert_refused(caller, task, url, why=()):
    refusal = caller.is_refused(*caller.set_call(task, Webhook(url)), -32602)
    assert "url" in str(refusal.error).lower(), f"{url!r}: {refusal.error} does not name the field"
    assert not why or any(word in str(refusal.error).lower() for word in why), f"{url!r}: {refusal.error}"


def http_only(world):
    return world.device(Rules(["http"]))


def urls_that_lead_inside(world):
    for caller in http_only(world).callers():
        task = caller.send(LONG)
        for url in INSIDE:
            assert_refused(caller, task, url)
        caller.cancel(task)


def odd_spellings(world):
    caller = http_only(world).v1_0()
    task = caller.send(LONG)
    for url in ODD:
        assert_refused(caller, task, url)


def plain_http_only_where_it_is_allowed(world):
    device = world.device(Rules(["private", "loopback"]))
    caller = device.v1_0()
    task = caller.send(LONG)
    assert_refused(caller, task, "http://a.example/", ["https"])
    assert_refused(caller, task, f"http://{world.here}:8000/", ["https"])
    caller.set(task, Webhook("https://a.example/"))


def ranges_are_allowed_one_by_one(world):
    """What the owner allows is allowed, and nothing beside it."""
    samples = {"loopback": "http://127.0.0.1:8000/", "private": "http://10.1.2.3:8000/",
               "link-local": "http://169.254.1.2:8000/"}
    for allowed in samples:
        caller = world.device(Rules([allowed, "http"])).v1_0()
        task = caller.send(LONG)
        for name, url in samples.items():
            if name == allowed:
                caller.set(task, Webhook(url))
            else:
                assert_refused(caller, task, url)
        # Not even then.
        for url in [f"http://{METADATA}/", "http://224.0.0.1/", "http://255.255.255.255/", "http://0.0.0.0/"]:
            assert_refused(caller, task, url)
        caller.cancel(task)


def only_hosts_that_the_owner_names(world):
    device, receiver = world.device(Rules(["http"], hosts=["hook.test", "*.house.test"])), world.receiver()
    other = world.receiver()
    world.names.tell("hook.test", world.here)
    world.names.tell("evil.test", PUBLIC[0])
    world.names.tell("inside.house.test", world.here)
    caller = device.v1_0()
    task = caller.send("read temperature", Webhook(receiver.url("/named", "hook.test")))
    assert_complete(told(receiver, "/named", caller), caller, task)
    long = caller.send(LONG)
    for url in ["http://evil.test/", f"http://{PUBLIC[0]}:8000/", "http://hook.test.evil.test/", "http://xhook.test/",
                receiver.url("/x")]:
        assert_refused(caller, long, url)
    # Behind a wildcard somebody else may make names: only what the ranges allow.
    caller.send("read temperature", Webhook(other.url("/x", "inside.house.test")))
    time.sleep(1.5)
    assert other.connections == 0, other.requests


def a_public_address_is_called(world):
    """So that what follows is no matter of course."""
    receiver, caller = world.receiver(PUBLIC[0]), http_only(world).v1_0()
    world.names.tell("public.test", PUBLIC[0])
    for path, host in [("/address", None), ("/name", "public.test")]:
        task = caller.send("read temperature", Webhook(receiver.url(path, host)))
        posts = told(receiver, path, caller)
        assert_complete(posts, caller, task)
        assert posts[0].field("host") == f"{host or PUBLIC[0]}:{receiver.port}", posts[0]


def names_that_lead_inside(world):
    """They look like any other when they are set; where they lead is looked at before anybody is called."""
    caller, receivers = http_only(world).v1_0(), {}
    kinds = {"loopback": "127.0.0.1", "private": PRIVATE, "link-local": LINK_LOCAL, "metadata": METADATA}
    kinds["own"] = world.own
    if world.is_board:
        kinds["house"] = world.here
    for kind, address in kinds.items():
        name = f"{kind}.inside.test"
        world.names.tell(name, address)
        # Nobody can listen at the board's own address but the board.
        if address != "10.0.2.15":
            receivers[kind] = receivers.get(kind) or world.receiver(address)
        port = receivers[kind].port if kind in receivers else 80
        caller.send("read temperature", Webhook(f"http://{name}:{port}/{kind}"), wait=True)
    time.sleep(2.5)
    for kind, receiver in receivers.items():
        assert receiver.connections == 0, f"{kind}: {receiver.requests}"
    for kind in kinds:
        assert world.names.count(f"{kind}.inside.test"), f"{kind}: nobody has asked for it"


def names_that_change_their_mind(world):
    """The first answer is good, the next leads inside, and so on: whoever is called is who was checked."""
    caller = http_only(world).v1_0()
    inside = world.receiver("10.0.2.2" if world.is_board else "127.0.0.1")
    good = world.receiver(PUBLIC[0], inside.port)
    url = f"http://flip.test:{inside.port}/flip"
    for first in [PUBLIC[0], inside.address]:
        second = inside.address if first == PUBLIC[0] else PUBLIC[0]
        world.names.tell("flip.test", *(20 * [first, second]), PUBLIC[0])
        before = len(good.posts())
        task = caller.send("watch temperature 5 times every 100 ms", Webhook(url))
        good.wait(lambda it: len(it.posts()) > before, 30)
        time.sleep(3)
        assert inside.connections == 0, f"called: {inside.requests}"
        caller.call("DeleteTaskPushNotificationConfig", {"taskId": task, "id": caller.list(task)[0]["id"]})


def names_with_two_addresses(world):
    """One that may be called and one that may not, in one answer."""
    caller = http_only(world).v1_0()
    inside = world.receiver("10.0.2.2" if world.is_board else "127.0.0.1")
    good = world.receiver(PUBLIC[0], inside.port)
    for number, answer in enumerate([[PUBLIC[0], inside.address], [inside.address, PUBLIC[0]]]):
        name = f"two{number}.test"
        world.names.tell(name, answer)
        good.script(f"/{number}", "500", "cut-answer", "200")
        caller.send("read temperature", Webhook(f"http://{name}:{inside.port}/{number}"))
    time.sleep(4)
    assert inside.connections == 0, inside.requests


def a_name_server_that_does_not_answer(world):
    """The webhook waits; others do not."""
    device, receiver = http_only(world), world.receiver(PUBLIC[0])
    world.names.tell("silent.test", ["silence"], ["silence"], ["silence"], ["silence"], PUBLIC[0])
    world.names.tell("loud.test", PUBLIC[0])
    caller = device.v1_0()
    late = caller.send("read temperature", Webhook(receiver.url("/late", "silent.test")))
    begun = time.monotonic()
    task = caller.send("read temperature", Webhook(receiver.url("/loud", "loud.test")))
    assert_complete(told(receiver, "/loud", caller), caller, task)
    assert time.monotonic() - begun < 15, "it waits for the other name"
    assert_complete(told(receiver, "/late", caller, seconds=90), caller, late)


def answers_that_are_none(world):
    """Garbage, an answer to another question, an alias of itself, an alias that leads inside: nobody is called, and names
    that are right are found as ever."""
    caller, port = http_only(world).v1_0(), None
    inside = world.receiver("10.0.2.2" if world.is_board else "127.0.0.1")
    outside = world.receiver(PUBLIC[0], inside.port)
    port = inside.port
    world.names.tell("garbage.test", ["garbage"])
    world.names.tell("another.test", [f"another:{PUBLIC[0]}"])
    world.names.tell("loop.test", ["loop"])
    world.names.tell("alias.test", [f"alias:elsewhere.test:{inside.address}"])
    world.names.tell("elsewhere.test", inside.address)
    for name in ["garbage", "another", "loop", "alias"]:
        caller.send("read temperature", Webhook(f"http://{name}.test:{port}/{name}"))
    world.names.tell("good.test", [f"alias:public.test:{PUBLIC[0]}"])
    world.names.tell("public.test", PUBLIC[0])
    task = caller.send("read temperature", Webhook(f"http://good.test:{port}/good"))
    assert_complete(told(outside, "/good", caller, seconds=90), caller, task)
    assert inside.connections == 0, inside.requests
    assert {it.path for it in outside.requests} == {"/good"}, outside.requests


def the_device_itself_is_nobody_to_call(world):
    """Not by its own address either, where private ones are allowed."""
    if not world.is_board:
        raise Elsewhere("its own address is loopback")
    device = world.device()
    caller = device.v1_0()
    world.names.tell("self.test", world.own)
    before = device.status()
    try:
        caller.send("read temperature", Webhook(f"http://{world.own}:80/"), wait=True)
    except Refusal as refusal:
        assert refusal.code == -32602, refusal
    caller.send("read temperature", Webhook("http://self.test:80/"), wait=True)
    time.sleep(3)
    now = device.status()
    assert now["delivered"] == before["delivered"], (before, now)
    assert now["givenUp"] > before["givenUp"] or now["failed"] > before["failed"], (before, now)


def one_that_listens_everywhere_calls_itself_nowhere(world):
    """Not at any address of its machine, where all of them are allowed."""
    if world.is_board:
        raise Elsewhere("it has one address")
    device = Sim(Rules(["http", "private", "link-local", "loopback"]), None, bind="0.0.0.0")
    try:
        caller = device.v1_0()
        for address in ["127.0.0.1", "127.1.2.3", PRIVATE, LINK_LOCAL, PUBLIC[0]]:
            caller.send("read temperature", Webhook(f"http://{address}:{device.target.port}/"), wait=True)
            refused = re.compile(rf"webhook {re.escape(address)}: .*: leads to the device itself")
            wait_until(lambda: refused.search(device.log()), f"{address} is refused", seconds=5)
    finally:
        device.close()


CASES = [
    urls_that_lead_inside, odd_spellings, plain_http_only_where_it_is_allowed, ranges_are_allowed_one_by_one,
    only_hosts_that_the_owner_names, a_public_address_is_called, names_that_lead_inside, names_that_change_their_mind,
    names_with_two_addresses, a_name_server_that_does_not_answer,
    answers_that_are_none, the_device_itself_is_nobody_to_call,
    one_that_listens_everywhere_calls_itself_nowhere,
]
