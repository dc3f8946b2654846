"""When the steps of a release are due."""
from collections.abc import Callable
from graphlib import CycleError, TopologicalSorter

from plan.model import Step

MAX_STEPS = 200


def as_guessed(step: Step) -> int:
    """How long a step takes if nothing is known about it but what its team wrote down."""
    return step.minutes


class Plan:
    """Steps in an order in which they can be done. `estimate` says how many minutes a step takes."""

    def __init__(self, steps: list[Step], estimate: Callable[[Step], int] = as_guessed):
        if len(steps) > MAX_STEPS:
            raise ValueError(f"more than {MAX_STEPS} steps")
        self._estimate = estimate
        self._steps = {step.name: step for step in steps}
        if len(self._steps) < len(steps):
            raise ValueError("two steps have the same name")
        for step in steps:
            for other in step.after:
                if other not in self._steps:
                    raise ValueError(f"{step.name} comes after {other}, which does not exist")
        self._order = self._sorted()

    def _sorted(self) -> list[Step]:
        sorter = TopologicalSorter({step.name: step.after for step in self._steps.values()})
        try:
            return [self._steps[name] for name in sorter.static_order()]
        except CycleError as error:
            raise ValueError("steps wait for each other: " + ", ".join(error.args[1])) from error

    def steps(self) -> list[Step]:
        """All steps, each behind those that it comes after."""
        return list(self._order)

    def begin(self, name: str) -> int:
        """Minutes from the start of the release until a step can begin."""
        return max((self.end(other) for other in self._steps[name].after), default=0)

    def end(self, name: str) -> int:
        """Minutes from the start of the release until a step is done."""
        return self.begin(name) + self._estimate(self._steps[name])

    def length(self) -> int:
        """Minutes from the start of the release until everything is done."""
        return max((self.end(step.name) for step in self._order), default=0)

    def slack(self, name: str) -> int:
        """How many minutes a step may take longer before one that follows it begins later."""
        waiting = [step.name for step in self._order if name in step.after]
        latest = min((self.begin(other) for other in waiting), default=self.length())
        return latest - self.end(name)
