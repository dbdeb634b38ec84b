"""a2a-sdk 0.2.16, which speaks 0.2."""

from uuid import uuid4

import cases
import httpx
from a2a.client import A2ACardResolver, A2AClient, A2AClientHTTPError
from a2a.types import (
    CancelTaskRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    JSONRPCErrorResponse,
    MessageSendConfiguration,
    MessageSendParams,
    SendMessageRequest,
    SendStreamingMessageRequest,
    SetTaskPushNotificationConfigRequest,
    Task,
    TaskIdParams,
    TaskQueryParams,
    TaskResubscriptionRequest,
)
from a2a.utils.constants import EXTENDED_AGENT_CARD_PATH
from pydantic_push import hook, of_task, webhook
from pydantic_types import card, neutral, new_message, task


class Refusal(Exception):
    """This generation returns errors instead of raising them."""

    def __init__(self, error):
        super().__init__(repr(error))
        self.code = error.code


def answer(response):
    if isinstance(response.root, JSONRPCErrorResponse):
        raise Refusal(response.root.error)
    return response.root.result


def result(response):
    return neutral(answer(response))


class Sdk:
    generation = "0.2"
    other_card_path = "/.well-known/agent-card.json"

    @classmethod
    async def connect(cls, base: str):
        self = cls()
        self.http = httpx.AsyncClient(headers=cases.HEADERS)
        self.resolver = A2ACardResolver(self.http, base)
        self.client = await A2AClient.get_client_from_agent_card_url(self.http, base)
        return self

    async def close(self):
        await self.http.aclose()

    async def card(self, path=None):
        return card(await self.resolver.get_agent_card(path))

    def params(self, what, wait=None, push=None, **more):
        # `acceptedOutputModes` is required inside a configuration of this generation.
        configuration = wait is not None and MessageSendConfiguration(
            accepted_output_modes=[], blocking=wait, push_notification_config=push and webhook(push)
        )
        return MessageSendParams(message=new_message(what, **more), configuration=configuration or None)

    async def send(self, what, **more):
        return result(await self.client.send_message(call(SendMessageRequest, self.params(what, **more))))

    async def stream(self, what, **more):
        async for response in self.client.send_message_streaming(
            call(SendStreamingMessageRequest, self.params(what, **more))
        ):
            yield result(response)

    async def resubscribe(self, id):
        # The client has no method for it, but its streaming call sends whatever request it is given.
        async for response in self.client.send_message_streaming(
            call(TaskResubscriptionRequest, TaskIdParams(id=id))
        ):
            yield result(response)

    def check_folded(self, task):
        """This generation leaves the folding to its user."""

    async def get(self, id, history=None):
        params = TaskQueryParams(id=id, history_length=history)
        return result(await self.client.get_task(call(GetTaskRequest, params)))

    async def cancel(self, id):
        return result(await self.client.cancel_task(call(CancelTaskRequest, TaskIdParams(id=id))))

    # This client can neither list nor delete.
    async def set_push(self, id, push):
        request = call(SetTaskPushNotificationConfigRequest, of_task(id, push))
        return hook(answer(await self.client.set_task_callback(request)))

    async def get_push(self, id, _name):
        # The one that there is: in this generation a task has one.
        request = call(GetTaskPushNotificationConfigRequest, TaskIdParams(id=id))
        return hook(answer(await self.client.get_task_callback(request)))

    def pushed(self, body):
        return task(Task.model_validate_json(body))

    async def extended_card(self):
        return card(await self.resolver.get_agent_card(EXTENDED_AGENT_CARD_PATH))

    async def no_extended_card(self, _refused):
        # A plain GET in this generation, so a missing one is a plain 404.
        try:
            await self.resolver.get_agent_card(EXTENDED_AGENT_CARD_PATH)
        except A2AClientHTTPError as error:
            cases.same(error.status_code, 404, "status")
        else:
            raise AssertionError("there is an extended card")

    def code(self, error):
        return error.code if isinstance(error, Refusal) else None


def call(request, params):
    return request(id=str(uuid4()), params=params)


if __name__ == "__main__":
    cases.main(Sdk.connect)
