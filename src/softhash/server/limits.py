"""Limits of what a client may ask for."""

from dataclasses import dataclass
from enum import IntEnum

MAX_K = 1_000  # hits in one answer
MAX_OFFSET = 10_000  # hits that may be skipped
MAX_PAGE = 500  # items in one page
MAX_ID = 2**63 - 1
MAX_LABELS = 50  # labels in one request
MAX_TEXT = 200  # characters of a label
MAX_PATH = 4_096  # characters of a folder's name
MAX_WHERE = 4_000  # characters of an expression over labels
MAX_WORDS = 1_000  # characters of a text to search by
MAX_ADDED = 20  # texts with words to add to a search, or to take from it
MAX_COMPLETIONS = 100  # words that complete a beginning, in one answer
MIN_TOKEN = 16  # characters of a token
LINGER_BYTES = 1_000_000  # of those that come after a response, before the connection is closed
LINGER_SECONDS = 1.0  # a client that still sends would not see the response of a closed connection


class Width(IntEnum):
    """Width of a served picture in pixels: few values, so that pictures can be cached."""

    SMALL = 160
    MIDDLE = 320
    LARGE = 640
    FULL = 1280


@dataclass(frozen=True)
class Limits:
    """Limits that protect a server from its clients.

    Those of heads and connections hold for `serve`. A server of your own, around `create_app`, has
    to bring its own.

    Attributes:
        target_bytes: the most bytes of the address in a request's first line.
        head_bytes: the most bytes of a request's headers, and of the trailers of a chunked body.
        headers: the most headers of a request.
        head_seconds: the time in which the head of a request must arrive.
        idle_seconds: how long a connection may wait for its next request.
        send_seconds: the time in which a client must take a response.
        connections: how many there may be at once; beyond, the one that waits longest is closed.
        pipelined: how many requests may be sent ahead on one connection.
        unsent_bytes: the most bytes of responses that clients have not taken yet, of all together.
        body_bytes: the most bytes of one request's body.
        body_seconds: the time in which a body must arrive.
        bodies_bytes: the most bytes of bodies that are in work, of all clients together.
        wrong_tokens: wrong tokens per minute, after which guesses are no longer looked at.
        pixels: the most pixels of a picture that is sent.
        work_seconds: the time in which a picture must be decoded and encoded.
        workers: threads that decode and encode; one per core by default, but two at least, so that
            one slow picture does not stop the others.
        waiting: how many pictures may wait for such a thread.
        kept_bytes: memory for resized pictures.
        stop_seconds: how long running requests may take when the server stops.

    """

    target_bytes: int = 8_192
    head_bytes: int = 32_768
    headers: int = 100
    head_seconds: float = 10.0
    idle_seconds: float = 5.0
    send_seconds: float = 60.0
    connections: int = 512
    pipelined: int = 16
    unsent_bytes: int = 256_000_000
    body_bytes: int = 20_000_000
    body_seconds: float = 30.0
    bodies_bytes: int = 256_000_000
    wrong_tokens: int = 10
    pixels: int = 60_000_000
    work_seconds: float = 30.0
    workers: int | None = None
    waiting: int = 64
    kept_bytes: int = 64_000_000
    stop_seconds: float = 10.0


DEFAULT_LIMITS = Limits()
