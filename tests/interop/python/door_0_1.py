"""0.1 at a shut door. No SDK of that generation is left on a package registry, so this is plain HTTP."""

from uuid import uuid4

import cases
import httpx
from cases import case, check, same
from door_cases import NOBODY, OWNER, OWNER_NAME, READER, Wire

cases.CASES.clear()


class Door:
    generation = "0.1"

    @classmethod
    async def connect(cls, base):
        self = cls()
        self.wire = Wire()
        self.http = httpx.AsyncClient(transport=self.wire, base_url=base)
        return self

    async def close(self):
        await self.http.aclose()
        await self.wire.hang_up()

    async def post(self, method, params, headers=None, auth=None):
        body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
        return await self.http.post("/", json=body, headers=headers, auth=auth)

    async def ask(self, method, params, token):
        """What a call gives to whoever has this token."""
        answer = await self.post(method, params, bearer(token))
        same(answer.status_code, 200, "HTTP status")
        return answer.json()


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def text(what, id=None, **more):
    return message({"type": "text", "text": what}, id, **more)


def message(part, id=None, **more):
    return {"id": id or str(uuid4()), "message": {"role": "user", "parts": [part]}, **more}


async def everyone(door, params, *ways):
    """One answer for each way to show a token, or not to."""
    return [await door.post("tasks/send", params(), **way) for way in ways]


@case("the card says how")
async def _(door):
    card = (await door.http.get("/.well-known/agent.json")).json()
    same(card["authentication"]["schemes"], ["Bearer", "ApiKey", "Basic"], "schemes")
    check("reboot" not in [skill["id"] for skill in card["skills"]], "a skill of the operator is public")


@case("no token, or a wrong one: HTTP 401 and -32007")
async def _(door):
    ways = [
        {},
        {"headers": bearer(NOBODY)},
        {"headers": {"X-API-Key": NOBODY}},
        {"auth": (OWNER_NAME, NOBODY)},
        {"auth": ("nobody", OWNER)},
    ]
    for answer in await everyone(door, lambda: text("read temperature"), *ways):
        same(answer.status_code, 401, "HTTP status")
        body = answer.json()
        same((body["id"], body["error"]["code"]), (7, -32007), "id and code")
        schemes = [value.split()[0] for value in answer.headers.get_list("www-authenticate")]
        same(sorted(schemes), ["ApiKey", "Basic", "Bearer"], "challenges")


@case("a token is not taken from the URL")
async def _(door):
    for query in (f"?access_token={OWNER}", f"?X-API-Key={OWNER}", f"?token={OWNER}"):
        body = {"jsonrpc": "2.0", "id": 7, "method": "tasks/send", "params": text("read temperature")}
        same((await door.http.post("/" + query, json=body)).status_code, 401, "HTTP status")


@case("a token in each of three ways")
async def _(door):
    ways = [{"headers": bearer(OWNER)}, {"headers": {"X-API-Key": OWNER}}, {"auth": (OWNER_NAME, OWNER)}]
    for answer in await everyone(door, lambda: text("set led on"), *ways):
        same(answer.status_code, 200, "HTTP status")
        same(answer.json()["result"]["status"]["state"], "completed", "state")


@case("a reader is asked for a credential in the middle of a task")
async def _(door):
    sent = text("set led on")
    asked = (await door.ask("tasks/send", sent, READER))["result"]["status"]
    same(asked["state"], "input-required", "state: there is no other for it")
    data = [part["data"] for part in asked["message"]["parts"] if part["type"] == "data"]
    same([it["schemes"] for it in data], [["Bearer"]], "what is asked for")
    reply = message({"type": "data", "data": {"credential": OWNER}}, sent["id"])
    done = (await door.ask("tasks/send", reply, READER))["result"]
    same(done["status"]["state"], "completed", "state")
    task = (await door.ask("tasks/get", {"id": sent["id"], "historyLength": 9}, READER))["result"]
    shown = [part["data"] for m in task["history"] for part in m["parts"] if m["role"] == "user" and "data" in part]
    same(shown, [{"credential": None}], "what is left of the credential")


@case("somebody else's task is not there")
async def _(door):
    sent = text("calibrate temperature")  # asks, and waits for the answer
    same((await door.ask("tasks/send", sent, OWNER))["result"]["status"]["state"], "input-required", "state")
    for method in ("tasks/get", "tasks/cancel", "tasks/resubscribe"):
        foreign, missing = [
            await door.post(method, {"id": id}, bearer(READER)) for id in (sent["id"], "no-such-task")
        ]
        check('"code":-32001' in foreign.text, f"{method}: {foreign.text}")
        same(foreign.content, missing.content, f"{method}: a foreign task and a missing one")
        same(foreign.headers, missing.headers, f"{method}: their headers")
    canceled = (await door.ask("tasks/cancel", {"id": sent["id"]}, OWNER))["result"]
    same(canceled["status"]["state"], "canceled", "cancel by the owner")


@case("no token in anything that was received")
async def _(door):
    check(len(door.wire.received) > 5_000, "little was received: this case is out of date")
    for token in (OWNER, READER, NOBODY):
        check(token not in door.wire.received.decode(), "a token is in an answer")


if __name__ == "__main__":
    cases.main(Door.connect)
