"""Gives out links to documents, and answers them."""
import secrets
import time

from links.documents import Archive, Document


class LinkService:
    def __init__(self, archive: Archive, lifetime: int = 900, clock=time.time):
        self._archive = archive
        self._lifetime = lifetime
        self._clock = clock
        self._issued = {}

    def issue(self, name: str) -> str:
        """The path of a link to a document, which works for a while."""
        if self._archive.find(name) is None:
            raise KeyError(name)
        token = secrets.token_urlsafe(24)
        self._issued[token] = (name, int(self._clock()) + self._lifetime)
        return f"/documents/{token}"

    def open(self, path: str) -> Document | None:
        """The document a link leads to; nothing if the link is not ours or too old."""
        token = path.removeprefix("/documents/")
        name, until = self._issued.get(token, (None, 0))
        if name is None or until < self._clock():
            return None
        return self._archive.find(name)
