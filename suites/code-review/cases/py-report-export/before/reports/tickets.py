"""Queries on tickets."""
import sqlite3


def open_tickets(database: sqlite3.Connection) -> list[sqlite3.Row]:
    """All tickets that are open, the oldest first."""
    return database.execute(
        "SELECT id, subject, team, opened_at FROM tickets WHERE closed_at IS NULL ORDER BY opened_at, id"
    ).fetchall()
