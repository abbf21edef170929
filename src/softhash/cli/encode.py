"""``softhash encode``: codes of a collection."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from softhash.cli._collection import read_collection
from softhash.cli._output import say, warn

if TYPE_CHECKING:
    from softhash.data.image_set import ImageSet
    from softhash.model.encoding import Encoded
    from softhash.model.hasher import Hasher


def encode(
    images: Annotated[str, typer.Argument(help="A folder, a table, a picture, or `scenes`.")],
    model: Annotated[Path, typer.Option("-m", "--model", help="The model's folder.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="`.npy`: packed uint8, one row a picture.")
    ],
    ids: Annotated[
        Path | None, typer.Option(help="Text file: the file name of each row, one a line.")
    ] = None,
    batch_size: Annotated[
        int | None, typer.Option(help="Pictures at once; what suits the device by default.")
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
) -> None:
    """Encode pictures as binary codes; those that cannot be read are skipped and named."""
    from softhash.files import check_free, write_whole
    from softhash.model.hasher import Hasher

    for path in filter(None, (output, ids)):
        check_free(path, force=force)
    hasher = Hasher.load(model)
    collection = _read(images)
    found = _encode(hasher, collection, batch_size, device)
    write_whole(output, _npy(found), force=force)
    say(f"saved {output}: {len(found.values):,} codes of {hasher.bits} bits")
    if ids:
        names = (collection.file_names[i] for i in found.positions)
        write_whole(ids, "".join(f"{name}\n" for name in names), force=force)
        say(f"saved {ids}")


def _read(images: str) -> "ImageSet":
    """Read a collection; a single picture is one too."""
    import numpy as np

    from softhash.data.formats._files import IMAGE_SUFFIXES
    from softhash.data.image_set import ImageSet

    path = Path(images)
    if path.is_file() and path.suffix.lower() in IMAGE_SUFFIXES:
        return ImageSet(path.parent, (path.name,), np.zeros((1, 0), np.uint8), ())
    return read_collection(images)


def _encode(
    hasher: "Hasher", collection: "ImageSet", batch_size: int | None, device: str
) -> "Encoded":
    """Encode with progress, and tell what became of it."""
    from softhash.cli._progress import show_progress
    from softhash.errors import InputError

    if hasher.backbone is None:
        raise InputError("this model hashes features, not pictures", "use Hasher.encode in Python")
    started = time.monotonic()
    with show_progress("encoding", "pictures") as progress:
        found = hasher.encode_readable(
            collection, batch_size=batch_size, device=device, progress=progress
        )
    seconds = max(time.monotonic() - started, 1e-3)
    for one in found.broken:
        warn(f"skipped: {one.reason}")
    if found.broken:
        warn(f"{len(found.broken):,} of {len(collection):,} pictures cannot be read")
    if not len(found.values):
        raise InputError(
            f"none of the {len(collection):,} pictures can be read", "nothing is saved"
        )
    say(f"{len(found.values):,} pictures in {seconds:,.1f} s: {len(found.values) / seconds:,.0f}/s")
    return found


def _npy(found: "Encoded") -> bytes:
    import io

    import numpy as np

    file = io.BytesIO()
    np.save(file, found.values, allow_pickle=False)
    return file.getvalue()
