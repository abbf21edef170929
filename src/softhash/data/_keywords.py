"""The keywords in blocks of XMP and IPTC, as photo managers write them."""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import defusedxml.ElementTree as ElementTree  # type: ignore[import-untyped]

from softhash.data.names import is_text
from softhash.errors import InputError

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MAX_KEYWORDS = 1_000  # of one picture
MAX_LENGTH = 200  # characters; what is longer is a caption

_ITEM = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}li"
_LISTS = {  # element, and what is between the levels of a hierarchy
    "{http://purl.org/dc/elements/1.1/}subject": None,
    "{http://ns.adobe.com/lightroom/1.0/}hierarchicalSubject": "|",
    "{http://www.digikam.org/ns/1.0/}TagsList": "/",
}
_KEYWORD, _CHARACTER_SET = (2, 25), (1, 90)
_IS_UTF_8 = b"\x1b%G"


def xmp_keywords(data: bytes) -> list[str]:
    """Return the keywords of a block of XMP; of a hierarchy each level is one.

    Raises:
        InputError: it is not XML, or has a document type, which could hold entities.

    """
    try:
        tree = ElementTree.fromstring(data.strip(b"\0 \t\r\n"), forbid_dtd=True)
    except (SyntaxError, ValueError, LookupError) as error:
        raise InputError(f"its XMP cannot be read: {error}") from None
    return clean_keywords(_listed(tree))


def iptc_keywords(data: bytes) -> list[str]:
    """Return the keywords of a block of IPTC; it ends where the first record is damaged."""
    records = list(_records(data))
    utf_8 = any(_IS_UTF_8 in value for key, value in records if key == _CHARACTER_SET)
    return clean_keywords(_text(value, utf_8) for key, value in records if key == _KEYWORD)


def clean_keywords(words: Iterable[str]) -> list[str]:
    r"""Return each keyword once, as one line without space around it; leave out what is no word.

    >>> clean_keywords([" New\n York", "sea", "", "sea"])
    ['New York', 'sea']
    """
    found: dict[str, None] = {}
    for word in words:
        line = " ".join(word.split())
        if line and len(line) <= MAX_LENGTH and is_text(line) and line.isprintable():
            found[line] = None
        if len(found) == MAX_KEYWORDS:
            break
    return list(found)


def _listed(tree: "Element") -> Iterator[str]:
    for element in tree.iter():
        if element.tag in _LISTS:
            between = _LISTS[element.tag]
            for item in element.iter(_ITEM):
                text = item.text or ""
                yield from text.split(between) if between else [text]


def _records(data: bytes) -> Iterator[tuple[tuple[int, int], bytes]]:
    """Yield (record, data set) and value; each is 0x1C, both numbers, and a length in two bytes."""
    at = 0
    while head := re.compile(rb"\x1c(.)(.)(..)", re.DOTALL).match(data, at):
        length = int.from_bytes(head[3], "big")
        end = head.end() + length
        if length >= 0x8000 or end > len(data):  # longer than any text may be, or cut
            return
        yield (head[1][0], head[2][0]), data[head.end() : end]
        at = end


def _text(value: bytes, utf_8: bool) -> str:
    """Decode a keyword; old programs wrote Latin-1 and did not say so."""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("utf-8", "replace") if utf_8 else value.decode("cp1252", "replace")
