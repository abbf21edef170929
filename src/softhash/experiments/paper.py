"""What the IDHN paper prints, to compare with what was measured: facts, from `paper.toml`.

Printed values are with AlexNet fine-tuned; LSH, SH, ITQ, MLH and KSH with features of its fc7.

>>> voc = data_set({"classes": 20, "queries": 1000, "database": 12125})
>>> printed(voc, "map", "idhn", "alexnet", 24)
Printed(value=0.6874, others=(0.6845,), doubt=None)
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

CUT = "5000"  # stated for WAP alone; MAP, ACG and NDCG are taken to have the same
BACKBONE = "alexnet"
_NEARLY = 0.01  # some files are lost, some have no label


@dataclass(frozen=True)
class Printed:
    """A printed value, other values that the paper prints for the same cell, a reason to doubt."""

    value: float
    others: tuple[float, ...] = ()
    doubt: str | None = None


@cache
def content() -> dict[str, Any]:
    """Return the whole file: source, data sets, doubts and tables."""
    return tomllib.loads(
        files("softhash.experiments").joinpath("paper.toml").read_text(encoding="utf-8")
    )


def data_set(contract: Mapping[str, Any]) -> str | None:
    """Name the paper's data set whose split this is, judged by its counts, or None."""
    whole = contract["database"]
    sizes = (whole, whole - contract.get("database_without_labels", 0))
    for name, known in content()["data"].items():
        same = all(known[key] == contract[key] for key in ("classes", "queries"))
        near = any(abs(size - known["database"]) <= _NEARLY * known["database"] for size in sizes)
        if same and near:
            return str(name)
    return None


def title(data: str) -> str:
    """Name a data set as the paper does.

    >>> title("nuswide")
    'NUS-WIDE'
    """
    return str(content()["data"][data]["name"])


def printed(data: str | None, metric: str, method: str, backbone: str, bits: int) -> Printed | None:
    """Find what the paper prints for a method, or for IDHN on another of its backbones.

    Args:
        data: the paper's name of the data set, None for others.
        metric: `map`, `wap`, `acg` or `ndcg`.
        method: its name.
        backbone: its name.
        bits: length of the codes.

    """
    row = f"{method}-{backbone}" if backbone in ("googlenet", "vgg19") else method
    values = [
        table["rows"][row][table["bits"].index(bits)]
        for table in _tables(data, metric, None)
        if row in table["rows"] and bits in table["bits"]
    ]
    if not values:
        return None
    others = tuple(value for value in dict.fromkeys(values) if value != values[0])
    return Printed(values[0], others, _doubt(data, metric, row, bits, None))


def printed_setting(
    data: str | None, setting: str, value: str, bits: int, metric: str = "map"
) -> Printed | None:
    """Find what the paper prints for a value of α, λ or γ.

    Args:
        data: the paper's name of the data set, None for others.
        setting: `alpha`, `lambda_` or `gamma`.
        value: as the paper writes it.
        bits: length of the codes.
        metric: that is printed.

    >>> printed_setting("voc2012", "alpha", "5/q", 48)
    Printed(value=0.7032, others=(), doubt=None)
    >>> printed_setting("voc2012", "lambda_", "0.1", 48).doubt is None
    False

    """
    for table in _tables(data, metric, setting):
        if value in table["rows"] and bits in table["bits"]:
            number = table["rows"][value][table["bits"].index(bits)]
            return Printed(number, doubt=_doubt(data, metric, value, bits, setting))
    return None


def _tables(data: str | None, metric: str, setting: str | None) -> Iterator[dict[str, Any]]:
    for table in content()["tables"]:
        if (table["data"], table["metric"], table.get("setting")) == (data, metric, setting):
            yield table


def _doubt(data: str | None, metric: str, row: str, bits: int, setting: str | None) -> str | None:
    for doubt in content()["doubts"]:
        same = (doubt["metric"], doubt.get("setting")) == (metric, setting)
        here = same and data in doubt["data"]
        if here and row in doubt.get("rows", [row]) and bits in doubt.get("bits", [bits]):
            return str(doubt["why"])
    return None
