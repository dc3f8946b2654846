"""Takes deliveries in the order in which they come."""
import json

from inbox.ledger import Ledger


class Receiver:
    def __init__(self, ledger: Ledger):
        self._ledger = ledger

    def receive(self, body: bytes) -> int:
        """Handles a delivery; returns the status to answer with."""
        try:
            delivery = json.loads(body)
            account, cents = delivery["account"], int(delivery["cents"])
        except (ValueError, KeyError, TypeError):
            return 400
        self._ledger.book(account, cents)
        return 204
