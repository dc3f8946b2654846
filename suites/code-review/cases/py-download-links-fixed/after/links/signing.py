"""Signatures of links."""
import hashlib
import hmac


class Signer:
    """Signs with a key that all servers of the portal have."""

    def __init__(self, key: bytes):
        if len(key) < 32:
            raise ValueError("the key needs at least 32 bytes")
        self._key = key

    def sign(self, name: str, until: int) -> str:
        message = f"{until}:{name}".encode()
        return hmac.new(self._key, message, hashlib.sha256).hexdigest()

    def verify(self, name: str, until: int, given: str) -> bool:
        return hmac.compare_digest(self.sign(name, until).encode(), given.encode())
