"""load_all and its cache: what is decoded, what is believed, what survives a kill."""

import os
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import contextmanager

import numpy as np
import pytest
from PIL import Image

from softhash.data import loading
from softhash.data.decoding import open_image
from softhash.data.image_set import ImageSet
from softhash.data.pixels import load_all
from softhash.data.row_cache import RowCache
from softhash.errors import InputError

COUNT = 12


def draw(path, seed):
    random = np.random.default_rng(seed)
    Image.fromarray(random.integers(0, 256, (20, 24, 3), dtype=np.uint8)).save(path)


def listed(root):
    names = tuple(sorted(path.name for path in root.iterdir()))
    return ImageSet(root, names, np.zeros((len(names), 0), np.uint8), ())


@pytest.fixture
def images(tmp_path):
    root = tmp_path / "photos"
    root.mkdir()
    for i in range(COUNT):
        draw(root / f"{i:02}.png", i)
    return listed(root)


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "new" / "cache"


@pytest.fixture
def opened(monkeypatch):
    """The names of the files decoded since the last look."""
    names = []

    def watched(path, size):
        names.append(path.name)
        return open_image(path, size=size)

    monkeypatch.setattr(loading, "open_image", watched)

    def look():
        seen = sorted(names)
        names.clear()
        return seen

    return look


def expected(images, which=slice(None), size=8):
    return [np.asarray(images.open(i, size=size)) for i in np.arange(len(images))[which]]


@contextmanager
def largest_file(limit):
    """Let no file grow beyond `limit` bytes: what a full disk does, without filling one."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("workers", [0, 1, 2])
@pytest.mark.parametrize("cached", [False, True])
def test_load_all_gives_every_picture_at_its_position(images, cache, workers, cached):
    pixels = load_all(images, 8, cache=cache if cached else None, workers=workers)
    assert (len(pixels), pixels.broken) == (COUNT, ())
    np.testing.assert_array_equal(pixels[:], expected(images))
    np.testing.assert_array_equal(pixels[[7, 2]], expected(images, [7, 2]))
    np.testing.assert_array_equal(pixels[3], expected(images)[3])
    np.testing.assert_array_equal(pixels.readable, np.arange(COUNT))


@pytest.mark.parametrize("cached", [False, True])
def test_load_all_never_gives_pixels_of_a_broken_picture(images, cache, cached):
    images.path(4).write_bytes(b"")
    pixels = load_all(images, 8, cache=cache if cached else None)
    assert [broken.file_name for broken in pixels.broken] == ["04.png"]
    assert pixels.readable.tolist() == [i for i in range(COUNT) if i != 4]
    np.testing.assert_array_equal(pixels[pixels.readable], expected(images, pixels.readable))
    for positions in (4, [3, 4], slice(None), -8):
        with pytest.raises(InputError, match=r"picture 4 has no pixels: .*04\.png is empty"):
            pixels[positions]


@pytest.mark.parametrize("cached", [False, True])
def test_load_all_of_nothing(images, cache, cached):
    pixels = load_all(images.select([]), (6, 8), cache=cache if cached else None)
    assert pixels[:].shape == (0, 6, 8, 3)


def test_load_all_decodes_a_second_time_only_what_changed(images, cache, opened):
    load_all(images, 8, cache=cache)
    assert len(opened()) == COUNT
    pixels = load_all(images, 8, cache=cache)
    assert opened() == []
    assert isinstance(pixels.array, np.memmap)
    draw(images.path(3), 100)  # other content
    os.utime(images.path(5), ns=(1, 1))  # touched
    images.path(7).unlink()  # gone, though still listed
    draw(images.root / "00b.png", 101)  # new, and not at the end
    more = listed(images.root)
    assert load_all(images, 8, cache=cache).broken[0].file_name == "07.png"
    assert opened() == ["03.png", "05.png", "07.png"]
    pixels = load_all(more, 8, cache=cache)
    assert opened() == ["00b.png"]
    np.testing.assert_array_equal(pixels[:], expected(more))


def test_load_all_of_a_part_uses_the_cache_of_the_whole(images, cache, opened):
    load_all(images, 8, cache=cache)
    opened()
    part = images.select([9, 1, 1, 4])
    np.testing.assert_array_equal(load_all(part, 8, cache=cache)[:], expected(part))
    assert opened() == []
    assert len(list(cache.glob("*.npy"))) == 1


def test_load_all_takes_a_file_that_is_listed_twice(images, cache):
    images.path(2).write_bytes(b"")
    twice = images.select([1, 1, 2, 2, 3])
    pixels = load_all(twice, 8, cache=cache)
    assert [broken.position for broken in pixels.broken] == [2, 3]
    np.testing.assert_array_equal(pixels[[0, 1, 4]], expected(twice, [0, 1, 4]))


def test_load_all_keeps_sizes_and_collections_apart(images, cache, tmp_path, opened):
    other = tmp_path / "other" / "photos"
    other.mkdir(parents=True)
    draw(other / "00.png", 200)
    for collection, size in [(images, 8), (images, 9), (images, (8, 9)), (listed(other), 8)]:
        for _ in range(2):
            pixels = load_all(collection, size, cache=cache)
            np.testing.assert_array_equal(pixels[:], expected(collection, size=size))
        assert len(opened()) == len(collection)
    assert len(list(cache.glob("*.npy"))) == 4


def test_load_all_stores_names_that_are_no_text(images, cache, opened):
    name = os.fsdecode(b"caf\xe9.png")
    draw(images.root / name, 1)
    odd = listed(images.root)
    load_all(odd, 8, cache=cache)
    opened()
    np.testing.assert_array_equal(load_all(odd, 8, cache=cache)[:], expected(odd))
    assert opened() == []


KILLED = """
import os, signal, sys
from pathlib import Path
import numpy as np
from softhash.data import pixels
from softhash.data.image_set import ImageSet
from softhash.data.loading import load
from softhash.data.row_cache import RowCache

root, cache, when = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
pixels.load = lambda *args, **options: load(*args, batch_size=4, **options)

def die():
    os.kill(os.getpid(), signal.SIGKILL)

put = RowCache.put
batches = []
def put_and_die(self, names, stamps, decoded):
    batches.append(names)
    if len(batches) == 2:
        if when == "pixels":  # on disk, but without their stamps
            decoded = decoded * 0
            os.fsync = lambda _: die()
        elif when == "batch":
            die()
    put(self, names, stamps, decoded)
RowCache.put = put_and_die
if when == "growth":
    np.lib.format.write_array_header_1_0 = lambda *_: die()

names = tuple(sorted(path.name for path in root.iterdir()))
images = ImageSet(root, names, np.zeros((len(names), 0), np.uint8), ())
pixels.load_all(images, 8, cache=cache)
"""


def run_until_killed(images, cache, when):
    command = [sys.executable, "-c", KILLED, str(images.root), str(cache), when]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL


@pytest.mark.parametrize(("when", "kept"), [("growth", 0), ("batch", 4), ("pixels", 4)])
def test_load_all_goes_on_after_a_kill_and_believes_only_what_was_finished(
    images, cache, opened, when, kept
):
    run_until_killed(images, cache, when)
    np.testing.assert_array_equal(load_all(images, 8, cache=cache)[:], expected(images))
    assert opened() == list(images.file_names[kept:])


def test_load_all_does_not_believe_a_changed_row_that_a_kill_left_half_written(
    images, cache, opened
):
    load_all(images, 8, cache=cache)
    for i in range(8):
        draw(images.path(i), 300 + i)
    run_until_killed(images, cache, "pixels")
    opened()
    np.testing.assert_array_equal(load_all(images, 8, cache=cache)[:], expected(images))
    assert opened() == list(images.file_names[4:8])


def test_load_all_keeps_what_was_done_when_interrupted(images, cache, opened, monkeypatch):
    def interrupt(done, total):
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load_all(images, 8, cache=cache, progress=interrupt)
    opened()
    load_all(images, 8, cache=cache)
    assert opened() == []


@pytest.mark.parametrize("damage", ["cut", "gone", "other", "empty", "no database", "holes"])
def test_load_all_starts_again_when_the_cache_is_damaged(images, cache, opened, damage):
    load_all(images, 8, cache=cache)
    opened()
    (array,) = cache.glob("*.npy")
    (index,) = cache.glob("*.sqlite")
    if damage == "cut":
        array.write_bytes(array.read_bytes()[:-1])
    elif damage == "gone":
        array.unlink()
    elif damage == "other":
        np.save(array, np.zeros((COUNT, 8, 8, 3), np.float32))
    elif damage == "empty":
        array.write_bytes(b"")
    elif damage == "no database":
        index.write_bytes(b"nonsense " * 2000)
    else:
        index.write_bytes(index.read_bytes()[:4096] + bytes(4096))
    np.testing.assert_array_equal(load_all(images, 8, cache=cache)[:], expected(images))
    assert len(opened()) == COUNT
    load_all(images, 8, cache=cache)
    assert opened() == []


def test_cache_is_a_plain_array_and_holds_no_pickle(images, cache):
    load_all(images, 8, cache=cache)
    (array,) = cache.glob("*.npy")
    np.testing.assert_array_equal(np.load(array, allow_pickle=False), expected(images))


def test_full_disk_is_explained_and_loses_nothing(images, cache, opened):
    half = images.select(range(6))
    load_all(half, 8, cache=cache)
    opened()
    with largest_file(128 + 6 * 192 + 50), pytest.raises(InputError, match="cannot be written"):
        load_all(images, 8, cache=cache)
    np.testing.assert_array_equal(load_all(half, 8, cache=cache)[:], expected(half))
    assert opened() == []
    np.testing.assert_array_equal(load_all(images, 8, cache=cache)[:], expected(images))


def test_disk_that_fills_up_midway_is_explained_and_loses_nothing(images, cache, opened):
    with RowCache(cache, images.root, "pixels 8x8 1", (8, 8, 3), np.uint8) as store:
        store.reserve(images.file_names)  # room is claimed, but nothing is written yet
    with largest_file(128 + 6 * 192 + 50), pytest.raises(InputError, match="make room or choose"):
        load_all(images, 8, cache=cache)
    np.testing.assert_array_equal(load_all(images, 8, cache=cache)[:], expected(images))


def test_too_little_space_is_said_before_anything_is_decoded(images, cache, opened, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _: Full())
    with pytest.raises(InputError, match="MB are needed and 0 MB are free"):
        load_all(images, 8, cache=cache)
    assert opened() == []


class Full:
    free = 10


def test_unwritable_folder_is_explained(images, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"file/inner/.* cannot be written: Not a directory"):
        load_all(images, 8, cache=tmp_path / "file" / "inner")


def test_locked_index_is_explained_and_kept(images, cache, opened, monkeypatch):
    load_all(images, 8, cache=cache)
    opened()
    (index,) = cache.glob("*.sqlite")
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda path: connect(path, timeout=0.05))
    blocker = connect(index)
    blocker.execute("BEGIN EXCLUSIVE")
    with pytest.raises(InputError, match="locked"):
        load_all(images, 8, cache=cache)
    blocker.close()
    load_all(images, 8, cache=cache)
    assert opened() == []


def test_second_user_of_a_cache_waits_for_the_first(images, cache, opened):
    second = threading.Thread(target=load_all, args=(images, 8), kwargs={"cache": cache})
    with RowCache(cache, images.root, "pixels 8x8 1", (8, 8, 3), np.uint8):
        second.start()
        second.join(0.2)
        assert second.is_alive()
        assert opened() == []
    second.join(10)
    assert opened() == list(images.file_names)


def test_too_little_memory_names_the_way_out(images, monkeypatch):
    def refuse(*_, **__):
        raise MemoryError

    monkeypatch.setattr("softhash.data.pixels.np.empty", refuse)
    with pytest.raises(InputError, match=r"12 pictures of 8×8 need .* give a folder as cache"):
        load_all(images, 8, cache=None)


@pytest.mark.parametrize("cached", [False, True])
def test_load_all_reports_progress_up_to_the_number_of_pictures(images, cache, cached):
    calls = []
    target = cache if cached else None
    load_all(images, 8, cache=target, progress=lambda *call: calls.append(call))
    assert calls[-1] == (COUNT, COUNT)
    calls.clear()
    load_all(images, 8, cache=target, progress=lambda *call: calls.append(call))
    assert calls == [(COUNT, COUNT)]
