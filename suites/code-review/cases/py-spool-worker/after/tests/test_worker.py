import tempfile
import threading
import unittest
from pathlib import Path

from spool.worker import Worker, deliver_all


class WorkerTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        (self.folder / "1.msg").write_bytes(b"one")

    def test_a_file_is_sent_and_removed(self):
        sent = []
        self.assertEqual(deliver_all(self.folder, lambda *message: sent.append(message)), 1)
        self.assertEqual(sent, [("1.msg", b"one", "f97c5d29941bfb1b2fdab0874906ab82")])
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_failure_does_not_hold_up_others(self):
        (self.folder / "2.msg").write_bytes(b"two")
        sent = []

        def send(name, *_):
            if name == "1.msg":
                raise OSError("refused")
            sent.append(name)

        with self.assertLogs("spool.worker", "WARNING"):
            self.assertEqual(deliver_all(self.folder, send), 1)
        self.assertEqual(sent, ["2.msg"])
        self.assertEqual([path.name for path in self.folder.iterdir()], ["1.msg"])

    def test_a_failure_is_tried_again(self):
        done = threading.Event()
        calls = []

        def send(*message):
            calls.append(message)
            if len(calls) == 1:
                raise OSError("line is busy")
            done.set()

        worker = Worker(self.folder, send, pause=0.001)
        with self.assertLogs("spool.worker", "ERROR"):
            worker.start()
            self.assertTrue(done.wait(10))
            worker.stop()
        self.assertEqual(len(calls), 2)
