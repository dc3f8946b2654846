"""The work of one plan grows with its steps, not with the ways through them."""
import sys

from plan.model import Step
from plan.schedule import Plan

STAGES = 12
asked = 0


def estimate(step):
    global asked
    asked += 1
    return step.minutes


steps = []
before = ()
for stage in range(STAGES):
    names = (f"left {stage}", f"right {stage}")
    steps += [Step(name, "platform", 5, after=before) for name in names]
    before = names

plan = Plan(steps, estimate)
if plan.length() != 5 * STAGES:
    sys.exit(f"the plan takes {plan.length()} minutes")
sys.exit(0 if asked <= 10 * len(steps) else f"asked {asked} times about {len(steps)} steps")
