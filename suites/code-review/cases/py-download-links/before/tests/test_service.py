import unittest

from links.documents import Archive, Document
from links.service import LinkService


class LinkServiceTest(unittest.TestCase):
    def setUp(self):
        self.now = 1_700_000_000
        archive = Archive()
        archive.add(Document("inv-20417", "blum", b"total 12"))
        self.service = LinkService(archive, lifetime=600, clock=lambda: self.now)

    def test_a_link_leads_to_its_document(self):
        path = self.service.issue("inv-20417")
        self.assertEqual(self.service.open(path).owner, "blum")

    def test_a_link_ends(self):
        path = self.service.issue("inv-20417")
        self.now += 601
        self.assertIsNone(self.service.open(path))
