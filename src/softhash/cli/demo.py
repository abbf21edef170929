"""``softhash demo``: the whole walk on drawn pictures, in a minute or two."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from softhash.hasher import Hasher
    from softhash.images import ImageSet
    from softhash.protocols.splits import Split

BITS = 48


def demo(
    folder: Annotated[Path, typer.Option("--dir", help="Where to write.")] = Path("demo"),
    count: Annotated[int, typer.Option(help="How many pictures to draw.")] = 3000,
) -> None:
    """Draw a collection, train IDHN on it, search it and measure; write contact sheets."""
    from rich.console import Console

    from softhash.images import ImageSet

    console = Console(highlight=False, soft_wrap=True)
    images = ImageSet.read(_draw(folder / "scenes", count))
    console.print(f"[bold]1. A collection[/]: {images!r}")
    _save_sheet(images, range(40), folder / "scenes.png")
    split = images.split("random", seed=0)
    console.print(f"[bold]2. A split[/]: {split!r}")
    hasher = _train(split, folder)
    console.print(
        f"[bold]3. A model[/]: IDHN, {BITS} bits, a head on features of EfficientNet-Lite0, "
        f"in {folder / 'model'}"
    )
    sides = _encode(hasher, split)
    _search(console, split, sides, folder / "hits.png")
    _evaluate(console, sides)
    console.print(f"\nTo look at: {folder / 'scenes.png'} and {folder / 'hits.png'}")


def _draw(folder: Path, count: int) -> Path:
    """Draw the scenes unless they are there."""
    from softhash import scenes
    from softhash.cli._progress import progress_of
    from softhash.scenes.collection import METADATA

    if not (folder / METADATA).exists():
        with progress_of("drawing scenes") as progress:
            scenes.write(folder, count, progress=lambda done: progress(done, count))
    return folder


def _save_sheet(images: "ImageSet", positions: range, path: Path) -> None:
    from softhash.sheets import contact_sheet

    contact_sheet([images.open(i) for i in positions], columns=8).save(path)


def _train(split: "Split", folder: Path) -> "Hasher":
    """Train a head on the train set's features, which the folder keeps, and save the model."""
    from softhash.cli._progress import progress_of
    from softhash.fitting import Options, fit, hasher_of
    from softhash.recipe import Recipe

    recipe = Recipe.of(bits=BITS, epochs=20)
    with progress_of("features of the train set") as progress:
        options = Options(cache=folder / "cache", progress=progress)
        hasher = fit(hasher_of(recipe), split.train, recipe=recipe, options=options)
    card = {"data": "drawn scenes", "split": {"sha256": split.sha256}, "settings": recipe.as_dict()}
    hasher.save(folder / "model", force=True, card=card)
    return hasher


def _encode(hasher: "Hasher", split: "Split") -> tuple[Any, ...]:
    from softhash.cli._progress import progress_of

    with progress_of("encoding queries and database") as progress:
        codes = [hasher.encode(part, progress=progress) for part in (split.query, split.database)]
    return *codes, split.query.labels, split.database.labels


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
    """Measure what was trained, beside codes that know nothing."""
    import numpy as np

    from softhash import evaluate_codes
    from softhash.cli._report import print_report

    console.print("[bold]5. Evaluation[/]: exact means over all orders of items at equal distance")
    report = evaluate_codes(*sides, bits=BITS, at=(100, "all"))
    print_report(report)
    rng = np.random.default_rng(0)
    random = [rng.permutation(side) for side in sides[:2]]
    chance = evaluate_codes(*random, *sides[2:], bits=BITS, at=(100, "all"))
    console.print(
        f"  the same codes given to the wrong pictures: map@100 {chance.metrics['map@100']:.4f}, "
        f"ndcg@100 {chance.metrics['ndcg@100']:.4f}"
    )
