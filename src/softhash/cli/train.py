"""``softhash train``: from a collection, or from embeddings, to a model folder."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from softhash.cli._collection import LabelsFrom
from softhash.cli._output import say
from softhash.cli._run_folder import LOG, RunFolder
from softhash.errors import InputError, UsageError

if TYPE_CHECKING:
    from softhash.data.image_set import ImageSet
    from softhash.model.hasher import Hasher
    from softhash.training.options import Options
    from softhash.training.recipe import Recipe

Trained: TypeAlias = "tuple[Hasher, dict[str, Any]]"  # with what its card has of the data


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
        str | None,
        typer.Option(
            help="Train on the train part of this split alone, so that `evaluate` can measure on "
            "its queries; by default, all labelled pictures are trained on."
        ),
    ] = None,
    split_seed: Annotated[int, typer.Option(help="Seed of the split.")] = 0,
    format: Annotated[str | None, typer.Option("--format", help="Layout of DATA.")] = None,
    labels_from: LabelsFrom = None,
    features: Annotated[
        Path | None, typer.Option(help="`.npy` of embeddings, instead of DATA.")
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(help="`.npy` of their labels; some methods need none.")
    ] = None,
    estimate: Annotated[
        bool,
        typer.Option(
            "--estimate/--no-estimate",
            help="Without --protocol: estimate by cross-validation how good the codes are.",
        ),
    ] = True,
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
    with RunFolder(output, resolved, resume, device, tensorboard) as options:
        if features:
            trained = _train_on_features(features, labels, resolved, options)
        else:
            images = _read(str(data), format, labels_from or [], resolved)
            if protocol is None:
                trained = _train_on_all(images, resolved, options, estimate=estimate)
            else:
                trained = _train_on_split(images, (protocol, split_seed), resolved, options)
        _save(*trained, output, resolved, options, force=force)


def _read(data: str, format: str | None, labels_from: list[str], recipe: "Recipe") -> "ImageSet":
    """Read a collection that the recipe's method can learn from; one process prints its notes."""
    from softhash.cli._collection import label_collection, read_collection
    from softhash.data.image_set import ImageSet
    from softhash.data.labelling import source_names
    from softhash.training.distributed import rank
    from softhash.training.methods import method_class
    from softhash.training.train_set import check_labels

    sources = source_names(labels_from)
    if rank() == 0:
        images = label_collection(read_collection(data, format), sources)
    else:
        images = ImageSet.read(data, format, labels_from=sources)
    check_labels(method_class(recipe.method), images.labels)
    return images


def _train_on_all(
    images: "ImageSet", recipe: "Recipe", options: "Options", *, estimate: bool
) -> "Trained":
    """Train on all pictures, and estimate how good the codes of new ones are."""
    from softhash.cli._estimate import estimate_quality

    hasher, card = _train(images, images, {"protocol": "all"}, recipe, options)
    if estimate and images.labels.any():
        card |= estimate_quality(hasher, images, recipe, options)
    return hasher, card


def _train_on_split(
    images: "ImageSet", protocol: tuple[str, int], recipe: "Recipe", options: "Options"
) -> "Trained":
    """Train on the train part of a split.

    Args:
        images: the collection; without any label there is nothing to split by.
        protocol: its name, and the seed; `all` is all of it.
        recipe: how.
        options: who is told what is left out.

    """
    if protocol[0] == "all" or not images.labels.any():
        if protocol[0] != "all":
            options.warn("no picture has a label: there is nothing to split by, all are trained on")
        return _train(images, images, {"protocol": "all"}, recipe, options)
    split = images.split(protocol[0], seed=protocol[1])
    for note in split.notes:
        options.warn(note)
    own = {"protocol": split.protocol, "seed": split.seed, "sha256": split.sha256}
    counts = {name: len(part) for name, part in split.positions.items()}
    return _train(images, split.train, own | counts, recipe, options)


def _train(
    images: "ImageSet",
    train_set: "ImageSet",
    split: dict[str, Any],
    recipe: "Recipe",
    options: "Options",
) -> "Trained":
    from softhash.training.distributed import rank
    from softhash.training.fit import build_hasher, fit

    hasher = build_hasher(recipe)
    if rank() == 0:
        share = f"all {len(images):,} pictures"
        if len(train_set) < len(images):
            share = f"{len(train_set):,} of {len(images):,} pictures, the train set of the split"
        say(f"training {recipe.method}, {recipe.bits} bits, on {share}{_after(recipe)}")
    fit(hasher, train_set, recipe=recipe, options=options)
    return hasher, {"data": {"format": images.format, "images": len(images)}, "split": split}


def _after(recipe: "Recipe") -> str:
    """Name what is trained before the model, where anything is."""
    if recipe.mode == "frozen" or not recipe.teacher_zoom:
        return ""
    return f", after a teacher that sees them {recipe.teacher_zoom:g} times as large"


def _train_on_features(
    features: Path, labels: Path | None, recipe: "Recipe", options: "Options"
) -> "Trained":
    from softhash.data.arrays import read_features, read_labels
    from softhash.training.fit import build_hasher, fit_features

    values, targets = read_features(features), read_labels(labels) if labels else None
    if targets is not None and len(values) != len(targets):
        raise InputError(f"{features} has {len(values)} rows and {labels} {len(targets)}")
    if recipe.mode != "frozen":
        raise UsageError("embeddings have no network to fine-tune", "leave --finetune away")
    hasher = build_hasher(recipe, features=values.shape[1])
    fit_features(hasher, values, targets, recipe=recipe, options=options)
    return hasher, {"data": {"embeddings": len(values)}}


def _save(
    hasher: "Hasher",
    card: dict[str, Any],
    output: Path,
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
