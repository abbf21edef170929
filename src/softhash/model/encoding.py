"""The loop from pictures to codes: decoded ahead, computed batch by batch, joined."""

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from softhash.codes import pack, row_bytes
from softhash.data.loading import Batch, Broken, Progress
from softhash.errors import ImageError, InputError, UsageError, unknown_name
from softhash.model import inputs
from softhash.model.config import ModelConfig
from softhash.model.engines import Engine

KINDS = ("codes", "outputs", "features", "both")  # both: outputs, then features, in one row
FEATURES_AT_ONCE = 4096


class EncodeOptions(TypedDict, total=False):
    """The settings of an encoding run, all optional; see `Hasher.encode`."""

    batch_size: int | None
    device: str
    workers: int | None
    bf16: bool
    progress: Progress | None


@dataclass(frozen=True, eq=False)
class Encoded:
    """What became of some pictures.

    Attributes:
        values: one row per picture that could be read.
        positions: where in the source these pictures are.
        broken: the pictures that could not be read.

    """

    values: NDArray[Any]
    positions: NDArray[np.int64]
    broken: tuple[Broken, ...]


def check_kind(kind: str, config: ModelConfig) -> None:
    """Raise unless a model of this config computes that kind of values."""
    if kind not in KINDS:
        raise unknown_name("kind of values", kind, KINDS)
    if kind == "features" and config.backbone is None:
        raise UsageError("a hasher of features computes none", "it takes them")


def feed(
    source: inputs.Source,
    config: ModelConfig,
    batch_size: int | None,
    engine: Engine,
    workers: int | None,
) -> inputs.Feed:
    """Find out what a source holds, and prepare its batches.

    Args:
        source: pictures or features, as `Hasher.encode` takes them.
        config: the model's settings.
        batch_size: what was asked for; what suits the engine by default.
        engine: what computes.
        workers: threads that decode files.

    """
    if batch_size is not None and batch_size < 1:
        raise UsageError(f"batch_size is {batch_size}", "give at least 1")
    if config.backbone is None:
        return inputs.features(source, config.features, batch_size or FEATURES_AT_ONCE)
    return inputs.pictures(source, config.size, batch_size or engine.batch_size, workers)


def run(
    given: inputs.Feed, engine: Engine, kind: str, progress: Progress | None
) -> Generator[Encoded, None, None]:
    """Compute what is wanted of every batch; stopping early stops the decoding too.

    Args:
        given: the batches.
        engine: what computes.
        kind: one of `KINDS`.
        progress: called with (pictures done, pictures in all).

    """
    done = 0
    with closing(given.batches) as batches:
        for batch in batches:
            yield Encoded(_values(batch, engine, kind), batch.positions, batch.broken)
            done += len(batch.positions) + len(batch.broken)
            if progress:
                progress(done, given.total)


def _values(batch: Batch, engine: Engine, kind: str) -> NDArray[Any]:
    u, features = engine(batch.pixels)
    if kind == "codes":
        return pack(u)
    return (
        {"outputs": u, "features": features}[kind] if kind != "both" else np.hstack((u, features))
    )


def joined(
    parts: Generator[Encoded, None, None], config: ModelConfig, kind: str, *, total: int | None
) -> Encoded:
    """Put batches together.

    Args:
        parts: the batches.
        config: the model's settings.
        kind: one of `KINDS`.
        total: how many pictures there are, where one that cannot be read is an error; None where
            such pictures are skipped.

    """
    values, positions = [_nothing(config, kind)], [np.empty(0, np.int64)]
    broken: list[Broken] = []
    with closing(parts):
        for part in parts:
            if part.broken and total is not None:
                raise _refusal(part.broken[0], total)
            values.append(part.values)
            positions.append(part.positions)
            broken += part.broken
    return Encoded(np.concatenate(values), np.concatenate(positions), tuple(broken))


def _nothing(config: ModelConfig, kind: str) -> NDArray[Any]:
    if kind == "codes":
        return np.empty((0, row_bytes(config.bits)), np.uint8)
    widths = {"outputs": config.bits, "features": config.features}
    width = sum(widths.values()) if kind == "both" else widths[kind]
    return np.empty((0, width), np.float32)


def _refusal(broken: Broken, total: int) -> InputError:
    if total == 1:
        return ImageError(broken.reason)
    return ImageError(
        f"picture {broken.position} of {total:,}: {broken.reason}",
        "to skip and name such pictures, use encode_readable",
    )
