"""likely-X.bin: likely labels of the items, one record per slot; X is of the label classifier.

It is derived, see `_derived`. A record holds a checksum, a tag of the label classifier and of the
content, and twelve words with a byte of probability each. Filters read the file as it is, without a
look at contents: so the record of an item is cleared, for good, before its content changes.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from softhash.index.items import Entry
from softhash.index.kept_model import KeptModel
from softhash.index.local._derived import TAG, DerivedFile, KeptRecords, record_type
from softhash.model.label_classifier import KEPT_WORDS, LikelyRows

RECORD = record_type(TAG, ("words", "<u2", (KEPT_WORDS,)), ("probabilities", "u1", (KEPT_WORDS,)))
NAME_DIGITS = 16


def likely_path(folder: Path, model: KeptModel) -> Path:
    """Name the file of what the label classifier of a model makes."""
    name = hashlib.sha256(model.classifier.encode()).hexdigest()[:NAME_DIGITS]
    return folder / f"likely-{name}.bin"


class LikelyFile(KeptRecords):
    """The likely labels that a local index keeps, where its model has a label classifier."""

    def __init__(self, folder: Path, model: KeptModel, *, writable: bool) -> None:
        self._model = model
        path = likely_path(folder, model)
        self._kept = DerivedFile(path, RECORD, model.classifier, writable=writable)

    @property
    def _file(self) -> DerivedFile:
        return self._kept

    @property
    def words(self) -> tuple[str, ...]:
        """The labels that the model names; none where likely labels are not kept."""
        return self._model.words if self._file.path.exists() else ()

    def keep(self) -> None:
        """Make the file, where it is not there and the model names labels."""
        if self._model.words:
            self._file.keep()

    def put(self, ids: Sequence[int], contents: Sequence[str], rows: LikelyRows) -> None:
        """Write the records of items; one whose content is "" is left out.

        Args:
            ids: of the items.
            contents: SHA-256 of the files that the rows are of.
            rows: (n, 12) words and probabilities.

        """
        records = np.zeros(len(rows.words), RECORD)
        records["words"], records["probabilities"] = rows
        self._file.put(ids, contents, records)

    def get(self, items: Sequence[tuple[int, Entry]]) -> list[dict[str, float]]:
        """Read the likely labels of items, the most probable first; none where missing."""
        found: list[dict[str, float]] = [{} for _ in items]
        names = self._model.words  # `NO_WORD` is none of them
        places, records = self._file.get(items)
        for place, words, bytes_ in zip(
            places.tolist(),
            records["words"].tolist(),
            (records["probabilities"] / 255).tolist(),
            strict=True,
        ):
            pairs = zip(words, bytes_, strict=True)
            found[place] = {names[word]: p for word, p in pairs if word < len(names)}
        return found
