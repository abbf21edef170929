"""A report as a table in the terminal."""

from collections.abc import Mapping, Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from softhash.evaluation.metrics import METRICS
from softhash.evaluation.report import Report


def print_report(report: Report) -> None:
    """Print metrics by cut-off, and the contract's main points under them."""
    cuts = list(report.contract["at"])
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("")
    for cut in cuts:
        table.add_column(f"@{cut}")
    for metric in METRICS:
        table.add_row(metric, *_values(report.metrics, report.standard_errors, metric, cuts))
        if report.rescored:
            table.add_row(f"{metric}, rescored", *_values(report.rescored, {}, metric, cuts))
    console = Console(highlight=False, soft_wrap=True)
    console.print(table)
    console.print(_summary(report))


def _values(
    metrics: Mapping[str, float], errors: Mapping[str, float], metric: str, cuts: Sequence[str]
) -> list[str]:
    names = [f"{metric}@{cut}" for cut in cuts]
    unsure = [f" ± {errors[name]:.4f}" if name in errors else "" for name in names]
    return [f"{metrics[name]:.4f}{error}" for name, error in zip(names, unsure, strict=True)]


def _summary(report: Report) -> str:
    contract = report.contract
    counts = f"{contract['queries']:,} queries, {contract['database']:,} items"
    parts = [f"  {counts}, {contract['bits']} bits, ties {contract['ties']}"]
    parts += ["± standard errors of the queries"] if report.standard_errors else []
    if "trained_on_queries" in contract:
        parts.append(f"trained on queries: {contract['trained_on_queries']}")
    return "; ".join(parts)
