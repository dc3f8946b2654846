"""Layouts of labels, which are part of this package."""
import json
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "layouts"


class Size(Enum):
    SMALL = "small"
    LARGE = "large"
    PALLET = "pallet"

    @classmethod
    def of_weight(cls, grams: int) -> "Size":
        if grams <= 2_000:
            return cls.SMALL
        return cls.LARGE if grams <= 31_500 else cls.PALLET


@dataclass(frozen=True)
class Layout:
    width: int
    fields: tuple[str, ...]


@cache
def layout(size: Size) -> Layout:
    """The layout of labels of a size."""
    content = json.loads((FOLDER / f"{size.value}.json").read_text(encoding="utf-8"))
    return Layout(content["width"], tuple(content["fields"]))
