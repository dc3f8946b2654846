"""Products of a supplier's catalogue."""
import csv
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Product:
    sku: str
    title: str
    picture: str


def read_products(path: Path) -> list[Product]:
    with path.open(newline="", encoding="utf-8") as file:
        return [Product(row["sku"], row["title"], row["picture"]) for row in csv.DictReader(file)]
