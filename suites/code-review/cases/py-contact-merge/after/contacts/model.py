"""A contact as an office sends it."""
from dataclasses import dataclass, field


@dataclass
class Contact:
    office: str
    mail: str
    name: str
    phones: list[str] = field(default_factory=list)

    def key(self) -> str:
        return self.mail.strip().lower()
