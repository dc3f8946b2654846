"""The page that teams look at during a release."""
from plan.schedule import Plan


def clock(start: int, minutes: int) -> str:
    """A time of day, from minutes after midnight."""
    hours, rest = divmod(start + minutes, 60)
    return f"{hours % 24:02}:{rest:02}"


def rows(plan: Plan, start: int) -> list[str]:
    """One line for each step; `start` is in minutes after midnight."""
    return [f"{clock(start, plan.begin(step.name))}  {step.team:10} {step.name}" for step in plan.steps()]
