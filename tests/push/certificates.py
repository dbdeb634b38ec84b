"""Over TLS: only to whom the owner trusts, by the name in the URL, and in its time."""

import ssl

import signature
from authority import DAY
from device import Rules
from dialects import Webhook
from telling import assert_complete, told
from world import wait_until

NAME = "hook.test"


def trusting(world):
    """Our address is allowed, plain HTTP is not."""
    return world.device(Rules(["private" if world.is_board else "loopback"]))


def is_told(world, identity, path, host=NAME, tls=None):
    """A receiver with that certificate gets everything, over TLS 1.3."""
    world.names.tell(NAME, world.here)
    device, receiver = trusting(world), world.receiver(identity=identity)
    for change in tls or []:
        change(receiver.tls)
    caller, url = device.v1_0(), receiver.url(path, host)
    task = caller.send("watch temperature 3 times every 50 ms", Webhook(url, token=world.secret("token")))
    posts = told(receiver, path, caller, seconds=60)
    assert_complete(posts, caller, task)
    assert any(it.startswith("TLSv1.3") for it in receiver.handshakes), receiver.handshakes
    signature.check(posts[0], device.jwks(), task, url)
    receiver.close()


def is_not_told(world, identity, why, host=NAME, tls=None):
    """A receiver with that certificate is called, and hears nothing: no request, no token. The log says why."""
    world.names.tell(NAME, world.here)
    device, receiver = trusting(world), world.receiver(identity=identity)
    for change in tls or []:
        change(receiver.tls)
    caller = device.v1_0()
    before, logged = device.status()["failed"], len(device.log())
    task = caller.send("read temperature", Webhook(receiver.url("/x", host), id="mine", token=world.secret("token")))
    receiver.wait(lambda it: it.handshakes, 30, f"{why}: a handshake")
    wait_until(lambda: device.status()["failed"] > before, f"{why}: it is counted", 30)
    wait_until(lambda: f"webhook {host}" in device.log()[logged:], f"{why}: a word in the log", 5)
    assert why in device.log()[logged:], f"not {why!r}, but {device.log()[logged:]}"
    assert not receiver.requests, f"{why}: {receiver.requests}"
    caller.delete(task, "mine")
    receiver.close()


def the_right_authority(world):
    is_told(world, world.authority.leaf([NAME]), "/right")


def by_address(world):
    """A URL may have an address; then the certificate has to be for it."""
    is_told(world, world.authority.leaf([world.here]), "/address", host=world.here)


def several_names_and_wildcards(world):
    is_told(world, world.authority.leaf(["a.test", "b.test", NAME, "c.test"]), "/several")
    world.names.tell("deep.hook.test", world.here)
    is_told(world, world.authority.leaf(["*.hook.test"]), "/wild", host="deep.hook.test")


def bits_384(world):
    """P-384: of the authority, of the leaf, of both."""
    is_told(world, world.authority_384.leaf([NAME]), "/both")
    is_told(world, world.authority_384.leaf([NAME], kind="p256"), "/authority")
    is_told(world, world.authority.leaf([NAME], kind="p384"), "/leaf")


def an_intermediate_authority(world):
    is_told(world, world.authority.leaf([NAME], issuer=world.authority.middle()), "/between")
    middle = world.authority.middle(kind="p384")
    is_told(world, world.authority.leaf([NAME], kind="p256", issuer=middle), "/between-384")


def who_is_meant_is_said_in_the_open(world):
    """SNI: the name, and nothing where there is none. In any case of letters it is the same name."""
    world.names.tell(NAME, world.here)
    device = trusting(world)
    receiver = world.receiver(identity=world.authority.leaf([NAME, world.here]))
    caller = device.v1_0()
    for path, host, asked in [("/name", NAME, NAME), ("/address", world.here, None), ("/upper", NAME.upper(), NAME)]:
        receiver.asked_for.clear()
        caller.send("read temperature", Webhook(receiver.url(path, host)))
        told(receiver, path, caller, seconds=60)
        assert {name and name.lower() for name in receiver.asked_for} == {asked}, receiver.asked_for


ISSUER = "its certificate leads to no root that is trusted here"
OTHER_HOST = "its certificate is for another host"


def an_unknown_authority(world):
    is_not_told(world, world.stranger.leaf([NAME]), ISSUER)
    is_not_told(world, world.stranger.leaf([NAME], issuer=world.stranger.middle()), ISSUER)


def the_root_in_the_chain_proves_nothing(world):
    """A stranger's root, sent along, and one that has our root's name."""
    lookalike = type(world.authority)("p256", "mote tests")
    is_not_told(world, lookalike.leaf([NAME]), ISSUER)
    identity = world.stranger.leaf([NAME])
    with open(identity.chain, "a", encoding="ascii") as file:
        file.write(world.stranger.root.pem())
    is_not_told(world, identity, ISSUER)


def a_certificate_of_its_own(world):
    """Self-signed: its name, nobody behind it."""
    alone = type(world.authority)("p256", NAME)
    is_not_told(world, alone.root, "its certificate")


def an_expired_one(world):
    is_not_told(world, world.authority.leaf([NAME], begins=-10 * DAY, ends=-DAY), "its certificate has expired")
    middle = world.authority.middle(begins=-10 * DAY, ends=-DAY)
    is_not_told(world, world.authority.leaf([NAME], issuer=middle), "its certificate has expired")


def one_whose_time_has_not_come(world):
    is_not_told(world, world.authority.leaf([NAME], begins=DAY, ends=10 * DAY), "its certificate is not valid yet")


def another_host_name(world):
    for names in [["other.test"], ["hook.test.evil.test"], ["xhook.test"], ["*.test.test"], ["*.hook.test"], ["test"],
                  ["h*.test"], ["*"]]:
        is_not_told(world, world.authority.leaf(names, common_name=NAME), OTHER_HOST)
    # Its common name is nobody's business any more.
    is_not_told(world, world.authority.leaf([NAME], common_name=NAME, extensions="nameless"), "its certificate is")


def another_address(world):
    is_not_told(world, world.authority.leaf(["10.9.8.7"]), OTHER_HOST, host=world.here)
    is_not_told(world, world.authority.leaf([NAME]), OTHER_HOST, host=world.here)


def a_leaf_is_no_authority(world):
    """Whoever has a certificate for one host may not make any for others; nor who has only half of what it takes."""
    leaf = world.authority.leaf(["somebody.test"])
    is_not_told(world, world.authority.leaf([NAME], issuer=leaf), "issued by somebody who may not issue any")
    weak = world.authority.middle(extensions="weak")
    is_not_told(world, world.authority.leaf([NAME], issuer=weak), "issued by somebody who may not issue any")


def an_authority_below_one_that_may_have_none(world):
    """pathlen:0 says that there is no other authority below."""
    below = world.authority.middle(issuer=world.authority.middle())
    is_not_told(world, world.authority.leaf([NAME], issuer=below), "its certificate")


def one_that_is_not_for_servers(world):
    is_not_told(world, world.authority.leaf([NAME], extensions="client"), "its certificate is malformed, or not for servers")


def one_with_a_condition_that_nobody_knows(world):
    """A critical extension that is not understood: RFC 5280 §4.2 says no."""
    is_not_told(world, world.authority.leaf([NAME], extensions="odd"), "restricted in a way that is not understood")


def an_intermediate_that_is_not_sent(world):
    identity = world.authority.leaf([NAME], issuer=world.authority.middle())
    with open(identity.chain, "w", encoding="ascii") as file:
        file.write(identity.pem())
    is_not_told(world, identity, ISSUER)


def an_rsa_leaf(world):
    """Not understood here: refused, not called without a check."""
    is_not_told(world, world.authority.leaf([NAME], kind="rsa"), "one with an RSA key will not do")


def an_older_tls(world):
    def older(context):
        context.maximum_version = ssl.TLSVersion.TLSv1_2

    is_not_told(world, world.authority.leaf([NAME]), "TLS 1.3", tls=[older])


def another_curve(world):
    is_not_told(world, world.authority.leaf([NAME]), "TLS 1.3", tls=[lambda context: context.set_ecdh_curve("secp384r1")])


def a_chain_that_is_too_long(world):
    """Many certificates, more than a board has room for: refused, and the next webhook is called as ever."""
    identity = world.authority.leaf([NAME])
    with open(identity.chain, "a", encoding="ascii") as file:
        for _ in range(30 if world.is_board else 60):
            file.write(world.stranger.root.pem())
    is_not_told(world, identity, "")
    is_told(world, world.authority.leaf([NAME]), "/after")


def no_tls_at_all(world):
    """A plain receiver where TLS was asked for hears nothing that it understands."""
    world.names.tell(NAME, world.here)
    device, receiver = trusting(world), world.receiver()
    caller = device.v1_0()
    token = world.secret("token")
    before = device.status()["failed"]
    caller.send("read temperature", Webhook(f"https://{NAME}:{receiver.port}/x", token=token))
    wait_until(lambda: receiver.connections, "a call", 30)
    wait_until(lambda: device.status()["failed"] > before, "it is counted", 30)
    assert not receiver.requests, receiver.requests


def retries_and_bad_answers_over_tls(world):
    world.names.tell(NAME, world.here)
    device, receiver = trusting(world), world.receiver(identity=world.authority.leaf([NAME]))
    caller = device.v1_0()
    words = ["500", "cut-answer", "cut-head", "chunked", "trickle", "until-close", "429:1"]
    for word in words:
        path = f"/{word.replace(':', '-')}"
        receiver.script(path, word, "200")
        task = caller.send("read temperature", Webhook(receiver.url(path, NAME)))
        assert_complete(told(receiver, path, caller, seconds=60), caller, task)


def every_event_of_an_alert_over_tls(world):
    """In every dialect: set, hang up, be told."""
    world.names.tell(NAME, world.here)
    device, receiver = trusting(world), world.receiver(identity=world.authority.leaf([NAME]))
    for caller in device.callers():
        path = f"/{caller.name}"
        task = caller.send("alert when temperature above -200", Webhook(receiver.url(path, NAME)))
        posts = told(receiver, path, caller, seconds=60)
        assert_complete(posts, caller, task)
        for post in posts:
            signature.check(post, device.jwks(), task, receiver.url(path, NAME))


CASES = [
    the_right_authority, by_address, several_names_and_wildcards, bits_384, an_intermediate_authority,
    who_is_meant_is_said_in_the_open, an_unknown_authority, the_root_in_the_chain_proves_nothing,
    a_certificate_of_its_own, an_expired_one, one_whose_time_has_not_come, another_host_name, another_address,
    a_leaf_is_no_authority, an_authority_below_one_that_may_have_none, one_that_is_not_for_servers,
    one_with_a_condition_that_nobody_knows, an_intermediate_that_is_not_sent, an_rsa_leaf, an_older_tls, another_curve,
    a_chain_that_is_too_long, no_tls_at_all, retries_and_bad_answers_over_tls, every_event_of_an_alert_over_tls,
]
