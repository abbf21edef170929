"""``softhash index``: a folder of pictures that can be searched, brought up to date."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from softhash.cli import _features, _multi_index
from softhash.cli._code_files import find_code_files, index_code_files
from softhash.cli._codes import index_codes
from softhash.cli._collection import (
    LabelsFrom,
    label_collection,
    read_collection,
    warn_skipped,
)
from softhash.cli._indexes import choose_location, find_index
from softhash.cli._models import first_look
from softhash.cli._opening import open_or_create
from softhash.cli._output import print_json, say
from softhash.cli._verification import verify_index
from softhash.errors import InputError, UsageError

if TYPE_CHECKING:
    from softhash.data.image_set import ImageSet
    from softhash.index import HammingIndex, UpdateSummary


def index(
    location: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="INDEX",
            help="A folder, or milvus://host:port/collection; kept in your data folder by default.",
        ),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Argument(metavar="[IMAGES]", help="A folder, a table, or `scenes`."),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option("-m", "--model", help="The model's folder; needed for a new index only."),
    ] = None,
    format: Annotated[str | None, typer.Option("--format", help="Layout of IMAGES.")] = None,
    labels_from: LabelsFrom = None,  # the index remembers it; `none` lets them go
    force: Annotated[
        bool, typer.Option("--force", help="Continue even if no picture of the index is left.")
    ] = False,
    keep_missing: Annotated[
        bool, typer.Option("--keep-missing", help="Keep items whose files are gone.")
    ] = False,
    drop_uploads: Annotated[
        bool,
        typer.Option(
            "--drop-uploads",
            help="Let go what clients of the server added: use the collection's labels, and remove "
            "items that it does not list; files stay.",
        ),
    ] = False,
    features: Annotated[
        bool | None,
        typer.Option(
            "--keep-features/--drop-features",
            help="Keep the backbone's features too, one byte per number, for search --rescore "
            "features; the index remembers it.",
        ),
    ] = None,
    tables: Annotated[
        bool | None,
        typer.Option(
            "--multi-index/--no-multi-index",
            help="Keep tables by which exact searches for near items look at few codes; made again "
            "as the index grows.",
        ),
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Change nothing; check every byte of the index.")
    ] = False,
    codes: Annotated[
        Path | None,
        typer.Option(
            help="Codes that exist already; nothing is encoded. A `.npy`, or what `encode` wrote "
            "of shards: `.parquet` files or their folder."
        ),
    ] = None,
    names: Annotated[
        Path | None,
        typer.Option(help="Of --codes: one file name per line, or .jsonl with labels too."),
    ] = None,
    with_shard: Annotated[
        bool,
        typer.Option(
            "--with-shard", help="Name items of --codes SHARD/ID, where shards share ids."
        ),
    ] = False,
    bits: Annotated[
        int | None,
        typer.Option(
            help="Of a new index: keep the first bits of the model's codes; the length of --codes."
        ),
    ] = None,
    batch_size: Annotated[
        int | None, typer.Option(help="Pictures at once; what suits the device by default.")
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    engine: Annotated[
        str,
        typer.Option(
            help="Of a new index: fp32, int8 or auto, which takes the faster; the index keeps it."
        ),
    ] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print what was done as JSON.")] = False,
) -> None:
    """Index a collection; a second run only processes what is new, changed, renamed or gone."""
    files, others = find_code_files(codes, given or [])
    if len(others) > 1:
        raise UsageError(f"{len(others)} collections are named", "give one, of all pictures")
    images = others[0] if others else None
    if verify:
        verify_index(find_index(location, "-o "), as_json=as_json)
        return
    _multi_index.check_location(location, tables)
    if codes or names:
        location = _check_codes(location, features)
        if files:
            index_code_files(
                location, files, model, images,
                bits=bits, engine=engine, with_shard=with_shard, as_json=as_json,
            )  # fmt: skip
        else:
            index_codes(location, codes, names, bits, model, images, engine=engine, as_json=as_json)
    elif images is None:
        location = _without_pictures(location, features, tables)
    else:
        from softhash.index.label_sources import choose_sources, remember_sources

        if features and location:
            _features.check_location(location)
        collection = _read(images, format, force=force)
        location = location or choose_location(images, collection.root)
        sources = choose_sources(location, labels_from)
        collection = label_collection(collection, sources)
        options: dict[str, Any] = {"batch_size": batch_size, "device": device}
        looked = cache(lambda: first_look(collection, engine=engine, **options))
        chosen: dict[str, Any] = {"engine": engine, "device": device}
        with open_or_create(location, model, bits, fit=lambda: looked().hasher, **chosen) as opened:
            _features.choose_features(opened, features)
            look = looked() if looked.cache_info().currsize else None  # at a new index
            known = {"features": look.features} if look else {}
            encoding = {**options, **known}
            summary = _update(opened, collection, force, keep_missing, drop_uploads, encoding)
            summary = replace(summary, seconds=summary.seconds + (look.seconds if look else 0))
            remember_sources(location, sources)
            filled = _features.fill_derived(opened, **options)
            _report(summary, filled, collection.skipped, opened.store.location, as_json)
    _multi_index.choose_tables(location, tables)


def _without_pictures(location: str | None, features: bool | None, tables: bool | None) -> str:
    """Let features go, where that is asked for; return the index's location.

    Args:
        location: of the index, where one was given.
        features: whether to keep features.
        tables: whether to keep tables.

    """
    if features or (features is None and tables is None):
        raise UsageError("name the pictures to index: softhash index IMAGES")
    location = find_index(location, "-o ")
    if features is False:
        _features.drop_features(location)
    return location


def _check_codes(location: str | None, features: bool | None) -> str:
    """Return the index's location; raise where something is asked for that codes cannot give."""
    if features:
        raise UsageError("features are computed of pictures, and --codes has none", "give IMAGES")
    if location is None:
        raise UsageError("an index of codes needs a name", "give -o INDEX")
    return location


def _read(images: str, format: str | None, *, force: bool) -> "ImageSet":
    """Read the collection; a folder without pictures empties an index only with --force."""
    import numpy as np

    from softhash.data.formats import folder
    from softhash.data.image_set import ImageSet

    path = Path(images)
    if path.is_dir() and not folder.matches(path):
        if force:
            return ImageSet(path.resolve(), (), np.zeros((0, 0), np.uint8), ())
        raise InputError(
            f"{images} holds no pictures, so the index is left as it is",
            "is a drive missing? --force removes all its items",
        )
    return read_collection(images, format)


def _update(
    opened: "HammingIndex",
    collection: "ImageSet",
    force: bool,
    keep_missing: bool,
    drop_uploads: bool,
    options: dict[str, Any],
) -> "UpdateSummary":
    from softhash.cli._progress import show_progress
    from softhash.index import changes

    try:
        with show_progress("comparing", "files") as progress:
            plan = changes.plan(
                opened.store.scan(), collection, drop_uploads=drop_uploads, progress=progress
            )
        with show_progress("encoding", "pictures") as progress:
            return opened.update(
                collection,
                plan=plan,
                force=force,
                keep_missing=keep_missing,
                progress=progress,
                **options,
            )
    except KeyboardInterrupt:
        say(
            f"stopped; {len(opened):,} pictures are in {opened.store.location}, and the same "
            "command continues from there"
        )
        raise


def _report(
    summary: "UpdateSummary",
    filled: dict[str, dict[str, int]],
    beside: Mapping[str, int],
    location: str,
    as_json: bool,
) -> None:
    from softhash.data.skipped import count_skipped

    if as_json:
        skipped = {"skipped": count_skipped(beside, summary.broken)}
        print_json(summary.as_dict() | filled | skipped)
        return
    warn_skipped(summary.broken, beside)
    say(f"{location}: {summary.items:,} items; {_sentence(summary)}")


def _sentence(summary: "UpdateSummary") -> str:
    """Describe what was done.

    >>> from softhash.index import UpdateSummary
    >>> _sentence(UpdateSummary(40, 0, 2, 0, 1, 0, 0, (), 41, 0.5))
    '40 added, 2 renamed, 1 removed, in 0.5 s (80 pictures/s)'
    >>> _sentence(UpdateSummary(0, 0, 0, 0, 0, 41, 2, (), 41, 0.5))
    'nothing changed; 2 uploaded items kept, --drop-uploads lets them go'
    """
    kinds = ("added", "changed", "renamed", "revised", "removed")
    parts = [f"{n:,} {kind}" for kind in kinds if (n := getattr(summary, kind))]
    encoded = summary.added + summary.changed
    rate = f" ({encoded / max(summary.seconds, 1e-3):,.0f} pictures/s)" if encoded else ""
    done = f"{', '.join(parts)}, in {summary.seconds:,.1f} s{rate}" if parts else "nothing changed"
    return done + _uploads_kept(summary.kept)


def _uploads_kept(count: int) -> str:
    if not count:
        return ""
    items, them = ("items", "them") if count > 1 else ("item", "it")
    return f"; {count:,} uploaded {items} kept, --drop-uploads lets {them} go"
