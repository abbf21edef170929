"""The splits that papers use, by name."""

from softhash.data.splits.protocols import (
    PROTOCOLS,
    describe,
    draw_split,
    draw_validation,
    list_options,
)
from softhash.data.splits.split import Split, load_split

__all__ = [
    "PROTOCOLS",
    "Split",
    "describe",
    "draw_split",
    "draw_validation",
    "list_options",
    "load_split",
]
