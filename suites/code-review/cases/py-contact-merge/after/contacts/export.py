"""Writes the merged address book for the telephones."""
import csv
from typing import TextIO

from contacts.merge import merge, unique
from contacts.model import Contact


def export(contacts: list[Contact], out: TextIO) -> int:
    """Writes a line for each contact, and returns how many there are."""
    merged = merge(contacts)
    writer = csv.writer(out)
    writer.writerow(["name", "mail", "phones"])
    for contact in sorted(merged, key=lambda contact: contact.name):
        writer.writerow([contact.name, contact.mail, " ".join(contact.phones)])
    return len(merged)


def export_numbers(contacts: list[Contact], out: TextIO) -> int:
    """Writes each number of the company once, for the switchboard."""
    numbers = unique(phone for contact in contacts for phone in contact.phones)
    out.writelines(f"{number}\n" for number in numbers)
    return len(numbers)
