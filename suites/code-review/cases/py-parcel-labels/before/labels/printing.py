"""Writes labels for the printer, which watches a folder."""
from pathlib import Path

from labels.customers import Customers
from labels.model import Parcel

WIDTH = 32


def label(parcel: Parcel, customers: Customers) -> str:
    customer = customers.get(parcel.customer)
    lines = [customer.name, customer.street, f"{customer.city}, {customer.country}", parcel.number]
    return "\n".join(" ".join(line.split())[:WIDTH] for line in lines) + "\f"


def print_label(parcel: Parcel, customers: Customers, folder: Path) -> None:
    (folder / f"{parcel.number}.label").write_text(label(parcel, customers), encoding="utf-8")
