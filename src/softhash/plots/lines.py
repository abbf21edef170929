"""Figures with a line for each method: curves, precision against recall, MAP against bits."""

from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from softhash.experiments.results import Row
from softhash.plots.canvas import new_figure, tidy
from softhash.plots.entries import Entry
from softhash.plots.groups import Group
from softhash.plots.styles import Style, assign_styles
from softhash.plots.tables import METRICS, summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DRAWN = ("acg", "ndcg", "precision")  # from top to bottom, as in the paper
LAST = 5000  # of the returned pictures, as in the paper; precision and recall go on to the end
AXES = {
    "acg": "ACG (labels shared, on average)",
    "ndcg": "NDCG",
    "precision": "precision",
    "recall": "recall",
}
WIDE = 8  # how many times the longest codes are the shortest, where an axis is logarithmic
MIN_WIDTH, MIN_COLUMNS = 7.4, 4  # of a figure of one panel, so that its title and legend fit
MARKS = 6  # a curve has so many markers, or they would hide it

Curve = tuple[Sequence[float], Sequence[float]]


def has_curves(group: Group) -> bool:
    """Return whether any row of the methods has curves; those of older versions have none."""
    return bool(_drawn_bits(group))


def _drawn_bits(group: Group) -> list[int]:
    """List the lengths that have curves; to keep rows short, they may be of a few alone."""
    coded = [entry for entry in group.entries if not entry.reference]
    return [
        bits
        for bits in group.bits
        if any(row.get("curves") for entry in coded for row in entry.with_bits(bits))
    ]


def returned_figure(group: Group) -> "Figure":
    """Draw ACG, NDCG and precision against returned pictures, one column per length of code."""
    lengths = _drawn_bits(group)
    figure = new_figure(max(MIN_WIDTH, 1.2 + 3.1 * len(lengths)), 1.6 + 2.5 * len(DRAWN))
    panels = figure.subplots(len(DRAWN), len(lengths), squeeze=False, sharex=True, sharey="row")
    for metric, row in zip(DRAWN, panels, strict=True):
        for bits, panel in zip(lengths, row, strict=True):
            _draw_curves(panel, group.entries, bits, ("n", metric), until=LAST)
            if metric == DRAWN[0]:
                panel.set_title(f"{bits} bits", fontsize=10)
        row[0].set_ylabel(AXES[metric], fontsize=9)
    for panel in panels[-1]:
        panel.set_xlabel("returned pictures", fontsize=9)
    _finish(figure, group, "ACG, NDCG and precision of the first n", len(lengths))
    return figure


def recall_figure(group: Group) -> "Figure":
    """Draw precision against recall, one panel per length of code."""
    lengths = _drawn_bits(group)
    figure = new_figure(max(MIN_WIDTH, 1.2 + 3.1 * len(lengths)), 4.4)
    panels = figure.subplots(1, len(lengths), squeeze=False, sharex=True, sharey=True)[0]
    for bits, panel in zip(lengths, panels, strict=True):
        _draw_curves(panel, group.entries, bits, ("recall", "precision"))
        panel.set_title(f"{bits} bits", fontsize=10)
        panel.set_xlabel(AXES["recall"], fontsize=9)
        panel.set_xlim(0, 1)
    panels[0].set_ylabel(AXES["precision"], fontsize=9)
    _finish(figure, group, "Precision against recall", len(lengths))
    return figure


def bits_figure(group: Group, metric: str, cut: str, ties: str) -> "Figure":
    """Draw a metric against the length of the codes; the legend is in the order of the lines.

    Args:
        group: the methods.
        metric: such as `map`.
        cut: cut-off of the metric, such as "5000".
        ties: `expected` or `stable`.

    """
    figure = new_figure(7.6, max(4.8, 0.3 + 0.18 * len(group.entries)))  # room for the legend
    panel = figure.subplots()
    ends = []
    styles = assign_styles([entry.method for entry in group.entries])
    for entry, style in zip(group.entries, styles, strict=True):
        cells = [(bits, summary(entry.with_bits(bits), metric, cut, ties)) for bits in group.bits]
        points = [(bits, cell) for bits, cell in cells if cell]
        means = [cell.mean for _, cell in points]
        if entry.reference:
            drawn = panel.axhline(means[-1], **_look(style))
        else:
            drawn = panel.errorbar(
                [bits for bits, _ in points],
                means,
                [cell.deviation or 0 for _, cell in points],
                capsize=2,
                elinewidth=0.7,
                **_look(style),
            )[0]
        ends.append((means[-1], entry.label, drawn))
    ends.sort(key=lambda end: -end[0])
    _scale_bits(panel, group.bits)
    panel.set_xlabel("bits", fontsize=9)
    panel.set_ylabel(f"{METRICS[metric]}@{cut}", fontsize=9)
    panel.set_title(f"{METRICS[metric]}@{cut} against bits: {group.title}", fontsize=11)
    tidy(panel)
    figure.legend(
        [line for _, _, line in ends],
        [label for _, label, _ in ends],
        loc="outside right upper",
        frameon=False,
        fontsize=8,
        handlelength=3,
    )
    return figure


def _scale_bits(panel: "Axes", bits: Sequence[int]) -> None:
    """Mark the lengths that were run; by their logarithm where they would stand too close."""
    if bits[-1] > WIDE * bits[0]:
        panel.set_xscale("log", base=2)
        panel.minorticks_off()
    panel.set_xticks(bits, [str(number) for number in bits])


def mean_curve(rows: Sequence[Row], axes: tuple[str, str], until: int | None = None) -> Curve:
    """Average the curves of several seeds, which are measured at the same places.

    Args:
        rows: one per seed.
        axes: names of what is on the horizontal and on the vertical axis.
        until: number of returned pictures at which the curve ends; by default it goes on.

    >>> curves = ({"n": [1, 2], "acg": [1.0, 0.5]}, {"n": [1, 2], "acg": [0.0, 0.0]})
    >>> mean_curve([{"curves": curve} for curve in curves], ("n", "acg"))
    ([1.0, 2.0], [0.5, 0.25])

    """
    curves = [row["curves"] for row in rows if row.get("curves")]
    count = sum(n <= until for n in curves[0]["n"]) if curves and until else None
    x, y = (
        [fmean(values) for values in zip(*(curve[axis] for curve in curves), strict=False)][:count]
        for axis in axes
    )
    return x, y


def _draw_curves(
    panel: "Axes",
    entries: Sequence[Entry],
    bits: int,
    axes: tuple[str, str],
    until: int | None = None,
) -> None:
    styles = assign_styles([entry.method for entry in entries])
    for number, (entry, style) in enumerate(zip(entries, styles, strict=True)):
        x, y = mean_curve(entry.with_bits(bits), axes, until)
        each = max(len(x) // MARKS, 1)
        first = number * each // max(len(entries), 1)  # markers of different lines stand apart
        panel.plot(x, y, label=entry.label, markevery=(first, each), **_look(style))
    tidy(panel)


def _look(style: Style) -> dict[str, Any]:
    return {
        "color": style.colour,
        "linestyle": style.line,
        "linewidth": style.width,
        "marker": style.marker,
        "markersize": 9 if style.marker == "*" else 4,
        "zorder": style.front,
    }


def _finish(figure: "Figure", group: Group, what: str, columns: int) -> None:
    """Give a figure of panels its title, and one legend below them."""
    figure.suptitle(f"{what}: {group.title}", fontsize=11)
    lines, labels = figure.axes[0].get_legend_handles_labels()
    across = min(len(labels), max(2 * columns, MIN_COLUMNS))
    figure.legend(
        lines, labels, loc="outside lower center", ncols=across, frameon=False,
        fontsize=8, handlelength=3,
    )  # fmt: skip
