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
    notes = ["± standard errors of the queries"] if report.standard_errors else []
    _print(table, _summary(report, f"{_origin(report)}{report.contract['bits']} bits", *notes))


def print_lengths(reports: Mapping[int, Report]) -> None:
    """Print a row for each length of code and cut-off, and the contract's main points under them.

    Args:
        reports: of the first bits of the same codes, by how many.

    """
    table = Table(box=box.SIMPLE_HEAD)
    for name in ("", "bits", *METRICS):
        table.add_column(name)
    first = next(iter(reports.values()))
    for cut in first.contract["at"]:
        for bits, report in reports.items():
            rows = {str(bits): report.metrics, f"{bits}, rescored": report.rescored}
            for name, metrics in rows.items():
                if metrics:
                    values = (f"{metrics[f'{metric}@{cut}']:.4f}" for metric in METRICS)
                    table.add_row(f"@{cut}", name, *values)
    longest = reports[max(reports)]
    _print(table, _summary(longest, f"{_origin(longest)}up to {max(reports)} bits"))


def _print(table: Table, summary: str) -> None:
    console = Console(highlight=False, soft_wrap=True)
    console.print(table)
    console.print(summary)


def _values(
    metrics: Mapping[str, float], errors: Mapping[str, float], metric: str, cuts: Sequence[str]
) -> list[str]:
    names = [f"{metric}@{cut}" for cut in cuts]
    unsure = [f" ± {errors[name]:.4f}" if name in errors else "" for name in names]
    return [f"{metrics[name]:.4f}{error}" for name, error in zip(names, unsure, strict=True)]


def _origin(report: Report) -> str:
    whole = report.contract.get("first_of")
    return f"codes of {whole} bits, their first " if whole else ""


def _summary(report: Report, bits: str, *notes: str) -> str:
    contract = report.contract
    counts = f"{contract['queries']:,} queries, {contract['database']:,} items"
    parts = [f"  {counts}, {bits}, ties {contract['ties']}", *notes]
    if "trained_on_queries" in contract:
        parts.append(f"trained on queries: {contract['trained_on_queries']}")
    return "; ".join(parts)
