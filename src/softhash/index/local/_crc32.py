"""The CRC-32 of many short records at once, as `zlib.crc32` computes it."""

import numpy as np
import numpy.typing as npt
from numba import uint8, uint32

from softhash._kernels import kernel

POLYNOMIAL = np.uint32(0xEDB88320)

Words32 = npt.NDArray[np.uint32]
Flags = npt.NDArray[np.bool_]


def _tables() -> Words32:
    """Return (4, 256): what a byte becomes after it and 0 to 3 zeros were shifted out."""
    tables = np.arange(256, dtype=np.uint32)[np.newaxis].repeat(4, axis=0)
    for _ in range(8):
        odd = tables[0] & np.uint32(1)
        tables[0] = tables[0] >> np.uint32(1) ^ odd * POLYNOMIAL
    for one, other in zip(tables[1:], tables[:3], strict=True):
        one[:] = other >> np.uint32(8) ^ tables[0][other & np.uint32(255)]
    return tables


TABLES = _tables()


@kernel
def _compare(records: Words32, tables: Words32, sound: Flags) -> None:
    """Look whether the first word of each record is the sum of the others, four bytes a step."""
    for row in range(records.shape[0]):
        rest = uint32(0xFFFFFFFF)
        for place in range(1, records.shape[1]):
            rest = uint32(rest ^ records[row, place])
            rest = uint32(
                tables[3, uint8(rest)]
                ^ tables[2, uint8(rest >> uint32(8))]
                ^ tables[1, uint8(rest >> uint32(16))]
                ^ tables[0, uint8(rest >> uint32(24))]
            )
        sound[row] = records[row, 0] == uint32(~rest)


def are_sound(records: npt.NDArray[np.void]) -> Flags:
    """Return which records, of whole 32-bit words, have the checksum that they begin with."""
    words = np.require(records, requirements=["C", "W"]).view("<u4").reshape(len(records), -1)
    sound = np.empty(len(records), np.bool_)
    _compare(words.astype(np.uint32, copy=False), TABLES, sound)
    return sound
