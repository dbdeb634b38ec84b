"""Who sent a notification: checks X-A2A-Notification-Signature as a receiver has to, by the letter of RFC 7515, 7517, 7518
and 7519. Standard library only, so the curve is here, too."""

import base64
import hashlib
import hmac
import json
import time

# P-256 (FIPS 186-5).
P = 2**256 - 2**224 + 2**192 + 2**96 - 1
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
G = (0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
     0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5)
WINDOW_SECONDS = 300
CLAIMS = {"iat", "exp", "jti", "aud", "taskId", "request_body_sha256"}


def add(a, b):
    if a is None or b is None:
        return a or b
    if a[0] == b[0]:
        if (a[1] + b[1]) % P == 0:
            return None
        slope = 3 * (a[0] * a[0] - 1) * pow(2 * a[1], -1, P)
    else:
        slope = (b[1] - a[1]) * pow(b[0] - a[0], -1, P)
    x = (slope * slope - a[0] - b[0]) % P
    return x, (slope * (a[0] - x) - a[1]) % P


def times(k, point):
    product = None
    while k:
        if k & 1:
            product = add(product, point)
        point, k = add(point, point), k >> 1
    return product


def is_signed(point, message, signature):
    x, y = point
    assert (y * y - (x * x * x - 3 * x + B)) % P == 0, "the public key is no point of P-256"
    assert len(signature) == 64, f"{len(signature)} bytes of signature"
    r, s = int.from_bytes(signature[:32]), int.from_bytes(signature[32:])
    if not (0 < r < N and 0 < s < N):
        return False
    digest, inverse = int.from_bytes(hashlib.sha256(message).digest()), pow(s, -1, N)
    sum_of = add(times(digest * inverse % N, G), times(r * inverse % N, point))
    return sum_of is not None and sum_of[0] % N == r


def unbase(text):
    assert "=" not in text and "+" not in text and "/" not in text, f"no base64url without padding: {text}"
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def keys_of(document):
    """The keys of a JWK set, by their ids: each is public, for signatures, and named as it is published."""
    keys = {}
    for key in document["keys"]:
        assert (key["kty"], key["crv"], key["alg"], key["use"]) == ("EC", "P-256", "ES256", "sig"), key
        assert "d" not in key, "the secret is published"
        point = tuple(int.from_bytes(unbase(key[name])) for name in "xy")
        assert all(len(unbase(key[name])) == 32 for name in "xy"), key
        keys[key["kid"]] = point
    return keys


def claims_of(token):
    return json.loads(unbase(token.split(".")[1]))


def check(request, jwks, task, url, secret=None, now=None):
    """Checks the signature of a notification; gives its claims. With a secret it is HMAC's."""
    token = request.field("x-a2a-notification-signature")
    assert token, f"no signature: {request}"
    head, claims, signature = token.split(".")
    header, signed = json.loads(unbase(head)), f"{head}.{claims}".encode()
    assert header["typ"] == "JWT", header
    if secret:
        assert header["alg"] == "HS256", header
        assert hmac.compare_digest(hmac.digest(secret, signed, "sha256"), unbase(signature)), "not signed with the secret"
    else:
        assert header["alg"] == "ES256", header
        keys = keys_of(jwks)
        assert header["kid"] in keys, f"{header} and {keys}"
        assert is_signed(keys[header["kid"]], signed, unbase(signature)), "the signature is not of this key"
    claims = claims_of(token)
    assert CLAIMS <= set(claims), claims
    assert claims["request_body_sha256"] == hashlib.sha256(request.body).hexdigest(), "another body was signed"
    assert claims["aud"] == url and claims["taskId"] == task, claims
    now = time.time() if now is None else now
    assert claims["iat"] - 5 <= now <= claims["exp"] and claims["exp"] - claims["iat"] <= WINDOW_SECONDS, claims
    return claims
