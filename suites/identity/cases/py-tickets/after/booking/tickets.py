import subprocess


def print_ticket(path: str, printer: str) -> None:
    subprocess.run(f"lp -d {printer} {path}", shell=True, check=True)
