"""Delivers what lies in the spool, until it is told to stop."""
import hashlib
import logging
import random
import threading
from pathlib import Path

log = logging.getLogger(__name__)


def deliver_all(folder: Path, send) -> int:
    """Sends each file and removes it; returns how many there were. If all of them fail, the last error is raised."""
    count, failure = 0, None
    for path in sorted(folder.glob("*.msg")):
        try:
            content = path.read_bytes()
            send(path.name, content, fingerprint(content))
            path.unlink()
            count += 1
        except Exception as error:
            log.warning("%s stays in the spool: %s", path.name, error)
            failure = error
    if failure is not None and count == 0:
        raise failure
    return count


def fingerprint(content: bytes) -> str:
    """What the archive compares to see damage on the way; its protocol asks for MD5."""
    return hashlib.md5(content).hexdigest()


class Worker:
    """Looks into the spool again and again. What fails is logged and tried again, after longer and longer pauses."""

    def __init__(self, folder: Path, send, pause: float = 5.0, longest: float = 300.0):
        self._folder = folder
        self._send = send
        self._pause = pause
        self._longest = longest
        self._stop = threading.Event()
        self._thread = None

    def start(self) -> None:
        if self._thread is not None:
            raise RuntimeError("the worker was started before")
        self._thread = threading.Thread(target=self._run, name="spool", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends when the round under way is done."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        failures = 0
        while not self._stop.is_set():
            try:
                deliver_all(self._folder, self._send)
                failures = 0
            except Exception:
                failures += 1
                log.exception("delivery failed %d times in a row", failures)
            self._stop.wait(self._delay(failures))

    def _delay(self, failures: int) -> float:
        """Doubles with each failure, and varies so that many workers do not come at the same moment."""
        delay = min(self._longest, self._pause * 2 ** min(failures, 10))
        return delay * (0.5 + random.random() / 2)
