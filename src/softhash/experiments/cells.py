"""One cell of a grid: trained, encoded, measured, written as a row of results."""

import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from softhash import __version__
from softhash.codes import pack
from softhash.data.splits.split import Split
from softhash.devices import pick_device
from softhash.evaluation.evaluate import CURVE_POINTS
from softhash.evaluation.report import Report
from softhash.experiments.by_epoch import CUTS as EPOCH_CUTS
from softhash.experiments.by_epoch import ByEpoch, watch_epochs
from softhash.experiments.commit import find_commit
from softhash.experiments.encoded_split import EncodedSplit, outputs, quantiser_distances
from softhash.experiments.inputs import GridInputs
from softhash.experiments.references import REFERENCES, reference_split
from softhash.experiments.results import Row
from softhash.model.hasher import Hasher
from softhash.training.finetune import fit_pixels
from softhash.training.fit import build_hasher, train_head
from softhash.training.methods import method_class
from softhash.training.options import Options
from softhash.training.recipe import Recipe

CUTS = (20, 100, 1000, 5000, "all")  # the first is what a person sees on one screen
HITS = 20  # nearest pictures that a row names for a query, as in the paper's figure
METRIC_DIGITS, CURVE_DIGITS = 7, 5  # more would be noise, and make rows long

KeepPerQuery = Callable[[Row, Mapping[str, npt.NDArray[np.float64]], int | None], None]


@dataclass(frozen=True)
class RowOptions:
    """What the row of a cell holds beside its recipe and its metrics.

    Attributes:
        sheets: number of queries whose nearest pictures it names.
        rescore: whether rescored searches are measured.
        curves: whether there are curves.
        each_epoch: whether it has metrics of the queries after every epoch, see `by_epoch`.
        command: what the user typed.
        side_by_side: how many runs share the device, so that times are not those of one alone.
        keep_per_query: called with the row, the values of each query behind its metrics, and the
            number of first bits that they are of, None for all.

    """

    sheets: int = 0
    rescore: bool = False
    curves: bool = True
    each_epoch: bool = False
    command: str = ""
    side_by_side: int = 1
    keep_per_query: KeepPerQuery = lambda row, values, first_bits: None


@dataclass(frozen=True, eq=False)
class TrainedCell:
    """A trained cell, and the real-valued outputs of all pictures of its inputs.

    Attributes:
        hasher: that was trained.
        network: the whole one, or the head alone where the inputs are features.
        outputs: u of every picture (n, bits).
        seconds: that training took.
        device: that it was trained on.
        by_epoch: metrics after every epoch, where they were asked for.

    """

    hasher: Hasher
    network: Any
    outputs: npt.NDArray[np.float32]
    seconds: float
    device: torch.device
    by_epoch: ByEpoch = field(default_factory=dict)

    @property
    def lengths(self) -> list[int]:
        """Numbers of first bits that were trained as codes of their own, the whole one aside."""
        return [length for length in self.hasher.config["lengths"] if length < self.hasher.bits]

    def encode_split(self, inputs: GridInputs, bits: int | None = None) -> EncodedSplit:
        """Encode the queries and the database of the same pictures, however they are drawn.

        Args:
            inputs: the pictures, and which of them are queries.
            bits: how many of the first bits are the code; all by default.

        """
        bits, near, distance = bits or self.hasher.bits, None, "Hamming"
        query, database = inputs.query.numpy(), inputs.database.numpy()
        u, labels = self.outputs[:, :bits], inputs.labels.numpy()
        codes = pack(u)
        if self.hasher.ranking == "quantiser":
            queries = inputs.inputs[inputs.query.to(inputs.inputs.device)]
            near = quantiser_distances(self.network, queries, codes[database], bits)
            distance = "asymmetric quantiser distance"
        sides = (codes[query], codes[database]), (labels[query], labels[database])
        return EncodedSplit(*sides, bits, near, distance, u[query], self.device)


def train_cell(
    recipe: Recipe, inputs: GridInputs, options: Options, *, each_epoch: bool = False
) -> TrainedCell:
    """Train one cell, and compute the outputs of all pictures.

    Args:
        recipe: of the cell.
        inputs: that the recipe's mode and backbone ask for.
        options: where, and what is reported.
        each_epoch: whether the queries are measured after every epoch too; the time of it counts
            as training.

    """
    device = torch.device(pick_device(options.device))
    started = time.perf_counter()
    frozen = recipe.mode == "frozen"  # the backbone's features are there, and it is not needed
    hasher = build_hasher(recipe, inputs.inputs.shape[1] if frozen else None)
    kind = method_class(recipe.method)
    network: Any = hasher.network.head if frozen else hasher.network
    train, labels = inputs.train.to(inputs.inputs.device), inputs.labels[inputs.train]

    def measure() -> Mapping[str, float]:
        u = outputs(network, inputs.inputs, device)
        cell = TrainedCell(hasher, network, u, 0.0, device)
        return cell.encode_split(inputs).report(EPOCH_CUTS).metrics

    by_epoch: ByEpoch = {}
    if each_epoch and hasher.ranking == "hamming":
        skipped = recipe.epochs if recipe.teacher_zoom and not frozen else 0
        options, by_epoch = watch_epochs(options, network, measure, skipped)
    if frozen:
        train_head(network, kind, inputs.features[train], labels, recipe, options)
    else:
        fit_pixels(hasher, kind, inputs.inputs[train], labels, recipe, options)
    seconds = time.perf_counter() - started
    u = outputs(network.to(device), inputs.inputs, device)
    return TrainedCell(hasher, network, u, seconds, device, by_epoch)


def run_cell(
    recipe: Recipe, inputs: GridInputs, options: Options, wanted: RowOptions | None = None
) -> Row:
    """Train, encode and measure one cell; references are measured as they are.

    Args:
        recipe: of the cell.
        inputs: that the recipe's mode and backbone ask for.
        options: where, and what is reported.
        wanted: what the row holds.

    """
    wanted = wanted or RowOptions()
    started, trained, shorter = time.perf_counter(), 0.0, {}
    by_epoch: ByEpoch = {}
    reports: dict[int | None, Report] = {}
    if recipe.method in REFERENCES:
        encoded = reference_split(recipe, inputs, options)
        if REFERENCES[recipe.method].finetuned:
            trained = time.perf_counter() - started
    else:
        cell = train_cell(recipe, inputs, options, each_epoch=wanted.each_epoch)
        trained, encoded, by_epoch = cell.seconds, cell.encode_split(inputs), cell.by_epoch
        for length in cell.lengths:
            first = cell.encode_split(inputs, length)
            shorter[str(length)], reports[length] = _measure(first, curves=wanted.curves)
    whole, reports[None] = _measure(encoded, curves=wanted.curves)
    rescored = encoded.rescored(CUTS, inputs.feature_pair) if wanted.rescore else {}
    shared = {"side_by_side": wanted.side_by_side} if wanted.side_by_side > 1 else {}
    row: Row = {
        "recipe": recipe.as_dict(),
        **whole,
        **{name: _metrics(again) for name, again in rescored.items()},
        **({"prefixes": shorter} if shorter else {}),
        **({"by_epoch": by_epoch} if any(by_epoch.values()) else {}),
        "contract": dict(reports[None].contract) | {"split": inputs.split.sha256},
        "data": _data(inputs.split),
        "hits": _hits(encoded, inputs, wanted.sheets),
        "seconds": {
            "train": trained,
            "encode and evaluate": time.perf_counter() - started - trained,
            **shared,
        },
        **({"command": wanted.command} if wanted.command else {}),
        "versions": _versions(torch.device(pick_device(options.device))),
    }
    for first_bits, report in reports.items():
        wanted.keep_per_query(row, report.per_query, first_bits)
    return row


def _measure(encoded: EncodedSplit, *, curves: bool) -> tuple[Row, Report]:
    """Return metrics with both rules for ties and perhaps curves, and the report behind them."""
    points = curve_points(len(encoded.labels[1])) if curves else []
    report, stable = encoded.report(CUTS, curves=points), encoded.report(CUTS, ties="stable")
    measured: Row = {"metrics": _metrics(report), "metrics_stable": _metrics(stable)}
    return measured | ({"curves": _rounded(report)} if curves else {}), report


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


def _metrics(report: Report) -> dict[str, float]:
    return {name: round(value, METRIC_DIGITS) for name, value in report.metrics.items()}


def _rounded(report: Report) -> dict[str, list[float]]:
    curves = report.curves.items()
    return {name: [round(value, CURVE_DIGITS) for value in values] for name, values in curves}


def _data(split: Split) -> dict[str, Any]:
    """Describe what was split and how, without the path of this machine."""
    images = split.images
    return {
        "name": images.root.name,
        "format": images.format,
        "pictures": len(images),
        "classes": len(images.classes),
        "labels_per_picture": round(float(images.labels.sum()) / max(len(images), 1), 2),
        "train": len(split.positions["train"]),
        "protocol": split.protocol,
        "seed": split.seed,
        "options": dict(split.options),
    }


def _hits(encoded: EncodedSplit, inputs: GridInputs, sheets: int) -> list[dict[str, Any]]:
    """Name the nearest pictures of the first queries with several labels; ties in file order."""
    names, query = inputs.names, inputs.query.numpy()
    several = inputs.labels.numpy()[query].sum(axis=1) > 1
    shown = np.argsort(~several, kind="stable")[:sheets]
    if not len(shown):
        return []
    database = inputs.database.numpy()
    return [
        {"query": names[query[one]], "nearest": [names[i] for i in database[row]]}
        for one, row in zip(shown, encoded.nearest(shown, HITS), strict=True)
    ]


def _versions(device: torch.device) -> dict[str, str]:
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.machine()
    return {
        "softhash": __version__,
        "commit": find_commit(),
        "torch": torch.__version__.split("+")[0],
        "numpy": np.__version__,
        "python": platform.python_version(),
        "device": name,
    }
