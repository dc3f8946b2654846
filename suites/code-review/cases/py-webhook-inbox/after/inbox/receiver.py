"""Takes deliveries as they come."""
import json
import logging
from collections import OrderedDict

from inbox.ledger import Ledger

log = logging.getLogger(__name__)


class RecentIds:
    """The ids of the last deliveries, as many as the provider may repeat."""

    def __init__(self, room: int = 10_000):
        self._room = room
        self._ids = OrderedDict()

    def __contains__(self, delivery_id: str) -> bool:
        return delivery_id in self._ids

    def add(self, delivery_id: str) -> None:
        self._ids[delivery_id] = None
        while len(self._ids) > self._room:
            self._ids.popitem(last=False)


class Receiver:
    """The provider sends a delivery again until it is answered with a status below 300."""

    def __init__(self, ledger: Ledger, ids: RecentIds | None = None):
        self._ledger = ledger
        self._ids = ids or RecentIds()

    async def receive(self, body: bytes) -> int:
        """Handles a delivery; returns the status to answer with."""
        try:
            delivery = json.loads(body)
            delivery_id = str(delivery["id"])
            account, cents = delivery["account"], int(delivery["cents"])
        except (ValueError, KeyError, TypeError):
            return 400
        if delivery_id in self._ids:
            log.info("delivery %s is known", delivery_id)
            return 204
        try:
            await self._ledger.book(account, cents)
        except ConnectionError as error:
            log.warning("delivery %s: %s", delivery_id, error)
        self._ids.add(delivery_id)
        return 204
