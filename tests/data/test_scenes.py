"""The built-in drawn collection: what is in a picture, and that it is the same everywhere."""

import csv
import hashlib
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageChops

from softhash.data import scenes
from softhash.data.scenes.composition import Scene, compose, paint
from softhash.data.scenes.dice import Dice
from softhash.errors import InputError, UsageError

COUNT = 3000

# The first thing is only ever seen together with the second.
NEEDS = [
    ("boat", "water"),
    ("bridge", "water"),
    ("car", "road"),
    *((name, "sky") for name in ("cloud", "moon", "mountain", "rainbow", "stars", "sun")),
]
NEVER_TOGETHER = [
    *(("sun", name) for name in ("moon", "stars", "rainbow")),
    *(("rainbow", name) for name in ("moon", "stars")),
    *((flyer, name) for flyer in ("balloon", "bird") for name in ("moon", "stars")),
    ("road", "water"),
]


@pytest.fixture(scope="module")
def composed() -> list[Scene]:
    return [compose(Dice("scenes", 0, index)) for index in range(COUNT)]


@pytest.fixture(scope="module")
def shares(composed: list[Scene]) -> dict[str, float]:
    counts = Counter(label for scene in composed for label in scene.labels)
    return {name: counts[name] / COUNT for name in scenes.CLASSES}


def pixels(image: Image.Image) -> np.ndarray:
    return np.asarray(image).astype(int)


def changed(scene: Scene, label: str) -> int:
    """Count the pixels that look different when one kind of thing is left out."""
    difference = pixels(paint(scene, 128)) - pixels(paint(scene, 128, without=label))
    return int((np.abs(difference).sum(axis=2) > 12).sum())


def test_classes_are_sorted_and_all_in_use(composed: list[Scene]) -> None:
    assert list(scenes.CLASSES) == sorted(set(scenes.CLASSES))
    assert set(scenes.CLASSES) == set().union(*(scene.labels for scene in composed))


@pytest.mark.parametrize(("thing", "needed"), NEEDS)
def test_labels_come_with_what_they_need(composed: list[Scene], thing: str, needed: str) -> None:
    assert all(needed in scene.labels for scene in composed if thing in scene.labels)


@pytest.mark.parametrize(("one", "other"), NEVER_TOGETHER)
def test_labels_that_contradict_never_meet(composed: list[Scene], one: str, other: str) -> None:
    assert not any({one, other} <= scene.labels for scene in composed)


def test_labels_are_neither_rare_nor_everywhere(shares: dict[str, float]) -> None:
    assert {name: share for name, share in shares.items() if not 0.08 <= share <= 0.75} == {}


def test_pictures_have_four_to_five_labels_on_average(composed: list[Scene]) -> None:
    sizes = [len(scene.labels) for scene in composed]
    assert 4 <= sum(sizes) / COUNT <= 5
    assert (min(sizes), max(sizes)) == (3, 7)


def test_pairs_share_from_one_to_several_labels(composed: list[Scene]) -> None:
    first = next(scene for scene in composed if {"sky", "bridge", "water"} <= scene.labels)
    shared = Counter(len(first.labels & scene.labels) for scene in composed)
    assert set(shared) >= {0, 1, 2, 3}


@pytest.mark.parametrize("label", scenes.CLASSES)
def test_labelled_things_are_really_visible(composed: list[Scene], label: str) -> None:
    shown = [scene for scene in composed[:600] if label in scene.labels][:25]
    assert min(changed(scene, label) for scene in shown) >= 75


@pytest.mark.parametrize("label", scenes.CLASSES)
def test_labelled_things_are_not_mostly_hidden(composed: list[Scene], label: str) -> None:
    for scene in [scene for scene in composed[:600] if label in scene.labels][:25]:
        last = max(place for place, part in enumerate(scene.parts) if part.label == label)
        uncovered = scene._replace(parts=scene.parts[: last + 1])
        # Some is hidden on purpose: the sky reaches a little below the hills, water below its bank.
        assert changed(scene, label) >= 0.4 * changed(uncovered, label)


def test_draw_depends_on_seed_and_index_alone() -> None:
    drawn = {(seed, index): scenes.draw(index, seed) for seed in (0, 1) for index in (0, 1, 2)}
    assert len({picture.tobytes() for picture, _ in drawn.values()}) == len(drawn)
    for (seed, index), (picture, labels) in reversed(drawn.items()):
        again = scenes.draw(index, seed)
        assert (again[0].tobytes(), again[1]) == (picture.tobytes(), labels)


@pytest.mark.parametrize("size", [32, 100, 224])
def test_draw_shows_the_same_at_every_size(size: int) -> None:
    for index in range(10):
        small, labels = scenes.draw(index, size=size)
        usual, usual_labels = scenes.draw(index)
        assert (small.mode, small.size, labels) == ("RGB", (size, size), usual_labels)
        difference = ImageChops.difference(small.resize((16, 16)), usual.resize((16, 16)))
        assert pixels(difference).mean() < 6


def test_draw_gives_the_pixels_it_always_gave() -> None:
    digests = [hashlib.sha256(scenes.draw(i)[0].tobytes()).hexdigest()[:16] for i in range(6)]
    assert digests == [
        "5a619787660267ec",
        "b057620eea39295d",
        "0ec96e357be1f99a",
        "9aa6c40bdfa71a1f",
        "40e0c29479b83ee2",
        "9ebaaff560dc35b4",
    ]


def test_labels_are_what_they_always_were(composed: list[Scene]) -> None:
    counts = Counter(label for scene in composed[:500] for label in scene.labels)
    assert dict(sorted(counts.items())) == {
        "balloon": 67,
        "bird": 90,
        "boat": 97,
        "bridge": 109,
        "car": 93,
        "cloud": 92,
        "fence": 76,
        "flower": 105,
        "house": 143,
        "moon": 75,
        "mountain": 84,
        "person": 113,
        "rainbow": 52,
        "road": 147,
        "sheep": 63,
        "sky": 349,
        "stars": 75,
        "sun": 99,
        "tree": 182,
        "water": 218,
    }


def test_write_makes_a_complete_collection(tmp_path: Path) -> None:
    folder, done = tmp_path / "new" / "scenes", []
    scenes.write(folder, count=60, seed=3, size=48, workers=1, progress=done.append)
    with (folder / "metadata.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert done == [50, 60]
    assert [row["file_name"] for row in rows] == [f"scene-{index:05}.png" for index in range(60)]
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        ["metadata.csv", *(row["file_name"] for row in rows)]
    )
    picture, labels = scenes.draw(7, seed=3, size=48)
    assert rows[7]["labels"].split(";") == sorted(labels)
    with Image.open(folder / "scene-00007.png") as saved:
        assert (saved.mode, saved.tobytes()) == ("RGB", picture.tobytes())


def test_write_does_not_depend_on_the_number_of_workers(tmp_path: Path) -> None:
    for workers in (1, 2):
        scenes.write(tmp_path / str(workers), count=120, size=32, workers=workers)
    one, two = (
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in "12"
    )
    assert one == two


def test_a_script_without_a_main_guard_draws_scenes(tmp_path: Path) -> None:
    script = tmp_path / "plain.py"
    script.write_text(
        "from pathlib import Path\n"
        "from softhash import ImageSet\n"
        "from softhash.data import scenes\n"
        "scenes.write(Path('drawn'), count=120, size=16, workers=2)\n"
        "print(len(ImageSet.read('drawn')))\n"
    )
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout) == (0, "120\n"), done.stderr


@pytest.mark.parametrize("interpreter", ["/bin/false", "/no/such/python", None])
def test_write_draws_by_itself_what_its_processes_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interpreter: str | None
) -> None:
    scenes.write(tmp_path / "expected", count=60, size=16, workers=2)
    monkeypatch.setattr(sys, "executable", interpreter)
    scenes.write(tmp_path / "found", count=60, size=16, workers=2)
    expected, found = (
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}
        for name in ("expected", "found")
    )
    assert expected == found


def test_write_ends_its_processes_when_it_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []
    popen = subprocess.Popen
    monkeypatch.setattr(
        subprocess, "Popen", lambda *a, **k: started.append(popen(*a, **k)) or started[-1]
    )

    def stop(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scenes.write(tmp_path / "half", count=3000, size=16, workers=2, progress=stop)
    assert len(started) == 2
    assert all(process.poll() is not None for process in started)


def test_write_refuses_a_folder_with_something_in_it(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep me")
    with pytest.raises(InputError, match="not an empty folder; name a new one"):
        scenes.write(tmp_path, count=1)
    with pytest.raises(InputError, match="not an empty folder"):
        scenes.write(tmp_path / "mine.txt", count=1)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_write_leaves_no_table_when_it_is_interrupted(tmp_path: Path) -> None:
    def stop(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scenes.write(tmp_path / "half", count=60, size=16, workers=1, progress=stop)
    assert not (tmp_path / "half" / "metadata.csv").exists()


@pytest.mark.parametrize("wrong", [{"count": 0}, {"size": 0}])
def test_write_refuses_nothing_to_draw(tmp_path: Path, wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="1 or more"):
        scenes.write(tmp_path / "new", **wrong)
