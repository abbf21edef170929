"""Ways to spoil what is inside a container, while the container itself stays sound."""

import io
import sqlite3
import zipfile
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from .mutations import spoiled

_CELLS = (
    None, 0, -1, 2**62, -(2**63), 1.5, float("inf"), "", "x", "[", "[]", '["x"]', "\ud800", b"",
    b"\xff\xfe", b"[1]", b'{"a":1}', b"../../x", b"\x00" * 64, "9" * 400, b"[" * 3000,
)  # fmt: skip


def spoiled_zip(data: bytes, dice: Random) -> bytes:
    """Spoil one member, with a check sum that fits."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = dice.choice(list(members))
    way = dice.random()
    if way < 0.8:
        members[name] = spoiled(members[name], dice)
    elif way < 0.9:
        del members[name]
    else:
        members[f"{name}x"] = members.pop(name)
    packing = dice.choice((zipfile.ZIP_STORED, zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", packing) as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return stream.getvalue()


def spoiled_sqlite(data: bytes, dice: Random) -> bytes:
    """Give one cell another value, or take rows or a table away."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(data)
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            _spoil(connection, dice)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except (sqlite3.Error, UnicodeEncodeError) as error:
            raise ValueError(error) from None
        finally:
            connection.close()
        return path.read_bytes()


def _spoil(connection: sqlite3.Connection, dice: Random) -> None:
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    table = dice.choice([name for (name,) in connection.execute(query)])
    columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
    column = dice.choice(columns)
    way = dice.random()
    connection.execute("PRAGMA ignore_check_constraints = ON")
    if way < 0.85:
        where = f'WHERE "{columns[0]}" IN (SELECT "{columns[0]}" FROM "{table}" LIMIT 2)'  # noqa: S608
        where = where if dice.random() < 0.7 else ""
        value = dice.choice(_CELLS)
        connection.execute(f'UPDATE OR IGNORE "{table}" SET "{column}" = ? {where}', (value,))  # noqa: S608
    elif way < 0.95:
        connection.execute(f'DELETE FROM "{table}"')  # noqa: S608
    else:
        connection.execute(f'ALTER TABLE "{table}" RENAME COLUMN "{column}" TO "other"')


def spoiled_onnx(data: bytes, dice: Random) -> bytes:
    """Change a node, a tensor or a name of a graph."""
    import onnx

    model = onnx.ModelProto.FromString(data)
    graph = model.graph
    ways = {
        "domain": lambda: setattr(dice.choice(graph.node), "domain", dice.choice(("x", ""))),
        "kind": lambda: setattr(
            dice.choice(graph.node), "op_type", dice.choice(("Loop", "Tile", "Foo", "Relu", "Pad"))
        ),
        "input": lambda: _rename(dice.choice(graph.node).input, dice),
        "output": lambda: _rename(dice.choice(graph.node).output, dice),
        "dims": lambda: _number(dice.choice(graph.initializer).dims, dice),
        "type": lambda: setattr(dice.choice(graph.initializer), "data_type", dice.randrange(30)),
        "raw": lambda: setattr(
            (one := dice.choice(graph.initializer)), "raw_data", spoiled(one.raw_data, dice)
        ),
        "external": lambda: _external(dice.choice(graph.initializer)),
        "attribute": lambda: _attribute(dice.choice([n for n in graph.node if n.attribute]), dice),
        "shape": lambda: setattr(
            dice.choice([*graph.input, *graph.output]).type.tensor_type.shape.dim[-1],
            "dim_value",
            dice.choice((0, 1, 2**31, -1)),
        ),
        "opset": lambda: setattr(model.opset_import[0], "version", dice.choice((0, 1, 9, 99))),
        "node": lambda: graph.node.pop(dice.randrange(len(graph.node))),
        "twice": lambda: graph.node.append(dice.choice(graph.node)),
    }  # fmt: skip
    ways[dice.choice(list(ways))]()
    changed: bytes = model.SerializeToString()
    return changed


def _rename(names: list[str], dice: Random) -> None:
    names[dice.randrange(len(names))] = dice.choice(("", "x", "pixels", "u"))


def _number(numbers: list[int], dice: Random) -> None:
    numbers[dice.randrange(len(numbers))] = dice.choice((0, -1, 1, 2**20, 2**62))


def _attribute(node: object, dice: Random) -> None:
    attribute = dice.choice(node.attribute)
    if attribute.ints:
        _number(attribute.ints, dice)
    else:
        attribute.i, attribute.f = dice.choice((0, -1, 7, 2**62)), dice.choice((0.0, 1e30))


def _external(tensor: object) -> None:
    tensor.ClearField("raw_data")
    tensor.data_location = 1
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", "hostname"
