"""Many runs on one split: a grid of recipes, one row of results a cell, kept as they finish.

`grids.expand` makes the recipes of a benchmark file. Features (or decoded pictures) are computed
once and shared. A cell that fails is reported, and the rest is done; a grid that is run again does
only what is missing.
"""

import json
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from softhash import __version__
from softhash.codes import pack
from softhash.data.pixels import load_all
from softhash.data.splits.split import Split
from softhash.devices import pick_device
from softhash.evaluation.evaluate import CURVE_POINTS
from softhash.evaluation.report import Report
from softhash.experiments.encoded_split import EncodedSplit, outputs, quantiser_distances
from softhash.experiments.grid import expand
from softhash.experiments.results import Row, read_rows
from softhash.model.hasher import Hasher
from softhash.training.features import compute_features
from softhash.training.finetune import fit_pixels
from softhash.training.fit import Options, build_hasher, train_head
from softhash.training.recipe import Recipe

__all__ = ["GridInputs", "Row", "expand", "prepare", "read_rows", "run_cell", "run_grid"]

CUTS = (100, 1000, 5000, "all")
HITS = 20  # of each query whose nearest pictures a row names, as in the paper's figure
CURVE_DIGITS = 5  # more would be noise, and make rows long


@dataclass(frozen=True, eq=False)
class GridInputs:
    """What all cells of a grid share: inputs of the readable pictures, and who is where."""

    inputs: Tensor
    labels: Tensor
    train: Tensor
    query: Tensor
    database: Tensor
    split: Split
    names: Sequence[str]  # files of the inputs


def prepare(split: Split, recipe: Recipe, options: Options) -> GridInputs:
    """Compute features, or decode pictures, of the whole collection once."""
    images = split.images
    if recipe.mode == "frozen":
        found = compute_features(
            build_hasher(recipe), images, device=options.device, cache=options.cache,
            progress=options.progress,
        )  # fmt: skip
        values: Any = found.values
        readable, broken = found.positions, found.broken
    else:
        pixels = load_all(
            images, build_hasher(recipe).size or 0, cache=options.cache, progress=options.progress
        )
        values, readable, broken = pixels[pixels.readable], pixels.readable, pixels.broken
    for one in broken:
        options.warn(f"left out: {one.reason}")
    row = np.full(len(images), -1)
    row[readable] = np.arange(len(readable))
    parts = {name: row[chosen][row[chosen] >= 0] for name, chosen in split.positions.items()}
    return GridInputs(
        torch.from_numpy(np.ascontiguousarray(values)),
        torch.from_numpy(images.labels[readable]),
        torch.from_numpy(parts["train"]),
        torch.from_numpy(parts["query"]),
        torch.from_numpy(parts["database"]),
        split,
        [images.file_names[i] for i in readable],
    )


@dataclass(frozen=True, eq=False)
class TrainedCell:
    """What a cell was trained to, and the real-valued outputs of all pictures of its inputs."""

    hasher: Hasher
    network: Any  # the whole one, or the head alone where the inputs is features
    outputs: npt.NDArray[np.float32]
    seconds: float  # that training took

    def encode_split(self, inputs: GridInputs) -> EncodedSplit:
        """Encode the queries and the database of the same pictures, however they are drawn."""
        query, database = inputs.query.numpy(), inputs.database.numpy()
        codes, labels, near = pack(self.outputs), inputs.labels.numpy(), None
        bits = self.hasher.bits
        if self.hasher.ranking == "quantiser":
            queries = inputs.inputs[inputs.query.to(inputs.inputs.device)]
            near = quantiser_distances(self.network, queries, codes[database], bits)
        both = labels[query], labels[database]
        return EncodedSplit((codes[query], codes[database]), both, bits, near, self.outputs[query])


def learn(recipe: Recipe, inputs: GridInputs, options: Options) -> TrainedCell:
    """Train one cell and encode all pictures."""
    device = torch.device(pick_device(options.device))
    started = time.perf_counter()
    hasher = build_hasher(recipe)
    chosen = inputs.inputs[inputs.train.to(inputs.inputs.device)]
    labels = inputs.labels[inputs.train]
    if recipe.mode == "frozen":
        network: Any = train_head(hasher.network.head, chosen, labels, recipe, options)
    else:
        fit_pixels(hasher, chosen, labels, recipe, options)
        network = hasher.network
    seconds = time.perf_counter() - started
    u = outputs(network.to(device), inputs.inputs, device)
    return TrainedCell(hasher, network, u, seconds)


def run_cell(
    recipe: Recipe,
    inputs: GridInputs,
    options: Options,
    *,
    sheets: int = 0,
    rescore: bool = False,
) -> Row:
    """Train, encode and measure one cell; name the nearest pictures of a few queries."""
    started = time.perf_counter()
    cell = learn(recipe, inputs, options)
    sides = cell.encode_split(inputs)
    report = sides.report(CUTS, curves=curve_points(len(inputs.database)))
    stable = sides.report(CUTS, ties="stable")
    again = sides.rescored(CUTS) if rescore else None
    return {
        "recipe": recipe.as_dict(),
        "metrics": dict(report.metrics),
        "metrics_stable": dict(stable.metrics),
        **({"metrics_rescored": dict(again.metrics)} if again else {}),
        "contract": dict(report.contract) | {"split": inputs.split.sha256},
        "data": _data(inputs.split),
        "curves": _rounded(report),
        "hits": _hits(sides, inputs, sheets),
        "seconds": {
            "train": cell.seconds,
            "encode and evaluate": time.perf_counter() - started - cell.seconds,
        },
        "versions": _versions(torch.device(pick_device(options.device))),
    }


def curve_points(items: int) -> list[int]:
    """Choose where curves are measured: to 5,000 as papers draw them, then to the last item.

    >>> curve_points(12125)[:3], curve_points(12125)[48:52], curve_points(12125)[-1]
    ([100, 200, 300], [4900, 5000, 5712, 6425], 12125)
    >>> curve_points(1000)[:3], len(curve_points(1000))
    ([20, 40, 60], 50)
    """
    last = CURVE_POINTS[-1]
    if items <= last:
        return sorted({-(-items * i // 50) for i in range(1, 51)})
    return [*CURVE_POINTS, *(last + (items - last) * i // 10 for i in range(1, 11))]


def _rounded(report: Report) -> dict[str, list[float]]:
    curves = report.curves.items()
    return {name: [round(value, CURVE_DIGITS) for value in values] for name, values in curves}


def _data(split: Split) -> dict[str, Any]:
    """Tell what was split and how, without where it lies."""
    images = split.images
    return {
        "name": images.root.name,
        "format": images.format,
        "pictures": len(images),
        "classes": len(images.classes),
        "protocol": split.protocol,
        "seed": split.seed,
        "options": dict(split.options),
    }


def _hits(sides: EncodedSplit, inputs: GridInputs, sheets: int) -> list[dict[str, Any]]:
    """Name the nearest pictures of the first queries with several labels; ties in file order."""
    names, query = inputs.names, inputs.query.numpy()
    several = inputs.labels.numpy()[query].sum(axis=1) > 1
    shown = np.argsort(~several, kind="stable")[:sheets]
    if not len(shown):
        return []
    database = inputs.database.numpy()
    return [
        {"query": names[query[one]], "nearest": [names[i] for i in database[row]]}
        for one, row in zip(shown, sides.nearest(shown, HITS), strict=True)
    ]


def _versions(device: torch.device) -> dict[str, str]:
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.machine()
    return {
        "softhash": __version__,
        "torch": torch.__version__.split("+")[0],
        "numpy": np.__version__,
        "python": platform.python_version(),
        "device": name,
    }


def run_grid(
    recipes: list[Recipe],
    split: Split,
    results: Path,
    options: Options,
    *,
    on_cell: Callable[[int, int, Row], None] = lambda done, total, row: None,
    sheets: int = 0,
    rescore: bool = False,
) -> list[str]:
    """Run the cells that are not in the results yet; return what went wrong, a line a cell.

    Cells that share features or pictures come one after the other, whatever the grid's order. With
    ``rescore``, a cell whose row could have been rescored and was not is run again.
    """
    finished = [
        (Recipe(**row["recipe"]), row["contract"]["split"])
        for row in read_rows(results)
        if not (rescore and _unrescored(row))
    ]  # a setting that the rows are older than has its default
    waiting = [recipe for recipe in recipes if (recipe, split.sha256) not in finished]
    _end_last_line(results)
    shared: dict[tuple[Any, ...], GridInputs] = {}
    failed = []
    for done, recipe in enumerate(sorted(waiting, key=_inputs), len(recipes) - len(waiting) + 1):
        key = _inputs(recipe)
        try:
            if key not in shared:
                shared = {}  # one at a time: they are large
                shared[key] = prepare(split, recipe, options)
            row = run_cell(recipe, shared[key], options, sheets=sheets, rescore=rescore)
        except Exception as error:  # whatever it is, the other cells are still worth running
            failed.append(f"{recipe.method}, {recipe.bits} bits, seed {recipe.seed}: {error}")
            options.warn(failed[-1])
            continue
        with results.open("a") as file:
            file.write(json.dumps(row) + "\n")
        on_cell(done, len(recipes), row)
    return failed


def _unrescored(row: Row) -> bool:
    """Tell whether a row lacks what rescoring would have added; quantisers have no such thing."""
    hamming = row["contract"].get("distance", "Hamming") == "Hamming"
    return hamming and "metrics_rescored" not in row


def _inputs(recipe: Recipe) -> tuple[Any, ...]:
    """Name what a cell's inputs depend on."""
    return recipe.mode, recipe.backbone, recipe.weights, recipe.size


def _end_last_line(results: Path) -> None:
    """Let the next row start on a line of its own: a last line that was cut off is taken away."""
    content = results.read_bytes() if results.exists() else b""
    if not content or content.endswith(b"\n"):
        return
    start = content.rfind(b"\n") + 1
    with results.open("r+b") as file:
        try:
            json.loads(content[start:])
        except ValueError:
            file.truncate(start)
        else:
            file.seek(0, 2)
            file.write(b"\n")
