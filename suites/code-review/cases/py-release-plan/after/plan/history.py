"""How long steps took in earlier releases."""
from collections import defaultdict
from statistics import median

from plan.model import Step


class History:
    """Minutes by the name of a step; names stay the same from one release to the next."""

    def __init__(self):
        self._minutes: defaultdict[str, list[int]] = defaultdict(list)

    def add(self, name: str, minutes: int) -> None:
        self._minutes[name].append(minutes)

    def estimate(self, step: Step) -> int:
        """What a step usually took; the guess of its team if there are fewer than three releases to go by."""
        known = self._minutes.get(step.name, [])
        return round(median(known)) if len(known) >= 3 else step.minutes
