"""Gives out links to documents, and answers them."""
import hashlib
import time

from links.documents import Archive, Document
from links.signing import Signer


class LinkService:
    def __init__(self, archive: Archive, signer: Signer, lifetime: int = 900, clock=time.time):
        self._archive = archive
        self._signer = signer
        self._lifetime = lifetime
        self._clock = clock

    def issue(self, name: str) -> str:
        """The path of a link to a document, which works for a while."""
        if self._archive.find(name) is None:
            raise KeyError(name)
        until = int(self._clock()) + self._lifetime
        return f"/documents/{name}/{until}/{self._signer.sign(name, until)}"

    def open(self, path: str) -> Document | None:
        """The document a link leads to; nothing if the link is not ours or too old."""
        parts = path.removeprefix("/documents/").split("/")
        if len(parts) != 3 or not (parts[1].isascii() and parts[1].isdigit()):
            return None
        name, until, given = parts[0], int(parts[1]), parts[2]
        if until < self._clock() or not self._signer.verify(name, until, given):
            return None
        return self._archive.find(name)


def entity_tag(document: Document) -> str:
    """The value of the `ETag` header: tells browsers whether their copy is still current."""
    return f'"{hashlib.sha1(document.body).hexdigest()}"'
