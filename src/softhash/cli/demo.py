"""``softhash demo``: what there is to see, in a minute."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from softhash.images import ImageSet
    from softhash.protocols.splits import Split

BITS = 16


def demo(
    folder: Annotated[Path, typer.Option("--dir", help="Where to write.")] = Path("demo"),
) -> None:
    """Draw a collection, split it, search and measure made-up codes; write contact sheets."""
    from rich.console import Console

    from softhash.images import ImageSet

    console = Console(highlight=False, soft_wrap=True)
    images = ImageSet.read(_draw(folder / "scenes"))
    console.print(f"[bold]1. A collection[/]: {images!r}")
    _save_sheet(images, range(40), folder / "scenes.png")
    split = images.split("random", seed=0)
    console.print(f"[bold]2. A split[/]: {split!r}")
    sides = _made_up_codes(split)
    console.print(
        f"[bold]3. Codes[/] of {BITS} bits. Training is still to come: these are made of the "
        "labels, with noise."
    )
    _search(console, split, sides, folder / "hits.png")
    _evaluate(console, sides)
    console.print(f"\nTo look at: {folder / 'scenes.png'} and {folder / 'hits.png'}")


def _draw(folder: Path) -> Path:
    """Draw the scenes unless they are there."""
    from softhash import scenes
    from softhash.cli._progress import progress_of
    from softhash.scenes.collection import METADATA

    if not (folder / METADATA).exists():
        with progress_of("drawing scenes") as progress:
            scenes.write(folder, progress=lambda done: progress(done, 3000))
    return folder


def _save_sheet(images: "ImageSet", positions: range, path: Path) -> None:
    from softhash.sheets import contact_sheet

    contact_sheet([images.open(i) for i in positions], columns=8).save(path)


def _made_up_codes(split: "Split") -> tuple[Any, ...]:
    """Project labels at random and add noise: shared labels bring codes together."""
    import numpy as np

    from softhash import pack

    rng = np.random.default_rng(0)
    projection = rng.normal(size=(len(split.images.classes), BITS))
    labels = split.query.labels, split.database.labels
    codes = [pack(side @ projection + rng.normal(size=(len(side), BITS))) for side in labels]
    return *codes, *labels


def _search(console: "Console", split: "Split", sides: tuple[Any, ...], path: Path) -> None:
    """Show the nearest pictures of a few queries, framed as in the paper."""
    from softhash import nearest
    from softhash.sheets import QUERY, contact_sheet, frame_colour

    queries, columns = 5, 10
    pictures, frames = [], []
    _, positions = nearest(sides[0][:queries], sides[1], k=columns - 1)
    for query in range(queries):
        shared = sides[3][positions[query]] @ sides[2][query]
        wanted = int(sides[2][query].sum())
        pictures += [split.query.open(query), *(split.database.open(i) for i in positions[query])]
        frames += [QUERY, *(frame_colour(int(s), wanted) for s in shared)]
    contact_sheet(pictures, columns, frames=frames).save(path)
    console.print(
        "[bold]4. Search[/]: five queries (left) and their nearest pictures; frames are green for "
        "all labels shared, blue for some, red for none."
    )


def _evaluate(console: "Console", sides: tuple[Any, ...]) -> None:
    """Measure, and show what the order of ties does to a number."""
    import numpy as np

    from softhash import evaluate_codes
    from softhash.cli._report import print_report

    console.print("[bold]5. Evaluation[/]: exact means over all orders of items at equal distance")
    report = evaluate_codes(*sides, bits=BITS, at=(100, 1000, "all"))
    print_report(report)
    relevant = (sides[3] @ sides[2].T > 0).mean(axis=1)
    orders = {
        "as the files lie": np.arange(len(relevant)),
        "with best luck": np.argsort(-relevant, kind="stable"),
        "with worst luck": np.argsort(relevant, kind="stable"),
    }
    console.print("The same codes, ties broken by a sort:")
    for name, order in orders.items():
        database = sides[1][order], sides[3][order]
        stable = evaluate_codes(
            sides[0], database[0], sides[2], database[1], bits=BITS, at=100, ties="stable"
        )
        console.print(f"  {name:18} MAP@100 {stable.metrics['map@100']:.4f}")
    console.print(f"  {'over all orders':18} MAP@100 {report.metrics['map@100']:.4f}")
