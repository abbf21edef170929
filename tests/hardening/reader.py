"""What a reader of files is to the fuzzer."""

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

TESTS = Path(__file__).parents[1]


@dataclass(frozen=True)
class Reader:
    """A way of softhash to read files.

    Attributes:
        name: of the reader.
        make: writes a valid sample into a folder.
        files: patterns of the files to spoil, each with what they are; see `knowing.KNOWING`.
        read: reads the folder, and uses what it read.
        keeps: whether reading leaves the sample as it is.
        weight: how often it is tried, where 1 is usual.

    """

    name: str
    make: Callable[[Path], object]
    files: Mapping[str, str]
    read: Callable[[Path], object]
    keeps: bool = True
    weight: float = 1.0


def load_module(path: str) -> ModuleType:
    """Import a module of other tests, which are in no package."""
    file = TESTS / path
    spec = importlib.util.spec_from_file_location(f"hardening_{file.stem}", file)
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
