"""How a2a-sdk 0.2 and 0.3 show tokens, and what they make of the card's schemes: the same in both."""

from a2a.client.auth import AuthInterceptor, CredentialService
from a2a.types import APIKeySecurityScheme, HTTPAuthSecurityScheme


class Credentials(CredentialService):
    def __init__(self, credentials):
        self.credentials = credentials

    async def get_credentials(self, security_scheme_name, context):
        return self.credentials.get(security_scheme_name)


def interceptors(credentials):
    return [AuthInterceptor(Credentials(credentials))]


def schemes(card):
    known = {}
    for name, it in card.security_schemes.items():
        match it.root:
            case HTTPAuthSecurityScheme(scheme=scheme):
                known[name] = ("http", scheme)
            case APIKeySecurityScheme(in_=place, name=header):
                known[name] = ("apiKey", place.value, header)
    return known, [list(requirement) for requirement in card.security]
