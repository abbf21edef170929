"""A split of a collection into train, query and database, and the file that keeps it.

The file is JSON: protocol, seed, options and notes for people, the file names of each part, and the
SHA-256 of the split. `fingerprint` computes it.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from softhash.data.image_set import ImageSet
from softhash.data.names import several
from softhash.data.splits.draws import Option, Positions
from softhash.data.splits.unseen import judge_by
from softhash.data.text_files import read_json
from softhash.errors import InputError
from softhash.files import write_whole

ROLES = ("train", "query", "database")
KIND = "softhash split 1"


def fingerprint(members: Mapping[str, Iterable[str]]) -> str:
    r"""Hash who is where: SHA-256 over `<file name>\0<role>\n` for each member, sorted, in UTF-8.

    It depends on the split alone: not on the order of files, nor on where they are, nor on how the
    split came about. Classes that training never sees are members of the role `unseen`.

    >>> fingerprint({"train": ["a.jpg"], "query": ["b.jpg"], "database": ["c.jpg"]})[:8]
    '051f6dc4'
    """
    pairs = sorted((name, role) for role, names in members.items() for name in names)
    text = "".join(f"{name}\0{role}\n" for name, role in pairs)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, eq=False)
class Split:
    """Three parts of a collection: `train, query, database = split`.

    Attributes:
        images: the collection; where classes are unseen, pictures that have one of them have no
            other label in it.
        protocol: how it was split.
        seed: what the draw depends on.
        positions: for "train", "query" and "database", positions in the collection.
        options: the protocol's options, as given, `train_in_database`, and `unseen` where classes
            are held out of training.
        notes: one line for each thing that was left out or done otherwise than asked.

    """

    images: ImageSet
    protocol: str
    seed: int
    positions: Mapping[str, Positions]
    options: Mapping[str, Option] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for role in ROLES:
            if len(np.unique(self.positions[role])) < len(self.positions[role]):
                raise InputError(f"a picture is in {role} twice", "give each once")
        for role in ("train", "database"):
            both = np.intersect1d(self.positions["query"], self.positions[role])
            if both.size:
                names = several([self.images.file_names[i] for i in both])
                raise InputError(
                    f"{both.size:,} queries are in {role} too: {names}", "take them out"
                )

    def __iter__(self) -> Iterator[ImageSet]:
        return iter((self.train, self.query, self.database))

    def __repr__(self) -> str:
        parts = ", ".join(f"{len(self.positions[role]):,} {role}" for role in ROLES)
        return f"Split({self.protocol}, seed {self.seed}: {parts}; sha256 {self.sha256[:12]})"

    @cached_property
    def train(self) -> ImageSet:
        """The pictures to learn from."""
        return self.images.select(self.positions["train"])

    @cached_property
    def query(self) -> ImageSet:
        """The pictures to search with."""
        return self.images.select(self.positions["query"])

    @cached_property
    def database(self) -> ImageSet:
        """The pictures to search in."""
        return self.images.select(self.positions["database"])

    @cached_property
    def members(self) -> dict[str, list[str]]:
        """The file names of each part."""
        names = self.images.file_names
        return {role: [names[i] for i in self.positions[role]] for role in ROLES}

    @property
    def unseen(self) -> tuple[str, ...]:
        """The classes held out of training, by which alone queries and database are judged."""
        return _unseen(self.options)

    @cached_property
    def sha256(self) -> str:
        """The split's `fingerprint`."""
        return fingerprint({**self.members, "unseen": self.unseen})

    def validation(
        self, fraction: float = 0.2, *, count: int | None = None, seed: int = 0
    ) -> "Split":
        """Split the train set alone, to choose settings without a look at queries or database.

        Args:
            fraction: the share of the train set that becomes queries; as many more become the
                database, and the rest is there to train on. Where the train set is part of this
                split's database, it is part of that one too.
            count: how many, instead of which share.
            seed: what the draw depends on.

        """
        from softhash.data.splits import draw_validation  # which builds Splits

        return draw_validation(self, fraction, count=count, seed=seed)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write the split to a JSON file that `load_split` reads."""
        path = Path(path)
        content = {
            "kind": KIND,
            "protocol": self.protocol,
            "seed": self.seed,
            "options": dict(self.options),
            "sha256": self.sha256,
            "notes": self.notes,
            **self.members,
        }
        text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
        write_whole(path, text, force=force)
        return path


def load_split(path: str | os.PathLike[str], images: ImageSet) -> Split:
    """Read a split of this collection, and check that it is the one that was saved."""
    path = Path(path)
    content = _checked(read_json(path), path)
    members: dict[str, list[str]] = {role: content[role] for role in ROLES}
    unseen = _unseen(content["options"])
    found = fingerprint({**members, "unseen": unseen})
    if found != content["sha256"]:
        raise InputError(
            f"{path} was changed after it was saved: its SHA-256 is {found[:12]}, but in it stands "
            f"{str(content['sha256'])[:12]}",
            "get it again, or split anew",
        )
    position = {name: i for i, name in enumerate(images.file_names)}
    lacking = [name for role in ROLES for name in members[role] if name not in position]
    if lacking:
        raise InputError(
            f"{path} names {len(lacking):,} files that the collection in {images.root} lacks: "
            f"{several(lacking)}",
            "was it made from another collection?",
        )
    strange = [name for name in unseen if name not in images.classes]
    if strange:
        raise InputError(
            f"{path} names unseen classes that the collection in {images.root} lacks: "
            f"{several(strange)}",
            "were its labels read otherwise?",
        )
    return Split(
        judge_by(images, unseen) if unseen else images,
        content["protocol"],
        content["seed"],
        {role: _positions(position, members[role]) for role in ROLES},
        content["options"] | ({"unseen": unseen} if unseen else {}),
        tuple(content["notes"]),
    )


def _unseen(options: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(options.get("unseen", ()))


def _positions(position: Mapping[str, int], names: Sequence[str]) -> Positions:
    return np.array([position[name] for name in names], dtype=np.int64)


def _checked(content: object, path: Path) -> dict[str, Any]:
    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise InputError(f"{path} is not a split that softhash saved: its kind is not '{KIND}'")
    kinds = {"protocol": str, "seed": int, "options": dict, "sha256": str, "notes": list}
    for key, kind in (kinds | dict.fromkeys(ROLES, list)).items():
        if not isinstance(content.get(key), kind):
            raise InputError(
                f"{path} has no {key}, or it is not of type {kind.__name__}", "split anew"
            )
    for role in ROLES:
        if not all(isinstance(name, str) for name in content[role]):
            raise InputError(
                f"{path}: {role} has something in it that is not a file name", "split anew"
            )
    unseen = content["options"].get("unseen", [])
    if not isinstance(unseen, list) or not all(isinstance(name, str) for name in unseen):
        raise InputError(f"{path}: unseen is not a list of class names", "split anew")
    return content
