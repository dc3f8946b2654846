"""Delivers what lies in the spool, once."""
import logging
from pathlib import Path

log = logging.getLogger(__name__)


def deliver_all(folder: Path, send) -> int:
    """Sends each file and removes it; returns how many there were."""
    count = 0
    for path in sorted(folder.glob("*.msg")):
        send(path.name, path.read_bytes())
        path.unlink()
        count += 1
    return count
