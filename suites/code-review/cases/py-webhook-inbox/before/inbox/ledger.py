"""Accounts and what was booked on them."""


class Ledger:
    def __init__(self):
        self._bookings = []

    def book(self, account: str, cents: int) -> None:
        self._bookings.append((account, cents))

    def balance(self, account: str) -> int:
        return sum(cents for name, cents in self._bookings if name == account)
