"""Shards for tests: archives as `tarfile` writes them, tables as pyarrow does."""

import io
import tarfile

import numpy as np
from PIL import Image


def picture_bytes(seed, size=24, format="PNG"):
    """Return a small picture of noise, encoded."""
    pixels = np.random.default_rng(seed).integers(0, 256, (size, size, 3), np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, format)
    return file.getvalue()


def write_tar(path, members, format=tarfile.PAX_FORMAT):
    """Write an archive of (name, content) pairs; a TarInfo in place of a name is taken as it is."""
    with tarfile.open(path, "w", format=format) as archive:
        for name, content in members:
            info = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path
