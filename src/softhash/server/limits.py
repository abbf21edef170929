"""Limits of what a client may ask for."""

from dataclasses import dataclass
from enum import IntEnum

MAX_K = 1_000  # hits in one answer
MAX_OFFSET = 10_000  # hits that may be skipped
MAX_PAGE = 500  # items in one page
MAX_ID = 2**63 - 1
MAX_LABELS = 50  # labels in one request
MAX_TEXT = 200  # characters of a label


class Width(IntEnum):
    """Width of a served picture in pixels: few values, so that pictures can be cached."""

    SMALL = 160
    MIDDLE = 320
    LARGE = 640
    FULL = 1280


@dataclass(frozen=True)
class Limits:
    """Limits that protect a server from its clients.

    Attributes:
        body_bytes: the most bytes of one request.
        body_seconds: the time in which a request must arrive.
        pixels: the most pixels of a picture that is sent.
        work_seconds: the time in which a picture must be decoded and encoded.
        workers: threads that decode and encode; one per core by default, but two at least, so that
            one slow picture does not stop the others.
        waiting: how many pictures may wait for such a thread.
        kept_bytes: memory for resized pictures.
        stop_seconds: how long running requests may take when the server stops.

    """

    body_bytes: int = 20_000_000
    body_seconds: float = 30.0
    pixels: int = 60_000_000
    work_seconds: float = 30.0
    workers: int | None = None
    waiting: int = 64
    kept_bytes: int = 64_000_000
    stop_seconds: float = 10.0


DEFAULT_LIMITS = Limits()
