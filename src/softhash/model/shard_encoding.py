"""Shards encoded one by one: a file of codes for each, which a second run finds and leaves."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from softhash.data.loading import Broken
from softhash.data.shards.code_file import About, read_about, write_codes
from softhash.data.shards.names import Shard
from softhash.data.shards.stream import ShardPictures
from softhash.devices import pick_device
from softhash.errors import AlreadyExistsError, InputError, ShardError

if TYPE_CHECKING:
    from softhash.codes import Codes
    from softhash.model.hasher import Hasher

BROKEN_KEPT = 10


class Piece(NamedTuple):
    """Some pictures of a shard, encoded, and those among them that are skipped.

    Attributes:
        ids: of the pictures.
        members: what the shard calls each.
        codes: packed, one row per id.
        broken: pictures without a code.

    """

    ids: Sequence[str]
    members: Sequence[str]
    codes: "Codes"
    broken: Sequence[Broken]


class ShardSummary(NamedTuple):
    """What became of a shard: pictures encoded, others counted by kind, and the first of them."""

    pictures: int
    skipped: dict[str, int]
    broken: tuple[Broken, ...]


class Outcome(NamedTuple):
    """A shard, and what became of it, or why it has no codes."""

    shard: Shard
    summary: ShardSummary | None
    error: ShardError | None = None


def describe_codes_of(hasher: "Hasher", device: str) -> About:
    """Say what makes codes, for the metadata of their files."""
    from softhash import __version__

    hasher.check_hamming()
    return About(hasher.bits, hasher.identity, f"softhash {__version__}, {pick_device(device)}")


def plan_shards(
    shards: Sequence[Shard], folder: Path, about: About, *, force: bool = False
) -> list[Shard]:
    """Return the shards that have no codes of this model in the folder yet.

    Args:
        shards: all of them.
        folder: of the codes.
        about: what makes the codes.
        force: whether codes of another model or shard, and other files, are replaced.

    Raises:
        AlreadyExistsError: there are such files.

    """
    left, others = [], []
    for shard in shards:
        path = output_path(folder, shard)
        if not path.exists():
            left.append(shard)
        elif not _is_made(path, of_shard(about, shard)):
            left.append(shard)
            others.append(path)
    if others and not force:
        more = f", as are {len(others) - 1:,} more" if len(others) > 1 else ""
        raise AlreadyExistsError(
            f"{others[0]} is of another model or another shard{more}",
            "to replace them, pass force=True",
        )
    return left


def output_path(folder: Path, shard: Shard) -> Path:
    """Return where the codes of a shard are written."""
    return folder / f"{shard.name}.parquet"


def of_shard(about: About, shard: Shard) -> About:
    """Say which shard codes are of."""
    size = shard.path.stat().st_size
    return about._replace(source=shard.path.name, source_bytes=size)


def _is_made(path: Path, about: About) -> bool:
    try:
        return read_about(path).made_alike(about)
    except InputError:
        return False


def encode_shards(
    hasher: "Hasher", shards: Sequence[Shard], folder: Path, about: About, **options: Any
) -> Iterator[Outcome]:
    """Encode shards one after another; one that is damaged does not stop the others.

    Args:
        hasher: the model.
        shards: where pictures are.
        folder: where codes go.
        about: what makes them.
        options: those of `encode_shard`.

    """
    for shard in shards:
        try:
            yield Outcome(shard, encode_shard(hasher, shard, folder, about, **options))
        except ShardError as error:
            yield Outcome(shard, None, error)


def encode_shard(
    hasher: "Hasher",
    shard: Shard,
    folder: Path,
    about: About,
    *,
    column: str | None = None,
    batch_size: int | None = None,
    device: str = "auto",
) -> ShardSummary:
    """Encode the pictures of a shard into a file that appears whole or not at all.

    Args:
        hasher: the model.
        shard: where the pictures are.
        folder: where the codes go.
        about: what makes them.
        column: of a table, where its pictures are.
        batch_size: pictures at once; what suits the device by default.
        device: where they are encoded.

    Raises:
        ShardError: the shard is damaged, or not one of its pictures can be read.

    """
    pictures = ShardPictures(shard.path, column, shard.name)
    with closing(hasher.stream(pictures, batch_size=batch_size, device=device)) as parts:
        pieces = (
            Piece(*pictures.take_names(part.positions), part.values, part.broken) for part in parts
        )
        return write_shard(pieces, shard, folder, about)


def write_shard(pieces: Iterable[Piece], shard: Shard, folder: Path, about: About) -> ShardSummary:
    """Write the codes of a shard, and count what it lacks.

    Args:
        pieces: all of its pictures, in order.
        shard: what they are of.
        folder: where the codes go.
        about: what made them.

    """
    skipped: Counter[str] = Counter()
    first: list[Broken] = []
    about = of_shard(about, shard)
    with write_codes(output_path(folder, shard), about.bits) as writer:
        for piece in pieces:
            writer.add(piece.ids, piece.codes, piece.members)
            skipped.update(one.kind for one in piece.broken)
            first += piece.broken[: BROKEN_KEPT - len(first)]
        if skipped and not writer.total:
            raise ShardError(
                f"none of the {skipped.total():,} pictures in {shard.path} can be read, "
                f"such as: {first[0].reason}"
            )
        writer.finish(about._replace(skipped=dict(sorted(skipped.items()))))
    return ShardSummary(writer.total, dict(skipped), tuple(first))
