"""Many runs on one split: a grid of recipes, one row of results a cell, kept as they finish.

A benchmark file is a recipe with a table ``[grid]`` of lists; every combination is a cell.
Settings of the method are named as ``"settings.alpha"``, and may be given in terms of the bits, as
``"5/q"``.
Features (or decoded pictures) are computed once and shared. A cell that fails is reported, and the
rest is done; a grid that is run again does only what is missing.
"""

import json
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from softhash import __version__
from softhash.codes import Codes, pack, unpack
from softhash.devices import pick_device
from softhash.distances import evaluate_distances
from softhash.errors import InputError, UsageError
from softhash.evaluation import TIES, Report, evaluate_codes
from softhash.features import features_of
from softhash.fitting import Options, fit_pixels, hasher_of, train_head
from softhash.loading import Progress
from softhash.pixels import load_all
from softhash.protocols.splits import Split
from softhash.recipe import Recipe

CUTS = (100, 1000, 5000, "all")
ENCODED_AT_ONCE = 256

Row = dict[str, Any]


def expand(content: Mapping[str, Any]) -> list[Recipe]:
    """Make a recipe of every combination in the grid.

    >>> [r.bits for r in expand({"method": "idhn", "grid": {"bits": [12, 24], "seed": [0, 1]}})]
    [12, 12, 24, 24]
    """
    base = {key: value for key, value in content.items() if key != "grid"}
    grid = dict(content.get("grid", {}))
    for name, values in grid.items():
        if not isinstance(values, list) or not values:
            raise UsageError(f"grid key {name} is {values!r}; give a list of values")
    recipes = []
    for chosen in product(*grid.values()):
        values, settings = dict(base), dict(base.get("settings", {}))
        for name, value in zip(grid, chosen, strict=True):
            if name.startswith("settings."):
                settings[name.removeprefix("settings.")] = value
            else:
                values[name] = value
        recipes.append(Recipe.of(**{**values, "settings": settings}))
    return recipes


@dataclass(frozen=True, eq=False)
class Material:
    """What all cells of a grid share: inputs of the readable pictures, and who is where."""

    inputs: Tensor
    labels: Tensor
    train: Tensor
    query: Tensor
    database: Tensor
    split: Split


def prepare(split: Split, recipe: Recipe, options: Options) -> Material:
    """Compute features, or decode pictures, of the whole collection once."""
    images = split.images
    if recipe.mode == "frozen":
        found = features_of(
            hasher_of(recipe), images, device=options.device, cache=options.cache,
            progress=options.progress,
        )  # fmt: skip
        values: Any = found.values
        readable, broken = found.positions, found.broken
    else:
        pixels = load_all(
            images, hasher_of(recipe).size or 0, cache=options.cache, progress=options.progress
        )
        values, readable, broken = pixels[pixels.readable], pixels.readable, pixels.broken
    for one in broken:
        options.notes(f"left out: {one.reason}")
    row = np.full(len(images), -1)
    row[readable] = np.arange(len(readable))
    parts = {name: row[chosen][row[chosen] >= 0] for name, chosen in split.positions.items()}
    return Material(
        torch.from_numpy(np.ascontiguousarray(values)),
        torch.from_numpy(images.labels[readable]),
        torch.from_numpy(parts["train"]),
        torch.from_numpy(parts["query"]),
        torch.from_numpy(parts["database"]),
        split,
    )


def run_cell(recipe: Recipe, material: Material, options: Options) -> Row:
    """Train, encode and measure one cell."""
    device = torch.device(pick_device(options.device))
    started = time.perf_counter()
    hasher = hasher_of(recipe)
    chosen = material.inputs[material.train.to(material.inputs.device)]
    labels = material.labels[material.train]
    if recipe.mode == "frozen":
        network: Any = train_head(hasher.network.head, chosen, labels, recipe, options)
    else:
        fit_pixels(hasher, chosen, labels, recipe, options)
        network = hasher.network
    trained = time.perf_counter()
    codes = encode(network.to(device), material.inputs, device)
    evaluate = _by_quantiser if hasher.ranking == "quantiser" else _by_hamming
    reports = evaluate(network, codes, material, recipe.bits)
    return {
        "recipe": recipe.as_dict(),
        "metrics": dict(reports["expected"].metrics),
        "metrics_stable": dict(reports["stable"].metrics),
        "contract": dict(reports["expected"].contract) | {"split": material.split.sha256},
        "seconds": {
            "train": trained - started,
            "encode and evaluate": time.perf_counter() - trained,
        },
        "versions": _versions(device),
    }


@torch.no_grad()
def encode(network: Any, inputs: Tensor, device: torch.device) -> Codes:
    """Encode features or pixels by a network, a few at a time."""
    network.eval()
    parts = [
        network(part.to(device)).float().cpu() for part in torch.split(inputs, ENCODED_AT_ONCE)
    ]
    return pack(torch.cat(parts).numpy())


def _by_hamming(network: Any, codes: Codes, material: Material, bits: int) -> dict[str, Report]:
    query, database = material.query.numpy(), material.database.numpy()
    sides = codes[query], codes[database], *_labels(material)
    return {ties: evaluate_codes(*sides, bits=bits, at=CUTS, ties=ties) for ties in TIES}


@torch.no_grad()
def _by_quantiser(network: Any, codes: Codes, material: Material, bits: int) -> dict[str, Report]:
    """Rank by the distances of queries, as vectors, to what the codes of the database stand for."""
    head = getattr(network, "head", network)  # a whole network, or its head on frozen features
    features = network.features if network is not head else Tensor.float
    device = head.codebooks.device
    database = torch.from_numpy(unpack(codes[material.database.numpy()], bits)).to(device)
    queries = material.inputs[material.query.to(material.inputs.device)]
    parts = [features(part.to(device)) for part in torch.split(queries, ENCODED_AT_ONCE)]
    near = head.distances(torch.cat(parts), database).cpu().numpy()

    def report(ties: str) -> Report:
        name = "asymmetric quantiser distance"
        labels = _labels(material)
        return evaluate_distances(near, *labels, bits=bits, distance=name, at=CUTS, ties=ties)

    return {ties: report(ties) for ties in TIES}


def _labels(material: Material) -> tuple[Any, Any]:
    labels = material.labels.numpy()
    return labels[material.query.numpy()], labels[material.database.numpy()]


def _versions(device: torch.device) -> dict[str, str]:
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.machine()
    return {"softhash": __version__, "torch": torch.__version__.split("+")[0], "device": name}


def run_grid(
    recipes: list[Recipe],
    split: Split,
    results: Path,
    options: Options,
    *,
    told: Callable[[int, int, Row], None] = lambda done, total, row: None,
    progress: Progress | None = None,
) -> list[str]:
    """Run the cells that are not in the results yet; return what went wrong, a line a cell."""
    finished = [
        (Recipe(**row["recipe"]), row["contract"]["split"]) for row in read_rows(results)
    ]  # a setting that the rows are older than has its default
    waiting = [recipe for recipe in recipes if (recipe, split.sha256) not in finished]
    shared: dict[tuple[str, str, str, int], Material] = {}
    failed = []
    for done, recipe in enumerate(waiting, start=len(recipes) - len(waiting) + 1):
        key = (recipe.mode, recipe.backbone, recipe.weights, recipe.size)
        if key not in shared:
            shared = {key: prepare(split, recipe, options)}  # one at a time: they are large
        try:
            row = run_cell(recipe, shared[key], options)
        except Exception as error:  # whatever it is, the other cells are still worth running
            failed.append(f"{recipe.method}, {recipe.bits} bits, seed {recipe.seed}: {error}")
            continue
        with results.open("a") as file:
            file.write(json.dumps(row) + "\n")
        told(done, len(recipes), row)
    return failed


def read_rows(results: Path) -> list[Row]:
    """Read the rows that are there; a last line that was cut off does not count."""
    if not results.exists():
        return []
    rows = []
    lines = results.read_text().split("\n")
    for number, line in enumerate(lines, start=1):
        try:
            rows += [json.loads(line)] if line else []
        except ValueError:
            if number == len(lines):
                continue
            raise InputError(f"{results} line {number} is damaged; remove it") from None
    return rows
