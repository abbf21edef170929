"""``softhash train``: from a collection, or from embeddings, to a model folder."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from softhash.cli._output import say, warn
from softhash.errors import InputError, UsageError

LOG = "log.jsonl"  # one line per epoch

if TYPE_CHECKING:
    from softhash.data.image_set import ImageSet
    from softhash.model.hasher import Hasher
    from softhash.training.options import Options
    from softhash.training.recipe import Recipe


def train(
    output: Annotated[Path, typer.Option("-o", "--output", help="The model's folder.")],
    data: Annotated[str | None, typer.Argument(help="A folder, a table, or `scenes`.")] = None,
    method: Annotated[str | None, typer.Option(help="See `softhash list methods`.")] = None,
    bits: Annotated[int | None, typer.Option(help="Length of the codes.")] = None,
    backbone: Annotated[str | None, typer.Option(help="See `softhash list backbones`.")] = None,
    weights: Annotated[
        str | None, typer.Option(help="Where the backbone starts: default, random or a file.")
    ] = None,
    size: Annotated[
        int | None,
        typer.Option(help="Side of the pictures in pixels: larger sees more and takes longer."),
    ] = None,
    finetune: Annotated[
        bool | None,
        typer.Option("--finetune/--frozen", help="Train the whole network, or a head on features."),
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="Passes over the train set.")] = None,
    seed: Annotated[int | None, typer.Option(help="What chance depends on.")] = None,
    recipe: Annotated[Path | None, typer.Option(help="A TOML file with all settings.")] = None,
    protocol: Annotated[
        str, typer.Option(help="How the collection is split; `all` trains on all of it.")
    ] = "random",
    split_seed: Annotated[int, typer.Option(help="Seed of the split.")] = 0,
    format: Annotated[str | None, typer.Option("--format", help="Layout of DATA.")] = None,
    features: Annotated[
        Path | None, typer.Option(help="`.npy` of embeddings, instead of DATA.")
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(help="`.npy` of their labels; some methods need none.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where it stopped.")] = False,
    tensorboard: Annotated[
        Path | None, typer.Option(help="A folder for logs of TensorBoard.")
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    force: Annotated[bool, typer.Option("--force", help="Replace an existing model.")] = False,
) -> None:
    """Learn codes from labels, or from pictures alone, and save the model."""
    from softhash.model.folder import check_free
    from softhash.training.recipe import Recipe

    given = {
        "method": method, "bits": bits, "backbone": backbone, "weights": weights,
        "size": size, "epochs": epochs, "seed": seed,
        "mode": None if finetune is None else ("finetune" if finetune else "frozen"),
    }  # fmt: skip
    chosen = {name: value for name, value in given.items() if value is not None}
    resolved = Recipe.read(recipe, **chosen) if recipe else Recipe.with_defaults(**chosen)
    check_free(output, force=force)
    if (data is None) == (features is None):
        raise UsageError("give either DATA, or --features")
    with _RunFolder(output, resolved, resume, device, tensorboard) as options:
        if features:
            _train_on_features(output, features, labels, resolved, options, force=force)
        else:
            _train_on_pictures(
                output, str(data), format, (protocol, split_seed), resolved, options, force=force
            )


def _train_on_pictures(
    output: Path,
    data: str,
    format: str | None,
    protocol: tuple[str, int],
    recipe: "Recipe",
    options: "Options",
    *,
    force: bool,
) -> None:
    from softhash.cli._collection import read_collection
    from softhash.data.image_set import ImageSet
    from softhash.training.distributed import rank
    from softhash.training.fit import build_hasher, fit
    from softhash.training.methods import method_class
    from softhash.training.train_set import check_labels

    images = read_collection(data, format) if rank() == 0 else ImageSet.read(data, format)
    check_labels(method_class(recipe.method), images.labels)
    train_set, split = _split(images, protocol, options)
    card = {"data": {"format": images.format, "images": len(images)}, "split": split}
    hasher = build_hasher(recipe)
    if rank() == 0:
        what = f"{recipe.method}, {recipe.bits} bits, on {len(train_set):,} pictures"
        say(f"training {what}{_after(recipe)}")
    fit(hasher, train_set, recipe=recipe, options=options)
    _save(hasher, output, card, recipe, options, force=force)


def _split(
    images: "ImageSet", protocol: tuple[str, int], options: "Options"
) -> "tuple[ImageSet, dict[str, Any]]":
    """Return what is trained on, and what the card has of the split.

    Args:
        images: the collection; without any label there is nothing to split by.
        protocol: its name, and the seed.
        options: who is told what is left out.

    """
    if protocol[0] != "all" and images.labels.any():
        split = images.split(protocol[0], seed=protocol[1])
        for note in split.notes:
            options.warn(note)
        own = {"protocol": split.protocol, "seed": split.seed, "sha256": split.sha256}
        return split.train, own | {name: len(part) for name, part in split.positions.items()}
    if protocol[0] != "all":
        options.warn("no picture has a label: there is nothing to split by, all are trained on")
    return images, {"protocol": "all"}


def _after(recipe: "Recipe") -> str:
    """Name what is trained before the model, where anything is."""
    if recipe.mode == "frozen" or not recipe.teacher_zoom:
        return ""
    return f", after a teacher that sees them {recipe.teacher_zoom:g} times as large"


def _train_on_features(
    output: Path,
    features: Path,
    labels: Path | None,
    recipe: "Recipe",
    options: "Options",
    *,
    force: bool,
) -> None:
    from softhash.data.arrays import read_features, read_labels
    from softhash.training.fit import build_hasher, fit_features

    values, targets = read_features(features), read_labels(labels) if labels else None
    if targets is not None and len(values) != len(targets):
        raise InputError(f"{features} has {len(values)} rows and {labels} {len(targets)}")
    if recipe.mode != "frozen":
        raise UsageError("embeddings have no network to fine-tune", "leave --finetune away")
    hasher = build_hasher(recipe, features=values.shape[1])
    fit_features(hasher, values, targets, recipe=recipe, options=options)
    _save(hasher, output, {"data": {"embeddings": len(values)}}, recipe, options, force=force)


def _save(
    hasher: "Hasher",
    output: Path,
    card: dict[str, Any],
    recipe: "Recipe",
    options: "Options",
    *,
    force: bool,
) -> None:
    """Save the model; of several processes, which all have the same, the first does it."""
    from softhash.data.text_files import read_text
    from softhash.model.card import CODES_WITHOUT_LABELS
    from softhash.training.distributed import rank
    from softhash.training.methods import method_class

    card |= {"settings": recipe.as_dict()}
    if method_class(recipe.method).unsupervised:
        card |= {"codes": CODES_WITHOUT_LABELS}
    if rank() == 0:
        log = options.checkpoint and options.checkpoint.with_name(LOG)
        text = read_text(log) if log and log.exists() else ""  # shallow methods have no epochs
        hasher.save(output, force=force, card=card, log=text)
        say(f"saved {output}")


class _RunFolder:
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
        progress = self._bars.enter_context(show_progress("pictures")) if self._leads else None
        if self._leads:
            self._report = self._bars.enter_context(show_progress("training"))
        return Options(
            device=self._device,
            on_epoch=self._on_epoch if self._leads else lambda figures: None,
            on_resume=self._log if self._leads else lambda figures: None,
            progress=progress,
            checkpoint=checkpoint,
            resume=self._resume,
            warn=warn if self._leads else lambda note: None,
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
