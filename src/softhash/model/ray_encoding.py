"""Shards encoded on Ray Data: tasks read and decode, actors hold the model, this process writes.

Reading, decoding, encoding and writing are those of a run without Ray. What travels is a row per
batch: its pixels on the way to an actor, its codes on the way back. The codes of a shard are
written here, by `write_shard`, when all of its rows are there. Ray runs what a lost machine had in
hand again; a row that comes twice has the same place, and is kept once.
"""

import json
import logging
import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from softhash.codes import row_bytes
from softhash.data.loading import Broken
from softhash.data.shards.code_file import About
from softhash.data.shards.library import import_pyarrow
from softhash.data.shards.names import Shard
from softhash.data.shards.stream import ShardPictures
from softhash.devices import limit_cores
from softhash.errors import MissingExtraError, ShardError, SofthashError
from softhash.model.engines import OnnxEngine, TorchEngine
from softhash.model.shard_encoding import Outcome, Piece, write_shard

if TYPE_CHECKING:
    from softhash.model.hasher import Hasher

# Different ones for the two steps, so that Ray does not run them in one process; on processors
# both fit on one core.
DECODE = {"num_cpus": 0.25}
ENCODE_ON_CPU = {"num_cpus": 0.75}
ENCODE_ON_GPU = {"num_cpus": 0, "num_gpus": 1}


def import_ray() -> Any:
    """Import Ray with its reports of usage switched off.

    Raises:
        MissingExtraError: it is not installed.

    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
        import ray.data
    except ModuleNotFoundError as error:
        raise MissingExtraError("ray", "ray") from error
    return ray


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Connect to Ray, and leave it as it was: `local` starts one that ends with this.

    Raises:
        SofthashError: there is none at that address.

    """
    ray = import_ray()
    own = {"include_dashboard": False} if address == "local" else {}
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **own)
    except (ConnectionError, ValueError, RuntimeError, OSError) as error:
        raise SofthashError(
            f"there is no Ray at {address}: {str(error).strip().splitlines()[0][:200].rstrip('.')}",
            "start one with ray start, or give local",
        ) from error
    try:
        yield ray
    finally:
        ray.shutdown()


def encode_shards(
    hasher: "Hasher",
    shards: Sequence[Shard],
    folder: Path,
    about: About,
    *,
    address: str,
    model: Path,
    column: str | None = None,
    batch_size: int | None = None,
    device: str = "auto",
) -> Iterator[Outcome]:
    """Encode shards on Ray; one that is damaged does not stop the others.

    Shards and model must be where all machines of the cluster see them, and softhash installed.

    Args:
        hasher: the model.
        shards: where pictures are.
        folder: where codes go; this process writes them.
        about: what makes them.
        address: of the cluster; `auto` for the one of this machine, `local` for one of our own.
        model: the folder of the model, which actors load.
        column: of a table, where its pictures are.
        batch_size: pictures at once; what suits the device by default.
        device: cpu or cuda; cuda by default where the cluster has GPUs.

    """
    with connected(address) as ray:
        found = ray.cluster_resources()
        on_gpu = device.startswith("cuda") or (device == "auto" and found.get("GPU", 0) > 0)
        device = "cuda" if on_gpu else "cpu"
        size = batch_size or (TorchEngine if on_gpu else OnnxEngine).batch_size
        about = about._replace(engine=f"{about.engine.partition(',')[0]}, {device}")
        decode = {"size": hasher.size, "batch_size": size, "column": column}
        actor = {
            "model": str(model.absolute()), "bits": hasher.bits,
            "engine": hasher.engine, "device": device,
        }  # fmt: skip
        actors = max(1, int(found.get("GPU" if on_gpu else "CPU", 1)))
        rows = _rows(ray, shards, decode, actor, actors)
        try:
            yield from _collect(rows, shards, folder, about)
        except ray.exceptions.RayError as error:
            reason = str(error).strip().splitlines()[-1][:300]
            raise SofthashError(f"Ray gave up: {reason}", "the same command goes on") from error


def _rows(
    ray: Any,
    shards: Sequence[Shard],
    decode: dict[str, Any],
    actor: dict[str, Any],
    actors: int,
) -> Iterator[dict[str, Any]]:
    """Let Ray Data do the work; yield a row per batch as they are ready, in any order."""
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False  # whoever runs this shows how many shards are done
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    items = [
        {"shard": i, "path": str(one.path.absolute()), "name": one.name}
        for i, one in enumerate(shards)
    ]
    strategy = ray.data.ActorPoolStrategy(min_size=1, initial_size=actors, max_size=actors)
    on_gpu = actor["device"] == "cuda"
    rows = (
        ray.data.from_items(items, override_num_blocks=len(items))
        .map_batches(
            decode_batches, batch_size=1, batch_format="pyarrow", fn_kwargs=decode, **DECODE
        )
        .map_batches(
            BatchEncoder, batch_size=1, batch_format="pyarrow", compute=strategy,
            fn_constructor_kwargs=actor, **(ENCODE_ON_GPU if on_gpu else ENCODE_ON_CPU),
        )
    )  # fmt: skip
    found: Iterator[dict[str, Any]] = rows.iter_rows()
    return found


def decode_batches(
    table: Any, size: int, batch_size: int, column: str | None
) -> Generator[Any, None, None]:
    """Read and decode one shard; yield a row per batch, and one more at its end.

    Args:
        table: a row of the shard's number and path.
        size: the side of the pictures.
        batch_size: pictures per row, at most.
        column: of a table, where its pictures are.

    """
    (row,) = table.to_pylist()
    place = -1
    try:
        pictures = ShardPictures(Path(row["path"]), column, row["name"])
        for place, batch in enumerate(pictures.batches(size, batch_size, workers=1)):
            ids, members = pictures.take_names(batch.positions)
            broken = [tuple(vars(one).values()) for one in batch.broken]
            about = {"ids": ids, "members": members, "broken": broken}
            yield _row(row["shard"], place, about, batch.pixels.tobytes())
        end: dict[str, Any] = {"end": True}
    except ShardError as error:
        end = {"end": True, "error": [error.detail, error.hint]}
    yield _row(row["shard"], place + 1, end, b"")


class BatchEncoder:
    """The model in a process of its own; called with one row at a time.

    Args:
        model: its folder.
        bits: of the codes.
        engine: what computes them.
        device: where it computes.

    """

    def __init__(self, model: str, bits: int, engine: str, device: str) -> None:
        from softhash.model.hasher import Hasher

        limit_cores(1)
        self._hasher = Hasher.load(model).shortened(bits).with_engine(engine)
        self._device = device

    def __call__(self, table: Any) -> Any:
        """Put codes in the place of pixels."""
        (row,) = table.to_pylist()
        about = json.loads(row["about"])
        count = len(about.get("ids", ()))
        codes = b""
        if count:
            size = self._hasher.size or 0
            pixels = np.frombuffer(row["data"], np.uint8).reshape(count, size, size, 3)
            found = self._hasher.encode(pixels, batch_size=count, device=self._device)
            codes = found.tobytes()
        return _row(row["shard"], row["place"], about, codes)


def _row(shard: int, place: int, about: dict[str, Any], data: bytes) -> Any:
    """Make a table of one row: where it belongs, what it is about, and its pixels or codes."""
    pa = import_pyarrow()
    columns = {
        "shard": pa.array([shard], pa.int64()),
        "place": pa.array([place], pa.int64()),
        "about": pa.array([json.dumps(about)], pa.string()),
        "data": pa.array([data], pa.large_binary()),
    }
    return pa.table(columns)


def _collect(
    rows: Iterator[dict[str, Any]], shards: Sequence[Shard], folder: Path, about: About
) -> Iterator[Outcome]:
    """Write the codes of each shard when all of its rows are there."""
    waiting: dict[int, dict[int, dict[str, Any]]] = {}
    finished: set[int] = set()
    for row in rows:
        number = row["shard"]
        if number in finished:
            continue
        known = waiting.setdefault(number, {})
        known[row["place"]] = {**json.loads(row["about"]), "codes": row["data"]}
        end = next((place for place, part in known.items() if "end" in part), None)
        if end is None or len(known) <= end:
            continue
        finished.add(number)
        parts = waiting.pop(number)
        last = parts.pop(end)
        yield _write(parts, last.get("error"), shards[number], folder, about)
    if lost := len(shards) - len(finished):
        raise SofthashError(f"Ray lost {lost:,} shards", "the same command goes on")


def _write(
    parts: dict[int, dict[str, Any]],
    error: list[str] | None,
    shard: Shard,
    folder: Path,
    about: About,
) -> Outcome:
    if error:
        return Outcome(shard, None, ShardError(*error))
    width = row_bytes(about.bits)
    pieces = (
        Piece(
            part["ids"],
            part["members"],
            np.frombuffer(part["codes"], np.uint8).reshape(-1, width),
            [Broken(*one) for one in part["broken"]],
        )
        for _, part in sorted(parts.items())
    )
    try:
        return Outcome(shard, write_shard(pieces, shard, folder, about))
    except ShardError as failure:
        return Outcome(shard, None, failure)
