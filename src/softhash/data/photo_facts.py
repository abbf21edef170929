"""When, with what and where a picture was taken, as its EXIF data claims.

EXIF data is whatever somebody wrote: each fact is checked, short, and empty where it makes no
sense. A camera's clock has no time zone, so that times are those of the place.
"""

import math
import re
from datetime import datetime
from typing import NamedTuple

from softhash.data._exif import (
    CHANGED,
    DIGITISED,
    LATITUDE,
    LATITUDE_REF,
    LONGITUDE,
    LONGITUDE_REF,
    MAKE,
    MODEL,
    TAKEN,
    Value,
)
from softhash.data._metadata import read_metadata
from softhash.data.decoding import ImageSource
from softhash.errors import ImageError

MAX_CAMERA = 80  # characters
EARLIEST = 1826  # the year of the first photograph

_TIME = re.compile(r"(\d{4})[:\-/](\d\d)[:\-/](\d\d)(?:[ T](\d\d):(\d\d):(\d\d))?")


class PhotoFacts(NamedTuple):
    """What is known of one photograph; what is unknown is empty.

    Attributes:
        taken: local time as `2024-05-17T14:03:22`. As text it sorts by time, and compares with a
            beginning such as `2024-05`.
        camera: make and model.
        latitude: in degrees, north of the equator above 0; None without a place.
        longitude: in degrees, east of Greenwich above 0; None without a place.

    """

    taken: str = ""
    camera: str = ""
    latitude: float | None = None
    longitude: float | None = None


def read_facts(source: ImageSource) -> PhotoFacts:
    """Read the facts of a picture without decoding a pixel; what cannot be opened has none.

    Args:
        source: a path, the bytes of a file, or a binary stream.

    """
    try:
        exif = read_metadata(source).exif
    except ImageError:
        return PhotoFacts()
    times = (_time(exif.get(tag)) for tag in (TAKEN, DIGITISED, CHANGED))
    latitude, longitude = _place(exif)
    return PhotoFacts(next(filter(None, times), ""), _camera(exif), latitude, longitude)


def _time(value: Value | None) -> str:
    found = _TIME.match(value.strip()) if isinstance(value, str) else None
    if found is None:
        return ""
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups())
    try:
        moment = datetime(year, month, day, hour, minute, second)
    except ValueError:  # the 31st of February, or a clock that was never set
        return ""
    return moment.isoformat() if year >= EARLIEST else ""


def _camera(exif: dict[int, Value]) -> str:
    make, model = (_line(exif.get(tag)) for tag in (MAKE, MODEL))
    brand = make.partition(" ")[0].casefold()
    name = model if brand and model.casefold().startswith(brand) else f"{make} {model}"
    return name.strip()[:MAX_CAMERA].rstrip()


def _line(value: Value | None) -> str:
    text = value if isinstance(value, str) else ""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _place(exif: dict[int, Value]) -> tuple[float | None, float | None]:
    latitude = _degrees(exif.get(LATITUDE), exif.get(LATITUDE_REF), "NS", 90)
    longitude = _degrees(exif.get(LONGITUDE), exif.get(LONGITUDE_REF), "EW", 180)
    if latitude is None or longitude is None or latitude == longitude == 0:  # never set
        return None, None
    return latitude, longitude


def _degrees(value: Value | None, side: Value | None, sides: str, most: int) -> float | None:
    """Turn degrees, minutes and seconds into degrees; `sides` are those above and below 0."""
    if not isinstance(value, tuple) or not isinstance(side, str) or not 1 <= len(value) <= 3:
        return None
    degrees = math.fsum(part / 60.0**i for i, part in enumerate(value))
    mark = side.strip().upper()[:1]
    if not mark or mark not in sides or not math.isfinite(degrees) or degrees > most:
        return None
    return round(degrees if mark == sides[0] else -degrees, 6)
