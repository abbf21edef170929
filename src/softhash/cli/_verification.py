"""``softhash index --verify``: every byte of an index, checked."""

import typer

from softhash.cli._output import print_json, printable, say


def verify_index(location: str, *, as_json: bool) -> None:
    """Check every byte of an index and print what is wrong; exit with 1 where anything is."""
    from softhash.cli._progress import show_progress
    from softhash.index import HammingIndex

    with HammingIndex.open(location) as opened:
        with show_progress("verifying") as progress:
            wrong = opened.store.verify(progress)
        items, shown = len(opened), opened.store.location
    if as_json:
        print_json({"items": items, "problems": wrong})
    else:
        for line in wrong:
            typer.echo(printable(line))
        say(f"{shown}: {items:,} items, {_problems(len(wrong))}")
    if wrong:
        raise typer.Exit(1)


def _problems(count: int) -> str:
    if not count:
        return "no problems"
    return f"{count:,} problem{'s' if count > 1 else ''}, listed above"
