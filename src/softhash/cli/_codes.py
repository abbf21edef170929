"""Codes that exist already, added to an index."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

from softhash.cli._output import print_json, say
from softhash.errors import InputError, UsageError

if TYPE_CHECKING:
    from softhash.index import Entry

AT_ONCE = 50_000


def index_codes(
    location: str,
    codes: Path | None,
    names: Path | None,
    bits: int | None,
    model: Path | None,
    images: str | None,
    *,
    engine: str,
    as_json: bool,
) -> None:
    """Add codes, or replace those whose names are in the index; nothing is removed.

    Args:
        location: of the index.
        codes: `.npy` of the codes.
        names: file with one name per code.
        bits: length of the codes.
        model: what made the codes, all of its bits or the first, for searches by picture.
        images: the folder that names are relative to, so that hits have pictures.
        engine: of the model that made the codes; `auto` for fp32, or what the model was saved with.
        as_json: whether to print what was done as JSON.

    """
    from softhash.cli._opening import open_or_create
    from softhash.cli._progress import show_progress
    from softhash.data.arrays import read_codes

    if not (codes and names and bits):
        raise UsageError("codes come with names and length: --codes C.npy --names N.txt --bits N")
    started = time.monotonic()
    rows, entries = read_codes(codes, bits), read_entries(names)
    if len(rows) != len(entries):
        raise InputError(f"{codes} has {len(rows):,} rows and {names} {len(entries):,} names")
    opening = open_or_create(location, model, bits, engine=engine, of_codes=True)
    with opening as opened, show_progress("codes") as progress:
        if images is not None:
            opened.set_root(Path(images))
        before = len(opened)
        for start in range(0, len(rows), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            opened.upsert_codes(rows[part], entries[part])
            progress(min(start + AT_ONCE, len(rows)), len(rows))
        items, shown = len(opened), opened.store.location
    added, seconds = items - before, time.monotonic() - started
    changed = len(rows) - added
    if as_json:
        found = {"added": added, "changed": changed, "items": items, "seconds": round(seconds, 3)}
        print_json(found)
    else:
        say(f"{shown}: {items:,} items; {added:,} added, {changed:,} replaced")


def read_entries(path: Path) -> "list[Entry]":
    """Read one name per line, as `encode --ids` writes it, or JSON lines, which may have labels."""
    from softhash.data.formats.table import named_rows
    from softhash.data.names import clean_names, from_line, several
    from softhash.data.text_files import read_lines
    from softhash.index import Entry

    if path.suffix.lower() == ".jsonl":
        rows = named_rows(path)
    else:
        rows = [(from_line(line), ()) for _, line in read_lines(path)]
    names = clean_names(name for name, _ in rows)
    if len(set(names)) < len(names):
        counts: dict[str, int] = {}
        for name in names:
            counts[name] = counts.get(name, 0) + 1
        twice = [name for name, count in counts.items() if count > 1]
        raise InputError(f"{path} has names more than once: {several(twice)}")
    return [Entry(name, labels) for name, (_, labels) in zip(names, rows, strict=True)]
