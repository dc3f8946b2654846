"""Steps of a release, as teams write them down."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """Something that a team does once all steps in `after` are done; `minutes` is its own guess of how long that takes."""

    name: str
    team: str
    minutes: int
    after: tuple[str, ...] = ()
