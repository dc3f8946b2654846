"""Contacts with one address are merged wherever they stand."""
import sys

from contacts.merge import merge
from contacts.model import Contact

merged = merge([
    Contact("Bern", "ann@x.org", "Ann", ["1"]),
    Contact("Bern", "bob@x.org", "Bob", ["5"]),
    Contact("Graz", "ann@x.org", "Ann", ["2"]),
])
phones = sorted(sorted(contact.phones) for contact in merged)
sys.exit(0 if phones == [["1", "2"], ["5"]] else f"merged to {phones}")
