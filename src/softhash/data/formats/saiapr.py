"""SAIAPR TC-12: benchmark/wlist.txt and saiapr_tc-12/<folder>/{images/, labels.txt} (276 labels).

The segmented IAPR TC-12. A line of labels.txt is "picture region label", a line of wlist.txt
"label name". A picture's labels are those of its regions.
"""

import re
from pathlib import Path

from softhash.data.formats.assembly import assemble, multi_hot
from softhash.data.image_set import ImageSet
from softhash.data.listing import list_folder
from softhash.data.names import several
from softhash.data.text_files import read_lines
from softhash.errors import InputError

_PLACES = (".", "benchmark", "saiaprtc12ok/benchmark")
_WORD = re.compile(r"([0-9]{1,6})\s+(\S.*)")
_REGION = re.compile(r"([0-9]{1,8})\s+[0-9]+\s+([0-9]{1,6})")
_PICTURE = re.compile(r"([0-9]{1,8})\.jpg")


def matches(root: Path) -> bool:
    """Return whether the list of labels and the folder of pictures are there."""
    return _benchmark(root) is not None


def read(root: Path) -> ImageSet:
    """Read the pictures of all folders, in the order of their numbers."""
    benchmark = _benchmark(root)
    if benchmark is None:
        raise InputError(f"{root} has no wlist.txt and saiapr_tc-12, nor has benchmark in it")
    lines = _fields(benchmark / "wlist.txt", _WORD, "a number and a name")
    words = {int(number): name for _, number, name in lines}
    column = {number: i for i, number in enumerate(sorted(words))}
    pictures: dict[int, str] = {}
    labels: dict[int, set[int]] = {}
    unknown: list[str] = []
    for name in list_folder(benchmark / "saiapr_tc-12"):
        folder = benchmark / "saiapr_tc-12" / name
        found = map(_PICTURE.fullmatch, list_folder(folder / "images"))
        regions = _fields(folder / "labels.txt", _REGION, "picture region label")
        numbers = [match[1] for match in found if match] + [picture for _, picture, _ in regions]
        pictures |= {int(n): f"saiapr_tc-12/{name}/images/{int(n)}.jpg" for n in numbers}
        for line, picture, label in regions:
            if int(label) in column:
                labels.setdefault(int(picture), set()).add(column[int(label)])
            else:
                unknown.append(f"{label} ({name}/labels.txt line {line})")
    if unknown:
        raise InputError(
            f"{len(unknown):,} regions have labels not in wlist.txt: {several(unknown)}"
        )
    order, classes = sorted(pictures), [words[number] for number in sorted(words)]
    return assemble(
        benchmark,
        [pictures[number] for number in order],
        multi_hot([labels.get(number, ()) for number in order], classes),
        classes,
        format="saiapr",
    )


def _benchmark(root: Path) -> Path | None:
    for name in _PLACES:
        if (root / name / "wlist.txt").is_file() and (root / name / "saiapr_tc-12").is_dir():
            return root / name
    return None


def _fields(path: Path, line: re.Pattern[str], form: str) -> list[tuple[int, str, str]]:
    """Split each line into its two fields, with the line's number in front."""
    fields = []
    for number, text in read_lines(path):
        match = line.fullmatch(text)
        if not match:
            raise InputError(f"{path} line {number} is {text[:60]!r}", f"it should be {form}")
        fields.append((number, match[1], match[2]))
    return fields
