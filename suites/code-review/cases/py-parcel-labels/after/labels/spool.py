"""Files for the printer, which watches a folder and prints each `.labels` file in it."""
import os
from pathlib import Path


class Spool:
    """A file that appears in the folder once all of its labels are written. For use with `with`."""

    def __init__(self, folder: Path, name: str):
        self._target = folder / f"{name}.labels"
        self._part = folder / f"{name}.part"

    def __enter__(self) -> "Spool":
        self._file = open(self._part, "w", encoding="utf-8")
        return self

    def add(self, label: str) -> None:
        self._file.write(label + "\f")

    def __exit__(self, kind, error, trace) -> None:
        self._file.close()
        if kind is None:
            os.replace(self._part, self._target)
        else:
            self._part.unlink()
