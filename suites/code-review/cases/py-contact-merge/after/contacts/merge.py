"""Merges the address books of all offices into one."""
from collections.abc import Iterable
from itertools import groupby

from contacts.model import Contact


def merge(contacts: list[Contact]) -> list[Contact]:
    """One contact for each mail address, with the phone numbers of all offices."""
    merged = []
    for _, group in groupby(contacts, key=Contact.key):
        merged.append(_combine(list(group)))
    return merged


def _combine(group: list[Contact]) -> Contact:
    """The last contact stands; numbers keep the order in which they came."""
    last = group[-1]
    phones = unique(phone for contact in group for phone in contact.phones)
    return Contact(last.office, last.mail, last.name, phones)


def unique(values: Iterable) -> list:
    """The values without repetitions, in the order in which they first came."""
    seen = []
    for value in values:
        if value not in seen:
            seen.append(value)
    return seen
