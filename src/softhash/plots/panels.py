"""Figures of a few panels: bars of one metric, and the settings that were swept."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from softhash.experiments import paper
from softhash.plots.canvas import new_figure, tidy
from softhash.plots.entries import Sweep
from softhash.plots.groups import Group
from softhash.plots.styles import bar_colour, display_name
from softhash.plots.tables import METRICS, SETTINGS, Cell, summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PAPERS_OWN = "idhn"  # the method whose settings the paper varies
LENGTHS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")


def bars_figure(group: Group, metric: str, cut: str, ties: str) -> "Figure":
    """Draw a metric as bars, one per method, in one panel per length of code.

    Args:
        group: the methods.
        metric: such as `wap`.
        cut: cut-off of the metric, such as "5000".
        ties: `expected` or `stable`.

    """
    height = 1.3 + 0.26 * len(group.entries)
    figure = new_figure(2.0 + 2.7 * len(group.bits), height)
    panels = figure.subplots(1, len(group.bits), squeeze=False, sharex=True, sharey=True)[0]
    for bits, panel in zip(group.bits, panels, strict=True):
        for place, entry in enumerate(group.entries):
            cell = summary(entry.with_bits(bits), metric, cut, ties)
            if cell:
                _bar(panel, place, cell, bar_colour(entry.method))
        panel.set_title(f"{bits} bits", fontsize=10)
        panel.set_xlabel(f"{METRICS[metric]}@{cut}", fontsize=9)
        panel.set_yticks(range(len(group.entries)), [e.label for e in group.entries], fontsize=8)
        panel.margins(x=0.2, y=0.01)
        tidy(panel)
        panel.grid(visible=False, axis="y")
    panels[0].invert_yaxis()
    figure.suptitle(f"{METRICS[metric]}@{cut}: {group.title}", fontsize=11)
    return figure


def _bar(panel: "Axes", place: int, cell: Cell, colour: str) -> None:
    deviation = cell.deviation or 0
    panel.barh(
        place, cell.mean, xerr=deviation, color=colour, height=0.75,
        error_kw={"elinewidth": 0.8, "capsize": 1.5},
    )  # fmt: skip
    panel.annotate(
        f"{cell.mean:.3f}", (cell.mean + deviation, place), xytext=(3, 0),
        textcoords="offset points", va="center", fontsize=7,
    )  # fmt: skip


def sweeps_figure(group: Group, cut: str, ties: str) -> "Figure":
    """Draw MAP against each swept setting, one line per length of code; the paper's dashed.

    Args:
        group: with sweeps.
        cut: cut-off of MAP, such as "5000".
        ties: `expected` or `stable`.

    """
    figure = new_figure(0.8 + 3.6 * len(group.sweeps), 3.9)
    panels = figure.subplots(1, len(group.sweeps), squeeze=False, sharey=True)[0]
    for sweep, panel in zip(group.sweeps, panels, strict=True):
        for bits, colour in zip(sweep.bits, LENGTHS, strict=False):
            _draw_sweep(panel, group, sweep, bits, (cut, ties), colour)
        symbol = SETTINGS.get(sweep.setting, sweep.setting)
        panel.set_xlabel(f"{symbol} of {display_name(sweep.method)}", fontsize=9)
        panel.set_xticks(range(len(sweep.entries)), [entry.label for entry in sweep.entries])
        tidy(panel)
    panels[0].set_ylabel(f"MAP@{cut}", fontsize=9)
    figure.suptitle(f"MAP@{cut} for values of a setting: {group.title}", fontsize=11)
    named = {label: line for panel in panels for line, label in _legend(panel)}
    labels = sorted(named, key=lambda label: ("printed" in label, int(label.split()[0])))
    figure.legend(
        [named[label] for label in labels], labels, loc="outside lower center",
        ncols=4, frameon=False, fontsize=8, handlelength=3,
    )  # fmt: skip
    return figure


def _legend(panel: "Axes") -> list[tuple[Any, str]]:
    return list(zip(*panel.get_legend_handles_labels(), strict=True))


def _draw_sweep(
    panel: "Axes",
    group: Group,
    sweep: Sweep,
    bits: int,
    measure: tuple[str, str],
    colour: str,
) -> None:
    cells = [summary(entry.with_bits(bits), "map", *measure) for entry in sweep.entries]
    there = [(place, cell) for place, cell in enumerate(cells) if cell]
    panel.errorbar(
        [place for place, _ in there],
        [cell.mean for _, cell in there],
        [cell.deviation or 0 for _, cell in there],
        color=colour, marker="o", markersize=4, linewidth=1.6, capsize=2, label=f"{bits} bits",
    )  # fmt: skip
    places, values = _printed(group, sweep, bits, measure[0])
    if values:
        label = f"{bits} bits, printed (AlexNet)"
        panel.plot(
            places, values, color=colour, linestyle="--", marker="x", linewidth=1, label=label
        )


def _printed(
    group: Group, sweep: Sweep, bits: int, cut: str
) -> tuple[Sequence[int], Sequence[float]]:
    """Return what the paper prints for IDHN, where it does."""
    if sweep.method != PAPERS_OWN or cut != paper.CUT:
        return [], []
    labels = [entry.label for entry in sweep.entries]
    found = [paper.printed_setting(group.data, sweep.setting, label, bits) for label in labels]
    there = [(place, one.value) for place, one in enumerate(found) if one]
    return [place for place, _ in there], [value for _, value in there]
