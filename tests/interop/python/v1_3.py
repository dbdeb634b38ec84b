"""a2a-sdk 1.3.0, which speaks 1.0."""

from types import SimpleNamespace

import cases
import httpx
import push_cases
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.helpers import new_data_part, new_message, new_raw_part, new_text_part
from a2a.types import (
    AgentCard,
    AuthenticationInfo,
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTasksRequest,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    StreamResponse,
    SubscribeToTaskRequest,
    TaskPushNotificationConfig,
    TaskState,
)
from a2a.utils.errors import JSON_RPC_ERROR_CODE_MAP
from google.protobuf.json_format import MessageToDict, Parse


def config(**more):
    """As the documentation shows it: whoever has to send a token gives the SDK an HTTP client that does."""
    return ClientConfig(httpx_client=httpx.AsyncClient(headers=cases.HEADERS) if cases.HEADERS else None, **more)


class Sdk:
    generation = "1.0"
    other_card_path = "/.well-known/agent.json"

    def __init__(self, base: str, card: AgentCard):
        self.base = base
        self.agent_card = card
        self.client = ClientFactory(config()).create(card)
        self.blocking = ClientFactory(config(streaming=False)).create(card)

    @classmethod
    async def connect(cls, base: str):
        async with httpx.AsyncClient() as http:
            return cls(base, await A2ACardResolver(http, base).get_agent_card())

    async def close(self):
        await self.client.close()
        await self.blocking.close()

    async def card(self, path=None):
        async with httpx.AsyncClient() as http:
            return card(await A2ACardResolver(http, self.base).get_agent_card(path))

    def request(self, what, wait=True, task=None, context=None, refs=(), push=None):
        message = new_message(parts(what), context_id=context, task_id=task, role=Role.ROLE_USER)
        message.reference_task_ids.extend(refs)
        configuration = SendMessageConfiguration(return_immediately=not wait)
        if push:
            configuration.task_push_notification_config.CopyFrom(webhook(push))
        return SendMessageRequest(message=message, configuration=configuration)

    async def send(self, what, **more):
        async for event in self.blocking.send_message(self.request(what, **more)):
            return neutral(event)

    async def stream(self, what, **more):
        async for event in self.client.send_message(self.request(what, **more)):
            yield neutral(event)

    async def resubscribe(self, id):
        async for event in self.client.subscribe(SubscribeToTaskRequest(id=id)):
            yield neutral(event)

    def check_folded(self, task):
        """This generation leaves the folding to its user."""

    async def get(self, id, history=None):
        return task(await self.client.get_task(GetTaskRequest(id=id, history_length=history)))

    async def cancel(self, id):
        return task(await self.client.cancel_task(CancelTaskRequest(id=id)))

    async def list(self, status=None, **filters):
        if status:
            filters["status"] = TaskState.Value("TASK_STATE_" + status.upper())
        page = await self.client.list_tasks(ListTasksRequest(**filters))
        return SimpleNamespace(
            tasks=[task(t) for t in page.tasks], total=page.total_size, next=page.next_page_token
        )

    async def set_push(self, id, push):
        return hook(await self.client.create_task_push_notification_config(webhook(push, id)))

    async def get_push(self, id, name):
        request = GetTaskPushNotificationConfigRequest(task_id=id, id=name)
        return hook(await self.client.get_task_push_notification_config(request))

    async def list_push(self, id):
        request = ListTaskPushNotificationConfigsRequest(task_id=id)
        return [hook(it) for it in (await self.client.list_task_push_notification_configs(request)).configs]

    async def delete_push(self, id, name):
        request = DeleteTaskPushNotificationConfigRequest(task_id=id, id=name)
        await self.client.delete_task_push_notification_config(request)

    def pushed(self, body):
        return neutral(Parse(body, StreamResponse()))

    async def extended_card(self):
        return card(await self.client.get_extended_agent_card(GetExtendedAgentCardRequest()))

    async def no_extended_card(self, refused):
        # Without the capability the SDK gives back the card it has, so the server is asked with a card that lies.
        mine = await self.client.get_extended_agent_card(GetExtendedAgentCardRequest())
        cases.same(mine, self.agent_card, "card")
        lie = AgentCard()
        lie.CopyFrom(self.agent_card)
        lie.capabilities.extended_agent_card = True
        async with ClientFactory(config()).create(lie) as client:
            await refused(self, client.get_extended_agent_card(GetExtendedAgentCardRequest()), -32004, -32007)

    async def speaking_0_3(self):
        legacy = AgentCard()
        legacy.CopyFrom(self.agent_card)
        interface = next(i for i in legacy.supported_interfaces if i.protocol_binding == "JSONRPC")
        interface.protocol_version = "0.3"
        del legacy.supported_interfaces[:]
        legacy.supported_interfaces.append(interface)
        return Sdk(self.base, legacy)

    def code(self, error):
        return JSON_RPC_ERROR_CODE_MAP.get(type(error))


def parts(what):
    match what:
        case str():
            return [new_text_part(what)]
        case dict():
            return [new_data_part(what)]
        case cases.Part():
            return [new_raw_part(what.file, media_type=what.media, filename=what.name)]
    return what


def neutral(event):
    match event.WhichOneof("payload"):
        case "task":
            return task(event.task)
        case "message":
            return message(event.message)
        case "status_update":
            it = event.status_update
            return cases.Status(it.task_id, it.context_id, state(it.status), None)
        case "artifact_update":
            it = event.artifact_update
            return cases.Chunk(it.task_id, it.context_id, artifact(it.artifact), it.append, it.last_chunk)


def state(status):
    return TaskState.Name(status.state).removeprefix("TASK_STATE_").lower().replace("_", "-")


def task(it):
    return cases.Task(
        it.id,
        it.context_id,
        state(it.status),
        message(it.status.message) if it.status.HasField("message") else None,
        [artifact(a) for a in it.artifacts],
        [message(m) for m in it.history],
    )


def artifact(it):
    return cases.Artifact(it.artifact_id, it.name, [part(p) for p in it.parts])


def message(it):
    role = Role.Name(it.role).removeprefix("ROLE_").lower()
    return cases.Message(role, [part(p) for p in it.parts], it.task_id, it.context_id)


def part(it):
    match it.WhichOneof("content"):
        case "text":
            return cases.Part(text=it.text)
        case "data":
            return cases.Part(data=MessageToDict(it.data))
        case "raw":
            return cases.Part(file=it.raw, media=it.media_type, name=it.filename)
    raise AssertionError(f"a part without content: {it!r}")


def webhook(it, task=None):
    authentication = AuthenticationInfo(scheme=it.scheme, credentials=it.credentials) if it.scheme else None
    return TaskPushNotificationConfig(
        task_id=task, url=it.url, id=it.id, token=it.token, authentication=authentication
    )


def hook(it):
    return push_cases.Hook(
        it.url, it.id, it.token, it.authentication.scheme, it.authentication.credentials
    )


def card(it):
    return cases.Card(
        it.name,
        it.description,
        it.version,
        it.supported_interfaces[0].url,
        it.capabilities.streaming,
        it.capabilities.push_notifications,
        it.capabilities.extended_agent_card,
        list(it.default_input_modes),
        list(it.default_output_modes),
        [(s.id, s.name, s.description, list(s.tags), list(s.examples)) for s in it.skills],
    )


if __name__ == "__main__":
    cases.main(Sdk.connect)
