"""Steps of a release, as teams write them down."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    name: str
    team: str
    minutes: int
    after: str | None = None
