"""What `softhash bench` does with a grid: run it, or tune its methods and run the best."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

from softhash.data.splits.split import Split
from softhash.errors import UsageError
from softhash.experiments.cells import RowOptions
from softhash.experiments.feature_file import SavedFeatures
from softhash.experiments.grid import run_grid
from softhash.experiments.per_query import FOLDER, save_per_query
from softhash.experiments.results import Row, read_rows
from softhash.experiments.tune import (
    TUNED,
    choose_tuned,
    draw_trials,
    tunable,
    validation_inputs,
    validation_split,
)
from softhash.training.options import Options
from softhash.training.recipe import Recipe

TRIALS = "trials"  # the folder of their rows, inside that of the results

Cells = Sequence[tuple[Recipe, str]]  # recipes, and the names of their variants


@dataclass(frozen=True, eq=False)
class BenchRun:
    """Where a grid is run, and what is kept of it.

    Attributes:
        folder: of the results, made if need be.
        split: what cells are trained and measured on.
        options: where, and what is reported.
        saved: features of the split, where pictures and backbone are not at hand.
        part: (i, n), where this process runs every n-th cell from the i-th on; methods with a
            length are tuned as a whole.
        curves: lengths whose first seed has curves, None for every row.
        sheets: number of queries whose nearest pictures a row names.
        rescore: whether rescored searches are measured.
        each_epoch: whether the queries are measured after every epoch too.
        command: what the user typed.
        on_cell: called with (cells done, cells in all, the row) after each cell.

    """

    folder: Path
    split: Split
    options: Options
    saved: SavedFeatures | None = None
    part: tuple[int, int] = (1, 1)
    curves: Sequence[int] | None = None
    sheets: int = 0
    rescore: bool = False
    each_epoch: bool = False
    command: str = ""
    on_cell: Callable[[int, int, Row], None] = lambda done, total, row: None

    def run(self, cells: Cells) -> list[str]:
        """Run the cells that have no row yet, and return one line about each that failed."""
        number, count = self.part
        first = min((recipe.seed for recipe, _ in cells), default=0)
        return self._run(cells[number - 1 :: count], first)

    def tune(self, cells: Cells, count: int) -> list[str]:
        """Try settings of each method on the train set alone, then run the best of each.

        Args:
            cells: of the grid; shallow methods and references are left out.
            count: trials of each method and length.

        Raises:
            UsageError: the grid has variants.

        """
        if named := next((name for _, name in cells if name), ""):
            raise UsageError(
                f"the variant '{named}' cannot be tuned: trials change the same keys",
                "leave out [variants], or make it a grid of its own",
            )
        recipes, classes = [recipe for recipe, _ in cells], len(self.split.images.classes)
        number, parts = self.part
        own = tunable(recipes)[number - 1 :: parts]
        trials = [trial for recipe in own for trial in draw_trials(recipe, classes, count)]
        judged_on = validation_split(self.split)
        saved = self.saved and replace(self.saved, inputs=validation_inputs(self.saved.inputs))
        failed = run_grid(
            trials,
            judged_on,
            self._file(self.folder / TRIALS),
            self.options,
            variants=[f"trial of {count}"] * len(trials),
            saved=saved,
            on_cell=self.on_cell,
            wanted=RowOptions(curves=False, command=self.command),
        )
        files = sorted((self.folder / TRIALS).glob("*.jsonl"))  # other parts may have had a share
        every = [row for file in files for row in read_rows(file)]
        rows = [row for row in every if row["contract"]["split"] == judged_on.sha256]
        best = choose_tuned(own, recipes, classes, count, rows)
        first = min((recipe.seed for recipe in recipes), default=0)
        return failed + self._run([(recipe, TUNED) for recipe in best], first)

    def _run(self, cells: Cells, first_seed: int) -> list[str]:
        return run_grid(
            [recipe for recipe, _ in cells],
            self.split,
            self._file(self.folder),
            self.options,
            variants=[name for _, name in cells],
            saved=self.saved,
            on_cell=self.on_cell,
            wanted=self._row_options,
            curves_of=partial(self._has_curves, first_seed),
        )

    @cached_property
    def _row_options(self) -> RowOptions:
        return RowOptions(
            sheets=self.sheets,
            rescore=self.rescore,
            each_epoch=self.each_epoch,
            command=self.command,
            side_by_side=self.part[1],
            keep_per_query=lambda row, values, first_bits: save_per_query(
                self.folder / FOLDER, row, values, first_bits=first_bits
            ),
        )

    def _has_curves(self, first_seed: int, recipe: Recipe) -> bool:
        if self.curves is None:
            return True
        return recipe.seed == first_seed and recipe.bits in self.curves

    def _file(self, folder: Path) -> Path:
        """Return the file that this process appends rows to."""
        folder.mkdir(parents=True, exist_ok=True)
        number, count = self.part
        return folder / ("results.jsonl" if count == 1 else f"results-{number}-of-{count}.jsonl")
