"""Run all benchmarks and print one table of ratios; name some to run only those."""

import os
import sys
import traceback
from importlib import import_module

from rich.console import Console
from rich.table import Table

from benchmarks._timing import Row

BENCHMARKS = (
    *("decode", "engines", "evaluation", "features", "index"),
    *("search", "server", "shards", "training", "triplets"),
)


def show(lines: list[Row]) -> None:
    """Print the lines as a table; a ratio above its target is green."""
    table = Table(title=f"peer / ours (load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores)")
    for column in ("benchmark", "case"):
        table.add_column(column)
    for column in ("peer", "ours", "unit", "ratio", "target"):
        table.add_column(column, justify="right")
    for line in lines:
        target = line["target"]
        colour = "" if target is None else "[green]" if line["ratio"] >= target else "[red]"
        table.add_row(
            line["benchmark"],
            line["case"],
            f"{line['peer']:.3g}",
            f"{line['ours']:.3g}",
            line["unit"],
            f"{colour}{line['ratio']:.2f}",
            "" if target is None else f"{target:g}",
        )
    Console(width=None if sys.stdout.isatty() else 120).print(table)


def main() -> None:
    """Run the benchmarks named on the command line, or all."""
    wanted = sys.argv[1:] or BENCHMARKS
    lines: list[Row] = []
    failed = []
    for name in wanted:
        print(f"running {name} …", file=sys.stderr)
        try:
            lines += import_module(f"benchmarks.{name}").rows()
        except Exception:  # the others are shown all the same
            traceback.print_exc()
            failed.append(name)
    show(lines)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
