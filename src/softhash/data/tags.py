"""The tags that people gave their pictures: keywords in the files, and in files beside them.

Photo managers write them as XMP (`dc:subject`, `lr:hierarchicalSubject`, digiKam's list) or as IPTC
into the picture, or as XMP into a sidecar: `a.xmp` or `a.jpg.xmp` beside `a.jpg`.
"""

from pathlib import Path

from softhash.data._keywords import clean_keywords, iptc_keywords, xmp_keywords
from softhash.data._metadata import MAX_BLOCK_BYTES, read_metadata
from softhash.data.listing import Listing
from softhash.data.text_files import read_bytes
from softhash.errors import ImageError, InputError

SIDECARS = (".xmp", ".XMP")


def read_tags(root: Path, name: str, listing: Listing) -> list[str]:
    """Return the tags of a picture, each once; those of its file come first.

    A file that is not a picture, or is broken, has none.

    Args:
        root: the folder of the collection.
        name: of the picture, relative to it.
        listing: of that folder; it is asked for sidecars.

    Raises:
        InputError: there are tags, and they cannot be read.

    """
    words: list[str] = []
    try:
        found = read_metadata(root / name)
        words += xmp_keywords(found.xmp) if found.xmp else []
        words += iptc_keywords(found.iptc)
    except ImageError:  # whoever decodes it will report it
        pass
    for sidecar in _sidecars(name, listing):
        words += xmp_keywords(read_bytes(root / sidecar, MAX_BLOCK_BYTES))
    return clean_keywords(words)


def _sidecars(name: str, listing: Listing) -> list[str]:
    stem = name.rpartition(".")[0]
    beside = [base + suffix for base in (stem, name) for suffix in SIDECARS]
    try:
        return [one for one in beside if one in listing]
    except InputError:  # a link out of the folder
        return []
