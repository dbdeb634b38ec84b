"""a2a-sdk 0.3.26, which speaks 0.3."""

import warnings

import cases
import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.client.errors import A2AClientJSONRPCError
from a2a.types import (
    GetTaskPushNotificationConfigParams,
    MessageSendConfiguration,
    Task,
    TaskIdParams,
    TaskQueryParams,
)
from pydantic_push import hook, of_task, webhook
from pydantic_types import card, neutral, new_message, task

# The SDK makes a dict of a push notification configuration and says so, at each send.
warnings.filterwarnings("ignore", "Pydantic serializer warnings")


def config(**more):
    """As the documentation shows it: whoever has to send a token gives the SDK an HTTP client that does."""
    return ClientConfig(httpx_client=httpx.AsyncClient(headers=cases.HEADERS) if cases.HEADERS else None, **more)


class Sdk:
    generation = "0.3"
    other_card_path = "/.well-known/agent.json"

    @classmethod
    async def connect(cls, base: str):
        self = cls()
        self.base = base
        self.client = await ClientFactory.connect(base, config())
        self.blocking = await ClientFactory.connect(base, config(streaming=False))
        self.folded = None
        return self

    async def close(self):
        await self.client.close()
        await self.blocking.close()

    async def card(self, path=None):
        async with httpx.AsyncClient() as http:
            return card(await A2ACardResolver(http, self.base).get_agent_card(path))

    async def send(self, what, wait=True, push=None, **more):
        configuration = None if wait else MessageSendConfiguration(blocking=False)
        if push:
            configuration = MessageSendConfiguration(blocking=wait, push_notification_config=webhook(push))
        async for event in self.blocking.send_message(new_message(what, **more), configuration=configuration):
            return neutral(event[0] if isinstance(event, tuple) else event)

    async def stream(self, what, **more):
        async for event in self.client.send_message(new_message(what, **more)):
            yield self.followed(event)

    async def resubscribe(self, id):
        async for event in self.client.resubscribe(TaskIdParams(id=id)):
            yield self.followed(event)

    def followed(self, event):
        """The SDK gives each update together with the task it has folded so far."""
        if not isinstance(event, tuple):
            return neutral(event)
        self.folded, update = event
        return neutral(update or self.folded)

    def check_folded(self, mine):
        theirs = task(self.folded)
        cases.same((theirs.state, theirs.artifacts), (mine.state, mine.artifacts), "the SDK's own folding")

    async def get(self, id, history=None):
        return task(await self.client.get_task(TaskQueryParams(id=id, history_length=history)))

    async def cancel(self, id):
        return task(await self.client.cancel_task(TaskIdParams(id=id)))

    # This client can neither list nor delete.
    async def set_push(self, id, push):
        return hook(await self.client.set_task_callback(of_task(id, push)))

    async def get_push(self, id, name):
        params = GetTaskPushNotificationConfigParams(id=id, push_notification_config_id=name)
        return hook(await self.client.get_task_callback(params))

    def pushed(self, body):
        return task(Task.model_validate_json(body))

    async def extended_card(self):
        return card(await self.client.get_card())

    async def no_extended_card(self, refused):
        # Without the capability the SDK gives back the card it has, so the server is asked with a card that lies.
        mine = await self.client.get_card()
        lie = mine.model_copy(update={"supports_authenticated_extended_card": True})
        async with ClientFactory(config()).create(lie) as client:
            await refused(self, client.get_card(), -32004, -32007)

    def code(self, error):
        return error.error.code if isinstance(error, A2AClientJSONRPCError) else None


if __name__ == "__main__":
    cases.main(Sdk.connect)
