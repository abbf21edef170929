"""Curves of a few reports side by side, as the demo draws them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from softhash.plots.canvas import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = {"precision": "precision", "ndcg": "NDCG", "acg": "ACG", "recall": "recall"}
COLOURS = ("#2f6fd0", "#8a8a8a", "#d64541", "#2e9e4f", "#8e5bc0", "#c98a1b")


def curves_figure(
    curves: Mapping[str, Mapping[str, Sequence[float]]],
    metrics: Sequence[str] = ("precision", "ndcg", "acg"),
) -> "Figure":
    """Draw metrics against the number of returned pictures: one panel per metric.

    Args:
        curves: `Report.curves` by the name that the legend shows.
        metrics: those to draw.

    Raises:
        MissingExtraError: matplotlib is not installed.

    """
    figure = new_figure(3.6 * len(metrics), 3.2)
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
