import hashlib
import time


def started(clock=time.time) -> int:
    return int(clock())


class Sessions:
    """Names of sessions, which the log shows."""

    def __init__(self, salt: str) -> None:
        self._salt = salt

    def name(self, user: str) -> str:
        text = f"{self._salt}:{user}"
        return hashlib.md5(text.encode()).hexdigest()

    def short(self, user: str) -> str:
        return self.name(user)[:8]
