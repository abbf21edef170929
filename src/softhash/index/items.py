"""What an index keeps of a picture, and what a search returns."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from softhash.data.photo_facts import PhotoFacts

DIGITS = 4  # of probabilities, as plain values
NONE: Mapping[str, float] = {}
NO_FACTS = PhotoFacts()


class Entry(NamedTuple):
    """What is kept of a picture beside its code; only the file name is required.

    Attributes:
        file_name: relative to the index's root; unique within an index.
        labels: names, in no particular order.
        size: of the file, in bytes.
        modified: time of the file's last change, in nanoseconds since 1970.
        sha256: of the file's content, in hexadecimal.
        uploaded: whether a client of the server sent it, or its labels; an update of the index
            from its folder keeps it then.

    """

    file_name: str
    labels: tuple[str, ...] = ()
    size: int = 0
    modified: int = 0
    sha256: str = ""
    uploaded: bool = False


class Item(NamedTuple):
    """An entry with the id that the index gave it, and its code in packed bytes."""

    id: int
    entry: Entry
    code: bytes

    @property
    def file_name(self) -> str:
        """The entry's, relative to the index's root."""
        return self.entry.file_name


class Near(NamedTuple):
    """An item's distance from a query, before anything else of it is fetched."""

    distance: int
    id: int


class Hit(NamedTuple):
    """One item that a search found.

    Attributes:
        id: of the item.
        distance: Hamming distance between its code and the query's; None where words or labels
            alone were asked for.
        file_name: relative to the index's root.
        labels: all of the item's labels.
        shared: those that the query has too, or, where its labels are not known, those asked for.
        code: the item's, in packed bytes.
        rescored: the distance that the nearest were ranked again by, asymmetric or 1 − cosine of
            features; None where it was not.
        likely: labels that the model finds likely and that are not given, with probabilities, the
            most probable first; empty where the index keeps none.
        score: what it was ranked by, where words were asked for.
        sure: how probable it is that it shares a label with the query, 1 where it shares a given
            one; None where that is not known.
        facts: date, camera and place; empty where the index keeps none.

    """

    id: int
    distance: int | None
    file_name: str
    labels: tuple[str, ...]
    shared: tuple[str, ...]
    code: bytes = b""
    rescored: float | None = None
    likely: Mapping[str, float] = NONE
    score: float | None = None
    sure: float | None = None
    facts: PhotoFacts = NO_FACTS

    def as_dict(self) -> dict[str, Any]:
        r"""Return plain values; `rescored` and what follows it is left out where there is none.

        >>> Hit(7, 2, "a.jpg", ("sea", "sky"), ("sky",), b"\x0f").as_dict()["code"]
        '0f'
        """
        plain: dict[str, Any] = {
            "id": self.id,
            "distance": self.distance,
            "file_name": self.file_name,
            "labels": list(self.labels),
            "shared": list(self.shared),
            "code": self.code.hex(),
        }
        plain |= {} if self.rescored is None else {"rescored": self.rescored}
        plain |= {"likely": rounded(self.likely)} if self.likely else {}
        plain |= {} if self.score is None else {"score": self.score}
        plain |= {} if self.sure is None else {"sure": round(self.sure, DIGITS)}
        return plain | known_facts(self.facts)


def known_facts(facts: PhotoFacts) -> dict[str, Any]:
    """Return the facts that are known as plain values.

    >>> known_facts(PhotoFacts(camera="NIKON D90"))
    {'camera': 'NIKON D90'}
    """
    return {name: value for name, value in facts._asdict().items() if value not in ("", None)}


def rounded(probabilities: Mapping[str, float]) -> dict[str, float]:
    """Return probabilities as plain values.

    >>> rounded({"sea": 201 / 255})
    {'sea': 0.7882}
    """
    return {name: round(p, DIGITS) for name, p in probabilities.items()}
