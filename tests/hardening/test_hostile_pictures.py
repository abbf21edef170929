"""What the worst pictures that are admitted take of memory and of a processor."""

import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from softhash.data._decoding_memory import MAX_BYTES
from softhash.data._file_headers import MAX_SCANNED

from .reader import load_module

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="memory is counted in kilobytes"),
]
MB = 1_000_000
hostile = load_module("data/hostile_pictures.py")

DECODE = """
import resource, sys, threading, time
from softhash.data.decoding import budget, open_image
budget.total = min(budget.total, int(sys.argv[3]))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
threads = [threading.Thread(target=open_image, args=(sys.argv[1],), kwargs={"size": 64})
           for _ in range(int(sys.argv[2]))]
started = time.process_time()
for thread in threads: thread.start()
for thread in threads: thread.join()
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print((after - before) * 1024, time.process_time() - started)
"""


def decode(
    path: Path, data: bytes, threads: int = 1, budget: int = MAX_BYTES
) -> tuple[float, float]:
    """Decode a file in a process of its own; return bytes at the peak, and seconds."""
    path.write_bytes(data)
    arguments = [sys.executable, "-c", DECODE, str(path), str(threads), str(budget)]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=120, check=True)
    assert not done.stderr
    taken, seconds = done.stdout.split()
    return float(taken), float(seconds)


@pytest.mark.parametrize(
    ("build", "bytes_per_pixel"),
    [
        (lambda: hostile.float_tiff(3000), 9),
        (lambda: hostile.encoded(Image.new("RGBA", (3000, 3000)), "PNG", compress_level=1), 8),
        (lambda: hostile.encoded(Image.new("RGB", (3000, 3000)), "WEBP", method=0), 20),
        (lambda: hostile.many_scans(3000, 3000, 5, "RGB"), 6),
    ],
)
def test_a_picture_takes_no_more_than_what_was_counted_for_it(build, bytes_per_pixel, tmp_path):
    taken, _ = decode(tmp_path / "picture", build())
    assert taken < 9 * MB * bytes_per_pixel + 40 * MB


def test_the_slowest_progressive_picture_that_is_admitted_takes_a_few_seconds(tmp_path):
    scans = MAX_SCANNED // 9_000_000
    _, seconds = decode(tmp_path / "picture", hostile.many_scans(3000, 3000, scans - 6))
    assert 0.3 < seconds < 10


def test_many_threads_take_no_more_than_the_budget(tmp_path):
    picture = hostile.encoded(Image.new("RGBA", (3000, 3000)), "PNG", compress_level=1)
    taken, _ = decode(tmp_path / "picture", picture, threads=8, budget=100 * MB)
    assert taken < 200 * MB  # without it, eight times 72 MB
