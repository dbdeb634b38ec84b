"""a2a-sdk 1.3.0 at a shut door."""

import cases
import v1_3
from a2a.client import A2ACardResolver, AuthInterceptor, ClientConfig, ClientFactory, CredentialService
from a2a.client.errors import A2AClientError, AgentCardResolutionError
from a2a.types import GetExtendedAgentCardRequest
from door_cases import Door
from httpx import HTTPStatusError


class Credentials(CredentialService):
    def __init__(self, credentials):
        self.credentials = credentials

    async def get_credentials(self, security_scheme_name, context):
        return self.credentials.get(security_scheme_name)


class Sdk(v1_3.Sdk):
    stream_refusal = 401

    def __init__(self, base, card, http, credentials):
        self.base = base
        self.agent_card = card
        interceptors = [AuthInterceptor(Credentials(credentials))]
        self.client = ClientFactory(ClientConfig(httpx_client=http)).create(card, interceptors)
        self.blocking = ClientFactory(ClientConfig(httpx_client=http, streaming=False)).create(card, interceptors)

    @classmethod
    async def enter(cls, base, http, credentials):
        return cls(base, await A2ACardResolver(http, base).get_agent_card(), http, credentials)

    async def card(self):
        return v1_3.card(self.agent_card)

    def schemes(self):
        schemes = {}
        for name, it in self.agent_card.security_schemes.items():
            match it.WhichOneof("scheme"):
                case "http_auth_security_scheme":
                    schemes[name] = ("http", it.http_auth_security_scheme.scheme)
                case "api_key_security_scheme":
                    key = it.api_key_security_scheme
                    schemes[name] = ("apiKey", key.location, key.name)
        return schemes, [list(r.schemes) for r in self.agent_card.security_requirements]

    async def extended(self):
        card = await self.client.get_extended_agent_card(GetExtendedAgentCardRequest())
        return [skill.id for skill in card.skills]

    def status(self, error):
        if isinstance(error, AgentCardResolutionError):
            return error.status_code
        if isinstance(error, A2AClientError) and isinstance(error.__cause__, HTTPStatusError):
            status = error.__cause__.response.status_code
            return status if f"HTTP Error {status}" in str(error) else None


if __name__ == "__main__":
    cases.main(Door.of(Sdk))
