"""features-N.bin: features of the items as int8, one record per slot; N is how many each has.

It is derived, see `_derived`, and never needed to answer by codes. A record holds a checksum, a
scale, a tag of the model and the content, and the row.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from softhash.hamming.cosine import quantise
from softhash.index.features import FoundRows
from softhash.index.items import Entry
from softhash.index.local._derived import TAG, DerivedFile, KeptRecords, record_type

NAME = re.compile(r"features-([1-9]\d{0,5})\.bin")


class FeatureFile(KeptRecords):
    """The features that a local index keeps, if it does: the file is there, or it is not."""

    def __init__(self, folder: Path, model: str, *, writable: bool) -> None:
        self._folder, self._model, self._writable = folder, model, writable

    @property
    def width(self) -> int:
        """How many numbers a row has; 0 where no features are kept."""
        try:
            names = os.listdir(self._folder)  # noqa: PTH208 (for every search)
        except OSError:
            return 0
        return max((int(one[1]) for one in map(NAME.fullmatch, names) if one), default=0)

    @property
    def _file(self) -> DerivedFile:
        return self._of_width(self.width)

    def _of_width(self, width: int) -> DerivedFile:
        record = record_type(("scale", "<f4"), TAG, ("row", "i1", (width,)))
        path = self._folder / f"features-{width}.bin"
        return DerivedFile(path, record, self._model, writable=self._writable)

    def keep(self, width: int) -> None:
        """Make the file, where it is not there."""
        self._of_width(width).keep()

    def put(
        self, ids: Sequence[int], contents: Sequence[str], features: npt.NDArray[np.floating]
    ) -> None:
        """Write the records of items; one whose content is "" is left out.

        Args:
            ids: of the items.
            contents: SHA-256 of the files that the features are of.
            features: (n, width).

        """
        file = self._of_width(features.shape[1])
        records = np.zeros(len(features), file.record)
        records["row"], records["scale"] = quantise(features)
        file.put(ids, contents, records)

    def get(self, items: Sequence[tuple[int, Entry]]) -> FoundRows:
        """Read the records of items; those that are missing are left out."""
        places, records = self._file.get(items)
        return FoundRows(places, records["row"], records["scale"])
