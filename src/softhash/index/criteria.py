"""What one item is asked for by a filter: a label, a folder, a date, a camera.

`softhash.index.where` combines these leaves by not, and, or.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple, TypedDict

from softhash.errors import UsageError

# A name without quotes; other characters than operators are kept back for what may come.
NAME = re.compile(r"""[^\s"'!&|()<>=:;,~^*?\\\[\]{}]+""")
OPERATORS = {"and": "&", "or": "|", "not": "!"}  # as words, in any case
LIKELY = 0.5  # from this probability on, a label that the model predicts is likely
NONE: Mapping[str, float] = {}

_DATE = re.compile(r"[0-9]{4}(-[0-9]{2}){0,2}")


class Described(NamedTuple):
    """What filters look at of one item; what is unknown is empty.

    Attributes:
        labels: given to it.
        likely: labels that the model finds likely, with probabilities.
        file_name: relative to the index's root.
        taken: local time as `2024-05-17T14:03:22`.
        camera: make and model.

    """

    labels: Collection[str] = ()
    likely: Mapping[str, float] = NONE
    file_name: str = ""
    taken: str = ""
    camera: str = ""


@dataclass(frozen=True)
class Label:
    """Items that have a label, given to them and therefore certain."""

    name: str

    def keeps(self, item: Described) -> bool:
        """Return whether an item is kept."""
        return self.name in item.labels

    def __str__(self) -> str:
        return quoted(self.name)


@dataclass(frozen=True)
class Likely:
    """Items for which the model finds a label at least so probable, whether it is given or not.

    A store that keeps no likely labels, see `softhash.index.likely`, has no such items.

    >>> Likely("dog").keeps(Described(likely={"dog": 0.7})), Likely("dog").keeps(Described(["dog"]))
    (True, False)
    """

    name: str
    at_least: float = LIKELY

    def keeps(self, item: Described) -> bool:
        """Return whether an item is kept."""
        return self.name in item.likely and item.likely[self.name] >= self.at_least

    def __str__(self) -> str:
        threshold = "" if self.at_least == LIKELY else f">={self.at_least!r}"
        return f"~{quoted(self.name)}{threshold}"


@dataclass(frozen=True)
class Folder:
    """Items whose file is in a folder, or below it: a path, or the end or middle of one.

    >>> rome = Described(file_name="2024/Italy/Rome/a.jpg")
    >>> [Folder(name).keeps(rome) for name in ("2024/Italy", "Italy", "Rome/", "Ital", "italy")]
    [True, True, True, False, False]
    """

    name: str

    def __post_init__(self) -> None:
        if not self.path:
            raise UsageError(f"'{self.name}' does not name a folder", "give a name, as in Italy")

    @property
    def path(self) -> str:
        """The name without a slash at either end."""
        return self.name.strip("/")

    def keeps(self, item: Described) -> bool:
        """Return whether an item is kept."""
        return self.holds(item.file_name.rpartition("/")[0])

    def holds(self, folder: str) -> bool:
        """Return whether items in a folder are kept."""
        return f"/{self.path}/" in f"/{folder}/"

    def __str__(self) -> str:
        return f"folder:{quoted(self.name)}"


@dataclass(frozen=True)
class Taken:
    """Items taken at or after a date, and before another; the beginning of each is enough.

    A store that keeps no facts, see `softhash.index.facts`, has no such items.

    >>> [Taken("2024-05", "2024-06").keeps(Described(taken=f"2024-{day}T12:00:00"))
    ...  for day in ("04-30", "05-01", "05-31", "06-01")]
    [False, True, True, False]

    Args:
        after: the first year, month or day, as `2024`, `2024-05` or `2024-05-17`; "" for any.
        before: the year, month or day after the last; "" for any.

    """

    after: str = ""
    before: str = ""

    def __post_init__(self) -> None:
        for text in filter(None, (self.after, self.before)):
            _check_date(text)

    def keeps(self, item: Described) -> bool:
        """Return whether an item is kept."""
        known = item.taken  # which is in the order of time as a text
        return bool(known) and self.after <= known and (not self.before or known < self.before)

    def __str__(self) -> str:
        return f"taken:{self.after}..{self.before}"


@dataclass(frozen=True)
class Camera:
    """Items whose camera has a text in its name, in any case.

    A store that keeps no facts, see `softhash.index.facts`, has no such items.

    >>> Camera("nikon").keeps(Described(camera="NIKON D90")), Camera("nikon").keeps(Described())
    (True, False)
    """

    text: str

    def keeps(self, item: Described) -> bool:
        """Return whether an item is kept."""
        return bool(item.camera) and self.text.casefold() in item.camera.casefold()

    def __str__(self) -> str:
        return f"camera:{quoted(self.text)}"


Leaf = Label | Likely | Folder | Taken | Camera


class PhotoOptions(TypedDict, total=False):
    """What a search may ask photographs for; None is not asked for.

    Attributes:
        after: leave out what was taken earlier, as `Taken` has it.
        before: leave out what was taken then, or later.
        folder: leave out files that are neither in this folder nor below it, see `Folder`.
        camera: leave out what was taken with another camera, see `Camera`.

    """

    after: str | None
    before: str | None
    folder: str | None
    camera: str | None


def photo_criteria(
    after: str | None = None,
    before: str | None = None,
    folder: str | None = None,
    camera: str | None = None,
) -> list[Leaf]:
    """Build the leaves that options ask for.

    >>> print(*photo_criteria(after="2024-05", camera="nikon"))
    taken:2024-05.. camera:nikon

    Args:
        after: as `PhotoOptions` has it, and so on.
        before: see there.
        folder: see there.
        camera: see there.

    """
    found: list[Leaf] = []
    dates = [text for text in (after, before) if text is not None]
    for text in dates:  # "" too, which is not a date
        _check_date(text)
    if dates:
        found.append(Taken(after or "", before or ""))
    if folder is not None:
        found.append(Folder(folder))
    if camera is not None:
        found.append(Camera(camera))
    return found


def quoted(name: str) -> str:
    """Write a name as an expression has it: in quotes where it needs them."""
    if NAME.fullmatch(name) and name.casefold() not in OPERATORS:
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _check_date(text: str) -> None:
    """Raise UsageError for what is not a year, a month or a day."""
    try:
        if not _DATE.fullmatch(text):
            raise ValueError
        date.fromisoformat(f"{text}-01-01"[:10])
    except ValueError:
        shown = text if text.isprintable() else ascii(text)
        raise UsageError(
            f"'{shown[:40]}' is not a date", "give a year, month or day: 2024, 2024-05, 2024-05-17"
        ) from None
