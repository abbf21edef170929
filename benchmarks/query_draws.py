"""How much a comparison owes to the queries that were drawn for it.

    python benchmarks/query_draws.py VOC --methods softhash,dlbhc [--finetune] -o DRAWS.jsonl

The paper's protocol draws 1,000 queries once, and a table of methods shares their luck. Here each
method is trained on the protocol's train set, and measured with the queries of the protocol and
with others: each further draw takes as many of the pictures that nothing was trained on, and has
the rest as its database. Draws are the same for all methods, so that their differences are paired.
Rows are appended to the file as they finish, and a cell that is there is not run again.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from operator import sub
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import torch

from softhash import ImageSet
from softhash.experiments.cells import TrainedCell, train_cell
from softhash.experiments.inputs import GridInputs, prepare_inputs
from softhash.training.options import Options
from softhash.training.recipe import Recipe

METRICS = ("map@5000", "wap@5000", "ndcg@100", "acg@100")
CUTS = (100, 5000)

Row = dict[str, Any]
Draws = list[list[float]]  # of each draw, the protocol's own first, each metric


def main() -> None:
    """Run what is missing, and print a table of everything that the file has."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("--methods", default="softhash", help="names; the first is compared with")
    parser.add_argument("--bits", default="48", help="lengths of code")
    parser.add_argument("--seeds", default="0", help="of training")
    parser.add_argument("--draws", type=int, default=20, help="beside the protocol's own")
    parser.add_argument("--size", type=int, default=227)
    parser.add_argument("--finetune", action="store_true")
    parser.add_argument("--device", default="auto")
    parser.add_argument("-o", "--output", type=Path, required=True, help="rows, as JSON lines")
    given = parser.parse_args()
    if given.draws < 2:
        parser.error(f"--draws is {given.draws}; give at least 2, to see how they differ")
    mode = "finetune" if given.finetune else "frozen"
    recipes = [
        Recipe.with_defaults(
            mode=mode, size=given.size, method=method, bits=int(bits), seed=int(seed)
        )
        for bits in given.bits.split(",")
        for seed in given.seeds.split(",")
        for method in given.methods.split(",")
    ]
    run(recipes, given.data, given.draws, Options(device=given.device), given.output)
    print(table(read_draws(given.output), given.methods.split(",")[0]))


def run(recipes: list[Recipe], data: str, draws: int, options: Options, output: Path) -> None:
    """Train and measure the recipes that the file has no row of.

    Args:
        recipes: of one mode and size.
        data: a folder.
        draws: of queries, besides the protocol's own.
        options: where, and what is reported.
        output: a .jsonl file that rows are appended to.

    """
    finished = [Recipe(**row["recipe"]) for row in read_draws(output)]
    waiting = [recipe for recipe in recipes if recipe not in finished]
    if not waiting:
        return
    inputs = prepare_inputs(ImageSet.read(data).split("random", seed=0), waiting[0], options)
    for recipe in waiting:
        cell = train_cell(recipe, inputs, options)
        row = {"recipe": recipe.as_dict(), "draws": measure(cell, inputs, draws)}
        with output.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(recipe.method, recipe.bits, recipe.seed, flush=True)


def measure(cell: TrainedCell, inputs: GridInputs, draws: int) -> Draws:
    """Measure with the queries of the protocol, and with others.

    Args:
        cell: that was trained on the protocol's train set.
        inputs: of the protocol.
        draws: besides the protocol's own.

    """
    unseen = torch.cat([inputs.query, inputs.database])
    count, found = len(inputs.query), []
    for draw in range(draws + 1):
        order = torch.randperm(len(unseen), generator=torch.Generator().manual_seed(draw))
        drawn = unseen[order] if draw else unseen
        redrawn = replace(inputs, query=drawn[:count], database=drawn[count:])
        metrics = cell.encode_split(redrawn).report(CUTS).metrics
        found.append([round(metrics[name], 5) for name in METRICS])
    return found


def read_draws(file: Path) -> list[Row]:
    """Read the rows of a file that may not be there yet."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def table(rows: list[Row], first: str) -> str:
    """Write each method's metrics with the protocol's queries and with others, as Markdown.

    The best by NDCG come first. The last column is the difference from the method that is compared
    with, given the same queries.
    """
    seeds: dict[tuple[int, str], list[Draws]] = {}
    for row in rows:
        recipe = Recipe(**row["recipe"])
        seeds.setdefault((recipe.bits, _name(recipe)), []).append(row["draws"])
    means = {cell: _mean_of_seeds(found) for cell, found in seeds.items()}
    lines = [f"| bits | method | queries | {' | '.join(METRICS)} | ndcg@100, difference |"]
    lines += ["|---" * (len(METRICS) + 4) + "|"]
    for bits, method in sorted(means, key=lambda cell: (cell[0], -mean(_ndcg(means[cell][1:])))):
        own, *others = means[bits, method]
        first_own, *first_others = means.get((bits, first), means[bits, method])
        gap, *gaps = map(sub, _ndcg([own, *others]), _ndcg([first_own, *first_others]))
        cells = " | ".join(f"{value:.4f}" for value in [*own, gap])
        lines.append(f"| {bits} | {method} | the protocol's | {cells} |")
        cells = " | ".join(_spread(column) for column in [*zip(*others, strict=True), gaps])
        lines.append(f"| | | {len(others)} others | {cells} |")
    return "\n".join(lines)


def _ndcg(draws: Draws) -> list[float]:
    return [metrics[METRICS.index("ndcg@100")] for metrics in draws]


def _name(recipe: Recipe) -> str:
    usual = Recipe.with_defaults(mode=recipe.mode, method=recipe.method).teacher_zoom
    return (
        recipe.method
        if recipe.teacher_zoom == usual
        else f"{recipe.method}, zoom {recipe.teacher_zoom}"
    )


def _mean_of_seeds(found: list[Draws]) -> Draws:
    same_draw = zip(*found, strict=True)
    return [[mean(values) for values in zip(*runs, strict=True)] for runs in same_draw]


def _spread(values: Sequence[float]) -> str:
    return f"{mean(values):.4f} ± {stdev(values):.4f}"


if __name__ == "__main__":
    main()
