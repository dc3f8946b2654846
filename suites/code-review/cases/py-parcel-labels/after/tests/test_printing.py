import sqlite3
import tempfile
import unittest
from pathlib import Path

from labels.customers import Customers
from labels.layout import Size, layout
from labels.model import Parcel
from labels.printing import print_shift


class PrintingTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.database = sqlite3.connect(":memory:")
        self.addCleanup(self.database.close)
        self.database.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, name, street, city, country)")
        self.database.executemany("INSERT INTO customers VALUES (?, ?, ?, ?, ?)", [
            (1, "Ann  Aalto", "Quay 1", "Turku", "FI"),
            (2, "Bo Berg", "Harbour Street 144, back entrance", "Oslo", "NO"),
        ])

    def test_a_shift(self):
        parcels = [Parcel("P-1", 2, 900), Parcel("P-2", 1, 4_000), Parcel("P-3", 2, 40_000)]
        self.assertEqual(print_shift(parcels, Customers(self.database), self.folder, "early"), 3)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["early.labels"])
        first, second, third, end = (self.folder / "early.labels").read_text(encoding="utf-8").split("\f")
        self.assertEqual(first, "Bo Berg\nHarbour Street 144, back entranc\nOslo\nNO\nP-1")
        self.assertEqual(second, "Ann Aalto\nQuay 1\nTurku\nFI\nP-2\n4.0 kg")
        self.assertEqual((third.splitlines()[0], end), ("P-3", ""))

    def test_nothing_is_printed_of_a_shift_with_an_unknown_customer(self):
        with self.assertRaises(KeyError):
            print_shift([Parcel("P-1", 1, 900), Parcel("P-2", 3, 900)], Customers(self.database), self.folder, "late")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_layouts(self):
        for size in Size:
            self.assertTrue({"name", "number"} <= set(layout(size).fields))
