"""The catalogue of one supplier must not change files of another."""
import sys
import tempfile
import zipfile
from pathlib import Path

from catalog.importing import Importer

with tempfile.TemporaryDirectory(dir=".") as scratch:
    root = Path(scratch)
    importer = Importer(root / "in")
    theirs = importer.folder("acme2") / "products.csv"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("sku,title,picture\n1,Lamp,1.png\n")
    sent = root / "sent.zip"
    with zipfile.ZipFile(sent, "w") as bundle:
        bundle.writestr("products.csv", "sku,title,picture\n")
        bundle.writestr("../acme2/products.csv", "sku,title,picture\n1,Changed,1.png\n")
    try:
        importer.import_archive("acme", sent)
    except Exception as error:
        print("refused:", error)
    sys.exit("another supplier's table was overwritten" if "Changed" in theirs.read_text() else 0)
