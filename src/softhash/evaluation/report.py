"""What an evaluation found: metrics, their standard errors, and the contract behind them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from softhash.evaluation.metrics import METRICS
from softhash.evaluation.rankings import Floats
from softhash.files import write_whole


@dataclass(frozen=True)
class Report:
    """What was measured, and everything needed to compare it with another measurement.

    Attributes:
        metrics: means over the queries, by names such as `map@5000`.
        contract: what decides the meaning of the numbers: counts, cut-offs, the rules for ties and
            empty queries, the split. Where a model was measured by `softhash evaluate`,
            `trained_on_queries` is in it, see `softhash.evaluation.leakage`.
        curves: values of some metrics at the cut-offs `n`, where they were asked for.
        per_query: the values behind each metric, NaN for queries without a label.
        rescored: metrics of rescored searches, where they were asked for.
        codes: what `describe_codes` finds in the database codes, where it was asked for.

    """

    metrics: Mapping[str, float]
    contract: Mapping[str, Any]
    curves: Mapping[str, Sequence[float]] = field(default_factory=dict)
    per_query: Mapping[str, Floats] = field(default_factory=dict, repr=False, compare=False)
    rescored: Mapping[str, float] = field(default_factory=dict)
    codes: Mapping[str, float] = field(default_factory=dict)

    @property
    def standard_errors(self) -> dict[str, float]:
        """The standard error of each metric over the queries; none for a single query."""
        known = {name: every[~np.isnan(every)] for name, every in self.per_query.items()}
        return {
            name: float(values.std(ddof=1)) / len(values) ** 0.5
            for name, values in known.items()
            if len(values) > 1
        }

    def as_dict(self) -> dict[str, Any]:
        """Return what is saved: metrics and their errors, what else was asked for, the contract."""
        further = {
            "standard_errors": self.standard_errors,
            "metrics_rescored": self.rescored,
            "curves": self.curves,
            "codes": self.codes,
        }
        given = {name: dict(values) for name, values in further.items() if values}
        return {"metrics": dict(self.metrics), **given, "contract": dict(self.contract)}

    def to_json(self) -> str:
        """Write the report as JSON."""
        return json.dumps(self.as_dict(), indent=2)

    def save(self, path: Path | str, *, force: bool = False) -> None:
        """Save the report as a JSON file; an existing file is kept unless forced."""
        write_whole(Path(path), self.to_json() + "\n", force=force)

    @property
    def details(self) -> list[str]:
        """What was measured beside rankings, one line each: within radii, and of the codes."""
        lines = []
        for radius in self.contract.get("radii", ()):
            names = [f"{name}@r{radius}" for name in ("precision", "recall", "empty")]
            found = "precision {:.4f}, recall {:.4f}, empty for {:.1%} of queries"
            values = found.format(*(self.metrics[name] for name in names))
            lines.append(f"within distance {radius}: {values}")
        if self.codes:
            found = (
                "{distinct:,} of {items:,} codes distinct, bit balance {balance:.3f} "
                "(worst {worst_balance:.3f}), |correlation| {correlation:.3f}"
            )
            lines.append(found.format(**self.codes))
        return lines

    def __str__(self) -> str:
        cuts = [name.removeprefix("map@") for name in self.metrics if name.startswith("map@")]
        lines = ["".join([f"{'':10}", *(f"{'@' + cut:>10}" for cut in cuts)])]
        for metric in METRICS:
            values = (self.metrics[f"{metric}@{cut}"] for cut in cuts)
            lines.append("".join([f"{metric:10}", *(f"{value:10.4f}" for value in values)]))
        lines += self.details
        c = self.contract
        lines.append(
            f"{c['queries']} queries, {c['database']} items, {c['bits']} bits, ties: {c['ties']}"
        )
        if c.get("distance", "Hamming") != "Hamming":
            lines.append(f"ranked by {c['distance']}, not by Hamming distance")
        return "\n".join(lines)
