"""What must be true for every Python client, whatever its generation.

A script per SDK (v1_3.py, v0_3.py, v0_2.py) gives an adapter: calls in, the neutral types below out. The adapter uses
the SDK as its documentation shows it, with default timeouts and transports, so what passes here works for a user.
"""

import asyncio
import contextlib
import os
import sys
import time
from dataclasses import dataclass, field
from typing import Any

CASE_SECONDS = 30  # ours, not an SDK's: a hanging server must not hang the suite
# What lets us in, where the device is shut: it is sent with every request.
TOKEN = os.environ.get("MOTE_TOKEN")
HEADERS = {"Authorization": f"Bearer {TOKEN}"} if TOKEN else {}
TERMINAL = {"completed", "canceled", "failed", "rejected"}


@dataclass
class Part:
    text: str | None = None
    data: Any = None
    file: bytes | None = None
    media: str = ""
    name: str = ""


@dataclass
class Artifact:
    id: str
    name: str
    parts: list[Part]


@dataclass
class Message:
    role: str
    parts: list[Part]
    task: str = ""
    context: str = ""

    @property
    def text(self) -> str:
        return " ".join(p.text for p in self.parts if p.text is not None)


@dataclass
class Task:
    id: str
    context: str
    state: str
    message: Message | None
    artifacts: list[Artifact] = field(default_factory=list)
    history: list[Message] = field(default_factory=list)

    def readings(self) -> list[dict]:
        return [p.data for a in self.artifacts for p in a.parts if p.data is not None]


@dataclass
class Status:
    task: str
    context: str
    state: str
    final: bool | None  # None where the generation has no such field


@dataclass
class Chunk:
    task: str
    context: str
    artifact: Artifact
    append: bool
    last: bool


@dataclass
class Card:
    name: str
    description: str
    version: str
    url: str
    streaming: bool
    push: bool
    extended: bool
    inputs: list[str]
    outputs: list[str]
    skills: list[tuple[str, str, str, list[str], list[str]]]  # id, name, description, tags, examples


CASES = []


def case(name: str, *generations: str):
    """Registers a case; with generations named, only those run it."""

    def register(function):
        CASES.append((name, generations, function))
        return function

    return register


def check(truth: Any, what: str) -> None:
    if not truth:
        raise AssertionError(what)


def same(got: Any, want: Any, what: str) -> None:
    check(got == want, f"{what}: {got!r} instead of {want!r}")


async def refused(sdk, awaitable, *codes: int) -> None:
    """The call must end in the SDK's own typed error for one of these codes."""
    try:
        got = await awaitable
    except Exception as error:
        code = sdk.code(error)
        check(code in codes, f"error {code} instead of {codes}: {type(error).__name__}: {error}")
        return
    raise AssertionError(f"no error {codes}, but {got!r}")


async def drain(stream) -> list:
    return [event async for event in stream]


async def first(stream, count: int) -> list:
    """The first events of a stream, which is then dropped."""
    got = []
    async with contextlib.aclosing(stream):
        async for event in stream:
            got.append(event)
            if len(got) == count:
                break
    return got


def fold(events: list) -> Task:
    """Snapshot and events to a task, as a client has to do it."""
    task = events[0]
    check(isinstance(task, Task), f"a stream starts with the task, not {task!r}")
    for event in events[1:]:
        check(not isinstance(event, Task), "a second snapshot in one stream")
        same((event.task, event.context), (task.id, task.context), "ids of an event")
        if isinstance(event, Status):
            task.state = event.state
            continue
        known = [a for a in task.artifacts if a.id == event.artifact.id]
        if event.append:
            check(known, "an appended chunk without a first one")
            known[0].parts.extend(event.artifact.parts)
        else:
            task.artifacts = [a for a in task.artifacts if a not in known] + [event.artifact]
    return task


def ends_with(events: list, state: str) -> None:
    last = events[-1]
    check(isinstance(last, Status), f"the last event is {last!r}")
    same(last.state, state, "last state")
    finals = [e.final for e in events if isinstance(e, Status)]
    check(finals[-1] is not False and not any(finals[:-1]), f"`final` belongs to the last event only: {finals}")


def is_reading(data: Any) -> None:
    check(isinstance(data, dict), f"a data part with an object, not {data!r}")
    same(data.get("sensor"), "temperature", "sensor")
    check(isinstance(data.get("value"), (int, float)), f"value is a number: {data!r}")
    check(data.get("unit"), f"unit is missing: {data!r}")


# What the card says


@case("card")
async def _(sdk):
    card = await sdk.card()
    for what in ("name", "description", "version", "inputs", "outputs"):
        check(getattr(card, what), f"{what} is empty")
    check(card.url.startswith(("http://", "https://")), f"url {card.url!r}")
    check(card.streaming, "streaming is not promised")
    check(card.push, "push notifications are not promised")
    check(card.skills, "no skills")
    for id, name, description, tags, _ in card.skills:
        check(id and name and description and tags, f"skill {id!r} lacks a name, a description or tags")


@case("card at the other well-known path")
async def _(sdk):
    same(await sdk.card(sdk.other_card_path), await sdk.card(), "card")


@case("every example of the card is understood")
async def _(sdk):
    for id, _, _, _, examples in (await sdk.card()).skills:
        for example in examples:
            if example in ("hello", "help"):
                continue
            reply = await sdk.send(example, wait=False)
            check(isinstance(reply, Task), f"{example!r} of {id!r} got {reply!r}")
            check(reply.state not in ("failed", "rejected"), f"{example!r} of {id!r} is {reply.state}")
            with contextlib.suppress(Exception):
                await sdk.cancel(reply.id)


# Asking


@case("blocking send")
async def _(sdk):
    task = await sdk.send("read temperature")
    check(isinstance(task, Task), f"a task, not {task!r}")
    check(task.id and task.context, "ids")
    same(task.state, "completed", "state")
    same([a.name for a in task.artifacts], ["temperature"], "artifacts")
    same(len(task.readings()), 1, "data parts")
    is_reading(task.readings()[0])
    check(any(p.text for p in task.artifacts[0].parts), "a text part")


@case("direct message")
async def _(sdk):
    reply = await sdk.send("hello")
    check(isinstance(reply, Message), f"a message, not {reply!r}")
    same(reply.role, "agent", "role")
    check("temperature" in reply.text, f"the help names an example: {reply.text!r}")


@case("data part in")
async def _(sdk):
    task = await sdk.send({"skill": "watch", "sensor": "temperature", "times": 2, "everyMs": 0})
    same(task.state, "completed", "state")
    same(len(task.readings()), 2, "readings")


@case("file part out")
async def _(sdk):
    await sdk.send("read temperature")
    task = await sdk.send("report temperature")
    same(task.state, "completed", "state")
    files = [p for a in task.artifacts for p in a.parts if p.file is not None]
    same([f.media for f in files], ["text/csv"], "file parts")
    check(b"," in files[0].file and files[0].name, f"a named csv file: {files[0]!r}")


@case("send without waiting")
async def _(sdk):
    task = await sdk.send("watch temperature 3 times every 100 ms", wait=False)
    check(task.state in ("submitted", "working"), f"state {task.state}")
    while task.state not in TERMINAL:
        await asyncio.sleep(0.1)
        task = await sdk.get(task.id)
    same((task.state, len(task.readings())), ("completed", 3), "result")


@case("blocking send of more than five seconds")
async def _(sdk):
    start = time.monotonic()
    task = await sdk.send("watch temperature 7 times every 1 second")
    same((task.state, len(task.readings())), ("completed", 7), "result")
    check(time.monotonic() - start > 5, "answered before the work was done")


@case("many turns")
async def _(sdk):
    asked = await sdk.send("calibrate temperature")
    same(asked.state, "input-required", "state")
    check(asked.message and asked.message.role == "agent" and asked.message.text, "the question is in the status")
    done = await sdk.send("21.5", task=asked.id, context=asked.context)
    same((done.id, done.context, done.state), (asked.id, asked.context, "completed"), "result")
    task = await sdk.get(asked.id)
    talk = [(m.role, m.text) for m in task.history]
    same(talk[:3], [("user", "calibrate temperature"), ("agent", asked.message.text), ("user", "21.5")], "history")
    same([m.text for m in (await sdk.get(asked.id, history=1)).history], [talk[-1][1]], "history of one")
    same((await sdk.get(asked.id, history=0)).history, [], "history of none")


@case("many turns without the context id")
async def _(sdk):
    asked = await sdk.send("calibrate temperature")
    done = await sdk.send("21.5", task=asked.id)
    same((done.context, done.state), (asked.context, "completed"), "result")


@case("follow-up on a referenced task")
async def _(sdk):
    read = await sdk.send("read temperature")
    again = await sdk.send("in fahrenheit", context=read.context, refs=[read.id])
    check(isinstance(again, Task), f"a task, not {again!r}")
    same((again.context, again.state), (read.context, "completed"), "result")
    check(again.id != read.id, "a finished task never restarts")
    check("f" in again.readings()[0]["unit"].lower(), f"unit of {again.readings()!r}")


@case("get")
async def _(sdk):
    sent = await sdk.send("read temperature")
    got = await sdk.get(sent.id)
    same((got.id, got.context, got.state, got.artifacts), (sent.id, sent.context, sent.state, sent.artifacts), "task")
    same([m.text for m in got.history][:1], ["read temperature"], "history")


# Following


@case("stream")
async def _(sdk):
    events = await drain(sdk.stream("watch temperature 3 times every 100 ms"))
    check(isinstance(events[0], Task) and events[0].state in ("submitted", "working"), f"first event {events[0]!r}")
    chunks = [e for e in events if isinstance(e, Chunk)]
    same([c.append for c in chunks], [False, True, True], "append")
    same([c.last for c in chunks], [False, False, True], "lastChunk")
    same(len({c.artifact.id for c in chunks}), 1, "artifact ids")
    check(all(len(c.artifact.parts) == 2 for c in chunks), "a text part and a data part in each chunk")
    ends_with(events, "completed")
    task = fold(events)
    for data in task.readings():
        is_reading(data)
    same(task.artifacts, (await sdk.get(task.id)).artifacts, "folded events and the stored task")
    sdk.check_folded(task)


@case("odd characters survive")
async def _(sdk):
    # U+2028, U+2029 and U+0085 end a line for some SSE readers, though not for SSE.
    note = 'a "quote", a \\, a\nnew line, \u2028 \u2029 \u0085 \u0001, \u00b0 \U0001f321'
    what = {"skill": "watch", "sensor": "temperature", "times": 2, "everyMs": 0, "note": note}
    events = await drain(sdk.stream(what))
    ends_with(events, "completed")
    sent = (await sdk.get(events[0].id)).history[0].parts[0].data
    same(sent.get("note"), note, "the note in the history")


@case("stream of a direct message")
async def _(sdk):
    events = await drain(sdk.stream("hello"))
    check(len(events) == 1 and isinstance(events[0], Message), f"one message, not {events!r}")


@case("stream that is quiet for six seconds")
async def _(sdk):
    events = await drain(sdk.stream("watch temperature 2 times every 6 seconds"))
    ends_with(events, "completed")
    same(len(fold(events).readings()), 2, "readings")


@case("stream closes at input-required")
async def _(sdk):
    events = await drain(sdk.stream("calibrate temperature"))
    ends_with(events, "input-required")
    more = await drain(sdk.stream("21.5", task=events[0].id, context=events[0].context))
    same(more[0].id, events[0].id, "task")
    ends_with(more, "completed")


@case("resubscribe")
async def _(sdk):
    seen = await first(sdk.stream("watch temperature 20 times every 100 ms"), 2)
    await asyncio.sleep(0.5)
    events = await drain(sdk.resubscribe(seen[0].id))
    same(events[0].id, seen[0].id, "task")
    check(events[0].readings(), "the snapshot has the chunks that were missed")
    ends_with(events, "completed")
    task = fold(events)
    same(len(task.readings()), 20, "readings")
    same(task.artifacts, (await sdk.get(task.id)).artifacts, "folded events and the stored task")
    sdk.check_folded(task)


@case("resubscribe that is quiet for six seconds")
async def _(sdk):
    task = await sdk.send("watch temperature 2 times every 6 seconds", wait=False)
    events = await drain(sdk.resubscribe(task.id))
    ends_with(events, "completed")
    same(len(fold(events).readings()), 2, "readings")


@case("two streams of one task")
async def _(sdk):
    task = await sdk.send("watch temperature 5 times every 200 ms", wait=False)
    one, two = await asyncio.gather(drain(sdk.resubscribe(task.id)), drain(sdk.resubscribe(task.id)))
    same(fold(one).artifacts, fold(two).artifacts, "both folded")
    same(len(one[0].readings()), 5, "readings")


# Stopping


@case("cancel")
async def _(sdk):
    task = await sdk.send("alert when temperature above 1000", wait=False)
    check(task.state in ("submitted", "working"), f"state {task.state}")
    canceled = await sdk.cancel(task.id)
    same((canceled.id, canceled.state), (task.id, "canceled"), "canceled task")
    same((await sdk.get(task.id)).state, "canceled", "stored state")
    await refused(sdk, sdk.cancel(task.id), -32002)


@case("cancel ends the stream")
async def _(sdk):
    stream = sdk.stream("alert when temperature above 1000")
    events = [await anext(stream)]
    await sdk.cancel(events[0].id)
    events += await drain(stream)
    ends_with(events, "canceled")


# Refusing


@case("error: get an unknown task")
async def _(sdk):
    await refused(sdk, sdk.get("no-such-task"), -32001)


@case("error: cancel an unknown task")
async def _(sdk):
    await refused(sdk, sdk.cancel("no-such-task"), -32001)


@case("error: message to an unknown task")
async def _(sdk):
    await refused(sdk, sdk.send("21.5", task="no-such-task"), -32001)


@case("error: message to a finished task")
async def _(sdk):
    task = await sdk.send("read temperature")
    codes = [-32004] if sdk.generation == "1.0" else [-32004, -32600, -32602]  # 0.x leaves the code open
    await refused(sdk, sdk.send("again", task=task.id, context=task.context), *codes)


@case("error: foreign context id")
async def _(sdk):
    task = await sdk.send("calibrate temperature")
    await refused(sdk, sdk.send("21.5", task=task.id, context="no-such-context"), -32602)


@case("error: no parts")
async def _(sdk):
    await refused(sdk, sdk.send([]), -32602)


@case("error: negative history length")
async def _(sdk):
    task = await sdk.send("read temperature")
    await refused(sdk, sdk.get(task.id, history=-1), -32602)


@case("error: media type the card does not name")
async def _(sdk):
    await refused(sdk, sdk.send(Part(file=b"\x89PNG", media="image/png", name="a.png")), -32005)


@case("error: stream to an unknown task")
async def _(sdk):
    await refused(sdk, drain(sdk.stream("21.5", task="no-such-task")), -32001)


@case("error: resubscribe to an unknown task")
async def _(sdk):
    await refused(sdk, drain(sdk.resubscribe("no-such-task")), -32001)


@case("error: resubscribe to a finished task", "1.0")
async def _(sdk):
    task = await sdk.send("read temperature")
    await refused(sdk, drain(sdk.resubscribe(task.id)), -32004)


@case("extended card, and an error where there is none")
async def _(sdk):
    public = await sdk.card()
    same(public.extended, bool(TOKEN), "the card promises one, to who is known")
    if not public.extended:
        await sdk.no_extended_card(refused)
        return
    more = {skill[0] for skill in (await sdk.extended_card()).skills} - {skill[0] for skill in public.skills}
    same(more, {"reboot", "forget-wifi"}, "skills of operators")


# Only 1.0


@case("list", "1.0")
async def _(sdk):
    one = await sdk.send("read temperature")
    two = await sdk.send("alert when temperature above 1000", context=one.context, wait=False)
    all_of_it = await sdk.list(context_id=one.context)
    same([t.id for t in all_of_it.tasks], [two.id, one.id], "newest first")
    same((all_of_it.total, all_of_it.next), (2, ""), "total size and next page")
    check(not any(t.artifacts for t in all_of_it.tasks), "no artifacts unless asked for")
    done = await sdk.list(context_id=one.context, status="completed", include_artifacts=True)
    same([(t.id, len(t.readings())) for t in done.tasks], [(one.id, 1)], "completed ones with artifacts")
    await sdk.cancel(two.id)
    same([t.id for t in (await sdk.list(context_id=one.context, status="canceled")).tasks], [two.id], "canceled ones")
    same((await sdk.list(context_id="no-such-context")).tasks, [], "another context")


@case("list in pages", "1.0")
async def _(sdk):
    task = await sdk.send("read temperature")
    ids = [task.id] + [(await sdk.send("read temperature", context=task.context)).id for _ in range(4)]
    got, token = [], ""
    for expected in (2, 2, 1):
        page = await sdk.list(context_id=task.context, page_size=2, page_token=token)
        same((len(page.tasks), page.total), (expected, 5), "page")
        got, token = got + [t.id for t in page.tasks], page.next
        check(bool(token) == (len(got) < 5), f"next page token {token!r} after {len(got)}")
    same(got, ids[::-1], "all pages")
    for size in (0, 101):
        await refused(sdk, sdk.list(page_size=size), -32602)


@case("a task of this dialect read in 0.3", "1.0")
async def _(sdk):
    task = await sdk.send("read temperature")
    legacy = await sdk.speaking_0_3()
    try:
        same((await legacy.get(task.id)).artifacts, task.artifacts, "artifacts")
        older = await legacy.send("read temperature")
        same((await sdk.get(older.id)).artifacts, older.artifacts, "artifacts the other way round")
    finally:
        await legacy.close()


async def suite(connect, base: str) -> int:
    passed = failed = 0

    async def attempt(name, awaitable):
        nonlocal passed, failed
        try:
            value = await asyncio.wait_for(awaitable, CASE_SECONDS)
        except Exception as error:
            failed += 1
            reason = str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
            print(f"FAIL {name}: {' '.join(reason.split())}", flush=True)
        else:
            passed += 1
            print(f"ok {name}", flush=True)
            return value

    sdk = await attempt("connect", connect(base))
    if sdk:
        for name, generations, function in CASES:
            if not generations or sdk.generation in generations:
                await attempt(name, function(sdk))
        await sdk.close()
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed else 0


def main(connect) -> None:
    """`connect(base_url)` is a coroutine that gives the adapter."""
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} BASE_URL")
    sys.exit(asyncio.run(suite(connect, sys.argv[1])))
