import unittest

from plan.history import History
from plan.model import Step
from plan.schedule import Plan
from plan.table import rows

STEPS = [
    Step("announce", "support", 10, after=("switch",)),
    Step("freeze", "platform", 15),
    Step("migrate", "data", 40, after=("freeze",)),
    Step("build", "platform", 25, after=("freeze",)),
    Step("switch", "platform", 5, after=("migrate", "build")),
]


class PlanTest(unittest.TestCase):
    def test_a_step_waits_for_all_before_it(self):
        plan = Plan(STEPS)
        self.assertEqual((plan.begin("switch"), plan.end("switch"), plan.length()), (55, 60, 70))
        self.assertEqual([plan.slack(name) for name in ("freeze", "migrate", "build")], [0, 0, 15])

    def test_history(self):
        history = History()
        for minutes in (60, 50, 90):
            history.add("migrate", minutes)
        history.add("build", 1)
        plan = Plan(STEPS, history.estimate)
        self.assertEqual((plan.end("migrate"), plan.end("build")), (75, 40))

    def test_steps_that_cannot_be_ordered(self):
        for steps in (
            [Step("a", "x", 1, after=("b",)), Step("b", "x", 1, after=("a",))],
            [Step("a", "x", 1, after=("b",))],
            [Step("a", "x", 1), Step("a", "x", 2)],
        ):
            with self.assertRaises(ValueError):
                Plan(steps)

    def test_table(self):
        self.assertEqual(rows(Plan(STEPS[1:3]), 22 * 60 + 30), [
            "22:30-22:45  platform   freeze",
            "22:45-23:25  data       migrate",
            "23:25        done",
        ])
