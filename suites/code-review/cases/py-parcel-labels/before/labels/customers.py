"""Customers, as the shop has them in its database."""
import sqlite3

from labels.model import Customer


class Customers:
    def __init__(self, database: sqlite3.Connection):
        self._database = database

    def get(self, number: int) -> Customer:
        """Raises KeyError if there is no such customer."""
        row = self._database.execute(
            "SELECT id, name, street, city, country FROM customers WHERE id = ?", (number,)).fetchone()
        if row is None:
            raise KeyError(number)
        return Customer(*row)
