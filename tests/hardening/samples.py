"""Small things to attack: pictures, a model of a few thousand weights, an index made with it.

To build them starts threads: `sandbox.in_child` keeps those out of a process that is to fork.
"""

import io
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from PIL import Image

PICTURES = 24
LABELS = ("sea", "sky", "dog", "night sky")


def picture(seed: int, side: int = 24) -> Image.Image:
    """Draw a picture of a few blocks of colour."""
    blocks = np.random.default_rng(seed).integers(0, 256, (3, 3, 3), dtype=np.uint8)
    return Image.fromarray(blocks).resize((side, side), Image.Resampling.NEAREST)


def encoded(image: Image.Image, format: str, **options: Any) -> bytes:
    """Write a picture as the bytes of a file."""
    stream = io.BytesIO()
    image.save(stream, format, **options)
    return stream.getvalue()


def write_pictures(folder: Path, numbers: range = range(PICTURES)) -> Path:
    """Write pictures and a table of their labels; one has no label, one has all."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = ["file_name,labels"]
    for number in numbers:
        (folder / f"{number:03}.png").write_bytes(encoded(picture(number), "PNG"))
        chosen = [label for i, label in enumerate(LABELS) if number >> i & 1]
        rows.append(f"{number:03}.png,{';'.join(chosen)}")
    (folder / "metadata.csv").write_text("\n".join(rows) + "\n")
    return folder


@contextmanager
def tiny_backbone() -> Iterator[None]:
    """Let the backbones be one of two small convolutions, which needs no weights of others."""
    from softhash.model.backbones.specs import BackboneSpec

    spec = BackboneSpec("tiny", 12, 16, (120.0,) * 3, (60.0,) * 3, "For tests.", least=8)

    def build(name: str, *, weights: object = None) -> Any:
        from torch import nn

        return nn.Sequential(
            nn.Conv2d(3, 6, 3, stride=2), nn.ReLU(), nn.Conv2d(6, 12, 3, stride=2),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        )  # fmt: skip

    module = ModuleType("softhash.model.backbones")
    module.BackboneSpec, module.spec, module.build = BackboneSpec, lambda name: spec, build
    name = "softhash.model.backbones"
    before = sys.modules.get(name)
    sys.modules[name] = module
    try:
        yield
    finally:
        if before is None:
            del sys.modules[name]
        else:
            sys.modules[name] = before


def write_model(folder: Path) -> Path:
    """Save a model of pictures, with an opinion on labels."""
    from softhash.model.hasher import Hasher
    from softhash.model.label_classifier import LabelClassifier

    with tiny_backbone():
        hasher = Hasher("tiny", bits=20, seed=3, hidden=8)
        hasher.classes = list(LABELS)
        weight = np.random.default_rng(0).normal(0, 0.3, (len(LABELS), 12)).astype(np.float32)
        bias = np.array([0.2, 1.2, -6, 2.5], np.float32)
        hasher.label_classifier = LabelClassifier(weight, bias, hasher.classes)
        hasher.save(folder, card={"summary": "A model for tests.", "metrics": {"map@all": 0.5}})
    return folder


def write_worded_model(folder: Path) -> Path:
    """Save a model some of whose words stand for classes of a softmax, and that can be sure."""
    from softhash.model.hasher import Hasher
    from softhash.model.label_classifier import LabelClassifier
    from softhash.model.published_classes import PublishedClasses
    from softhash.model.sureness import Sureness

    with tiny_backbone():
        hasher = Hasher("tiny", bits=20, seed=3)
        hasher.classes = [*LABELS, "animal", "tench"]
        draw = np.random.default_rng(1)
        weight = draw.normal(0, 0.3, (len(LABELS), 12)).astype(np.float32)
        softmax = draw.normal(0, 1, (5, 12)).astype(np.float32), np.zeros(5, np.float32)
        words = PublishedClasses(*softmax, np.array([0, 3, 4]), np.array([0, 1, 4, 2]), 0.5, 0.1)
        sureness = Sureness(np.array([3.0, -11.0, 0.2, 0.7]))
        given = weight, np.zeros(len(LABELS), np.float32), hasher.classes, words, sureness
        hasher.label_classifier = LabelClassifier(*given)
        hasher.save(folder)
    return folder


def write_index(folder: Path, model: Path, pictures: Path) -> Path:
    """Make an index with some history: items were removed and revised."""
    from softhash.data.image_set import ImageSet
    from softhash.index import HammingIndex
    from softhash.model.hasher import Hasher

    with HammingIndex.create(folder, Hasher.load(model)) as index:
        index.update(ImageSet.read(pictures), workers=1)
        index.remove(3, 7)
        index.store.revise({5: index.get(5).entry._replace(labels=("revised", "sea"))})
    return folder


def write_crashed_index(folder: Path, index: Path) -> Path:
    """Copy an index as a crash would leave it: its last changes are in the log."""
    from softhash.index import HammingIndex

    work = folder.with_name(f"{folder.name}.work")
    shutil.copytree(index, work)
    with HammingIndex.open(work, writable=True) as opened:
        opened.remove(11)
        opened.store.revise({6: opened.get(6).entry._replace(labels=("late",))})
        shutil.copytree(work, folder)
    shutil.rmtree(work)
    (folder / "items.sqlite-shm").unlink(missing_ok=True)
    return folder


def write_all(folder: Path) -> None:
    """Write `pictures`, `model`, `index` and `crashed` into a folder."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    pictures, model = write_pictures(folder / "pictures"), write_model(folder / "model")
    index = write_index(folder / "index", model, pictures)
    write_crashed_index(folder / "crashed", index)


def read_tree(folder: Path) -> dict[str, bytes]:
    """Read all files of a folder, by relative name."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def write_tree(folder: Path, files: dict[str, bytes]) -> Path:
    """Write files by relative name."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder
