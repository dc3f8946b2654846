"""A link to one document must not open another one, nor work for longer."""
import sys

from links.documents import Archive, Document
from links.service import LinkService
from links.signing import Signer

archive = Archive()
archive.add(Document("inv-20417", "blum", b"total 12"))
archive.add(Document("inv-204", "weiss", b"total 99"))
service = LinkService(archive, Signer(b"k" * 32), lifetime=600, clock=lambda: 1_700_000_000)
_, _, name, until, signature = service.issue("inv-20417").split("/")
assert service.open(f"/documents/{name}/{until}/{signature}").owner == "blum"
other = service.open(f"/documents/inv-204/17{until}/{signature}")
sys.exit(f"opened the document of {other.owner}" if other else 0)
