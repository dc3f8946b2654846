"""Sends a report to the printer of the office."""
import subprocess
from pathlib import Path

PRINTERS = {"bern": "hp-bern-2", "graz": "hp-graz-1"}


def print_report(path: Path, office: str, copies: int = 1) -> None:
    """Prints a file; raises CalledProcessError with what `lp` said if that fails."""
    subprocess.run(
        ["lp", "-d", PRINTERS[office], "-n", str(int(copies)), "--", str(path)],
        check=True,
        capture_output=True,
        text=True,
        timeout=30,
    )
