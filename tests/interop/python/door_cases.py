"""What must be true for every Python client at a door that is shut.

A script per SDK (door_1_3.py, door_0_3.py, door_0_2.py) gives an adapter that shows tokens in the SDK's own way: its
AuthInterceptor reads the schemes in the card and asks a CredentialService for what belongs to one of them.

MOTE_TOKEN may do everything and belongs to MOTE_NAME (owner); MOTE_OTHER_TOKEN may only read.
"""

import base64
import json
import os
from dataclasses import asdict

import cases
import httpx
from cases import case, check, drain, ends_with, refused, same

# Only the cases below: those for a door that is open have scripts of their own.
cases.CASES.clear()

OWNER, READER = os.environ["MOTE_TOKEN"], os.environ["MOTE_OTHER_TOKEN"]
OWNER_NAME = os.environ.get("MOTE_NAME", "owner")
NOBODY = "a-token-that-nobody-has"
LONG = "alert when temperature above 1000"


class Wire(httpx.AsyncHTTPTransport):
    """Remembers the head of every request, and everything that came back."""

    def __init__(self):
        super().__init__()
        self.sent = []
        self.received = bytearray()

    async def handle_async_request(self, request):
        self.sent.append(request.headers)
        response = await super().handle_async_request(request)
        for name, value in response.headers.raw:
            self.received += name + b": " + value + b"\n"
        stream = Overheard(response.stream, self.received)
        return httpx.Response(
            response.status_code, headers=response.headers, stream=stream, extensions=response.extensions
        )

    async def aclose(self):
        """Shared by all clients: see `hang_up`."""

    async def hang_up(self):
        await super().aclose()


class Overheard(httpx.AsyncByteStream):
    def __init__(self, stream, received):
        self.stream = stream
        self.received = received

    async def __aiter__(self):
        async for chunk in self.stream:
            self.received += chunk
            yield chunk

    async def aclose(self):
        await self.stream.aclose()


class Door:
    """The agent's door, and two who have a key."""

    def __init__(self, adapter, base):
        self.adapter = adapter
        self.generation = adapter.generation
        self.base = base
        self.wire = Wire()
        self.clients = []

    @classmethod
    def of(cls, adapter):
        """What `cases.main` wants for an adapter with `enter(base, http, credentials)`."""

        async def connect(base):
            self = cls(adapter, base)
            self.owner = await self.enter({"bearer": OWNER})
            self.reader = await self.enter({"bearer": READER})
            return self

        return connect

    async def enter(self, credentials, auth=None):
        """A client with a credential for each of these schemes, or whatever httpx adds by itself."""
        http = httpx.AsyncClient(transport=self.wire, auth=auth)
        self.clients.append(http)
        return await self.adapter.enter(self.base, http, credentials)

    async def close(self):
        for http in self.clients:
            await http.aclose()
        await self.wire.hang_up()


async def turned_away(sdk) -> None:
    """Whoever this is gets the SDK's error for HTTP 401, whatever the call."""
    for what, call in [
        ("send", lambda: sdk.send("read temperature")),
        ("stream", lambda: drain(sdk.stream("read temperature"))),
        ("get", lambda: sdk.get("no-such-task")),
        ("cancel", lambda: sdk.cancel("no-such-task")),
        ("extended card", sdk.extended),
    ]:
        try:
            got = await call()
        except Exception as error:
            want = sdk.stream_refusal if what == "stream" else 401
            same(sdk.status(error), want, f"{what}: HTTP status in {type(error).__name__}: {error}")
        else:
            raise AssertionError(f"{what}: no error, but {got!r}")


async def everything_works(sdk) -> None:
    """Whoever this is may do everything. The SDKs go on with the extended card, so its schemes must do, too."""
    check("reboot" in await sdk.extended(), "the extended card has no skills of the operator")
    done = await sdk.send("set led on")
    same(done.state, "completed", "an act")
    same((await sdk.get(done.id)).state, "completed", "what get says")
    events = await drain(sdk.stream("watch temperature 2 times every 50 ms"))
    ends_with(events, "completed")
    waiting = await sdk.send(LONG, wait=False)
    if sdk.generation == "1.0":
        listed = [t.id for t in (await sdk.list(context_id=waiting.context)).tasks]
        same(listed, [waiting.id], "list")
    same((await sdk.cancel(waiting.id)).state, "canceled", "cancel")


def shows(door, name, value) -> None:
    """What every request has shown, and nothing else."""
    credentials = {"authorization", "x-api-key"}
    check(len(door.wire.sent) > 5, "little was asked: this is out of date")
    for headers in door.wire.sent:
        same({n: headers[n] for n in credentials if n in headers}, {name: value}, "credentials in a request")


# The card


@case("the card is public, and its schemes are understood")
async def _(door):
    stranger = await door.enter({})
    schemes, requirements = stranger.schemes()
    want = {"bearer": ("http", "Bearer"), "apiKey": ("apiKey", "header", "X-API-Key"), "basic": ("http", "Basic")}
    same(schemes, want, "schemes")
    same(requirements, [["bearer"], ["apiKey"], ["basic"]], "one of them is enough")
    card = await stranger.card()
    check(card.extended, "no extended card is promised")
    skills = [skill[0] for skill in card.skills]
    check("read" in skills and "reboot" not in skills, f"public skills {skills}")


# Tokens


@case("no token")
async def _(door):
    await turned_away(await door.enter({}))


@case("a token for a scheme that the card does not have")
async def _(door):
    await turned_away(await door.enter({"oauth": OWNER}))


@case("a wrong bearer token")
async def _(door):
    await turned_away(await door.enter({"bearer": NOBODY}))


@case("a wrong API key")
async def _(door):
    await turned_away(await door.enter({"apiKey": NOBODY}))


@case("a bearer token")
async def _(door):
    sdk = await door.enter({"bearer": OWNER})
    door.wire.sent.clear()
    await everything_works(sdk)
    shows(door, "authorization", f"Bearer {OWNER}")


@case("an API key")
async def _(door):
    sdk = await door.enter({"apiKey": OWNER})
    door.wire.sent.clear()
    await everything_works(sdk)
    shows(door, "x-api-key", OWNER)


@case("HTTP Basic")
async def _(door):
    sdk = await door.enter({}, auth=(OWNER_NAME, OWNER))
    door.wire.sent.clear()
    await everything_works(sdk)
    shows(door, "authorization", "Basic " + base64.b64encode(f"{OWNER_NAME}:{OWNER}".encode()).decode())


@case("HTTP Basic with a wrong name or a wrong password")
async def _(door):
    await turned_away(await door.enter({}, auth=("nobody", OWNER)))
    await turned_away(await door.enter({}, auth=(OWNER_NAME, NOBODY)))


# What a reader may


@case("the extended card of a reader")
async def _(door):
    skills = await door.reader.extended()
    check("read" in skills and "reboot" not in skills, f"skills {skills}")


@case("a reader reads")
async def _(door):
    same((await door.reader.send("read temperature")).state, "completed", "state")


@case("a reader is asked for a credential in the middle of a task")
async def _(door):
    asked = await door.reader.send("set led on")
    same(asked.state, "auth-required", "state")
    said = [p.data for p in asked.message.parts if p.data is not None]
    same([list(data["schemes"]) for data in said], [["Bearer"]], "what is asked for")
    follow = {"task": asked.id, "context": asked.context}
    for wrong in (NOBODY, READER):
        again = await door.reader.send({"credential": wrong}, **follow)
        same(again.state, "auth-required", "state after a token that may not")
    done = await door.reader.send({"credential": OWNER}, **follow)
    same((done.id, done.state), (asked.id, "completed"), "result")
    task = await door.reader.get(asked.id)
    shown = [p.data for m in task.history if m.role == "user" for p in m.parts if p.data is not None]
    same(shown, [{"credential": None}] * 3, "what is left of the credentials")
    secret_free(door, [asked, done, task])
    again = await door.reader.send("set led off")
    same(again.state, "auth-required", "state of the next task: a credential is lent to one")


@case("the same as a stream")
async def _(door):
    events = await drain(door.reader.stream("set led off"))
    ends_with(events, "auth-required")
    same(events[0].state, "submitted", "first state")
    more = await drain(
        door.reader.stream({"credential": OWNER}, task=events[0].id, context=events[0].context)
    )
    same(more[0].id, events[0].id, "task")
    ends_with(more, "completed")
    secret_free(door, events + more)


@case("somebody else's task is not there")
async def _(door):
    task = await door.owner.send(LONG, wait=False)
    for id in (task.id, "no-such-task"):
        await refused(door.reader, door.reader.get(id), -32001)
        await refused(door.reader, door.reader.cancel(id), -32001)
        await refused(door.reader, drain(door.reader.resubscribe(id)), -32001)
        await refused(door.reader, door.reader.send("more", task=id), -32001)
    if door.generation == "1.0":
        same((await door.reader.list(context_id=task.context)).tasks, [], "list")
    same((await door.owner.get(task.id)).state, "working", "state")
    same((await door.owner.cancel(task.id)).state, "canceled", "cancel by the owner")


# The last one


@case("no token in anything that was received")
async def _(door):
    check(len(door.wire.received) > 10_000, "little was received: this case is out of date")
    secret_free(door, [])


def secret_free(door, events) -> None:
    for what, text in [
        ("an event", json.dumps([asdict(event) for event in events], default=repr)),
        ("an answer", door.wire.received.decode()),
    ]:
        for token in (OWNER, READER, NOBODY):
            check(token not in text, f"a token is in {what}")
