"""``softhash bench``: a grid of runs on one split, kept as they finish."""

from pathlib import Path
from typing import Annotated, Any

import typer

from softhash.cli._output import fail, say, warn


def bench(
    recipe: Annotated[Path, typer.Argument(help="A TOML file with a table [grid].")],
    data: Annotated[str, typer.Option("--data", help="A folder, a table, or `scenes`.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="A folder for the results.")],
    protocol: Annotated[str, typer.Option(help="How DATA is split.")] = "random",
    split_seed: Annotated[int, typer.Option(help="Seed of the split.")] = 0,
    only: Annotated[str | None, typer.Option(help="Methods, with commas between.")] = None,
    bits: Annotated[str | None, typer.Option(help="Numbers of bits, with commas.")] = None,
    seeds: Annotated[int | None, typer.Option(help="How many seeds, from 0 on.")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
) -> None:
    """Run every cell of a grid that is not in the results yet."""
    from softhash.benchmark import expand, run_grid
    from softhash.cli._progress import progress_of
    from softhash.fitting import Options
    from softhash.images import ImageSet
    from softhash.recipe import read_toml

    content = read_toml(recipe)
    grid: dict[str, Any] = dict(content.get("grid", {}))
    if only:
        grid["method"] = only.split(",")
    if bits:
        grid["bits"] = [int(value) for value in bits.split(",")]
    if seeds:
        grid["seed"] = list(range(seeds))
    recipes = expand({**content, "grid": grid})
    split = ImageSet.read(data).split(protocol, seed=split_seed)
    for note in split.notes:
        warn(note)
    output.mkdir(parents=True, exist_ok=True)

    def told(done: int, total: int, row: dict[str, Any]) -> None:
        r = row["recipe"]
        say(
            f"{done:4} of {total}  {r['method']:16} {r['bits']:4} bits  seed {r['seed']}  "
            f"MAP@5000 {row['metrics']['map@5000']:.4f}  {row['seconds']['train']:.1f} s"
        )

    with progress_of("pictures") as progress:
        options = Options(device=device, progress=progress, notes=warn)
        failed = run_grid(recipes, split, output / "results.jsonl", options, told=told)
    if failed:
        for line in failed:
            warn(line)
        fail(f"{len(failed)} of {len(recipes)} cells failed; the others are in {output}", code=1)
