"""The vocabulary: labels of three collections, merged, and classes of the backbone's classifier.

The 1,000 classes are WordNet synsets in the order of their numbers, and WordNet tells what lies
above them. What was chosen by hand is in `vocabulary.toml`.
"""

import tomllib
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tools.default_model.material import Collection

_CHOSEN = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
EXACT: tuple[str, ...] = tuple(_CHOSEN["exact"])

Synsets = dict[str, tuple[list[str], list[str]]]  # by number: names, and numbers of those above


def label_columns(collection: Collection) -> dict[str, NDArray[np.bool_]]:
    """Return which pictures have each word of the vocabulary, by word."""
    renamed = _CHOSEN["renamed"].get(collection.name, {})
    columns = defaultdict(list)
    for place, label in enumerate(collection.classes):
        word = renamed.get(label, label)
        if collection.name in EXACT or word not in _CHOSEN["left_out"]:
            columns[word].append(place)
    if collection.name in EXACT:
        for word, labels in _CHOSEN["together"].items():
            columns[word] = [place for label in labels for place in columns.get(label, ())]
    found = {word: places for word, places in columns.items() if places}
    return {word: collection.labels[:, places].any(axis=1) for word, places in found.items()}


def class_groups(numbers: Iterable[str], wordnet: Path) -> dict[str, list[int]]:
    """Return the classes that each word stands for.

    Args:
        numbers: of the synsets that are classes, in their order, as `n01440764`.
        wordnet: the file `data.noun` of WordNet 3.0.

    """
    synsets, below = read_synsets(wordnet), defaultdict(list)
    classes = [number.removeprefix("n") for number in numbers]
    for place, number in enumerate(classes):
        for one in all_above(number, synsets):
            below[one].append(place)
    groups: dict[str, list[int]] = {}
    for asked in _CHOSEN["above"]:
        name, _, also = asked.partition("|")
        meant = [
            one for one, (names, _) in synsets.items()
            if names[0] == name and (not also or also in names) and len(below.get(one, ())) > 1
        ]  # fmt: skip
        groups[_CHOSEN["plainer"].get(name, name)] = sorted(
            {place for one in meant for place in below[one]}
        )
    for place, number in enumerate(classes):
        name = synsets[number][0][0]
        groups[name] = sorted({*groups.get(name, ()), place})
    return {word: places for word, places in groups.items() if word not in _CHOSEN["other_sense"]}


def read_synsets(path: Path) -> Synsets:
    """Read WordNet's nouns."""
    synsets: Synsets = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):  # the licence
            continue
        number, _, _, count, *rest = line.split(" | ")[0].split()
        names = [name.replace("_", " ") for name in rest[: 2 * int(count, 16) : 2]]
        _, *pointers = rest[2 * int(count, 16) :]
        fours = zip(*(pointers[i::4] for i in range(3)), strict=False)
        synsets[number] = names, [to for sign, to, kind in fours if sign[0] == "@" and kind == "n"]
    return synsets


def all_above(number: str, synsets: Synsets) -> set[str]:
    """Return the numbers of all synsets above one."""
    found: set[str] = set()
    left = [number]
    while left:
        new = set(synsets[left.pop()][1]) - found
        found |= new
        left += new
    return found
