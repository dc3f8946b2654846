"""Writes the merged address book for the telephones."""
import csv
from typing import TextIO

from contacts.merge import merge
from contacts.model import Contact


def export(contacts: list[Contact], out: TextIO) -> int:
    """Writes a line for each contact, and returns how many there are."""
    merged = merge(contacts)
    writer = csv.writer(out)
    writer.writerow(["name", "mail"])
    for contact in sorted(merged, key=lambda contact: contact.name):
        writer.writerow([contact.name, contact.mail])
    return len(merged)
