"""A delivery that comes again while the first one is under way is booked once."""
import asyncio
import json
import sys

from inbox.ledger import Ledger
from inbox.receiver import Receiver


class SlowLedger(Ledger):
    def __init__(self):
        super().__init__()
        self.go_on = asyncio.Event()

    async def book(self, account, cents):
        await self.go_on.wait()
        await super().book(account, cents)


async def main():
    ledger = SlowLedger()
    receiver = Receiver(ledger)
    body = json.dumps({"id": "d1", "account": "a", "cents": 300}).encode()
    first = asyncio.create_task(receiver.receive(body))
    second = asyncio.create_task(receiver.receive(body))
    for _ in range(5):
        await asyncio.sleep(0)
    ledger.go_on.set()
    await asyncio.gather(first, second)
    return ledger.balance("a")


balance = asyncio.run(main())
sys.exit(0 if balance == 300 else f"balance is {balance}, expected 300")
