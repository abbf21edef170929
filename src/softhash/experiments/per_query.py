"""Values of single queries beside rows of results, for tests of differences between methods.

One ``.npy`` file per row, named by what identifies the row: half precision, one line per metric,
one column per query that has a label. Nothing in it is ever executed.
"""

import io
import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from softhash.data.arrays import read_array
from softhash.errors import InputError
from softhash.evaluation.rankings import Floats
from softhash.experiments.results import Row
from softhash.files import write_whole

QUERY_METRICS = (
    *("map@5000", "wap@5000", "acg@5000", "ndcg@5000"),  # the paper's
    *("ndcg@100", "acg@100", "ndcg@20", "acg@20", "precision@20"),  # of the first screen
)
FOLDER = "per-query"  # of a folder of results
TOLERANCE = 1e-3  # of a mean, relative where it is above 1: half precision has errors below 5e-4
_HEX = 16  # digits of a key
_HINT = "remove it and its row, and run the cell again"


def row_key(row: Row) -> str:
    """Name a row by its recipe and its split, which `read_results` tells rows apart by.

    >>> row_key({"recipe": {"bits": 12}, "contract": {"split": "ab"}})
    '4edb54bee9768e64'
    """
    identity = json.dumps([row["recipe"], row["contract"]["split"]], sort_keys=True)
    return sha256(identity.encode()).hexdigest()[:_HEX]


def save_per_query(
    folder: Path, row: Row, values: Mapping[str, Floats], *, first_bits: int | None = None
) -> None:
    """Write the values behind `QUERY_METRICS` of a row; those of an earlier run are replaced.

    Args:
        folder: made if need be.
        row: that the values belong to.
        values: by metric, NaN for queries without a label, as `Report.per_query` has them.
        first_bits: how many first bits of the row's codes were measured; all by default.

    Raises:
        InputError: a metric is missing, or the metrics do not have the same queries.

    """
    if lacking := [name for name in QUERY_METRICS if name not in values]:
        raise InputError(f"there are no values of single queries for {lacking[0]}")
    every = [np.asarray(values[name], np.float64) for name in QUERY_METRICS]
    labelled = [~np.isnan(one) for one in every]
    if any(not np.array_equal(one, labelled[0]) for one in labelled):
        raise InputError("the metrics of a row do not have the same queries")
    kept = np.stack([one[labelled[0]] for one in every]).astype(np.float16)
    buffer = io.BytesIO()
    np.save(buffer, kept, allow_pickle=False)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(_path(folder, row, first_bits), buffer.getvalue(), force=True)


def load_per_query(folder: Path, row: Row, *, first_bits: int | None = None) -> Floats | None:
    """Read the values of a row, (metrics, queries) in the order of `QUERY_METRICS`.

    Args:
        folder: that `save_per_query` wrote to.
        row: that the values belong to.
        first_bits: as for `save_per_query`.

    Returns:
        The values, or None where none were saved.

    Raises:
        InputError: the file is damaged, or has something else in it.

    """
    path = _path(folder, row, first_bits)
    if not path.exists():
        return None
    try:
        array = read_array(path)
    except InputError as error:
        raise InputError(error.detail, _HINT) from None
    if problem := _problem(array):
        raise InputError(f"{path} {problem}", _HINT)
    return array.astype(np.float64)


def check_means(values: Floats, metrics: Mapping[str, Any]) -> None:
    """Raise unless values average to the metrics that a row has.

    Raises:
        InputError: they do not, so they are of another run.

    """
    for name, mean in zip(QUERY_METRICS, values.mean(axis=1), strict=True):
        stated = metrics.get(name)
        if stated is not None and abs(mean - stated) > TOLERANCE * max(1.0, abs(stated)):
            raise InputError(
                f"values of single queries average to {name} {mean:.4f}, but their row has "
                f"{stated:.4f}",
                _HINT,
            )


def _path(folder: Path, row: Row, first_bits: int | None) -> Path:
    return folder / f"{row_key(row)}{'' if first_bits is None else f'-{first_bits}'}.npy"


def _problem(array: npt.NDArray[Any]) -> str:
    """Return what is wrong with the content of a file, nothing where it is as it was written."""
    if array.dtype != np.float16:
        return f"holds {array.dtype}, not half precision"
    if array.ndim != 2 or len(array) != len(QUERY_METRICS) or not array.size:
        return f"has shape {array.shape}, not ({len(QUERY_METRICS)}, queries)"
    return "" if np.isfinite(array).all() else "has values that are not finite"
