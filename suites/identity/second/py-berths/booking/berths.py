import sqlite3


class Berths:
    """The places that can be booked."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def count(self) -> int:
        return self._database.execute("SELECT COUNT(*) FROM berths").fetchone()[0]

    def free(self, pier: str) -> list[tuple[int, str]]:
        return self._database.execute(
            "SELECT number, length FROM berths WHERE pier = ? AND boat IS NULL", [pier]
        ).fetchall()

    def of_boat(self, boat: str) -> list[tuple[int, str]]:
        return self._database.execute(f"SELECT number, pier FROM berths WHERE boat = '{boat}'").fetchall()
