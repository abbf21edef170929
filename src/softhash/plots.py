"""Figures; they need matplotlib, which the extra `plot` installs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from softhash.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = {"precision": "precision", "ndcg": "NDCG", "acg": "ACG", "recall": "recall"}
COLOURS = ("#2f6fd0", "#8a8a8a", "#d64541", "#2e9e4f", "#8e5bc0", "#c98a1b")


def curves_figure(
    curves: Mapping[str, Mapping[str, Sequence[float]]],
    metrics: Sequence[str] = ("precision", "ndcg", "acg"),
) -> "Figure":
    """Draw metrics against the number of returned pictures: a panel a metric, a line a name.

    Args:
        curves: `Report.curves` by the name that the legend shows.
        metrics: those to draw.

    Raises:
        MissingExtraError: matplotlib is not installed.

    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "plot") from None

    figure = Figure(figsize=(3.6 * len(metrics), 3.2), layout="constrained")
    panels = figure.subplots(1, len(metrics), squeeze=False)[0]
    for panel, metric in zip(panels, metrics, strict=True):
        for colour, (name, values) in zip(COLOURS, curves.items(), strict=False):
            panel.plot(values["n"], values[metric], color=colour, label=name)
        panel.set_title(NAMES[metric], fontsize=11)
        panel.set_xlabel("returned pictures")
        panel.set_ylim(bottom=0, top=1 if metric != "acg" else None)
        panel.grid(alpha=0.25)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].legend(frameon=False)
    return figure


def save_figure(figure: "Figure", path: Path) -> None:
    """Save a figure in the format that the suffix names, in a size that prints well."""
    figure.savefig(path, dpi=150)
