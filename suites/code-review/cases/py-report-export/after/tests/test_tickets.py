import sqlite3
import unittest

from reports.tickets import BadRequest, open_tickets


class OpenTicketsTest(unittest.TestCase):
    def setUp(self):
        self.database = sqlite3.connect(":memory:")
        self.addCleanup(self.database.close)
        self.database.executescript(
            """
            CREATE TABLE tickets (id INTEGER PRIMARY KEY, subject TEXT, team TEXT, opened_at TEXT, closed_at TEXT);
            INSERT INTO tickets VALUES (1, 'b', 'web', '2025-01-03', NULL), (2, 'A', 'mail', '2025-01-02', NULL),
                                       (3, 'c', 'web', '2025-01-01', NULL), (4, 'd', 'web', '2025-01-01', '2025-01-02');
            """
        )

    def ids(self, **options):
        return [row[0] for row in open_tickets(self.database, **options)]

    def test_orders(self):
        self.assertEqual(self.ids(), [3, 2, 1])
        self.assertEqual(self.ids(order="subject"), [2, 1, 3])
        self.assertEqual(self.ids(order="team"), [2, 3, 1])

    def test_teams_and_pages(self):
        self.assertEqual(self.ids(teams=["web"]), [3, 1])
        self.assertEqual(self.ids(teams=["web", "mail"], page=2, size=2), [1])

    def test_unknown_order(self):
        with self.assertRaises(BadRequest):
            self.ids(order="id; --")
