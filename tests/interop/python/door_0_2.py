"""a2a-sdk 0.2.16 at a shut door."""

import cases
import pydantic_types
import v0_2
from a2a.client import A2ACardResolver, A2AClient, A2AClientHTTPError
from a2a.utils.constants import EXTENDED_AGENT_CARD_PATH
from door_cases import Door
from pydantic_auth import interceptors, schemes


class Sdk(v0_2.Sdk):
    # This generation looks at the media type of a stream before its status, and has its own number for a wrong one.
    stream_refusal = 400

    @classmethod
    async def enter(cls, base, http, credentials):
        self = cls()
        self.http = http
        self.resolver = A2ACardResolver(http, base)
        self.agent_card = await self.resolver.get_agent_card()
        self.interceptors = interceptors(credentials)
        self.client = A2AClient(http, self.agent_card, interceptors=self.interceptors)
        return self

    async def card(self):
        return pydantic_types.card(self.agent_card)

    def schemes(self):
        return schemes(self.agent_card)

    async def extended(self):
        # A plain GET in this generation. The resolver has no interceptors: its user has to apply them.
        http_kwargs = {}
        for interceptor in self.interceptors:
            _, http_kwargs = await interceptor.intercept("GET", {}, http_kwargs, self.agent_card, None)
        card = await self.resolver.get_agent_card(EXTENDED_AGENT_CARD_PATH, http_kwargs)
        return [skill.id for skill in card.skills]

    def status(self, error):
        return error.status_code if isinstance(error, A2AClientHTTPError) else None


if __name__ == "__main__":
    cases.main(Door.of(Sdk))
