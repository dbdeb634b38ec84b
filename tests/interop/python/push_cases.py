"""Push notifications, for every Python client: set through the SDK's own calls, received by a webhook of ours, and read by
the SDK's own types.

The adapter has: set_push, get_push, and for 1.0, whose SDK has such calls, list_push and delete_push; send takes `push`;
and `pushed` makes neutral types of a notification's body. Environment: MOTE_WEBHOOK_HOST, where the server finds this machine's
loopback (127.0.0.1). It has to be allowed to call it, without TLS.
"""

import asyncio
import os
from dataclasses import dataclass

from cases import TERMINAL, Chunk, Status, Task, case, check, refused, same

HOST = os.environ.get("MOTE_WEBHOOK_HOST", "127.0.0.1")


@dataclass
class Hook:
    """A configuration, in neutral words."""

    url: str
    id: str | None = None
    token: str | None = None
    scheme: str | None = None
    credentials: str | None = None


class Webhook:
    """Takes notifications, one request per connection or several, and keeps them."""

    def __init__(self):
        self.notifications = []  # (headers, body)
        self.came = asyncio.Event()

    async def __aenter__(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        port = self.server.sockets[0].getsockname()[1]
        self.url = f"http://{HOST}:{port}/hook"
        return self

    async def __aexit__(self, *_):
        self.server.close()

    async def serve(self, reader, writer):
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                first, *lines = head.decode("latin-1").strip().split("\r\n")
                headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                check(first.startswith("POST /hook"), f"an unexpected request: {first}")
                self.notifications.append((headers, body))
                self.came.set()
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def until(self, sdk, states=TERMINAL):
        """What the SDK makes of the notifications, up to one that tells of such a state."""
        while True:
            self.came.clear()
            got = [sdk.pushed(body) for _, body in self.notifications]
            if any(isinstance(it, Task | Status) and it.state in states for it in got):
                return got
            await self.came.wait()


def artifacts_of(got: list) -> list:
    """The artifacts that a receiver has in the end."""
    artifacts = {}
    for it in got:
        if isinstance(it, Task):
            artifacts = {a.id: a.parts for a in it.artifacts}
        elif isinstance(it, Chunk):
            check(it.append == (it.artifact.id in artifacts), f"the first of an artifact is no chunk behind it: {it!r}")
            artifacts[it.artifact.id] = artifacts.get(it.artifact.id, []) + it.artifact.parts
    return list(artifacts.values())


async def check_all(sdk, got, id, state="completed"):
    """Everything was told, and is as the SDK gets it when it asks."""
    same({it.id if isinstance(it, Task) else it.task for it in got}, {id}, "task")
    task = await sdk.get(id)
    same(task.state, state, "state")
    same([it.state for it in got if isinstance(it, Task | Status)][-1], state, "the last state that was told")
    same(artifacts_of(got), [a.parts for a in task.artifacts], "artifacts")
    return task


@case("push: set and get")
async def _(sdk):
    task = await sdk.send("alert when temperature above 1000", wait=False)
    hook = Hook("https://a.example/hook", "mine", "a-token-to-know-it-by", "Bearer", "credentials-for-the-hook")
    for got in (await sdk.set_push(task.id, hook), await sdk.get_push(task.id, "mine")):
        same((got.url, got.id, got.scheme), (hook.url, hook.id, hook.scheme), "configuration")
    got = await sdk.get_push(task.id, "mine")
    check(got.token != hook.token and got.credentials != hook.credentials, f"secrets can be read back: {got!r}")
    await sdk.cancel(task.id)


@case("push: list and delete", "1.0")
async def _(sdk):
    task = await sdk.send("alert when temperature above 1000", wait=False)
    for name in ("one", "two"):
        await sdk.set_push(task.id, Hook(f"https://a.example/{name}", name))
    same([(it.id, it.url) for it in await sdk.list_push(task.id)],
         [(name, f"https://a.example/{name}") for name in ("one", "two")], "all of them")
    await sdk.delete_push(task.id, "one")
    same([it.id for it in await sdk.list_push(task.id)], ["two"], "what is left")
    await refused(sdk, sdk.get_push(task.id, "one"), -32001)
    await sdk.cancel(task.id)


@case("push: every event of a task, asked for when it is sent")
async def _(sdk):
    async with Webhook() as webhook:
        hook = Hook(webhook.url, None, "a-token-to-know-it-by", "Bearer", "credentials-for-the-hook")
        task = await sdk.send("watch temperature 5 times every 50 ms", wait=False, push=hook)
        got = await webhook.until(sdk)
        stored = await check_all(sdk, got, task.id)
        same(len(stored.readings()), 5, "readings")
        for headers, _ in webhook.notifications:
            same(headers["x-a2a-notification-token"], hook.token, "token")
            same(headers["authorization"], f"Bearer {hook.credentials}", "authorization")
            check("json" in headers["content-type"], f"content type {headers['content-type']}")
            check(headers.get("x-a2a-notification-signature", "").count(".") == 2, "it is signed")


@case("push: an alert, set by a client that hangs up")
async def _(sdk):
    async with Webhook() as webhook:
        task = await sdk.send("watch temperature 4 times every 300 ms", wait=False)
        await sdk.set_push(task.id, Hook(webhook.url))
        got = await webhook.until(sdk)
        same({it.id if isinstance(it, Task) else it.task for it in got}, {task.id}, "task")
        same([it.state for it in got if isinstance(it, Task | Status)][-1], "completed", "the last state")
    async with Webhook() as webhook:
        task = await sdk.send("alert when temperature above -200", wait=False, push=Hook(webhook.url))
        same(len((await check_all(sdk, await webhook.until(sdk), task.id)).readings()), 1, "readings")


@case("push: a task that asks, and one that is canceled")
async def _(sdk):
    async with Webhook() as webhook:
        task = await sdk.send("calibrate temperature", wait=False, push=Hook(webhook.url))
        await webhook.until(sdk, {"input-required"})
        await sdk.cancel(task.id)
        await check_all(sdk, await webhook.until(sdk), task.id, "canceled")


@case("push: what is deleted is told nothing", "1.0")
async def _(sdk):
    async with Webhook() as webhook:
        task = await sdk.send("alert when temperature above 1000", wait=False)
        await sdk.set_push(task.id, Hook(webhook.url, "mine"))
        await sdk.delete_push(task.id, "mine")
        before = len(webhook.notifications)
        await sdk.cancel(task.id)
        await asyncio.sleep(1)
        same(len(webhook.notifications), before, "notifications")


@case("push: error: a URL that is not allowed")
async def _(sdk):
    task = await sdk.send("alert when temperature above 1000", wait=False)
    for url in ("ftp://a.example/", "http://169.254.169.254/latest", "http://user@a.example/"):
        await refused(sdk, sdk.set_push(task.id, Hook(url)), -32602)
    await refused(sdk, sdk.set_push("no-such-task", Hook("https://a.example/")), -32001)
    await sdk.cancel(task.id)
