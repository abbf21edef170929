"""Codes and ids as Parquet, with what made them: written whole or not at all, read in parts."""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from softhash.codes import Codes, check_bits, check_packed, row_bytes
from softhash.data.shards.library import import_pyarrow
from softhash.errors import InputError, SofthashError
from softhash.files import neighbour, sync_folder

KEY = b"softhash"
FORMAT, VERSION = "softhash codes", 1
ROWS_AT_ONCE = 1 << 16
MAX_ABOUT = 1 << 20


class About(NamedTuple):
    """What the metadata of a file of codes has.

    Attributes:
        bits: length of the codes.
        model: SHA-256 of the weights of the model that made them.
        engine: what computed them.
        source: name of the shard they are of.
        source_bytes: its size.
        skipped: its pictures that have no code, counted by kind.

    """

    bits: int
    model: str
    engine: str = ""
    source: str = ""
    source_bytes: int = 0
    skipped: dict[str, int] = {}  # noqa: RUF012 (of a tuple, and nobody changes it)

    def made_alike(self, other: "About") -> bool:
        """Return whether both are of one shard, by one model; engines may differ."""
        return self[:2] + self[3:5] == other[:2] + other[3:5]


class CodeWriter:
    """Writes rows as they come; a few are collected into each row group.

    Args:
        path: of the file that is being written.
        bits: length of the codes.

    """

    def __init__(self, path: Path, bits: int) -> None:
        from pyarrow import parquet

        pa = import_pyarrow()
        self._pa, self._bits = pa, check_bits(bits)
        self._type = pa.binary(row_bytes(bits))
        fields = [("id", pa.string()), ("code", self._type), ("member", pa.string())]
        self._schema = pa.schema(fields)
        self._file = parquet.ParquetWriter(str(path), self._schema, compression="zstd")
        self._waiting: list[tuple[Sequence[str], Codes, Sequence[str]]] = []
        self._rows = 0
        self.total = 0

    def add(self, ids: Sequence[str], codes: Codes, members: Sequence[str]) -> None:
        """Add rows.

        Args:
            ids: unique within the file.
            codes: packed, one row per id.
            members: what the shard calls each picture, "" where it has no name.

        """
        self._waiting.append((ids, check_packed(codes, self._bits), members))
        self._rows += len(ids)
        self.total += len(ids)
        if self._rows >= ROWS_AT_ONCE:
            self._flush()

    def _flush(self) -> None:
        ids = [id for part, _, _ in self._waiting for id in part]
        members = [member or None for _, _, part in self._waiting for member in part]
        codes = np.concatenate([part for _, part, _ in self._waiting])
        buffers = [None, self._pa.py_buffer(codes.tobytes())]
        column = self._pa.FixedSizeBinaryArray.from_buffers(self._type, len(ids), buffers)
        columns = [self._pa.array(ids), column, self._pa.array(members, self._pa.string())]
        self._file.write_table(self._pa.table(columns, schema=self._schema))
        self._waiting, self._rows = [], 0

    def finish(self, about: About) -> None:
        """Write what is left, and what made it."""
        if self._rows:
            self._flush()
        content = {"format": FORMAT, "version": VERSION, **about._asdict()}
        self._file.add_key_value_metadata({KEY: json.dumps(content, sort_keys=True)})
        self._file.close()


@contextmanager
def write_codes(path: Path, bits: int) -> Iterator[CodeWriter]:
    """Lend a writer; the file takes its name when the writer was finished and all is on disk.

    Raises:
        InputError: the disk is full, or may not be written to.

    """
    pa = import_pyarrow()
    try:
        with neighbour(path) as new, ExitStack() as stack:
            writer = CodeWriter(new, bits)
            stack.callback(writer._file.close)
            yield writer
            with new.open("rb+") as file:
                os.fsync(file.fileno())
            new.replace(path)
            sync_folder(path.parent)
    except SofthashError:
        raise
    except (OSError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or str(error)[:200]
        raise InputError(f"cannot write {path}: {reason}") from error


def read_about(path: Path) -> About:
    """Read what made the codes of a file.

    Raises:
        InputError: it is not a whole file of codes.

    """
    with _opened(path) as file:
        text = (file.metadata.metadata or {}).get(KEY, b"")
        try:
            content = json.loads(text) if len(text) <= MAX_ABOUT else None
        except (ValueError, RecursionError):
            content = None
        if not isinstance(content, dict) or content.pop("format", None) != FORMAT:
            raise InputError(f"{path} has no codes of softhash", "give what encode -o FOLDER wrote")
        if content.pop("version", None) != VERSION:
            raise InputError(f"{path} is of a newer version", "pip install -U softhash")
        return _checked(content, path)


def _checked(content: dict[str, Any], path: Path) -> About:
    kinds = {"bits": int, "source_bytes": int, "skipped": dict}
    right = set(content) == set(About._fields) and all(
        type(content[name]) is kinds.get(name, str) for name in content
    )
    if not right:
        raise InputError(f"{path} has damaged metadata", "encode its shard again")
    check_bits(content["bits"])
    return About(**content)


def count_codes(path: Path) -> int:
    """Return how many codes a file has."""
    with _opened(path) as file:
        return int(file.metadata.num_rows)


def read_codes(path: Path, about: About) -> Iterator[tuple[list[str], Codes]]:
    """Read ids and codes, some rows at a time.

    Args:
        path: a file of codes.
        about: what its metadata has.

    """
    width = row_bytes(about.bits)
    with _opened(path) as file:
        types = import_pyarrow().types
        kinds = {one.name: one.type for one in file.schema_arrow}
        code, id = kinds.get("code"), kinds.get("id")
        fits = code and types.is_fixed_size_binary(code) and code.byte_width == width
        if not (fits and id and types.is_string(id)):
            raise InputError(f"{path} has no ids, or no codes of {about.bits} bits")
        for batch in file.iter_batches(ROWS_AT_ONCE, columns=["id", "code"]):
            ids, codes = batch.column(0), batch.column(1)
            if ids.null_count or codes.null_count:
                raise InputError(f"{path} has rows without an id or a code", "encode it again")
            data = np.frombuffer(codes.buffers()[1], np.uint8)
            start = codes.offset * width
            rows = data[start : start + len(codes) * width].reshape(-1, width)
            yield ids.to_pylist(), check_packed(rows, about.bits, str(path))


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    pa = import_pyarrow()
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20) as file:
            yield file
    except SofthashError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0][:200]
        raise InputError(f"{path} cannot be read: {reason}", "encode its shard again") from error
