"""Over TLS: only to whom the owner trusts, by the name in the URL, and in its time."""

import ssl
import time

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


def is_not_told(world, identity, what, host=NAME, tls=None):
    """A receiver with that certificate is called, and hears nothing: no request, no token."""
    world.names.tell(NAME, world.here)
    device, receiver = trusting(world), world.receiver(identity=identity)
    for change in tls or []:
        change(receiver.tls)
    caller = device.v1_0()
    before = device.status()["failed"]
    task = caller.send("read temperature", Webhook(receiver.url("/x", host), id="mine", token=world.secret("token")))
    receiver.wait(lambda it: it.handshakes, 30, f"{what}: a handshake")
    wait_until(lambda: device.status()["failed"] > before, f"{what}: it is counted", 30)
    time.sleep(0.2)
    assert not receiver.requests, f"{what}: {receiver.requests}"
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


def an_unknown_authority(world):
    is_not_told(world, world.stranger.leaf([NAME]), "somebody else's")
    is_not_told(world, world.stranger.leaf([NAME], issuer=world.stranger.middle()), "somebody else's, between")


def the_root_in_the_chain_proves_nothing(world):
    """A stranger's root, sent along, and one that has our root's name."""
    lookalike = type(world.authority)("p256", "mote tests")
    is_not_told(world, lookalike.leaf([NAME]), "a root of the same name")
    identity = world.stranger.leaf([NAME])
    with open(identity.chain, "a", encoding="ascii") as file:
        file.write(world.stranger.root.pem())
    is_not_told(world, identity, "with its root")


def a_certificate_of_its_own(world):
    """Self-signed: its name, nobody behind it."""
    alone = type(world.authority)("p256", NAME)
    is_not_told(world, alone.root, "self-signed")


def an_expired_one(world):
    is_not_told(world, world.authority.leaf([NAME], begins=-10 * DAY, ends=-DAY), "expired")


def one_whose_time_has_not_come(world):
    is_not_told(world, world.authority.leaf([NAME], begins=DAY, ends=10 * DAY), "not yet valid")


def another_host_name(world):
    for names in [["other.test"], ["hook.test.evil.test"], ["xhook.test"], ["*.test.test"], ["*.hook.test"], ["test"]]:
        is_not_told(world, world.authority.leaf(names, common_name=NAME), f"for {names}")


def another_address(world):
    is_not_told(world, world.authority.leaf(["10.9.8.7"]), "another address", host=world.here)
    is_not_told(world, world.authority.leaf([NAME]), "a name, called by its address", host=world.here)


def a_leaf_is_no_authority(world):
    """Whoever has a certificate for one host may not make any for others."""
    leaf = world.authority.leaf(["somebody.test"])
    is_not_told(world, world.authority.leaf([NAME], issuer=leaf), "signed by a leaf")


def an_intermediate_that_is_not_sent(world):
    identity = world.authority.leaf([NAME], issuer=world.authority.middle())
    with open(identity.chain, "w", encoding="ascii") as file:
        file.write(identity.pem())
    is_not_told(world, identity, "with a link missing")


def an_rsa_leaf(world):
    """Not understood here: refused, not called without a check."""
    is_not_told(world, world.authority.leaf([NAME], kind="rsa"), "RSA")


def an_older_tls(world):
    def older(context):
        context.maximum_version = ssl.TLSVersion.TLSv1_2

    is_not_told(world, world.authority.leaf([NAME]), "TLS 1.2", tls=[older])


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
    an_unknown_authority, the_root_in_the_chain_proves_nothing, a_certificate_of_its_own, an_expired_one,
    one_whose_time_has_not_come, another_host_name, another_address, a_leaf_is_no_authority,
    an_intermediate_that_is_not_sent, an_rsa_leaf, an_older_tls, no_tls_at_all, retries_and_bad_answers_over_tls,
    every_event_of_an_alert_over_tls,
]
