"""Signed tokens between the shop and its partners."""

import base64
import hashlib
import hmac
import json
import time


class InvalidToken(Exception):
    """The token must not be trusted."""


def _decode(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def verify(token: str, secret: bytes) -> dict:
    """The claims of a token, once its signature and its age are checked."""
    try:
        header_part, claims_part, signature_part = token.split(".")
        header = json.loads(_decode(header_part))
        claims = json.loads(_decode(claims_part))
        signature = _decode(signature_part)
    except ValueError as error:
        raise InvalidToken("malformed") from error

    if header.get("alg") != "HS256":
        raise InvalidToken("algorithm")
    signed = f"{header_part}.{claims_part}".encode()
    expected = hmac.new(secret, signed, hashlib.sha256).digest()
    if not hmac.compare_digest(expected, signature):
        raise InvalidToken("signature")
    if claims.get("exp", 0) <= time.time():
        raise InvalidToken("expired")
    return claims
