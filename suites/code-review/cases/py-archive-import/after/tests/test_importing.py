import tempfile
import unittest
import zipfile
from pathlib import Path

from catalog.importing import Importer, CatalogueRefused


class ImporterTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name)

    def bundle(self, files):
        path = self.root / "sent.zip"
        with zipfile.ZipFile(path, "w") as bundle:
            for name, text in files.items():
                bundle.writestr(name, text)
        return path

    def test_takes_table_and_pictures(self):
        sent = self.bundle({"products.csv": "sku,title,picture\n1,Lamp,img/1.png\n", "img/1.png": "x"})
        products = Importer(self.root / "in").import_archive("acme", sent)
        self.assertEqual([product.title for product in products], ["Lamp"])
        self.assertTrue((self.root / "in/acme/img/1.png").exists())

    def test_refuses_what_climbs_out(self):
        sent = self.bundle({"products.csv": "sku,title,picture\n", "../../products.csv": "sku,title,picture\n"})
        with self.assertRaises(CatalogueRefused):
            Importer(self.root / "in").import_archive("acme", sent)
        self.assertFalse((self.root / "in/acme/products.csv").exists())

    def test_refuses_pictures_without_a_table(self):
        with self.assertRaises(CatalogueRefused):
            Importer(self.root / "in").import_archive("acme", self.bundle({"img/1.png": "x"}))
