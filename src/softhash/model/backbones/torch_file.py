"""State dicts that torch saved, read without torch and without running anything.

Since version 1.6 torch writes a zip archive: a pickle that describes the tensors, and one stored
file per block of numbers. Before that it wrote one stream: a few pickles, then the blocks one after
the other. Both are read; a file can at most be refused.
"""

import io
import math
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softhash.errors import InputError
from softhash.model.backbones._tensor_pickle import HINT, StorageRef, TensorRef, read_pickle

MAGIC, PROTOCOL = 0x1950A86A20F9469CFC6C, 1001  # how a stream begins
PICKLE = "data.pkl"
AGAIN = "it is cut short or damaged: get it again"

Arrays = dict[str, NDArray[Any]]


def read_torch_file(path: Path) -> Arrays:
    """Read a state dict: named arrays, read-only and not always contiguous.

    They are views of the file's numbers, so that memory is bounded by the file's size.

    Raises:
        InputError: the file cannot be read, is damaged, or holds anything but named tensors.

    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    try:
        return _from_zip(data) if data.startswith(b"PK") else _from_stream(data)
    except InputError as error:
        detail = f"{path} is not a state dict saved by torch: {error.detail}"
        raise InputError(detail, error.hint) from None


def _from_zip(data: bytes) -> Arrays:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = [name for name in archive.namelist() if name.endswith(f"/{PICKLE}")]
            if len(names) != 1:
                raise InputError("the archive has no pickle of tensors", HINT)
            return _from_archive(archive, names[0].removesuffix(PICKLE), len(data))
    except InputError:
        raise
    # An archive that is damaged, encrypted, or made by a version that does not exist yet.
    except (
        zipfile.BadZipFile, struct.error, ValueError, RuntimeError, EOFError, OverflowError,
        OSError,
    ) as error:  # fmt: skip
        raise InputError(f"the archive cannot be read: {error}", AGAIN) from None


def _from_archive(archive: zipfile.ZipFile, folder: str, budget: int) -> Arrays:
    left = budget  # entries may overlap: together they must fit into the file all the same

    def read(name: str) -> bytes:
        nonlocal left
        try:
            entry = archive.getinfo(folder + name)
        except KeyError:
            raise InputError("the archive lacks a block of numbers", AGAIN) from None
        left -= entry.file_size
        if entry.compress_type != zipfile.ZIP_STORED or left < 0:
            raise InputError("the archive has entries of impossible sizes", AGAIN)
        return archive.read(entry)

    if f"{folder}byteorder" in archive.NameToInfo and read("byteorder").strip() != b"little":
        raise InputError("its numbers are big-endian", HINT)
    state = read_pickle(io.BytesIO(read(PICKLE)))
    blocks: dict[str, bytes] = {}

    def block(storage: StorageRef) -> bytes:
        if storage.key not in blocks:
            blocks[storage.key] = read(f"data/{storage.key}")
        return blocks[storage.key]

    return _arrays(state, block)


def _from_stream(data: bytes) -> Arrays:
    stream = io.BytesIO(data)
    if read_pickle(stream) != MAGIC or read_pickle(stream) != PROTOCOL:
        raise InputError("it does not begin as one", HINT)
    system = read_pickle(stream)
    if not isinstance(system, dict) or system.get("little_endian") is not True:
        raise InputError("its numbers are big-endian", HINT)
    state, keys = read_pickle(stream), read_pickle(stream)
    known = {one.storage.key: one.storage for one in _tensors(state).values()}
    blocks: dict[str, memoryview] = {}
    whole, position = memoryview(data), stream.tell()
    for key in keys if isinstance(keys, list) else ():
        if not isinstance(key, str) or key not in known or key in blocks:
            raise InputError("its blocks of numbers are not those of its tensors", AGAIN)
        start, size = position + 8, _size(known[key])
        position = start + size
        count = int.from_bytes(whole[start - 8 : start], "little")
        if count != known[key].count or position > len(data):
            raise InputError(f"it ends after {len(data):,} bytes", AGAIN)
        blocks[key] = whole[start:position]

    def block(storage: StorageRef) -> memoryview:
        if storage.key not in blocks:
            raise InputError("it lacks a block of numbers", AGAIN)
        return blocks[storage.key]

    return _arrays(state, block)


def _tensors(state: Any) -> dict[str, TensorRef]:
    if not isinstance(state, dict):
        raise InputError(f"it holds a {type(state).__name__}", HINT)
    if others := [name for name, value in state.items() if not isinstance(value, TensorRef)]:
        raise InputError(f"it holds more than tensors: {others[0][:80]!r}", HINT)
    return state


def _arrays(state: Any, block: Callable[[StorageRef], bytes | memoryview]) -> Arrays:
    return {name: _array(ref, block(ref.storage)) for name, ref in _tensors(state).items()}


def _array(ref: TensorRef, block: bytes | memoryview) -> NDArray[Any]:
    """View a block of numbers as a tensor, after a look whether all of it is there."""
    count, itemsize = ref.storage.count, np.dtype(ref.storage.dtype).itemsize
    steps = zip(ref.shape, ref.strides, strict=False)
    end = ref.offset + sum((side - 1) * stride for side, stride in steps) + 1
    numbers = math.prod(ref.shape)
    # As many numbers as the storage has at most: with strides of 0, one would stand for millions.
    fits = numbers == 0 or (end <= count and numbers <= count)
    if not fits or len(ref.strides) != len(ref.shape) or len(block) != _size(ref.storage):
        raise InputError("it has a tensor that reaches out of its block of numbers", AGAIN)
    strides = tuple(stride * itemsize for stride in ref.strides)
    try:
        if numbers == 0:
            return np.empty(ref.shape, ref.storage.dtype)
        return np.ndarray(ref.shape, ref.storage.dtype, block, ref.offset * itemsize, strides)
    except ValueError as error:  # more dimensions, or longer ones, than arrays can have
        raise InputError(f"it has a tensor of an impossible shape: {error}", AGAIN) from None


def _size(storage: StorageRef) -> int:
    return storage.count * np.dtype(storage.dtype).itemsize
