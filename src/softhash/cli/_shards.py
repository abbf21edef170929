"""Shards encoded by a command: a folder of codes that a second run completes."""

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from softhash.cli._collection import BROKEN_SHOWN
from softhash.cli._output import fail, say, warn
from softhash.errors import InputError, UsageError

if TYPE_CHECKING:
    from softhash.model.hasher import Hasher
    from softhash.model.shard_encoding import Outcome


def are_shards(images: Sequence[str]) -> bool:
    """Return whether shards are named; raise where only some of several are."""
    from softhash.data.shards.names import is_shard

    found = [is_shard(one) for one in images]
    if any(found) and not all(found):
        other = images[found.index(False)]
        raise UsageError(f"{other} is not a shard, and others are", "encode it by itself")
    if len(images) > 1 and not any(found):
        raise UsageError("several collections are named", "encode one at a time")
    return any(found)


def encode_shards(
    hasher: "Hasher",
    images: Sequence[str],
    output: Path,
    *,
    model: Path,
    part: tuple[int, int],
    ray: str | None,
    force: bool,
    **options: Any,
) -> None:
    """Encode shards into a folder; those whose codes are there are left as they are.

    Args:
        hasher: the model.
        images: the shards.
        output: the folder.
        model: its folder.
        part: (i, n): every n-th shard from the i-th on.
        ray: where Ray runs that shares out the work; None without it.
        force: whether codes of another model are replaced.
        options: `column`, `batch_size` and `device`.

    """
    from softhash.cli._progress import show_progress
    from softhash.data.shards.library import import_pyarrow
    from softhash.data.shards.names import find_shards
    from softhash.model.shard_encoding import describe_codes_of, plan_shards
    from softhash.model.shard_encoding import encode_shards as encode_here

    import_pyarrow()  # also where shards are tar archives: codes are Parquet
    if hasher.backbone is None:
        raise InputError("this model takes embeddings, not pictures", "give a .npy as IMAGES")
    _prepare(output)
    number, count = part
    shards = find_shards(images)[number - 1 :: count]
    about = describe_codes_of(hasher, "cpu" if ray else options["device"])  # of Ray's machines
    left = plan_shards(shards, output, about, force=force)
    if len(left) < len(shards):
        say(f"{len(shards) - len(left):,} of {len(shards):,} shards have their codes in {output}")
    if ray and left:
        from softhash.model.ray_encoding import encode_shards as encode_on_ray

        outcomes = encode_on_ray(hasher, left, output, about, address=ray, model=model, **options)
    else:
        outcomes = encode_here(hasher, left, output, about, **options)
    with show_progress("shards") as progress:
        report = _Report(len(left), progress)
        report.take(outcomes)
    report.finish(output)


def _prepare(output: Path) -> None:
    if output.suffix.lower() == ".npy" or output.is_file():
        raise UsageError(f"{output} is a file, and codes of shards go to a folder", "give -o codes")
    try:
        output.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make {output}: {error.strerror or error}") from error


class _Report:
    """Counts what became of shards, and names what is skipped, up to a number."""

    def __init__(self, total: int, progress: Any) -> None:
        self._total, self._progress = total, progress
        self._started = time.monotonic()
        self._skipped: Counter[str] = Counter()
        self._shown = self._done = self._pictures = self._failed = 0

    def take(self, outcomes: "Iterable[Outcome]") -> None:
        """Print as shards are finished."""
        for outcome in outcomes:
            self._done += 1
            if outcome.summary:
                self._pictures += outcome.summary.pictures
                self._skipped.update(outcome.summary.skipped)
                self._show([one.reason for one in outcome.summary.broken])
            else:
                self._failed += 1
                warn(f"no codes of a shard: {outcome.error}")
            self._progress(self._done, self._total)

    def _show(self, reasons: list[str]) -> None:
        for reason in reasons[: max(0, BROKEN_SHOWN - self._shown)]:
            warn(f"skipped: {reason}")
        self._shown += len(reasons)

    def finish(self, output: Path) -> None:
        """Print the sums; exit with 1 where a shard failed."""
        from softhash.data.skipped import describe_skipped

        seconds = max(time.monotonic() - self._started, 1e-3)
        if self._skipped:
            warn(describe_skipped(self._skipped))
        if whole := self._total - self._failed:
            say(
                f"{self._pictures:,} pictures of {whole:,} shard{'s' * (whole != 1)} in "
                f"{seconds:,.1f} s: {self._pictures / seconds:,.0f}/s; codes are in {output}"
            )
        if self._failed:
            fail(
                f"{self._failed:,} of {self._total:,} shards have no codes; the others are whole, "
                "and the same command tries again",
                code=1,
            )
