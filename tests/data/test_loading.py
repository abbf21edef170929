"""load: order, completeness, broken pictures, and nothing left behind."""

import threading
import time

import numpy as np
import pytest
from PIL import Image

from softhash.data.decoding import open_image
from softhash.data.image_set import ImageSet
from softhash.data.loading import THREAD_NAME, load
from softhash.devices import usable_cores
from softhash.errors import InputError, UsageError

COUNT = 23


def collection(root, count=COUNT, size=(40, 30)):
    """Pictures of different content, one of them in a folder of its own."""
    names = [f"{i:02}.jpg" for i in range(count - 1)] + ["inner/last.png"]
    (root / "inner").mkdir()
    random = np.random.default_rng(0)
    for name in names:
        coarse = Image.fromarray(random.integers(0, 256, (6, 8, 3), dtype=np.uint8))
        coarse.resize(size).save(root / name)
    return ImageSet(root, tuple(names), np.zeros((count, 0), np.uint8), ())


@pytest.fixture
def images(tmp_path):
    return collection(tmp_path)


def decoders():
    return [t for t in threading.enumerate() if t.name.startswith(THREAD_NAME)]


def joined(batches):
    """Positions and pixels of all batches, and the broken ones."""
    batches = list(batches)
    positions = np.concatenate([batch.positions for batch in batches])
    pixels = np.concatenate([batch.pixels for batch in batches])
    return positions, pixels, [broken for batch in batches for broken in batch.broken]


@pytest.mark.parametrize("workers", [None, 0, 1, 2, 5])
def test_load_gives_the_pixels_of_open_image_in_order(images, workers):
    positions, pixels, broken = joined(load(images, 16, batch_size=4, workers=workers))
    expected = [np.asarray(open_image(images.path(i), size=16)) for i in range(COUNT)]
    np.testing.assert_array_equal(pixels, expected)
    assert (positions.tolist(), broken) == (list(range(COUNT)), [])


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("batch_size", [1, 5, COUNT, 100])
def test_load_fills_every_batch_but_the_last(images, workers, batch_size):
    batches = list(load(images, 8, batch_size=batch_size, workers=workers))
    sizes = [len(batch.positions) for batch in batches]
    assert all(size == batch_size for size in sizes[:-1])
    assert sum(sizes) == COUNT
    assert all(batch.pixels.shape == (len(batch.positions), 8, 8, 3) for batch in batches)
    assert {batch.pixels.dtype for batch in batches} == {np.dtype(np.uint8)}


def test_load_takes_height_before_width(images):
    (batch,) = load(images, (10, 20), order=[0])
    assert batch.pixels.shape == (1, 10, 20, 3)
    np.testing.assert_array_equal(batch.pixels[0], open_image(images.path(0), size=(10, 20)))


@pytest.mark.parametrize("workers", [0, 2])
def test_load_follows_the_order_given(images, workers):
    order = np.array([5, 3, 3, COUNT - 1, 0])
    positions, pixels, _ = joined(load(images, 8, batch_size=2, workers=workers, order=order))
    assert positions.tolist() == order.tolist()
    np.testing.assert_array_equal(pixels[1], pixels[2])
    np.testing.assert_array_equal(pixels[3], open_image(images.path(COUNT - 1), size=8))


@pytest.mark.parametrize("order", [[], np.array([], dtype=float)])
def test_load_of_nothing_gives_no_batch(images, order):
    assert list(load(images, 8, order=order)) == []
    assert list(load(images.select([]), 8)) == []


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_load_names_broken_pictures_and_goes_on(images, workers):
    images.path(2).write_bytes(b"")
    images.path(9).write_bytes(images.path(9).read_bytes()[:300])
    images.path(10).write_text("no picture")
    batches = load(images, 8, batch_size=4, workers=workers)
    images.path(22).unlink()  # between listing and reading
    positions, pixels, broken = joined(batches)
    assert [b.position for b in broken] == [2, 9, 10, 22]
    assert [b.file_name for b in broken] == ["02.jpg", "09.jpg", "10.jpg", "inner/last.png"]
    assert all(str(images.path(b.position)) in b.reason for b in broken)
    assert ["empty" in b.reason for b in broken] == [True, False, False, False]
    assert "No such file" in broken[3].reason
    assert positions.tolist() == [i for i in range(COUNT) if i not in (2, 9, 10, 22)]
    expected = [np.asarray(open_image(images.path(i), size=8)) for i in positions]
    np.testing.assert_array_equal(pixels, expected)


def test_load_hands_over_a_batch_without_a_readable_picture(images):
    for i in range(4):
        images.path(i).write_bytes(b"")
    first = next(load(images, 8, batch_size=4, workers=2))
    assert first.pixels.shape == (0, 8, 8, 3)
    assert len(first.broken) == 4


def test_load_leaves_no_thread_when_the_consumer_stops(images):
    for _ in load(images, 8, batch_size=2, workers=2):
        assert decoders()
        break
    assert decoders() == []


def test_load_leaves_no_thread_when_the_consumer_fails(images):
    def interrupted():
        for _ in load(images, 8, batch_size=2, workers=2):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert decoders() == []


def test_load_that_is_never_started_starts_no_thread(images):
    batches = load(images, 8, workers=2)
    assert decoders() == []
    batches.close()


def test_load_stops_promptly_and_looks_only_a_few_batches_ahead(images, monkeypatch):
    opened = []

    def slow(path, size):
        opened.append(path)
        time.sleep(0.02)
        return open_image(path, size=size)

    monkeypatch.setattr("softhash.data.loading.open_image", slow)
    batches = load(images, 8, batch_size=2, workers=2)
    next(batches)
    time.sleep(0.3)  # time enough for all, were it not bounded
    assert len(opened) == 6  # the batch in use and two ahead
    batches.close()
    assert decoders() == []
    assert len(opened) == 6


def test_load_decodes_in_several_threads_at_once(images, monkeypatch):
    together = threading.Barrier(3, timeout=10)

    def meeting(path, size):
        together.wait()
        return open_image(path, size=size)

    monkeypatch.setattr("softhash.data.loading.open_image", meeting)
    order = range(21)  # a multiple of three: nobody waits alone
    positions, _, _ = joined(load(images, 8, batch_size=7, workers=3, order=order))
    assert positions.tolist() == list(order)


@pytest.mark.parametrize("workers", [0, 2])
def test_load_reports_progress_broken_pictures_included(images, workers):
    images.path(1).write_bytes(b"")
    calls = []
    list(load(images, 8, batch_size=10, workers=workers, progress=lambda *call: calls.append(call)))
    assert calls == [(10, COUNT), (20, COUNT), (COUNT, COUNT)]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"size": 0}, UsageError, "0×0 have no pixels"),
        ({"size": (8, -1)}, UsageError, "8×-1 have no pixels"),
        ({"batch_size": 0}, UsageError, "batch_size is 0"),
        ({"workers": -1}, UsageError, "workers is -1"),
        ({"order": [0, COUNT]}, InputError, f"position {COUNT}, but there are {COUNT}"),
        ({"order": [-1]}, InputError, "position -1"),
        ({"order": [True, False]}, InputError, "flatnonzero"),
        ({"order": [[1]]}, InputError, "list of positions"),
    ],
)
def test_load_refuses_at_the_call_what_makes_no_sense(images, options, error, message):
    with pytest.raises(error, match=message):
        load(images, **({"size": 8} | options))


def test_usable_cores_counts_at_least_one():
    assert usable_cores() >= 1
