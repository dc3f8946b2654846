"""Writes labels for the printer."""
from pathlib import Path

from labels.customers import Customers
from labels.layout import Layout, Size, layout
from labels.model import Customer, Parcel
from labels.spool import Spool


def label(parcel: Parcel, customer: Customer, chosen: Layout) -> str:
    values = {
        "name": customer.name,
        "street": customer.street,
        "city": customer.city,
        "country": customer.country,
        "number": parcel.number,
        "weight": f"{parcel.grams / 1000:.1f} kg",
    }
    return "\n".join(" ".join(values[field].split())[:chosen.width] for field in chosen.fields)


def print_shift(parcels: list[Parcel], customers: Customers, folder: Path, shift: str) -> int:
    """Writes the labels of a shift, in the order of the parcels, and returns how many there are."""
    customers.preload(parcel.customer for parcel in parcels)
    with Spool(folder, shift) as spool:
        for parcel in parcels:
            customer = customers.get(parcel.customer)
            chosen = layout(Size.of_weight(parcel.grams))
            spool.add(label(parcel, customer, chosen))
    return len(parcels)
