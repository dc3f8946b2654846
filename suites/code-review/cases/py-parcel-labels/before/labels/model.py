"""What a label is made from."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Customer:
    id: int
    name: str
    street: str
    city: str
    country: str


@dataclass(frozen=True)
class Parcel:
    number: str
    customer: int
    grams: int
