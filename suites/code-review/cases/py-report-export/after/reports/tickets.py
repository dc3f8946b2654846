"""Queries on tickets."""
import sqlite3
from collections.abc import Sequence

# What a list can be ordered by: names of the page, and columns of the table.
ORDERS = {"age": "opened_at", "subject": "subject COLLATE NOCASE", "team": "team, opened_at"}

LARGEST_PAGE = 500


class BadRequest(ValueError):
    """A request names something that does not exist."""


def open_tickets(
    database: sqlite3.Connection,
    order: str = "age",
    teams: Sequence[str] = (),
    page: int = 1,
    size: int = 50,
) -> list[sqlite3.Row]:
    """A page of the open tickets, of all teams or of some."""
    if order not in ORDERS:
        raise BadRequest(f"cannot order by {order}: expected {', '.join(ORDERS)}")
    if page < 1 or not 1 <= size <= LARGEST_PAGE:
        raise BadRequest(f"pages start at 1 and have 1 to {LARGEST_PAGE} tickets")
    where = "closed_at IS NULL"
    if teams:
        where += f" AND team IN ({', '.join('?' for _ in teams)})"
    return database.execute(
        f"SELECT id, subject, team, opened_at FROM tickets WHERE {where} ORDER BY {ORDERS[order]}, id LIMIT ? OFFSET ?",
        [*teams, size, (page - 1) * size],
    ).fetchall()
