"""What a shard holds, one picture after another."""

from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from softhash.errors import ShardError

MAX_PICTURE_BYTES = 1 << 28  # of one picture in a shard: it is read as a whole
MAX_PICTURES = 10_000_000  # of one shard: their ids are remembered
MAX_NAME = 4096


class Picture(NamedTuple):
    """A picture of a shard.

    Attributes:
        id: what it is called from now on; unique within the shard.
        member: what the shard calls it.
        content: its bytes, or where its file is.

    """

    id: str
    member: str
    content: bytes | Path


class Unusable(NamedTuple):
    """Something of a shard that is skipped: its name, why, and the kind of the reason."""

    member: str
    reason: str
    kind: str = "damaged"


Record = Picture | Unusable


def read_shard(path: Path, column: str | None = None, name: str | None = None) -> Iterator[Record]:
    """Read a shard in the order of its pictures; of several with one id the first counts.

    Args:
        path: a .tar, .parquet or .arrow file.
        column: of a table, where its pictures are; found by itself by default.
        name: what rows without an id are named after; the file's own by default.

    Raises:
        ShardError: it is damaged, or is not what its suffix says.

    """
    seen: set[bytes] = set()
    for record in _records(path, column, name or path.stem):
        if isinstance(record, Picture):
            digest = blake2b(record.id.encode(), digest_size=8).digest()
            if digest in seen:
                reason = f"{path}: {record.member} has the id {record.id}, as a picture before it"
                yield Unusable(record.member, reason, "duplicate")
                continue
            seen.add(digest)
            if len(seen) > MAX_PICTURES:
                raise ShardError(f"{path} has more than {MAX_PICTURES:,} pictures", "split it")
        yield record


def _records(path: Path, column: str | None, name: str) -> Iterator[Record]:
    if path.suffix.lower() == ".tar":
        from softhash.data.shards.tar import read_tar

        return read_tar(path)
    from softhash.data.shards.table import read_table

    return read_table(path, column, name)
