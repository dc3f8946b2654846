"""The page that teams look at during a release."""
from plan.schedule import Plan


def clock(start: int, minutes: int) -> str:
    """A time of day, from minutes after midnight."""
    hours, rest = divmod(start + minutes, 60)
    return f"{hours % 24:02}:{rest:02}"


def rows(plan: Plan, start: int) -> list[str]:
    """One line for each step, and one for the end; `start` is in minutes after midnight."""
    lines = []
    for step in plan.steps():
        times = f"{clock(start, plan.begin(step.name))}-{clock(start, plan.end(step.name))}"
        lines.append(f"{times}  {step.team:10} {step.name}{note(plan.slack(step.name))}")
    lines.append(f"{clock(start, plan.length())}        done")
    return lines


def note(slack: int) -> str:
    return f" ({slack} min to spare)" if slack > 0 else ""
