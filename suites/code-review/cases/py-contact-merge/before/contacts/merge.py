"""Merges the address books of all offices into one."""
from contacts.model import Contact


def merge(contacts: list[Contact]) -> list[Contact]:
    """One contact for each mail address; of several the last one stands."""
    merged = {}
    for contact in contacts:
        merged[contact.key()] = contact
    return list(merged.values())
