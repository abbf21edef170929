"""``softhash bench``: a grid of runs on one split, kept as they finish."""

import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from softhash.cli._collection import read_collection, split_collection
from softhash.cli._output import fail, say, warn
from softhash.cli._part import read_part

if TYPE_CHECKING:
    from softhash.data.splits.split import Split
    from softhash.training.options import Options
    from softhash.training.recipe import Recipe


def bench(
    recipe: Annotated[Path, typer.Argument(help="A TOML file with a table \\[grid].")],
    data: Annotated[
        str | None, typer.Option("--data", help="A folder, a table, or `scenes`.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="A folder for the results.")
    ] = None,
    features: Annotated[
        Path | None,
        typer.Option("--features", help="Instead of DATA: a file of --save-features."),
    ] = None,
    save_features: Annotated[
        Path | None,
        typer.Option(
            "--save-features",
            help="Write the features, for --features on a machine without the pictures.",
        ),
    ] = None,
    protocol: Annotated[str, typer.Option(help="How DATA is split.")] = "random",
    split_seed: Annotated[int, typer.Option(help="Seed of the split.")] = 0,
    format: Annotated[str | None, typer.Option("--format", help="Layout of DATA.")] = None,
    concepts: Annotated[
        int | None, typer.Option(help="How many labels: NUS-WIDE 81 or 21, MIRFlickr 38 or 24.")
    ] = None,
    labelled: Annotated[
        bool, typer.Option("--labelled", help="Leave out pictures without labels altogether.")
    ] = False,
    only: Annotated[str | None, typer.Option(help="Methods, with commas between.")] = None,
    bits: Annotated[str | None, typer.Option(help="Numbers of bits, with commas.")] = None,
    seeds: Annotated[int | None, typer.Option(help="How many seeds, from 0 on.")] = None,
    sheets: Annotated[
        int, typer.Option(min=0, help="Queries whose 20 nearest pictures a row names.")
    ] = 2,
    rescore: Annotated[
        bool,
        typer.Option(
            "--rescore", help="Measure rescored searches too; runs cells without it again."
        ),
    ] = False,
    each_epoch: Annotated[
        bool,
        typer.Option(
            "--each-epoch", help="Measure after every epoch too, as papers of a best epoch do."
        ),
    ] = False,
    curves: Annotated[
        str, typer.Option(help="Lengths whose first seed has curves; `all` for every row.")
    ] = "all",
    tune: Annotated[
        int | None,
        typer.Option(
            min=1, help="Settings per method, drawn at random and judged on the train set alone."
        ),
    ] = None,
    part: Annotated[
        str | None,
        typer.Option(help="Run every n-th cell from the i-th on, as 1/3, beside other processes."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where it stopped; it does so anyway.")
    ] = False,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite the file of --save-features.")
    ] = False,
) -> None:
    """Run every cell of a grid that is not in the results yet."""
    from softhash.cli._progress import show_progress
    from softhash.experiments.bench_run import BenchRun
    from softhash.experiments.feature_file import load_features
    from softhash.experiments.grid import expand_variants
    from softhash.training.options import Options
    from softhash.training.recipe import read_toml

    _check_given(data, output, features, save_features)
    cells = expand_variants(read_toml(recipe), _asked_for(only, bits, seeds))
    drawn = None if curves == "all" else [_whole_number("curves", v) for v in curves.split(",")]
    share = read_part(part)  # what cannot be is refused before pictures are read
    saved = load_features(features) if features else None
    if saved:
        split = saved.inputs.split
    else:
        images = read_collection(str(data), format, concepts=concepts, labelled=labelled)
        split = split_collection(images, protocol, seed=split_seed)
    with show_progress("pictures") as progress:
        options = Options(device=device, progress=progress, warn=warn)
        if save_features:
            _save([cell for cell, _ in cells], split, save_features, options, force=force)
        if not output:
            return
        run = BenchRun(
            output, split, options, saved=saved, part=share, curves=drawn,
            sheets=sheets, rescore=rescore, each_epoch=each_epoch, command=typed_command(sys.argv),
            on_cell=_CellPrinter(),
        )  # fmt: skip
        failed = run.tune(cells, tune) if tune else run.run(cells)
    if failed:
        fail(f"{len(failed)} cells failed; the others are in {output}", code=1)


def _check_given(
    data: str | None, output: Path | None, features: Path | None, save_features: Path | None
) -> None:
    """Raise unless there is one source, and something to be done with it."""
    if (data is None) == (features is None):
        raise typer.BadParameter("give either --data, or --features")
    if features and save_features:
        raise typer.BadParameter("--save-features needs --data")
    if not (output or save_features):
        raise typer.BadParameter("give --output, a folder for the results")


def _save(
    recipes: "list[Recipe]", split: "Split", path: Path, options: "Options", *, force: bool
) -> None:
    """Write the features that the frozen cells of a grid share.

    Args:
        recipes: the cells, all of one network.
        split: whose pictures are read.
        path: of the file.
        options: where features are computed, and what is reported.
        force: whether an existing file is overwritten.

    """
    from softhash.experiments.feature_file import describe_network, save_features
    from softhash.experiments.inputs import prepare_inputs
    from softhash.files import check_free

    networks = [describe_network(recipe) for recipe in recipes]
    if any(network != networks[0] for network in networks):
        raise typer.BadParameter("the grid has several networks; a file has features of one")
    check_free(path, force=force)
    save_features(prepare_inputs(split, recipes[0], options), recipes[0], path, force=force)
    say(f"{path} has the features of split {split.sha256[:12]}")


def _asked_for(only: str | None, bits: str | None, seeds: int | None) -> dict[str, Any]:
    """Return the keys of the grid that options replace."""
    asked: dict[str, Any] = {"method": only.split(",")} if only else {}
    if bits:
        asked["bits"] = [_whole_number("bits", value) for value in bits.split(",")]
    if seeds:
        asked["seed"] = list(range(seeds))
    return asked


def _whole_number(option: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"--{option} has {text!r}; give whole numbers, as 12,24") from None


def typed_command(arguments: Sequence[str]) -> str:
    """Write a command as it was typed, without the folders of this machine.

    >>> typed_command(["/usr/bin/softhash", "bench", "a.toml", "--data", "/home/me/my photos"])
    "softhash bench a.toml --data 'my photos'"
    """
    names = [Path(word).name if Path(word).is_absolute() else word for word in arguments[1:]]
    return shlex.join(["softhash", *names])


class _CellPrinter:
    """Prints what a cell reached, and how long the rest will take if it goes on like this."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._cells = 0

    def __call__(self, done: int, total: int, row: Mapping[str, Any]) -> None:
        self._cells += 1
        each = (time.monotonic() - self._started) / self._cells
        left = f"  about {_duration(each * (total - done))} left" if done < total else ""
        r, name = row["recipe"], row.get("variant", "")
        label = f"{r['method']} ({name})" if name else r["method"]
        say(
            f"{done:4} of {total}  {label:16} {row['contract']['bits']:5} bits  "
            f"seed {r['seed']}  "
            f"MAP@5000 {row['metrics']['map@5000']:.4f}  {row['seconds']['train']:.1f} s{left}"
        )


def _duration(seconds: float) -> str:
    """Write a time in the unit that fits.

    >>> _duration(42), _duration(600), _duration(9000)
    ('42 s', '10 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
