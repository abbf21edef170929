"""Readers of models and of weights."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from .reader import Reader
from .samples import picture, tiny_backbone, write_model, write_worded_model


def _use(folder: Path) -> None:
    from softhash.model.hasher import Hasher

    hasher = Hasher.load(folder)
    u, labels = hasher.outputs_and_labels(picture(1), workers=1)
    assert u.shape == (1, hasher.bits)
    assert len(labels) == 1
    hasher.encode(picture(1))


def _use_signed(folder: Path) -> None:
    """Use a model whose maker wrote the check sums after the spoiling."""
    from softhash.model import folder as files
    from softhash.model.config import ModelConfig

    path = folder / files.CONFIG
    config = ModelConfig.from_json(path.read_bytes(), str(path))
    parts = {name: files.sha256((folder / name).read_bytes()) for name in config.sha256}
    path.write_text(config.with_sha256(parts).to_json())
    _use(folder)


def _make_unsigned(folder: Path) -> None:
    """Write a model whose settings have no checksum, so that readers go further."""
    write_model(folder)
    settings = json.loads((folder / "config.json").read_bytes())
    del settings["sha256"]["config.json"]
    (folder / "config.json").write_text(json.dumps(settings))


def _use_network(folder: Path) -> None:
    from softhash.model.hasher import Hasher

    with tiny_backbone():
        _use_signed(folder)
        assert Hasher.load(folder).network is not None


def _state() -> dict[str, Any]:
    import torch

    draw = torch.Generator().manual_seed(0)
    return {
        "weight": torch.randn(4, 3, generator=draw),
        "bias": torch.randn(4, generator=draw).half(),
    }


def _make_zip(folder: Path) -> None:
    import torch

    torch.save(_state(), folder / "weights.pth")


def _make_stream(folder: Path) -> None:
    import torch

    torch.save(_state(), folder / "weights.pth", _use_new_zipfile_serialization=False)


def _make_safetensors(folder: Path) -> None:
    from safetensors.torch import save_file

    save_file(_state(), folder / "weights.safetensors")


def _interpret(folder: Path) -> None:
    from softhash.model.backbones.torch_file import read_torch_file

    for array in read_torch_file(folder / "weights.pth").values():
        np.asarray(array, np.float64).sum()


def _load(folder: Path) -> None:
    from softhash.model.backbones.weights import load_weights

    (file,) = folder.iterdir()
    load_weights(_Small(), file, partial=True)


def _Small() -> Any:  # noqa: N802 (stands for a class of torch, which is imported late)
    from torch import nn

    return nn.Linear(3, 4)


def _make_checkpoint(folder: Path) -> None:
    import torch

    from softhash.training.checkpoint import save_checkpoint

    run, recipe = _run()
    run.network(torch.ones(2, 6)).sum().backward()
    run.optimiser.step()
    save_checkpoint(folder / "checkpoint.safetensors", run, recipe)


def _read_checkpoint(folder: Path) -> None:
    from softhash.training.checkpoint import load_checkpoint

    run, recipe = _run()
    load_checkpoint(folder / "checkpoint.safetensors", run, recipe)
    assert run.step >= 0


def _run() -> tuple[Any, Any]:
    import torch
    from torch import nn

    from softhash.training.loop import make_run
    from softhash.training.methods import create
    from softhash.training.recipe import Recipe

    torch.manual_seed(0)
    recipe = Recipe.with_defaults(method="idhn", bits=8, epochs=2)
    head = nn.Sequential(nn.Linear(6, 8), nn.Softsign())
    return make_run(head, create("idhn", 8, 5), recipe, torch.device("cpu")), recipe


READERS = [
    Reader("model config", write_model, {"config.json": "json"}, _use),
    Reader("model config, unsigned", _make_unsigned, {"config.json": "json"}, _use),
    Reader("model graph", write_model, {"model.onnx": "onnx"}, _use_signed, keeps=False),
    Reader(
        "model weights", write_model, {"model.safetensors": "safetensors"}, _use_network,
        keeps=False,
    ),
    Reader(
        "label classifier", write_model, {"labels.safetensors": "safetensors"}, _use_signed,
        keeps=False,
    ),
    Reader(
        "words", write_worded_model, {"labels.safetensors": "safetensors"}, _use_signed,
        keeps=False,
    ),
    Reader("torch zip, interpreted", _make_zip, {"weights.pth": "zip"}, _interpret),
    Reader("torch stream, interpreted", _make_stream, {"weights.pth": "bytes"}, _interpret),
    Reader("torch zip", _make_zip, {"weights.pth": "zip"}, _load),
    Reader("torch stream", _make_stream, {"weights.pth": "bytes"}, _load),
    Reader("safetensors", _make_safetensors, {"*.safetensors": "safetensors"}, _load),
    Reader("checkpoint", _make_checkpoint, {"*.safetensors": "safetensors"}, _read_checkpoint),
]  # fmt: skip
