"""Takes a catalogue into the folder of its supplier."""
import shutil
from pathlib import Path

from catalog.products import Product, read_products


class Importer:
    """Keeps the files of each supplier in a folder of its own below `root`."""

    def __init__(self, root: Path):
        self._root = root

    def folder(self, supplier: str) -> Path:
        if not supplier.isalnum():
            raise ValueError(f"not a supplier: {supplier}")
        return self._root / supplier

    def import_table(self, supplier: str, table: Path) -> list[Product]:
        """Takes a table without pictures."""
        target = self.folder(supplier)
        target.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(table, target / "products.csv")
        return read_products(target / "products.csv")
