"""When the steps of a release are due."""
from plan.model import Step

MAX_STEPS = 200


class Plan:
    def __init__(self, steps: list[Step]):
        if len(steps) > MAX_STEPS:
            raise ValueError(f"more than {MAX_STEPS} steps")
        self._steps: dict[str, Step] = {}
        for step in steps:
            if step.after is not None and step.after not in self._steps:
                raise ValueError(f"{step.name} comes after {step.after}, which is not above it")
            if step.name in self._steps:
                raise ValueError(f"{step.name} is there twice")
            self._steps[step.name] = step

    def steps(self) -> list[Step]:
        return list(self._steps.values())

    def begin(self, name: str) -> int:
        """Minutes from the start of the release until a step can begin."""
        step = self._steps[name]
        if step.after is None:
            return 0
        return self.begin(step.after) + self._steps[step.after].minutes
