"""The memory of resized pictures: bounded, and no smaller than was promised."""

import threading

import pytest
from PIL import Image

from softhash.server import thumbnails
from softhash.server.thumbnails import Thumbnails


@pytest.fixture
def pictures(tmp_path):
    """Three pictures whose JPEGs have one size."""
    paths = [tmp_path / f"{name}.png" for name in "abc"]
    for path in paths:
        Image.new("RGB", (64, 64), "red").save(path)
    return paths


@pytest.fixture
def size(pictures):
    return len(thumbnails.scaled_jpeg(pictures[0], 32))


def test_requests_that_miss_at_the_same_time_cost_the_room_of_one(pictures, size, monkeypatch):
    cache = Thumbnails(2 * size)
    honest, both = thumbnails.scaled_jpeg, threading.Barrier(2)

    def meets(path, width):
        both.wait(10)
        return honest(path, width)

    with monkeypatch.context() as patch:
        patch.setattr(thumbnails, "scaled_jpeg", meets)
        threads = [
            threading.Thread(target=cache.make, args=(pictures[0], 32, "a")) for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
    cache.make(pictures[1], 32, "b")
    assert cache.get("a") is not None
    assert cache.get("b") is not None


def test_the_picture_asked_for_longest_ago_makes_room(pictures, size):
    cache = Thumbnails(2 * size)
    for path, tag in zip(pictures[:2], "ab", strict=True):
        cache.make(path, 32, tag)
    assert cache.get("a") is not None
    cache.make(pictures[2], 32, "c")
    assert [tag for tag in "abc" if cache.get(tag)] == ["a", "c"]
