"""Pictures of a Parquet or Arrow table: in a column of their bytes, or of the paths of their files.

The column is a struct of `bytes` and `path`, as `datasets` writes it, or one of bytes, or one of
paths relative to the table's folder. Rows are read a few at a time.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from softhash.data.names import clean_names, is_text
from softhash.data.shards.library import import_pyarrow
from softhash.data.shards.records import MAX_NAME, MAX_PICTURE_BYTES, Picture, Record, Unusable
from softhash.errors import ImageError, InputError, ShardError, SofthashError

BYTES_NAMES = ("image", "img", "picture", "jpg", "jpeg", "png", "webp", "bytes", "image_bytes")
PATH_NAMES = ("image", "path", "file_name", "file", "filename", "image_path", "file_path")
ID_NAMES = ("id", "key", "__key__")
ROWS_AT_ONCE = 32
MAX_METADATA = 1 << 26  # bytes of one text or list in the metadata of a Parquet file


def read_table(path: Path, column: str | None, shard: str) -> Iterator[Record]:
    """Read the pictures of a table.

    Args:
        path: a .parquet or .arrow file.
        column: where pictures are; found by itself where it is None.
        shard: what rows without an id are named after.

    Raises:
        ShardError: it is damaged, or has no column, or several, that could be meant.

    """
    with _arrow_errors(path), _opened(path) as (schema, batches_of):
        name = column or _find_column(schema, path)
        if name not in schema.names:
            raise ShardError(
                f"{path} has no column {name}", f"it has: {', '.join(schema.names[:40])}"
            )
        keys = [one for one in ID_NAMES if one in schema.names and one != name][:1]
        start = 0
        with closing(batches_of([name, *keys])) as batches:
            for batch in batches:
                batch.validate(full=True)  # what is not checked here is trusted by what follows
                yield from _records(batch, path, start, shard)
                start += batch.num_rows


@contextmanager
def _arrow_errors(path: Path) -> Iterator[None]:
    pa = import_pyarrow()
    try:
        yield
    except SofthashError:
        raise
    except (pa.ArrowException, OSError, ValueError, EOFError) as error:
        reason = str(error).strip().partition("\n")[0][:200]
        raise ShardError(f"{path} cannot be read: {reason}", "copy it again") from error


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Any, Any]]:
    """Open a table; yield its schema, and what reads some of its columns batch by batch."""
    pa = import_pyarrow()
    if path.suffix.lower() == ".parquet":
        from pyarrow import parquet

        limits = {"thrift_string_size_limit": MAX_METADATA, "thrift_container_size_limit": 1 << 24}
        with parquet.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False, **limits) as file:
            yield (
                file.schema_arrow,
                lambda columns: file.iter_batches(ROWS_AT_ONCE, columns=columns, use_threads=False),
            )
        return
    with pa.memory_map(str(path)) as file:
        reader = _arrow_reader(pa, file)
        yield reader.schema, lambda columns: _arrow_batches(reader, columns)


def _arrow_reader(pa: Any, file: Any) -> Any:
    """Open what is a file of Arrow, or a stream, as `datasets` writes them."""
    try:
        return pa.ipc.open_file(file)
    except pa.ArrowInvalid:
        file.seek(0)
        return pa.ipc.open_stream(file)


def _arrow_batches(reader: Any, columns: list[str]) -> Iterator[Any]:
    if hasattr(reader, "num_record_batches"):
        for i in range(reader.num_record_batches):
            yield reader.get_batch(i).select(columns)
    else:
        for batch in reader:
            yield batch.select(columns)


def _find_column(schema: Any, path: Path) -> str:
    """Choose the column of pictures: one of structs, else of bytes, else of paths."""
    structs = [one.name for one in schema if _has_bytes(one.type)]
    binary = [one.name for one in schema if _is_binary(one.type)]
    texts = [one.name for one in schema if _is_text(one.type)]
    named = [one for one in BYTES_NAMES if one in binary]
    paths = [one for one in PATH_NAMES if one in texts]
    for found in (structs, named[:1] or binary, paths[:1]):
        if len(found) == 1:
            return found[0]
        if found:
            raise ShardError(
                f"{path} has several columns of pictures: {', '.join(found[:5])}",
                "name one with --column",
            )
    raise ShardError(
        f"{path} has no column of pictures or of their paths: {', '.join(schema.names[:20])}",
        "name one with --column",
    )


def _has_bytes(kind: Any) -> bool:
    pa = import_pyarrow()
    return pa.types.is_struct(kind) and any(
        one.name == "bytes" and _is_binary(one.type) for one in kind
    )


def _is_binary(kind: Any) -> bool:
    types = import_pyarrow().types
    return bool(types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind))


def _is_text(kind: Any) -> bool:
    types = import_pyarrow().types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _records(batch: Any, path: Path, start: int, shard: str) -> Iterator[Record]:
    """Make records of some rows.

    Args:
        batch: the rows.
        path: of the table.
        start: the number of the first of them.
        shard: what rows without an id are named after.

    """
    contents, names = _contents_and_paths(batch.column(0), path)
    keys = batch.column(1) if batch.num_columns > 1 else None
    for i in range(batch.num_rows):
        row = f"row {start + i:,}"
        name = _text(names[i]) if names is not None else ""
        key = _text(keys[i]) if keys is not None else ""
        shown = f"{path}: {row}" + (f" ({ascii(name[:100])[1:-1]})" if name else "")
        try:
            content = _content(contents[i] if contents is not None else None, name, path)
        except InputError as error:
            kind = getattr(error, "kind", "refused")
            yield Unusable(name or row, f"{shown} {error.detail}", kind)
            continue
        # Paths within structs are often the last part alone, and not unique.
        own = name if isinstance(content, Path) else ""
        yield Picture(key or own or f"{shard}/{start + i}", name, content)


def _contents_and_paths(column: Any, path: Path) -> tuple[Any, Any]:
    """Return the arrays of bytes and of paths; None for one that there is not."""
    if _is_binary(column.type):
        return column, None
    if _is_text(column.type):
        return None, column
    if not _has_bytes(column.type):
        raise ShardError(
            f"{path}: the column of pictures is of type {str(column.type)[:100]}",
            "it may be bytes, paths, or a struct of bytes and path",
        )
    parts = dict(zip((one.name for one in column.type), column.flatten(), strict=True))
    paths = parts.get("path")
    return parts["bytes"], paths if paths is not None and _is_text(paths.type) else None


def _content(value: Any, name: str, path: Path) -> bytes | Path:
    """Return the bytes of a picture, or where its file is; never outside of the table's folder."""
    found = value.as_buffer() if value is not None else None
    if found is not None:
        if found.size > MAX_PICTURE_BYTES:
            limit = f"more than the limit of {MAX_PICTURE_BYTES:,}"
            raise InputError(f"has {found.size:,} bytes, {limit}")
        return bytes(found.to_pybytes())
    if not name:
        raise ImageError("has no picture")
    if len(name) > MAX_NAME:
        raise InputError("has a path that cannot be used")
    folder = path.parent.resolve()
    file = folder / clean_names([name])[0]
    try:
        inside = file.resolve().is_relative_to(folder)
    except (OSError, RuntimeError):  # links in a circle
        inside = False
    if not inside:
        raise InputError("leads out of the folder")
    return file


def _text(value: Any) -> str:
    """Return a value as text; "" for nothing, and for what is no text or too long."""
    plain = value.as_py()
    text = "" if plain is None else str(plain)
    return text if len(text) <= MAX_NAME and is_text(text) else ""
