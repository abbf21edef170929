"""facts-1.bin: date, camera and place of the items, one record per slot; 1 is what reads them.

It is derived, see `_derived`. A record holds a checksum, a tag of the content, seconds since 1970
in local time, degrees, and the camera as its place in cameras.json. Beside the place is a checksum
of the name: where cameras.json is lost, or older than the records, they count as missing.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from softhash.data.photo_facts import PhotoFacts
from softhash.index.items import Entry
from softhash.index.local._cameras import NO_CAMERA, add_cameras, name_sum, read_cameras
from softhash.index.local._derived import TAG, DerivedFile, KeptRecords, Records, record_type

FACTS = "facts-1.bin"
SOURCE = "facts 1"
DIGITS = 5  # of degrees, as far as four bytes have them: about a metre
RECORD = record_type(
    TAG,
    ("taken", "<i8"),
    ("latitude", "<f4"),
    ("longitude", "<f4"),
    ("camera", "<u2"),
    ("name_sum", "<u2"),
)


def known_cameras(
    records: Records, names: Sequence[str]
) -> "np.ndarray[tuple[int], np.dtype[np.uint16]]":
    """Return the places of cameras in the names; `NO_CAMERA` for another name than was written."""
    sums = np.array([*map(name_sum, names), 0], np.uint16)
    places = records["camera"].astype(np.uint16)
    is_there = places < len(names)
    same = sums[np.where(is_there, places, len(names))] == records["name_sum"]
    return np.where(is_there & same, places, np.uint16(NO_CAMERA))


class FactFile(KeptRecords):
    """The facts of photographs that a local index keeps."""

    def __init__(self, folder: Path, *, writable: bool) -> None:
        self._folder = folder
        self._kept = DerivedFile(folder / FACTS, RECORD, SOURCE, writable=writable)

    @property
    def _file(self) -> DerivedFile:
        return self._kept

    @property
    def is_kept(self) -> bool:
        """Whether facts are kept."""
        return self._file.path.exists()

    def keep(self) -> None:
        """Make the file, where it is not there."""
        self._file.keep()

    def put(self, ids: Sequence[int], contents: Sequence[str], facts: Sequence[PhotoFacts]) -> None:
        """Write the records of items; one whose content is "" is left out.

        Args:
            ids: of the items.
            contents: SHA-256 of the files that the facts are of.
            facts: one per item.

        """
        records = np.zeros(len(facts), RECORD)
        records["taken"] = np.array([one.taken or "NaT" for one in facts], "M8[s]").astype("<i8")
        for name in ("latitude", "longitude"):
            degrees = (getattr(one, name) for one in facts)
            records[name] = [np.nan if value is None else value for value in degrees]
        with self._file.writing():
            places = add_cameras(self._folder, [one.camera for one in facts])
        records["camera"] = [places.get(one.camera, NO_CAMERA) for one in facts]
        known = records["camera"] != NO_CAMERA
        sums = np.array([name_sum(one.camera) for one in facts], np.uint16)
        records["name_sum"] = np.where(known, sums, 0)
        self._file.put(ids, contents, records)

    def get(self, items: Sequence[tuple[int, Entry]]) -> list[PhotoFacts]:
        """Read the facts of items; none where they are missing."""
        found = [PhotoFacts()] * len(items)
        places, records = self._file.get(items)
        names = read_cameras(self._folder)
        times = np.datetime_as_string(records["taken"].view("M8[s]"), unit="s")
        for place, time, camera, record in zip(
            places.tolist(),
            times.tolist(),
            known_cameras(records, names).tolist(),
            records,
            strict=True,
        ):
            found[place] = PhotoFacts(
                "" if time == "NaT" else time,
                "" if camera == NO_CAMERA else names[camera],
                _degrees(record["latitude"]),
                _degrees(record["longitude"]),
            )
        return found

    def missing(self, items: Sequence[tuple[int, Entry]]) -> list[tuple[int, Entry]]:
        """Return those of some items that have no record, or one of a camera without its name."""
        places, records = self._file.get(items)
        lost = known_cameras(records, read_cameras(self._folder)) != records["camera"]
        there = set(places[~lost].tolist())
        return [item for place, item in enumerate(items) if place not in there]


def _degrees(value: np.float32) -> float | None:
    return None if np.isnan(value) else round(float(value), DIGITS)
