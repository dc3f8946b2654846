import hashlib
from pathlib import Path


def entity_tag(path: Path) -> str:
    return hashlib.md5(path.read_bytes()).hexdigest()


def is_current(path: Path, tag: str) -> bool:
    return entity_tag(path) == tag
