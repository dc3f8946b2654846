"""Takes a catalogue into the folder of its supplier."""
import os
import shutil
import zipfile
from pathlib import Path

from catalog.products import Product, read_products

PICTURES = {".jpg", ".jpeg", ".png", ".webp"}
LARGEST_ENTRY = 20 * 1024 * 1024
MOST_ENTRIES = 5_000


class CatalogueRefused(Exception):
    """The archive cannot be taken; the text says why."""


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

    def import_archive(self, supplier: str, archive: Path) -> list[Product]:
        """Takes a zip with `products.csv` and the pictures it names."""
        target = self.folder(supplier)
        target.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(archive) as bundle:
            entries = [entry for entry in bundle.infolist() if not entry.is_dir()]
            if "products.csv" not in [entry.filename for entry in entries]:
                raise CatalogueRefused("there is no products.csv")
            self._check_sizes(entries)
            placed = [(entry, self._place(entry, target)) for entry in entries]
            for entry, place in placed:
                self._take(bundle, entry, place)
        return read_products(target / "products.csv")

    def _check_sizes(self, entries: list[zipfile.ZipInfo]) -> None:
        if len(entries) > MOST_ENTRIES:
            raise CatalogueRefused(f"{len(entries)} files, at most {MOST_ENTRIES} are taken")
        for entry in entries:
            if entry.file_size > LARGEST_ENTRY:
                raise CatalogueRefused(f"{entry.filename} is larger than {LARGEST_ENTRY} bytes")

    def _place(self, entry: zipfile.ZipInfo, target: Path) -> str:
        place = os.path.realpath(os.path.join(target, entry.filename))
        if not place.startswith(os.path.realpath(target)):
            raise CatalogueRefused(f"{entry.filename} lies outside of the archive")
        return place

    def _take(self, bundle: zipfile.ZipFile, entry: zipfile.ZipInfo, place: str) -> None:
        if Path(place).suffix.lower() not in PICTURES | {".csv"}:
            return
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with bundle.open(entry) as source, open(place, "wb") as copy:
            shutil.copyfileobj(source, copy)
