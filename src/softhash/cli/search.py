"""``softhash search``: the pictures of an index that are like others, or show what words say."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from softhash.cli._output import print_json, printable, say
from softhash.errors import ExpressionError, InputError

if TYPE_CHECKING:
    from softhash.cli._answer import Answer
    from softhash.index import HammingIndex


def search(
    location: Annotated[
        str | None,
        typer.Option(
            "-i",
            "--index",
            metavar="INDEX",
            help="A folder, milvus://host:port/collection, or the name of a kept index; the only "
            "one by default.",
        ),
    ] = None,
    things: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[IMAGE|WORDS]...",
            help="A picture to search for, or several; or words, such as 'dogs on the beach'.",
        ),
    ] = None,
    id: Annotated[int | None, typer.Option("--id", help="An item of the index instead.")] = None,
    code: Annotated[
        str | None, typer.Option(metavar="HEX", help="A code in hexadecimal instead.")
    ] = None,
    more: Annotated[
        list[str] | None,
        typer.Option(metavar="WORDS", help="Beside IMAGE or --id: rather pictures with these."),
    ] = None,
    less: Annotated[
        list[str] | None, typer.Option(metavar="WORDS", help="Rather pictures without these.")
    ] = None,
    k: Annotated[int, typer.Option("-k", "--limit", help="How many hits.", min=1)] = 10,
    offset: Annotated[int, typer.Option(help="Hits to skip.", min=0)] = 0,
    labels: Annotated[
        list[str] | None, typer.Option("--label", help="Only items with this label, or another.")
    ] = None,
    not_labels: Annotated[
        list[str] | None, typer.Option("--not-label", help="No items with this label.")
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(
            metavar="LOGIC",
            help="Only items that this keeps: 'dog & (beach | \"old town\") & !person'.",
        ),
    ] = None,
    after: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="Only photographs of 2024, 2024-05 or 2024-05-17 on."),
    ] = None,
    before: Annotated[
        str | None, typer.Option(metavar="DATE", help="Only photographs taken earlier.")
    ] = None,
    folder: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Only files in this folder, or one below it."),
    ] = None,
    camera: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Only cameras with this in their name.")
    ] = None,
    given_only: Annotated[
        bool, typer.Option("--given-only", help="Filter by given labels, not by likely ones too.")
    ] = False,
    at_least: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            min=0,
            max=1,
            help="Only hits that share a label with IMAGE with this probability.",
        ),
    ] = None,
    max_distance: Annotated[
        int | None, typer.Option(help="No items that are further away.", min=0)
    ] = None,
    rescore: Annotated[
        str,
        typer.Option(
            metavar="bits|features",
            help="Rank the nearest again: by how sure the bits of IMAGE are, or by features that "
            "the index keeps.",
        ),
    ] = "",
    model: Annotated[
        Path | None, typer.Option("-m", "--model", help="Where the index has no model of its own.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    paths: Annotated[bool, typer.Option("--paths", help="Print one path per line.")] = False,
    null: Annotated[
        bool, typer.Option("-0", "--null", help="Paths, each followed by NUL: for xargs -0.")
    ] = False,
    html: Annotated[Path | None, typer.Option(help="Write the hits as a page.")] = None,
    thumbnails: Annotated[
        bool | None,
        typer.Option("--thumbnails/--no-thumbnails", help="Pictures in the terminal."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the page.")] = False,
) -> None:
    """Find pictures like others, like an item or a code, or by words, labels, dates and folders."""
    from softhash.cli._answer import build_answer
    from softhash.cli._indexes import find_index
    from softhash.files import check_free

    if html:
        check_free(html, force=force)
    if where is not None:
        _check_expression(where)
    pictures, words = split_arguments(things or [])
    options: dict[str, Any] = {
        "k": k, "offset": offset, "labels": labels or [], "not_labels": not_labels or [],
        "where": where, "max_distance": max_distance,
    }  # fmt: skip
    further = {
        "words": words, "more": more, "less": less, "given_only": given_only, "at_least": at_least,
        "rescore": rescore,
    }  # fmt: skip
    options |= {
        name: value for name, value in further.items() if value not in (None, False, "", [])
    }
    photo = {"after": after, "before": before, "folder": folder, "camera": camera}
    options |= {name: value for name, value in photo.items() if value is not None}
    with _open(find_index(location), model) as index:
        # First bits that choose candidates pay off from the second search on, and this is one.
        target = pictures if len(pictures) > 1 else next(iter(pictures), None)
        result = index.search(target, id=id, code=code, exact=True, **options)
        answer = build_answer(index, result, *pictures)
        settings = {
            "index": index.store.location,
            "bits": index.bits,
            "items": len(index),
            **options,
        }
    if html:
        _write_page(html, answer, force=force)
    if as_json:
        print_json(answer.as_dict() | {"settings": settings})
    elif paths or null:
        _print_paths(answer, "\0" if null else "\n")
    elif not html:
        _print(answer, thumbnails)


def split_arguments(given: Sequence[str]) -> tuple[list[Path], list[str]]:
    """Return the arguments that are pictures, or look like their paths, and those that are words.

    >>> pictures, words = split_arguments(["holiday/dog.jpg", "old town", "cat.PNG"])
    >>> len(pictures), words
    (2, ['old town'])
    """
    from softhash.data.names import IMAGE_SUFFIXES

    def is_picture(text: str) -> bool:
        path = Path(text)
        is_named_so = "/" in text or os.sep in text or path.suffix.lower() in IMAGE_SUFFIXES
        return is_named_so or path.is_file()

    pictures = [Path(text) for text in given if is_picture(text)]
    return pictures, [text for text in given if not is_picture(text)]


def _open(location: str, model: Path | None) -> "HammingIndex":
    from softhash.index import HammingIndex

    if model is None:
        return HammingIndex.open(location)
    from softhash.model.hasher import Hasher

    return HammingIndex.open(location, Hasher.load(model))


def _check_expression(text: str) -> None:
    """Raise ExpressionError as the index would, after showing the place on stderr."""
    from rich.cells import cell_len

    from softhash.index.expressions import parse_where

    try:
        parse_where(text)
    except ExpressionError as error:
        before, after = (printable(part) for part in error.excerpt)
        say(f"  {before}{after}")
        say(f"  {' ' * cell_len(before)}^")
        raise


def _write_page(path: Path, answer: "Answer", *, force: bool) -> None:
    from softhash.cli._hits_page import hits_page
    from softhash.files import write_whole

    write_whole(path, hits_page(answer), force=force)
    say(f"saved {path}")


def _print_paths(answer: "Answer", end: str) -> None:
    import sys

    for path in answer.paths:
        if path is None:
            raise InputError("this index holds codes only, no pictures", "use --json for its names")
        shown = printable(str(path)).encode() if sys.stdout.isatty() else os.fsencode(path)
        sys.stdout.buffer.write(shown + end.encode())


def _print(answer: "Answer", thumbnails: bool | None) -> None:
    import sys

    from softhash.cli._answer import print_table
    from softhash.cli._thumbnails import choose_protocol, rendered

    protocol = choose_protocol(os.environ, is_terminal=sys.stdout.isatty(), wanted=thumbnails)
    if protocol:
        sys.stdout.write(rendered(answer, protocol))
    print_table(answer.result)
    if answer.result.total is not None:
        say(f"{len(answer.result):,} of {answer.result.total:,} items")
