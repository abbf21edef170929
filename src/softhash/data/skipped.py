"""Files that are not read, counted by kind: videos beside pictures, and pictures that are broken.

>>> describe_skipped({"video": 12, "heic": 21, "damaged": 4})
"37 files skipped: 21 HEIC (pip install 'softhash[heic]'), 12 videos, 4 damaged"
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from softhash.data.loading import Broken

_KINDS = {  # one, several, the way out
    "damaged": ("damaged", "damaged", ""),
    "dotted": ("with an extension of several parts", "with extensions of several parts", ""),
    "duplicate": ("with an id that was there", "with an id that was there", ""),
    "heic": ("HEIC", "HEIC", "pip install 'softhash[heic]'"),
    "other": ("picture of another format", "pictures of other formats", "save as JPEG"),
    "raw": ("raw photograph", "raw photographs", "save as JPEG"),
    "refused": ("over a limit", "over a limit", "scale down"),
    "unreadable": ("unreadable", "unreadable", "check permissions"),
    "video": ("video", "videos", ""),
}
_SUFFIXES = {
    "other": "eps exr hdr ico jp2 jxl jxr pbm pcx pgm ppm psb psd svg tga xcf",
    "raw": "3fr arw cr2 cr3 crw dng erf kdc mef mrw nef nrw orf pef raf raw rw2 sr2 srf srw x3f",
    "video": "3g2 3gp asf avi flv m2ts m4v mkv mov mp4 mpeg mpg mts ogv ts vob webm wmv",
}
_KIND_OF_SUFFIX = {f".{one}": kind for kind, text in _SUFFIXES.items() for one in text.split()}


def kind_of_name(file_name: str) -> str | None:
    """Return the kind of a file that its suffix shows to be something to look at, but not read.

    >>> kind_of_name("holidays/IMG_1.MOV"), kind_of_name("notes.txt")
    ('video', None)
    """
    return _KIND_OF_SUFFIX.get(PurePosixPath(file_name).suffix.lower())


def count_skipped(beside: Mapping[str, int], broken: Iterable[Broken]) -> dict[str, int]:
    """Count what was skipped by kind, the most frequent first.

    Args:
        beside: files beside the pictures, as `ImageSet.skipped` has them.
        broken: pictures that could not be read.

    """
    counts = Counter(beside) + Counter(one.kind for one in broken)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def describe_skipped(counts: Mapping[str, int]) -> str:
    """Return one line about what was skipped; "" where nothing was."""
    parts = []
    for kind, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        one, several, way_out = _KINDS.get(kind, (kind, kind, ""))
        words = one if count == 1 else several
        parts.append(f"{count:,} {words}" + (f" ({way_out})" if way_out else ""))
    total = sum(counts.values())
    return f"{total:,} file{'s' * (total != 1)} skipped: {', '.join(parts)}" if total else ""
