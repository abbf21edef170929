"""``softhash encode``: codes of a collection, or of embeddings."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from softhash.cli._collection import read_collection, warn_skipped
from softhash.cli._output import say
from softhash.cli._part import read_part
from softhash.cli._shards import are_shards, encode_shards
from softhash.errors import InputError, UsageError

if TYPE_CHECKING:
    from softhash.codes import Codes
    from softhash.data.image_set import ImageSet
    from softhash.model.hasher import Hasher


def encode(
    images: Annotated[
        list[str],
        typer.Argument(
            help="A folder, a table, a picture, or `scenes`; shards (`.tar`, `.parquet`, `.arrow`, "
            "`data-{000..999}.tar`, a folder of `datasets`); for a model of `train --features` a "
            "`.npy` of embeddings, one row each."
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            help="`.npy`: packed uint8, one row per picture; of shards a folder, with one "
            "`.parquet` per shard.",
        ),
    ],
    model: Annotated[
        Path | None,
        typer.Option(
            "-m", "--model", help="The model's folder; by default the model that comes along."
        ),
    ] = None,
    ids: Annotated[
        Path | None,
        typer.Option(help="Text file: the file name of each row, one per line; odd ones as JSON."),
    ] = None,
    bits: Annotated[
        int | None, typer.Option(help="Keep the first bits of the codes; all by default.")
    ] = None,
    batch_size: Annotated[
        int | None, typer.Option(help="Pictures at once; what suits the device by default.")
    ] = None,
    column: Annotated[
        str | None, typer.Option(help="Of shards that are tables: where the pictures are.")
    ] = None,
    part: Annotated[
        str | None,
        typer.Option(help="Every n-th shard from the i-th on, as 1/3, beside other processes."),
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Of shards: share the work out by Ray: `local`, `auto` for the cluster that this "
            "machine is in, or an address.",
        ),
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    engine: Annotated[
        str | None,
        typer.Option(
            help="On a processor: fp32, int8 or auto, the faster of them; by default the model's "
            "own, which is fp32 of most."
        ),
    ] = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Overwrite existing files; of shards, those of another model."
        ),
    ] = False,
) -> None:
    """Encode pictures as binary codes; those that cannot be read are skipped and named."""
    from softhash.cli._models import load_hasher
    from softhash.data.names import as_line
    from softhash.files import check_free, write_whole
    from softhash.model.default_model import default_model

    sharded, share = are_shards(images), read_part(part)
    if sharded:
        if ids:
            raise UsageError("the ids of shards are beside their codes", "leave --ids out")
        model = model or default_model(say)
        encode_shards(
            load_hasher(model, bits, engine, device), images, output, model=model,
            part=share, force=force, ray=ray, column=column, batch_size=batch_size, device=device,
        )  # fmt: skip
        return
    if part or column or ray:
        raise UsageError("--part, --column and --ray are for shards", "leave them out")
    for path in filter(None, (output, ids)):
        check_free(path, force=force)
    hasher = load_hasher(model, bits, engine, device)
    names: tuple[str, ...] = ()
    if hasher.backbone is None:
        if ids:
            raise UsageError("embeddings have no file names", "leave --ids out")
        codes = _encode_features(hasher, images[0], batch_size, device)
    else:
        codes, names = _encode_pictures(hasher, images[0], batch_size, device)
    write_whole(output, _npy(codes), force=force)
    made_by = "" if engine is None else f", made by {hasher.engine}"
    say(f"saved {output}: {len(codes):,} codes of {hasher.bits} bits{made_by}")
    if ids:
        write_whole(ids, "".join(f"{as_line(name)}\n" for name in names), force=force)
        say(f"saved {ids}")


def _encode_features(
    hasher: "Hasher", features: str, batch_size: int | None, device: str
) -> "Codes":
    """Encode the rows of a file."""
    from softhash.data.arrays import read_features

    if not features.lower().endswith(".npy"):
        raise InputError(
            "this model takes embeddings, not pictures",
            f"give a .npy of shape (n, {hasher.config['features']}) as IMAGES",
        )
    return hasher.encode(read_features(Path(features)), batch_size=batch_size, device=device)


def _encode_pictures(
    hasher: "Hasher", images: str, batch_size: int | None, device: str
) -> tuple["Codes", tuple[str, ...]]:
    """Encode with progress; return the codes, and the file name of each."""
    from softhash.cli._progress import show_progress

    collection = _read(images)
    started = time.monotonic()
    with show_progress("encoding", "pictures") as progress:
        found = hasher.encode_readable(
            collection, batch_size=batch_size, device=device, progress=progress
        )
    seconds = max(time.monotonic() - started, 1e-3)
    warn_skipped(found.broken, collection.skipped)
    if not len(found.values):
        raise InputError(
            f"none of the {len(collection):,} pictures can be read", "nothing is saved"
        )
    say(f"{len(found.values):,} pictures in {seconds:,.1f} s: {len(found.values) / seconds:,.0f}/s")
    return found.values, tuple(collection.file_names[i] for i in found.positions)


def _read(images: str) -> "ImageSet":
    """Read a collection; a single picture is one too."""
    import numpy as np

    from softhash.data.image_set import ImageSet
    from softhash.data.names import IMAGE_SUFFIXES

    path = Path(images)
    if path.suffix.lower() == ".npy":
        raise InputError("this model takes pictures, not embeddings", "give a folder or a table")
    if path.is_file() and path.suffix.lower() in IMAGE_SUFFIXES:
        return ImageSet(path.parent, (path.name,), np.zeros((1, 0), np.uint8), ())
    return read_collection(images)


def _npy(codes: "Codes") -> bytes:
    import io

    import numpy as np

    file = io.BytesIO()
    np.save(file, codes, allow_pickle=False)
    return file.getvalue()
