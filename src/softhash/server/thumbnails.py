"""Pictures in the few widths that are served, cached in memory."""

import hashlib
import io
import threading
from collections import OrderedDict
from pathlib import Path

from softhash.data.decoding import image_size, open_image

QUALITY = 85


class Thumbnails:
    """A cache of JPEGs by tag: the least recently used make room for new ones.

    Args:
        kept_bytes: the most bytes that are kept.

    """

    def __init__(self, kept_bytes: int) -> None:
        self._room = kept_bytes
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, bytes] = OrderedDict()

    def get(self, tag: str) -> bytes | None:
        """Return a cached picture, None where there is none."""
        with self._lock:
            if tag in self._kept:
                self._kept.move_to_end(tag)
            return self._kept.get(tag)

    def make(self, path: Path, width: int, tag: str) -> bytes:
        """Decode a file, scale it down and cache it.

        What is served is always encoded again, so that nothing else of a file is: neither what
        follows its pixels nor its metadata.

        Args:
            path: of the file.
            width: of the picture, at most.
            tag: what `content_tag` returned for both.

        """
        data = scaled_jpeg(path, width)
        with self._lock:
            replaced = self._kept.pop(tag, b"")  # by a request that missed at the same time
            self._kept[tag] = data
            self._room += len(replaced) - len(data)
            while self._room < 0:
                self._room += len(self._kept.popitem(last=False)[1])
        return data


def content_tag(path: Path, width: int) -> str:
    """Return a tag that changes when the file does; raise FileNotFoundError where it is gone."""
    status = path.stat()
    text = f"{path}\0{status.st_mtime_ns}\0{status.st_size}\0{width}"
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:32]


def scaled_jpeg(path: Path, width: int) -> bytes:
    """Encode a picture as a JPEG of that width, or of its own where that is less."""
    height, full = image_size(path)
    size = (max(1, round(height * width / full)), width) if full > width else None
    picture, file = open_image(path, size=size), io.BytesIO()
    picture.save(file, "JPEG", quality=QUALITY)
    return file.getvalue()
