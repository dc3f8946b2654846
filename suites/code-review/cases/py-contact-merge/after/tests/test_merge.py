import io
import unittest

from contacts.export import export_numbers
from contacts.merge import merge
from contacts.model import Contact


class MergeTest(unittest.TestCase):
    def test_numbers_of_all_offices(self):
        merged = merge([Contact("Bern", "a@x.org", "Ann", ["1", "2"]), Contact("Graz", "A@x.org", "Ann M.", ["2", "3"])])
        self.assertEqual(len(merged), 1)
        self.assertEqual((merged[0].name, merged[0].phones), ("Ann M.", ["1", "2", "3"]))

    def test_numbers_for_the_switchboard(self):
        out = io.StringIO()
        self.assertEqual(export_numbers([Contact("Bern", "a@x.org", "Ann", ["1", "1"])], out), 1)
