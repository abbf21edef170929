"""``softhash demo``: from drawing pictures to measuring a search, in a minute or two."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from softhash.cli._output import as_markup

if TYPE_CHECKING:
    from rich.console import Console

    from softhash.cli._answer import Answer
    from softhash.data.image_set import ImageSet
    from softhash.data.splits.split import Split
    from softhash.evaluation.report import Report
    from softhash.index import HammingIndex
    from softhash.model.hasher import Hasher

BITS = 48
QUERIES, COLUMNS = 5, 10  # rows of the contact sheet, and pictures in each
ON_THE_PAGE = 23


def demo(
    folder: Annotated[Path, typer.Option("--dir", help="Where to write.")] = Path("demo"),
    count: Annotated[int, typer.Option(help="How many pictures to draw.")] = 3000,
    serve: Annotated[
        bool, typer.Option("--serve", help="Then serve the index, until Ctrl-C.")
    ] = False,
    port: Annotated[int, typer.Option(help="Where to serve it.")] = 8000,
) -> None:
    """Draw a collection, train IDHN on it, index, search and measure; write pages and figures."""
    from rich.console import Console

    from softhash.data.image_set import ImageSet
    from softhash.devices import require_torch

    require_torch()  # before the scenes are drawn
    console = Console(highlight=False, soft_wrap=True)
    images = ImageSet.read(_draw(folder / "scenes", count))
    console.print(f"[bold]1. A collection[/]: {as_markup(images)}")
    _save_sheet(images, range(40), folder / "scenes.png")
    split = images.split("random", seed=0)
    console.print(f"[bold]2. A split[/]: {as_markup(split)}")
    hasher = _train(split, folder)
    console.print(
        f"[bold]3. A model[/]: IDHN, {BITS} bits, a head on features of EfficientNet-Lite0, "
        f"in {as_markup(folder / 'model')}"
    )
    with _index(hasher, split.database, folder / "index") as index:
        console.print(f"[bold]4. An index[/]: {as_markup(index)}")
        _search(console, index, split.query, folder)
        sides = _codes(index, split)
    reports = _evaluate(console, sides)
    written = ["scenes.png", "hits.png", "search.html", *_figures(reports, folder)]
    shown = ", ".join(as_markup(folder / name) for name in written)
    console.print(f"\nTo look at: {shown}")
    picture = folder / "scenes" / split.query.file_names[1]
    command = as_markup(f"softhash search {picture} -i {folder / 'index'}")
    console.print(f"To try: {command}")
    if serve:
        _serve(folder / "index", port)


def _draw(folder: Path, count: int) -> Path:
    """Draw the scenes unless they are there."""
    from softhash.cli._progress import show_progress
    from softhash.data import scenes
    from softhash.data.scenes.collection import METADATA

    if not (folder / METADATA).exists():
        with show_progress("drawing scenes") as progress:
            scenes.write(folder, count, progress=lambda done: progress(done, count))
    return folder


def _save_sheet(images: "ImageSet", positions: range, path: Path) -> None:
    from softhash.plots.contact_sheet import contact_sheet

    contact_sheet([images.open(i) for i in positions], columns=8).save(path)


def _train(split: "Split", folder: Path) -> "Hasher":
    """Train a head on the train set's features, unless an earlier demo left the same model."""
    from softhash import __version__
    from softhash.cli._progress import show_progress
    from softhash.model.hasher import Hasher
    from softhash.training.fit import Options, build_hasher, fit
    from softhash.training.recipe import Recipe

    recipe = Recipe.with_defaults(method="idhn", bits=BITS, epochs=20)
    settings = recipe.as_dict() | {"softhash": __version__}
    card = {"data": "drawn scenes", "split": {"sha256": split.sha256}, "settings": settings}
    if not _is_trained(folder / "model", card):
        with show_progress("features of the train set") as progress:
            options = Options(cache=folder / "cache", progress=progress)
            hasher = fit(build_hasher(recipe), split.train, recipe=recipe, options=options)
        hasher.save(folder / "model", force=True, card=card)
    return Hasher.load(folder / "model")


def _is_trained(folder: Path, card: dict[str, Any]) -> bool:
    """Return whether the folder has a model with this card."""
    import json

    from softhash.errors import InputError
    from softhash.model.hasher import Hasher

    try:
        return bool(Hasher.load(folder).config["card"] == json.loads(json.dumps(card)))
    except InputError:
        return False


def _index(hasher: "Hasher", images: "ImageSet", folder: Path) -> "HammingIndex":
    """Index the pictures; an index of an earlier demo is brought up to date."""
    from softhash.cli._progress import show_progress

    index = _open(hasher, folder)
    with show_progress("indexing", "pictures") as progress:
        index.update(images, force=True, progress=progress)
    return index


def _open(hasher: "Hasher", folder: Path) -> "HammingIndex":
    """Open the demo's index, or make a new one where it is of another model."""
    import shutil

    from softhash.errors import ModelMismatchError
    from softhash.index import HammingIndex

    if folder.exists():
        try:
            return HammingIndex.open(folder, hasher, writable=True)
        except ModelMismatchError:
            shutil.rmtree(folder)
    return HammingIndex.create(folder, hasher)


def _search(console: "Console", index: "HammingIndex", queries: "ImageSet", folder: Path) -> None:
    """Show what is nearest to a few pictures that the index does not hold."""
    from softhash.cli._answer import build_answer, print_table
    from softhash.cli._hits_page import hits_page
    from softhash.files import write_whole

    answers = []
    for i in range(min(QUERIES, len(queries))):
        path, labels = queries.path(i), queries.label_names(i)
        result = index.search(path, query_labels=labels, k=ON_THE_PAGE)
        answers.append(build_answer(index, result, path))
    _save_hits(answers, folder / "hits.png")
    one = max(answers, key=lambda answer: len(answer.result.labels))
    write_whole(folder / "search.html", hits_page(one), force=True)
    labels = one.result.labels
    console.print(f"[bold]5. Search[/]: nearest to {as_markup(one.title)} ({', '.join(labels)})")
    print_table(one.first_hits(COLUMNS - 1).result)
    console.print(
        "  hits.png has five queries (left) and their nearest pictures; frames are green for all "
        "labels shared, blue for some, red for none."
    )


def _save_hits(answers: "list[Answer]", path: Path) -> None:
    """Write the answers as a contact sheet, one row each, framed as in the paper."""
    from softhash.data.decoding import open_image
    from softhash.plots.contact_sheet import QUERY, contact_sheet

    pictures, frames = [], []
    for answer in (answer.first_hits(COLUMNS - 1) for answer in answers):
        paths = [answer.picture, *answer.paths]
        pictures += [open_image(path) for path in paths if path]
        frames += [QUERY, *(answer.frame(hit) for hit in answer.result)]
    contact_sheet(pictures, COLUMNS, frames=frames).save(path)


def _codes(index: "HammingIndex", split: "Split") -> tuple[Any, ...]:
    """Encode the queries; the database's codes are in the index."""
    import numpy as np

    from softhash.cli._progress import show_progress

    names = split.database.file_names
    ids = index.store.find_names(names)
    items = index.store.get([ids[name] for name in names])
    database = np.array([list(item.code) for item in items], np.uint8)
    with show_progress("encoding queries", "pictures") as progress:
        queries = index.hasher.encode(split.query, progress=progress)
    return queries, database, split.query.labels, split.database.labels


def _evaluate(console: "Console", sides: tuple[Any, ...]) -> "dict[str, Report]":
    """Measure the trained codes, and the same codes assigned to random pictures."""
    import numpy as np

    from softhash import evaluate_codes
    from softhash.cli._report import print_report

    console.print("[bold]6. Evaluation[/]: exact means over all orders of items at equal distance")
    drawn = range(10, len(sides[1]) + 1, 10)
    report = evaluate_codes(*sides, bits=BITS, at=(100, "all"), curves=drawn)
    print_report(report)
    rng = np.random.default_rng(0)
    random = [rng.permutation(side) for side in sides[:2]]
    chance = evaluate_codes(*random, *sides[2:], bits=BITS, at=(100, "all"), curves=drawn)
    console.print(
        f"  the same codes given to the wrong pictures: map@100 {chance.metrics['map@100']:.4f}, "
        f"ndcg@100 {chance.metrics['ndcg@100']:.4f}"
    )
    return {f"IDHN, {BITS} bits": report, "codes of wrong pictures": chance}


def _figures(reports: "dict[str, Report]", folder: Path) -> list[str]:
    """Draw the curves where matplotlib is installed, and return the names of what was written."""
    from softhash.cli._output import warn
    from softhash.errors import MissingExtraError
    from softhash.plots import curves_figure, save_figure

    try:
        figure = curves_figure({name: report.curves for name, report in reports.items()})
    except MissingExtraError as error:
        warn(f"no figure is drawn: {error}")
        return []
    save_figure(figure, folder / "curves.png")
    return ["curves.png"]


def _serve(folder: Path, port: int) -> None:
    from softhash.index import HammingIndex
    from softhash.server import serve

    with HammingIndex.open(folder) as index:
        serve(index, port=port)
