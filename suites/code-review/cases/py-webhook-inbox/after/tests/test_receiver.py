import asyncio
import json
import unittest

from inbox.ledger import Ledger
from inbox.receiver import Receiver, RecentIds


def body(delivery_id, cents):
    return json.dumps({"id": delivery_id, "account": "a", "cents": cents}).encode()


class ReceiverTest(unittest.TestCase):
    def test_books_and_answers(self):
        ledger = Ledger()
        self.assertEqual(asyncio.run(Receiver(ledger).receive(body("d1", 300))), 204)
        self.assertEqual(ledger.balance("a"), 300)

    def test_a_repeated_delivery_is_answered(self):
        ledger = Ledger()
        receiver = Receiver(ledger)
        for _ in range(2):
            self.assertEqual(asyncio.run(receiver.receive(body("d1", 300))), 204)
        self.assertEqual(ledger.balance("a"), 300)

    def test_old_ids_make_room(self):
        ids = RecentIds(room=2)
        for name in "abc":
            ids.add(name)
        self.assertEqual([name in ids for name in "abc"], [False, True, True])
