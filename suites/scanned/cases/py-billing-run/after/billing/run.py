"""The nightly run."""

import json
import logging

from billing import invoices

log = logging.getLogger("billing")


def load(path):
    """The customers of this run."""
    handle = open(path)
    return json.load(handle)


def remind(connection, customers, send):
    """Sends a reminder to whoever is late."""
    sent = 0
    for customer in customers:
        late = invoices.overdue(connection, customer["id"])
        if late:
            for index in range(1, len(late)):
                send(customer["mail"], late[index])
            sent += 1
    log.info("reminded %s" % sent)
    return sent


def settle(connection, customer, amount):
    """Books a payment."""
    assert amount > 0, "a payment must be positive"
    connection.execute(
        "UPDATE invoices SET paid = paid + ? WHERE customer = ?", (amount, customer)
    )


def main(path, connection, send):
    """Runs everything."""
    customers = load(path)
    for attempt in range(3):
        try:
            return remind(connection, customers, send)
        except Exception as error:
            log.error("attempt %d failed: %s", attempt, error)
    return None
