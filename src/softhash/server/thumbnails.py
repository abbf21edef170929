"""Pictures in the few widths that are served, kept in memory."""

import hashlib
import io
import threading
from collections import OrderedDict
from pathlib import Path

from softhash.data.decoding import image_size, open_image

QUALITY = 85


class Thumbnails:
    """JPEGs by tag; those not asked for the longest go first when there are too many bytes."""

    def __init__(self, kept_bytes: int) -> None:
        self._room = kept_bytes
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, bytes] = OrderedDict()

    def get(self, tag: str) -> bytes | None:
        """Return a picture that is there."""
        with self._lock:
            if tag in self._kept:
                self._kept.move_to_end(tag)
            return self._kept.get(tag)

    def make(self, path: Path, width: int, tag: str) -> bytes:
        """Decode a file, scale it down and keep it.

        What is served is always written anew: whatever else a file holds, behind its pixels or in
        its metadata, stays where it is.
        """
        data = scaled_jpeg(path, width)
        with self._lock:
            self._kept[tag] = data
            self._room -= len(data)
            while self._room < 0:
                self._room += len(self._kept.popitem(last=False)[1])
        return data


def content_tag(path: Path, width: int) -> str:
    """Make a tag that changes when the file does; FileNotFoundError where there is none."""
    status = path.stat()
    text = f"{path}\0{status.st_mtime_ns}\0{status.st_size}\0{width}"
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:32]


def scaled_jpeg(path: Path, width: int) -> bytes:
    """Write a picture as a JPEG of that width, or of its own where that is less."""
    full = image_size(path)
    size = (width, max(1, round(full[1] * width / full[0]))) if full[0] > width else None
    picture, file = open_image(path, size=size), io.BytesIO()
    picture.info.clear()  # Pillow would write the file's comment again
    picture.save(file, "JPEG", quality=QUALITY)
    return file.getvalue()
