"""a2a-sdk 0.3.26 at a shut door."""

import cases
import pydantic_types
import v0_3
from a2a.client import A2ACardResolver, A2AClientHTTPError, ClientConfig, ClientFactory
from door_cases import Door
from pydantic_auth import interceptors, schemes


class Sdk(v0_3.Sdk):
    stream_refusal = 401

    @classmethod
    async def enter(cls, base, http, credentials):
        self = cls()
        self.base = base
        self.agent_card = await A2ACardResolver(http, base).get_agent_card()
        more = {"interceptors": interceptors(credentials)}
        self.client = ClientFactory(ClientConfig(httpx_client=http)).create(self.agent_card, **more)
        self.blocking = ClientFactory(ClientConfig(httpx_client=http, streaming=False)).create(self.agent_card, **more)
        self.folded = None
        return self

    async def card(self):
        return pydantic_types.card(self.agent_card)

    def schemes(self):
        return schemes(self.agent_card)

    async def extended(self):
        return [skill.id for skill in (await self.client.get_card()).skills]

    def status(self, error):
        return error.status_code if isinstance(error, A2AClientHTTPError) else None


if __name__ == "__main__":
    cases.main(Door.of(Sdk))
