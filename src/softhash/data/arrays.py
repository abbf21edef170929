"""Codes and labels from ``.npy`` files that any framework may have written."""

from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt

from softhash.codes import Codes, check_bits, check_packed, pack, row_bytes
from softhash.errors import InputError, unknown_name

LAYOUTS = ("auto", "packed", "unpacked")

ROWS_AT_ONCE = 1 << 20


def read_array(path: Path) -> npt.NDArray[np.generic]:
    """Map a ``.npy`` file into memory; nothing in it is ever executed."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder, not a .npy file") from None
    except Exception as error:  # a damaged header makes numpy raise nearly anything
        raise InputError(
            f"{path} is not a readable .npy array: {_reason(path, error)}",
            "write it with numpy.save",
        ) from None
    if not isinstance(array, np.ndarray):
        raise InputError(f"{path} is an archive of arrays (.npz)", "save each array as .npy")
    return array


def _reason(path: Path, error: Exception) -> str:
    """Return in a few words why numpy could not read the file."""
    if isinstance(error, PermissionError):
        return "it may not be read"
    with path.open("rb") as file:
        if file.read(6) != b"\x93NUMPY":
            return "it does not start like one"
    return "it has Python objects in it" if "Python objects" in str(error) else "it is damaged"


def read_codes(path: Path, bits: int, layout: str = "auto") -> Codes:
    """Read codes: packed bytes, or one column per bit of 0 and 1 or of −1 and 1.

    Args:
        path: a ``.npy`` file.
        bits: length of the codes.
        layout: packed, unpacked, or auto to decide by the shape.

    Raises:
        InputError: the file cannot be read, or has no codes of so many bits.

    """
    if layout not in LAYOUTS:
        raise unknown_name("layout", layout, LAYOUTS)
    check_bits(bits)
    array = read_array(path)
    if array.ndim != 2:
        raise InputError(f"{path} has shape {array.shape}", "codes are a matrix, one row per image")
    if not array.size:
        raise InputError(f"{path} holds no codes: its shape is {array.shape}")
    packed = array.dtype == np.uint8 and array.shape[1] == row_bytes(bits)
    if layout == "auto" and bits == 1 and packed:  # the one length at which both have one column
        layout = "unpacked" if array.max() == 1 else "packed"
    if layout == "packed" or (layout == "auto" and packed):
        return check_packed(array.astype(np.uint8, copy=False), bits, str(path))
    if array.shape[1] != bits:
        raise InputError(
            f"{path} has {array.shape[1]} columns of {array.dtype}, but {bits} bits need "
            f"{row_bytes(bits)} columns of uint8 (packed) or {bits} columns (one per bit)",
            "was it made with another number of bits?",
        )
    return _pack_signs(array, path)


def _pack_signs(array: npt.NDArray[np.generic], path: Path) -> Codes:
    """Pack columns of 0 and 1, or of −1 and 1, a slice of rows at a time."""
    packed = []
    zero = minus = False
    for start in range(0, len(array), ROWS_AT_ONCE):
        rows = _numbers(array[start : start + ROWS_AT_ONCE], path)
        wrong = (rows != 0) & (np.abs(rows) != 1)
        if wrong.any():
            raise InputError(
                f"{path} holds {_first(rows, wrong, start)}",
                "unpacked codes are 0 and 1, or -1 "
                "and 1: threshold real outputs first with softhash.pack(u)",
            )
        zero, minus = zero or bool((rows == 0).any()), minus or bool((rows == -1).any())
        packed.append(pack(rows))
    if zero and minus:
        raise InputError(f"{path} holds -1, 0 and 1", "a bit has two values: 0 and 1, or -1 and 1")
    return np.concatenate(packed)


def read_labels(path: Path) -> npt.NDArray[np.uint8]:
    """Read multi-hot labels: one row per image, one column per class, 0 and 1."""
    array = read_array(path)
    if array.ndim != 2:
        raise InputError(
            f"{path} has shape {array.shape}",
            "labels are a matrix of 0 and 1, one column per class",
        )
    if not array.size:
        raise InputError(f"{path} holds no labels: its shape is {array.shape}")
    rows = _numbers(array, path)
    wrong = (rows != 0) & (rows != 1)
    if wrong.any():
        raise InputError(
            f"{path} holds {_first(rows, wrong, 0)}", "labels are 0 and 1, one column per class"
        )
    return rows.astype(np.uint8)


def read_features(path: Path) -> npt.NDArray[np.float32]:
    """Read embeddings: one row per picture, finite numbers."""
    array = read_array(path)
    if array.ndim != 2 or not array.size:
        raise InputError(
            f"{path} has shape {array.shape}", "embeddings are a matrix, one row per picture"
        )
    rows = _numbers(array, path).astype(np.float32)
    wrong = ~np.isfinite(rows)
    if wrong.any():
        raise InputError(f"{path} holds {_first(rows, wrong, 0)}", "embeddings are finite numbers")
    return rows


def _numbers(rows: npt.NDArray[np.generic], path: Path) -> npt.NDArray[np.number]:
    if rows.dtype == np.bool_:
        return rows.view(np.uint8)
    if not (np.issubdtype(rows.dtype, np.integer) or np.issubdtype(rows.dtype, np.floating)):
        raise InputError(f"{path} holds {rows.dtype}, not numbers")
    return cast(npt.NDArray[np.number], np.asarray(rows))


def _first(rows: npt.NDArray[np.number], wrong: npt.NDArray[np.bool_], offset: int) -> str:
    """Name the first wrong value and where it is."""
    row, column = np.unravel_index(int(wrong.argmax()), wrong.shape)
    return f"{rows[row, column]} in row {offset + int(row)}, column {int(column)}"
