"""Rows of an array in a file, read on demand.

The file is read, not mapped. A mapped file that is cut off ends the whole process where its missing
part is touched, and what has been touched counts as memory of the process.
"""

from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import BinaryIO, Self

import numpy as np
from numpy.typing import NDArray

from softhash.errors import InputError


@dataclass(frozen=True)
class RowFile:
    """An array of bytes in an `.npy` file, of which rows are read.

    Attributes:
        path: the file.
        offset: bytes before the first row.
        shape: of a row.

    """

    path: Path
    offset: int
    shape: tuple[int, ...]

    @classmethod
    def of(cls, mapped: "np.memmap[tuple[int, ...], np.dtype[np.uint8]]") -> Self:
        """Name the file behind a mapped array."""
        return cls(Path(str(mapped.filename)), mapped.offset, mapped.shape[1:])

    def read(self, rows: NDArray[np.integer], target: NDArray[np.uint8]) -> None:
        """Copy rows into an array, in the given order; the disk sees them in the file's order.

        Args:
            rows: their numbers (n,).
            target: (n, *shape), contiguous; it is overwritten. Several threads may read at once.

        Raises:
            InputError: the file is gone, or ends before one of the rows.

        """
        if not len(rows):
            return
        length, whole = prod(self.shape), target.data.cast("B")
        order = np.argsort(rows, kind="stable")
        try:
            with self.path.open("rb", buffering=0) as stream:
                for place, row in zip(order.tolist(), rows[order].tolist(), strict=True):
                    stream.seek(self.offset + row * length)
                    _fill(stream, whole[place * length : (place + 1) * length])
        except (EOFError, OSError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(
                f"the decoded pictures in {self.path} cannot be read: {reason}",
                "start again: what is missing is decoded anew",
            ) from error


def _fill(stream: BinaryIO, target: memoryview) -> None:
    """Read until the target is full: without a buffer, `readinto` may stop short."""
    while target:
        count = stream.readinto(target)  # type: ignore[attr-defined]
        if not count:
            raise EOFError("the file has been cut off")
        target = target[count:]
