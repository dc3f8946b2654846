"""Documents as the archive keeps them."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Document:
    name: str
    owner: str
    body: bytes


class Archive:
    """Looks documents up by name; names look like `inv-20417`."""

    def __init__(self):
        self._documents = {}

    def add(self, document: Document) -> None:
        self._documents[document.name] = document

    def find(self, name: str) -> Document | None:
        return self._documents.get(name)
