"""Customers, as the shop has them in its database."""
import json
import sqlite3
from collections.abc import Iterable

from labels.model import Customer


class Customers:
    """The customers of one shift; what was read stays until the shift is printed."""

    def __init__(self, database: sqlite3.Connection):
        self._database = database
        self._known: dict[int, Customer] = {}

    def preload(self, numbers: Iterable[int]) -> None:
        """Reads all customers with these numbers at once. Numbers that do not exist are passed over."""
        missing = sorted(set(numbers) - self._known.keys())
        rows = self._database.execute(
            "SELECT id, name, street, city, country FROM customers WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(missing),))
        self._known.update((row[0], Customer(*row)) for row in rows)

    def get(self, number: int) -> Customer:
        """Raises KeyError if there is no such customer."""
        if number not in self._known:
            self.preload([number])
        return self._known[number]
