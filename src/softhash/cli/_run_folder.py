"""The folder beside a model in which its run is kept until the model is saved."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from softhash.cli._output import say, warn
from softhash.errors import InputError, UsageError

LOG = "log.jsonl"  # one line per epoch

if TYPE_CHECKING:
    from softhash.training.options import Options
    from softhash.training.recipe import Recipe


class RunFolder:
    """Progress for people, ``log.jsonl`` for programs, a checkpoint until the model is saved."""

    def __init__(
        self, output: Path, recipe: "Recipe", resume: bool, device: str, tensorboard: Path | None
    ) -> None:
        self._folder = output.with_name(f"{output.name}.run")
        self._recipe = recipe
        self._resume, self._device = resume, device
        self._tensorboard = tensorboard
        self._board: Any = None

    def __enter__(self) -> "Options":
        from softhash.cli._progress import show_progress
        from softhash.training import distributed
        from softhash.training.options import Options

        distributed.join()
        checkpoint = self._folder / "checkpoint.safetensors"
        self._leads = distributed.rank() == 0
        if self._leads:
            self._start()
        distributed.wait()
        self._bars = ExitStack()
        options = Options(device=self._device, checkpoint=checkpoint, resume=self._resume)
        if not self._leads:
            return options
        progress, self._report, on_labels = (
            self._bars.enter_context(show_progress(what))
            for what in ("pictures", "training", "learning the names of labels")
        )
        return replace(
            options,
            on_epoch=self._on_epoch,
            on_resume=self._log,
            progress=progress,
            on_labels=on_labels,
            warn=warn,
        )

    def _start(self) -> None:
        """Make the run's folder; what an earlier run left there goes, unless it is resumed."""
        if self._tensorboard:
            self._board = _open_board(self._tensorboard)
        with _written(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            (self._folder / "recipe.toml").write_text(self._recipe.to_toml(), encoding="utf-8")
            (self._folder / LOG).unlink(missing_ok=True)  # a checkpoint has what it had
            for checkpoint in () if self._resume else self._folder.glob("*.safetensors"):
                checkpoint.unlink()

    def _log(self, figures: dict[str, Any]) -> None:
        import json

        with _written(self._folder), (self._folder / LOG).open("a") as log:
            log.write(json.dumps(figures) + "\n")

    def _on_epoch(self, figures: dict[str, Any]) -> None:
        self._log(figures)
        self._report(figures["step"], figures["steps"])
        if self._board:
            for name in ("loss", "rate", "pictures_per_second"):
                self._board.add_scalar(name, figures[name], figures["step"])

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        import shutil

        from softhash.training import distributed

        self._bars.close()
        distributed.leave()
        if not self._leads:
            return
        if self._board:
            self._board.close()
        if kind is None:
            shutil.rmtree(self._folder, ignore_errors=True)
        elif kind is KeyboardInterrupt:
            say(f"stopped; {self._folder} keeps the run: the same command with --resume goes on")


@contextmanager
def _written(folder: Path) -> Iterator[None]:
    """Say which file it was where one cannot be written."""
    try:
        yield
    except OSError as error:
        path = error.filename or folder
        raise InputError(f"cannot write {path}: {error.strerror or error}") from error


def _open_board(folder: Path) -> Any:
    """Return a writer of TensorBoard's logs."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ModuleNotFoundError as error:
        hint = "install it with: pip install tensorboard"
        raise UsageError(f"--tensorboard needs {error.name}", hint) from None
    return SummaryWriter(str(folder))
