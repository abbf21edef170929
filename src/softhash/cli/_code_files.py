"""Files of codes, as `encode` writes them of shards, added to an index by a command."""

import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from softhash.cli._output import print_json, say
from softhash.errors import InputError, ModelMismatchError, UsageError

SUFFIX = ".parquet"


def find_code_files(codes: Path | None, others: Sequence[str]) -> tuple[list[Path], list[str]]:
    """Return the files of codes that are named, and the arguments that name something else.

    A shell writes out `--codes codes/*.parquet`, so that all but the first are arguments.

    Args:
        codes: a file, a folder of files, or a pattern of files.
        others: the arguments of the command.

    """
    if codes is None or not (codes.suffix.lower() == SUFFIX or codes.is_dir()):
        return [], list(others)
    if codes.is_dir():
        found = sorted(codes.glob(f"*{SUFFIX}"))
        if not found:
            raise InputError(f"{codes} holds no {SUFFIX} files", "give what encode -o wrote")
        return found, list(others)
    found = [codes]
    if not codes.exists():
        found = sorted(codes.parent.glob(codes.name)) or find_missing(codes)
    found += [Path(one) for one in others if one.lower().endswith(SUFFIX)]
    return found, [one for one in others if not one.lower().endswith(SUFFIX)]


def find_missing(codes: Path) -> list[Path]:
    """Expand braces, and raise where files are not there."""
    from softhash.data.shards.names import find_shards

    return [shard.path for shard in find_shards([str(codes)])]


def index_code_files(
    location: str,
    paths: Sequence[Path],
    model: Path | None,
    images: str | None,
    *,
    bits: int | None,
    engine: str,
    with_shard: bool,
    as_json: bool,
) -> None:
    """Add the codes of files; nothing is removed.

    Args:
        location: of the index.
        paths: of the files.
        model: what made the codes, for searches by picture.
        images: the folder that ids are relative to, so that hits have pictures.
        bits: the length that is expected.
        engine: of the model; `auto` for the one that made the codes.
        with_shard: whether items are named after their shards too.
        as_json: whether to print what was done as JSON.

    """
    from softhash.cli._opening import open_or_create
    from softhash.cli._progress import show_progress
    from softhash.index.code_import import check_alike, import_codes

    started = time.monotonic()
    about = check_alike(paths)
    if bits not in (None, about.bits):
        raise UsageError(f"the codes have {about.bits} bits, not {bits}", "leave --bits out")
    if model:
        engine = _find_engine(model, about.bits, about.model, engine)
    made_by = about.model
    opening = open_or_create(
        location, model, about.bits, engine=engine, of_codes=True, made_by=made_by
    )
    with opening as opened, show_progress("codes", "files") as progress:
        if images is not None:
            opened.set_root(Path(images))
        found = import_codes(opened, paths, about, with_shard=with_shard, progress=progress)
        shown = opened.store.location
    if as_json:
        seconds = round(time.monotonic() - started, 3)
        print_json({**found._asdict(), "seconds": seconds})
    else:
        say(
            f"{shown}: {found.items:,} items; {found.added:,} added, {found.changed:,} replaced, "
            f"from {len(paths):,} files"
        )


def _find_engine(model: Path, bits: int, made_by: str, engine: str) -> str:
    """Return the engine of the model that made some codes; raise where it is another model.

    Args:
        model: its folder.
        bits: of the codes, all of the model's or the first.
        made_by: what identifies the weights and the engine.
        engine: that was asked for, or `auto`.

    """
    from softhash.cli._models import load_hasher
    from softhash.model.config import ENGINES

    for name in ENGINES if engine == "auto" else (engine,):
        with suppress(UsageError):  # int8 is not for every model
            if load_hasher(model, bits, name).identity == made_by:
                return name
    raise ModelMismatchError(
        f"the codes were not made by {model}, but by the weights {made_by[:12]}…",
        "give that model, or leave -m out",
    )
