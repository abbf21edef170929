"""What the loss and the recipe bring, and where our own method leads, is level or is behind."""

from collections.abc import Iterable, Sequence
from statistics import fmean

from tools.comparison.part import SHOWN_BITS, Part
from tools.page_parts import write_table

from softhash.experiments import paper
from softhash.experiments.results import Row
from softhash.plots.differences import Line
from softhash.plots.styles import display_name, plot_rank
from softhash.plots.tables import METRICS

OURS = "softhash"
NET = paper.BACKBONE


def list_gains(common: Part, strong: Part, metric: str, cut: str) -> str:
    """Write what both recipes give each method at the lengths that both have, the best first."""
    name = f"{metric}@{cut}"
    lengths = [bits for bits in common.group.bits if bits in strong.group.bits]
    one, two = (_means(part.group.rows, name) for part in (common, strong))
    methods = {method for method, bits in two if bits in lengths}
    last = lengths[-1] if SHOWN_BITS not in lengths else SHOWN_BITS
    methods = sorted(methods, key=lambda m: (-two.get((m, last), 0.0), plot_rank(m)))
    header = ["method"]
    for bits in lengths:
        header += [f"{bits} bits: common", "strong", "recipe"]
    lines = []
    for method in methods:
        line = [display_name(method)]
        for bits in lengths:
            line += _gain(one.get((method, bits)), two.get((method, bits)))
        lines.append(line)
    line = [f"{display_name(OURS)} less the best other"]
    for bits in lengths:
        margins = [_margin(means, bits) for means in (one, two)]
        line += [*(f"{margin:+.4f}" for margin in margins), ""]
    return f"{METRICS[metric]}@{cut}:\n\n" + write_table(header, [*lines, line])


def _gain(common: float | None, strong: float | None) -> list[str]:
    if common is None or strong is None:
        return ["–", "–", "–"]
    return [f"{common:.4f}", f"{strong:.4f}", f"{strong - common:+.4f}"]


def _margin(means: dict[tuple[str, int], float], bits: int) -> float:
    """Return how far our own method is ahead of the best other, shallow ones included."""
    others = (mean for (name, length), mean in means.items() if length == bits and name != OURS)
    return means[OURS, bits] - max(others)


def list_printed(part: Part, data: str) -> str:
    """Write MAP of methods beside what the paper prints for a data set.

    Args:
        part: the rows.
        data: the paper's name of the data set.

    """
    means = _means(part.group.rows, "map@5000")
    lengths = [bits for bits in part.group.bits if paper.printed(data, "map", "idhn", NET, bits)]
    rows = []
    for method in sorted({method for method, _ in means}, key=plot_rank):
        printed = [paper.printed(data, "map", method, NET, bits) for bits in lengths]
        if all(printed):
            found = zip(lengths, printed, strict=True)
            cells = [f"{means[method, bits]:.3f} [{one.value:.3f}]" for bits, one in found if one]
            rows.append([display_name(method), *cells])
    return write_table(("method", *(f"{bits} bits" for bits in lengths)), rows)


def list_standing(part: Part) -> str:
    """Write for each tested metric and length whether our own method leads."""
    columns: dict[tuple[str, int], list[Line]] = {}
    for line in part.lines:
        columns.setdefault((line["metric"], line["bits"]), []).append(line)
    metrics = list(dict.fromkeys(metric for metric, _ in columns))
    lengths = sorted({bits for _, bits in columns})
    rows = [
        [_measure_name(metric), *(_standing(columns.get((metric, bits), [])) for bits in lengths)]
        for metric in metrics
    ]
    name = part.name.removeprefix("frozen-")
    return write_table((f"`{name}`", *(f"{bits} bits" for bits in lengths)), rows)


def _standing(lines: Iterable[Line]) -> str:
    """Write how our own method stands in one column."""
    found = {line["method"]: line for line in lines}
    if OURS not in found:
        return "–"
    best, own = found[OURS]["best"], found[OURS]
    level = sorted(name for name, line in found.items() if line["level"] and name != OURS)
    if best == OURS:
        return f"level with {', '.join(level)}" if level else "**leads**"
    return f"level with {best}" if own["level"] else f"{-own['difference']:.3f} behind {best}"


def _means(rows: Sequence[Row], metric: str) -> dict[tuple[str, int], float]:
    """Average a metric over the seeds of each method and length; references have no length."""
    values: dict[tuple[str, int], list[float]] = {}
    for row in rows:
        if row["contract"].get("bits") == row["recipe"]["bits"]:
            key = row["recipe"]["method"], row["recipe"]["bits"]
            values.setdefault(key, []).append(row["metrics"][metric])
    return {key: fmean(found) for key, found in values.items()}


def _measure_name(metric: str) -> str:
    name, _, cut = metric.partition("@")
    return f"{METRICS[name]}@{cut}"
