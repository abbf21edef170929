"""What a picture's file holds beside its pixels: blocks of EXIF, XMP and IPTC, not yet parsed."""

import io
from typing import Any, NamedTuple

from PIL import Image

from softhash.data._exif import Value, read_exif
from softhash.data.decoding import ImageSource, opened

MAX_BLOCK_BYTES = 1 << 22

_EXIF_MARK = b"Exif\0\0"
_IPTC_RESOURCE, _IPTC_TAG = 0x0404, 33723  # in a JPEG, in a TIFF


class Metadata(NamedTuple):
    """The blocks of one picture; those that are missing, or too large to be true, are empty."""

    exif: dict[int, Value]
    xmp: bytes
    iptc: bytes


def read_metadata(source: ImageSource) -> Metadata:
    """Read a picture's metadata without decoding a pixel.

    Raises:
        ImageError: it is not a picture, or may not be opened.

    """
    with opened(source, to_decode=False) as (image, _):
        return Metadata(
            _exif(image), _bytes(image.info.get("xmp")), _bytes(_iptc(image)).rstrip(b"\0")
        )


def _exif(image: Image.Image) -> dict[int, Value]:
    if image.format == "TIFF":
        return read_exif(image.fp)  # type: ignore[attr-defined,unused-ignore]
    return read_exif(io.BytesIO(_bytes(image.info.get("exif")).removeprefix(_EXIF_MARK)))


def _iptc(image: Image.Image) -> Any:
    if image.format == "TIFF":
        return getattr(image, "tag_v2", {}).get(_IPTC_TAG)
    resources = image.info.get("photoshop")
    return resources.get(_IPTC_RESOURCE) if isinstance(resources, dict) else None


def _bytes(block: Any) -> bytes:
    data = block.encode() if isinstance(block, str) else block
    return data if isinstance(data, bytes) and len(data) <= MAX_BLOCK_BYTES else b""
