"""``softhash duplicates``: the pictures that an index has more than once."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from softhash.cli._output import as_markup, print_json, printable, say, warn

if TYPE_CHECKING:
    from rich.console import Console

    from softhash.index.duplicates import Copy, Duplicates, Group

GROUPS_SHOWN, GROUPS_DRAWN = 50, 8  # as lines, and as pictures too
NAMES_SHOWN = 5
FIRST, COPY = "#e0a92e", "#8a8a8a"  # frames, to be seen on dark and on light
PIPE_WIDTH = 1000  # lines that a program reads are not wrapped


def duplicates(
    index: Annotated[
        str | None,
        typer.Argument(
            help="A folder, milvus://…, or the name of a kept index; the only one by default."
        ),
    ] = None,
    identical: Annotated[
        bool, typer.Option("--identical", help="Only files that are byte for byte the same.")
    ] = False,
    tolerance: Annotated[
        int,
        typer.Option(
            min=0,
            max=16,
            help="Bits of 64 in which near copies may look different; above 4, what is found has "
            "to be confirmed by features that the index keeps.",
        ),
    ] = 10,
    print0: Annotated[
        bool,
        typer.Option(
            "-0",
            "--print0",
            help="Print the paths of all but the first of each group, each followed by NUL: for "
            "xargs -0.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    thumbnails: Annotated[
        bool | None,
        typer.Option("--thumbnails/--no-thumbnails", help="Pictures in the terminal."),
    ] = None,
) -> None:
    """Find pictures that are there more than once, the largest first; nothing is deleted."""
    from softhash.cli._indexes import find_index
    from softhash.files import cache_folder
    from softhash.index import HammingIndex
    from softhash.index.duplicates import find_duplicates

    with HammingIndex.open(find_index(index, "")) as opened, _show_stages() as progress:
        found = find_duplicates(
            opened,
            near=not identical,
            tolerance=tolerance,
            cache=cache_folder() / "hashes",
            progress=progress,
        )
    _warn_of_left_out(found)
    if as_json:
        print_json(found.as_dict())
    elif print0:
        _print_paths(found)
    else:
        _print(found, thumbnails)


@contextmanager
def _show_stages() -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function that shows the progress of one stage after the other."""
    from softhash.cli._progress import show_progress

    bars: dict[str, Callable[[int, int], None]] = {}
    with ExitStack() as shown:

        def progress(what: str, done: int, total: int) -> None:
            if what not in bars:
                shown.pop_all().close()  # the bar of the stage before
                bars[what] = shown.enter_context(show_progress(what))
            bars[what](done, total)

        yield progress


def _warn_of_left_out(found: "Duplicates") -> None:
    """Print which files could not be compared, on stderr."""
    again = "run softhash index again"
    for what, names, hint in (
        ("not there", found.missing, again),
        ("changed since they were indexed", found.changed, again),
        ("not readable", found.broken, "softhash check names all"),
    ):
        if names:
            more = ", …" if len(names) > NAMES_SHOWN else ""
            named = ", ".join(names[:NAMES_SHOWN]) + more
            warn(f"left out, {what}: {len(names):,} ({named}); {hint}")


def _print_paths(found: "Duplicates") -> None:
    import os
    import sys

    for copy in found.copies:
        path = str(copy.path)
        shown = printable(path).encode() if sys.stdout.isatty() else os.fsencode(path)
        sys.stdout.buffer.write(shown + b"\0")


def _print(found: "Duplicates", thumbnails: bool | None) -> None:
    """Print the groups on stdout, and how many there are on stderr."""
    import os
    import sys

    from rich.console import Console

    from softhash.cli._thumbnails import choose_protocol, render_pictures

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=PIPE_WIDTH)
    protocol = choose_protocol(os.environ, is_terminal=sys.stdout.isatty(), wanted=thumbnails)
    for number, group in enumerate(found.groups[:GROUPS_SHOWN], 1):
        console.print(f"[bold]group {number}[/]")
        if protocol and number <= GROUPS_DRAWN:
            sys.stdout.write(render_pictures(_framed(group), protocol))
        _print_group(console, group)
    if (more := len(found.groups) - GROUPS_SHOWN) > 0:
        say(f"and {more:,} more groups (--json has all)")
    copies, room = len(found.copies), sum(copy.bytes for copy in found.copies) / 1e6
    counted = f"{copies:,} copies in {len(found.groups):,} groups, {room:,.1f} MB"
    say(f"{counted}; nothing was deleted" if copies else "no picture is there more than once")


def _framed(group: "Group") -> list[tuple[Path, str]]:
    return [(copy.path, FIRST if copy.kind == "first" else COPY) for copy in group]


def _print_group(console: "Console", group: "Group") -> None:
    for copy in group:
        size = f"{copy.width}×{copy.height}"
        line = f"  {_kind(copy):<10}{size:>11}{copy.bytes / 1e3:>10,.0f} kB  "
        console.print(f"{line}{as_markup(copy.file_name)}", soft_wrap=True)


def _kind(copy: "Copy") -> str:
    return "largest" if copy.kind == "first" else copy.kind
