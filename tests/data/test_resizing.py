"""Resizing: the same bytes as Pillow, whether it or a kernel makes them."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from softhash.data import _bicubic
from softhash.data._resizing import MAX_PIXELS, MIN_ROWS, copy_bytes, resized
from softhash.data.decoding import open_image

BICUBIC = Image.Resampling.BICUBIC


def noise(width, height, seed=0, *, hard=False):
    values = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(np.where(values < 128, 0, 255).astype(np.uint8) if hard else values)


def by_pillow(image, size, box=None):
    return np.asarray(image.resize(size, BICUBIC, box, reducing_gap=3.0))


@pytest.fixture
def kernel_calls(monkeypatch):
    calls, resize = [], _bicubic.resize_bicubic
    monkeypatch.setattr(
        _bicubic, "resize_bicubic", lambda *given: calls.append(given[1]) or resize(*given)
    )
    return calls


@pytest.mark.parametrize(
    "size", [(500, 375), (375, 500), (640, 480), (480, 360), (256, 256), (896, 672), (227, 225)]
)
def test_usual_photographs_are_resized_by_the_kernel_to_the_bytes_of_pillow(size, kernel_calls):
    for hard in (False, True):
        image = noise(*size, hard=hard)
        assert np.array_equal(
            np.asarray(resized(image, (224, 224), None)), by_pillow(image, (224, 224))
        )
    assert len(kernel_calls) == 2


@settings(max_examples=150, deadline=None)
@given(
    size=st.tuples(st.integers(1, 400), st.integers(1, 400)),
    target=st.tuples(st.integers(1, 250), st.integers(1, 250)),
    cut=st.tuples(st.floats(0, 0.99), st.floats(0, 0.99)),
    seed=st.integers(0, 9),
)
def test_any_picture_is_resized_to_the_bytes_of_pillow(size, target, cut, seed):
    image = noise(*size, seed, hard=seed % 2 == 0)
    box = (0.0, 0.0, size[0] - cut[0], size[1] - cut[1])
    found = np.asarray(resized(image, target, box))
    assert np.array_equal(found, by_pillow(image, target, box))


@pytest.mark.parametrize("height", [MIN_ROWS, MIN_ROWS + 1, 2 * MIN_ROWS - 1, 2 * MIN_ROWS])
def test_rows_that_do_not_fill_a_tile_are_resized_too(height, kernel_calls):
    image = noise(90, height)
    size = 40, MIN_ROWS - 2
    assert np.array_equal(np.asarray(resized(image, size, None)), by_pillow(image, size))
    assert kernel_calls


@pytest.mark.parametrize(
    ("image", "size"),
    [
        (noise(300, 300).convert("L"), (100, 100)),
        (noise(300, MIN_ROWS - 1), (100, 20)),
        (noise(80, 80), (100, 100)),
        (noise(80, 800), (70, 200)),  # columns first, since Pillow 13
        (noise(1300, 1300), (200, 200)),  # reduced by a whole number first
        (noise(2000, 1200), (1000, 800)),  # too large for a copy
    ],
)
def test_what_the_kernel_does_not_do_is_left_to_pillow(image, size, kernel_calls):
    assert np.array_equal(np.asarray(resized(image, size, None)), by_pillow(image, size))
    assert not kernel_calls


def test_the_memory_of_the_copy_is_counted_where_one_is_made():
    assert copy_bytes(Image.new("RGB", (500, 375))) == 8 * 500 * 375
    assert copy_bytes(Image.new("RGB", (MAX_PIXELS, 2))) == 0


@pytest.mark.parametrize("size", [(500, 375), (375, 500), (1203, 1011), (2048, 1536)])
def test_a_jpeg_opened_at_a_size_is_what_pillow_alone_makes_of_it(size, kernel_calls):
    stream = io.BytesIO()
    noise(*size).save(stream, "JPEG", quality=90)
    with Image.open(stream) as image:
        drafted = image.draft(None, (448, 448))
        expected = by_pillow(image, (224, 224), drafted[1] if drafted else None)
    found = np.asarray(open_image(stream.getvalue(), size=224))
    assert np.array_equal(found, expected)
    assert kernel_calls == [(224, 224)]
