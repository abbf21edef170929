"""Pictures made to take long or much: refused before they are decoded, and named."""

import io
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from hostile_pictures import (
    encoded,
    float_tiff,
    jpeg_segment,
    large_tile,
    many_chunks,
    many_comments,
    many_scans,
    many_strips,
    runs,
    webp_canvas,
    with_segments,
)
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from softhash.data import _colours, _decoding_memory, _file_headers
from softhash.data._decoding_memory import MemoryBudget, decoder_bytes, pixel_bytes
from softhash.data._file_headers import RefusedError
from softhash.data.decoding import open_image
from softhash.data.image_set import ImageSet
from softhash.data.loading import load
from softhash.errors import ImageError

NOISE = np.random.default_rng(0).integers(0, 256, (90, 70, 4), dtype=np.uint8)

HOSTILE = {
    "scans": many_scans(1000, 1000, 1100),
    "scans of few pixels": many_scans(8, 8, 16_000),
    "segments": with_segments(jpeg_segment(0xFE) * 70_000),
    "bytes between segments": with_segments(bytes(70_000)),
    "chunks": many_chunks(b"prVt", 140_000),
    "data chunks": many_chunks(b"IDAT", 140_000),
    "comments": many_comments(70_000),
    "strips": many_strips(70_000),
    "runs of pixels": runs(2100, 2100, b"\x01\x05\x00\x00"),
    "runs of bytes": runs(8, 8, bytes(8_400_000)),
    "canvas": webp_canvas(12_000, 12_000),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_open_image_refuses_a_small_file_that_takes_long_before_it_is_decoded(what):
    started = time.process_time()
    with pytest.raises(ImageError, match=r"too many pieces|scans|values in tag|run-length|GB"):
        open_image(HOSTILE[what], size=64)
    assert time.process_time() - started < 0.5


def test_open_image_takes_progressive_pictures_of_every_mode():
    for mode in ("L", "RGB", "CMYK"):
        data = encoded(Image.new(mode, (64, 48), 128), "JPEG", progressive=True)
        assert open_image(data).size == (64, 48)


def test_open_image_does_not_count_scans_of_thumbnails_and_second_pictures(monkeypatch):
    monkeypatch.setattr(_file_headers, "ALWAYS_SCANS", 1)
    monkeypatch.setattr(_file_headers, "MAX_SCANNED", 1)
    data = with_segments(jpeg_segment(0xE1, b"\xff\xda\x00\x04" * 500))
    data = data[:-2] + jpeg_segment(0xFE, b"\xff\xda" * 500) + data[-2:] + data
    assert open_image(data).size == (8, 8)


@pytest.mark.parametrize("hidden", [b"\xff\x01", b"\xff\xd0", b"\xff", b"\x00\x07"])
def test_open_image_counts_scans_behind_bytes_that_have_no_length(hidden, monkeypatch):
    monkeypatch.setattr(_file_headers, "MAX_SCANNED", 1)
    data = encoded(Image.new("L", (8, 8), 128), "JPEG", progressive=True)
    start, end = data.rindex(b"\xff\xda"), data.rindex(b"\xff\xd9")
    with pytest.raises(ImageError, match="more than 20 scans"):
        open_image(data[:end] + (hidden + data[start:end]) * 30 + data[end:])


@given(st.lists(st.sampled_from([b"\xff", b"\xda", b"\xff\xda", b"\x00"]), max_size=40), st.data())
def test_starts_of_scans_are_counted_wherever_a_block_ends(pieces, data):
    content, at = b"".join(pieces), data.draw(st.integers(0, 3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_file_headers, "_BLOCK", data.draw(st.integers(1, 9)))
        found = _file_headers._occurrences(io.BytesIO(content), at, b"\xff\xda")
    assert found == content[at:].count(b"\xff\xda")


def test_open_image_refuses_files_over_the_limit(monkeypatch):
    monkeypatch.setattr(_file_headers, "MAX_FILE_BYTES", 100)
    with pytest.raises(ImageError, match="more than the limit of 100"):
        open_image(encoded(Image.new("RGB", (64, 48)), "BMP"))


def test_open_image_reads_a_stream_that_cannot_seek():
    class Pipe(io.BytesIO):
        def seekable(self):
            return False

    assert open_image(Pipe(encoded(Image.new("RGB", (9, 8)), "PNG"))).size == (9, 8)


@pytest.mark.parametrize(
    ("data", "needed"),
    [
        (encoded(Image.new("RGB", (100, 100)), "PNG"), 4),
        (encoded(Image.new("RGBA", (100, 100)), "PNG"), 8),
        (encoded(Image.new("L", (100, 100)), "PNG"), 1),
        (encoded(Image.new("CMYK", (100, 100)), "TIFF"), 8),
        (encoded(Image.new("RGB", (100, 100)), "WEBP"), 20),
        (encoded(Image.new("RGB", (100, 100)), "JPEG", progressive=True), 10),
        (float_tiff(100), 9),
    ],
)
def test_memory_is_counted_by_mode_and_format_before_a_pixel_is_decoded(data, needed, monkeypatch):
    monkeypatch.setattr(_decoding_memory.budget, "total", 10_000 * needed)
    assert open_image(data).size == (100, 100)
    monkeypatch.setattr(_decoding_memory.budget, "total", 10_000 * needed - 1)
    monkeypatch.setattr(Image.Image, "load", lambda image: pytest.fail("a pixel was decoded"))
    with pytest.raises(ImageError, match="of memory to decode"):
        open_image(data)


def test_memory_of_a_tile_counts_where_it_is_larger_than_the_picture():
    with Image.open(io.BytesIO(large_tile(2000))) as image:
        assert (pixel_bytes(image), decoder_bytes(image, 1)) == (64, 4_000_000)


@pytest.mark.parametrize("mode", ["1", "P", "LA", "RGBA", "CMYK", "I;16", "I", "F"])
def test_large_pictures_are_converted_in_strips_to_the_same_pixels(mode, monkeypatch):
    grey = NOISE[..., 0].astype(np.int32)
    arrays = {"I;16": (grey * 200).astype(np.uint16), "I": grey * 900 - 9, "F": grey / 7}
    arrays["F"] = arrays["F"].astype(np.float32)
    pixels = arrays.get(mode)
    image = Image.fromarray(NOISE).convert(mode) if pixels is None else Image.fromarray(pixels)
    whole = np.asarray(_colours.rgb_or_grey(image))
    monkeypatch.setattr(_colours, "STRIP_PIXELS", 700)
    np.testing.assert_array_equal(np.asarray(_colours.rgb_or_grey(image)), whole)


def test_decoding_threads_share_one_budget_and_a_large_picture_gets_its_turn():
    budget, most, running = MemoryBudget(100), [], []
    lock = threading.Lock()

    def decode(amount):
        with budget.taken(amount):
            with lock:
                running.append(amount)
                most.append(sum(running))
            time.sleep(0.001)
            with lock:
                running.remove(amount)

    threads = [threading.Thread(target=decode, args=(n,)) for n in [40] * 8 + [100] + [40] * 8]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert len(most) == 17
    assert max(most) <= 100
    with pytest.raises(RefusedError), budget.taken(101):
        pass


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_has_the_whole_budget(tmp_path):
    code = """
import os
from softhash.data._decoding_memory import budget
with budget.taken(budget.total):
    child = os.fork()
    if not child:
        with budget.taken(budget.total):
            os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=20)


def test_load_passes_over_hostile_pictures_and_names_them(tmp_path):
    (tmp_path / "good.png").write_bytes(encoded(Image.new("RGB", (8, 8)), "PNG"))
    for name in ("scans", "strips", "canvas"):
        (tmp_path / f"{name}.jpg").write_bytes(HOSTILE[name])
    images = ImageSet.read(tmp_path)
    (batch,) = load(images, 8, workers=2)
    assert [images.file_names[i] for i in batch.positions] == ["good.png"]
    assert [one.file_name for one in batch.broken] == ["canvas.jpg", "scans.jpg", "strips.jpg"]
    assert all(one.file_name in one.reason for one in batch.broken)
