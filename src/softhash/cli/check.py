"""``softhash check``: is this collection what it should be."""

from typing import TYPE_CHECKING, Annotated

import typer

from softhash.cli._collection import LabelsFrom
from softhash.cli._output import as_markup, print_json, printable

if TYPE_CHECKING:
    from rich.console import Console

    from softhash.data.inspection import Inspection

NAMES_SHOWN = 5
BAR = 40  # characters of the longest bar


def check(
    data: Annotated[str, typer.Argument(help="A folder, a table, or `scenes`.")],
    format: Annotated[
        str | None, typer.Option("--format", help="Its layout, where detection is not wanted.")
    ] = None,
    labels_from: LabelsFrom = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Look through a collection: counts, labels; missing, broken, duplicate, label-less files."""
    from softhash.cli._progress import show_progress
    from softhash.data.image_set import ImageSet
    from softhash.data.inspection import inspect

    images = ImageSet.read(data, format, labels_from=labels_from or [])
    with show_progress("opening pictures") as progress:
        found = inspect(images, progress=progress)
    if as_json:
        print_json(found.as_dict())
    else:
        _show(found)


def _show(found: "Inspection") -> None:
    from rich.console import Console

    from softhash.data.skipped import describe_skipped

    console = Console(highlight=False)
    images = found.images
    mean = images.labels.sum() / max(len(images), 1)
    console.print(f"[bold]{images.format}[/] in {as_markup(images.root)}")
    console.print(
        f"{len(images):,} pictures, {len(images.classes)} classes, {mean:.2f} labels per picture"
    )
    for name, part in (images.partition or {}).items():
        console.print(f"  {as_markup(name)}: {len(part):,}")
    if images.classes:
        console.print("\n[bold]pictures by number of labels[/]")
        _bars(console, {str(i): int(n) for i, n in enumerate(found.labels_per_image)})
        console.print("\n[bold]pictures by class[/]")
        by_count = sorted(found.images_per_class.items(), key=lambda item: (-item[1], item[0]))
        _bars(console, dict(by_count))
    console.print()
    names = images.file_names
    copies = [" = ".join(names[i] for i in group) for group in found.copies]
    _findings(console, "missing", list(images.missing))
    _findings(console, "broken", [one.reason for one in found.broken])
    _findings(console, "duplicates", copies)
    if images.classes:  # otherwise a hint says that there are none at all
        _findings(console, "without labels", found.unlabelled)
    if found.skipped:
        console.print(f"[yellow]{as_markup(describe_skipped(found.skipped))}[/]", soft_wrap=True)
    for note in images.notes:
        console.print(f"[yellow]note:[/] {as_markup(note)}")
    for hint in found.hints:
        console.print(f"[cyan]hint:[/] {as_markup(hint)}", soft_wrap=True)


def _bars(console: "Console", counts: dict[str, int]) -> None:
    longest = max(counts.values(), default=0)
    names = {name: printable(name) for name in counts}
    width = max(map(len, names.values()), default=0)
    for name, count in counts.items():
        bar = "█" * round(BAR * count / max(longest, 1)) or ("▏" if count else "")
        label = as_markup(f"{names[name]:>{width}}")
        console.print(f"  {label} [cyan]{bar}[/] {count:,}")


def _findings(console: "Console", what: str, items: list[str]) -> None:
    """Count what was found and name the first few."""
    colour = "red" if items else "green"
    console.print(f"[{colour}]{what}: {len(items):,}[/]")
    for item in items[:NAMES_SHOWN]:
        console.print(f"  {as_markup(item)}", soft_wrap=True)
    if len(items) > NAMES_SHOWN:
        console.print(f"  and {len(items) - NAMES_SHOWN:,} more (--json names all)")
