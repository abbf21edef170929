"""ONNX files as plain values, read with suspicion: what is not known here is refused.

A graph may come from a stranger, and ONNX Runtime does whatever it says: also reading files. So it
is read here first, by a reader that knows the few fields that graphs of softhash have. Fields are
keyed by their tag in the file (number · 8 + wire type). Numbers have one spelling, and what can
be there once is there once, so that no other reader can find anything else in the same bytes.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from softhash.errors import InputError

Message = dict[str, Any]
Budget = Iterator[int]  # one for each field that may still come
Read = Callable[[bytes, int, int, Budget], Any]  # of the bytes from … to …

VARINT, LENGTH, FIXED = 0, 2, 5  # wire types
MAX_VARINT = 10  # bytes
MAX_FIELDS = 500_000  # vision transformers have a tenth of it
HINT = "softhash does not write such graphs: get the model from somebody you trust"


class _Field(NamedTuple):
    name: str
    many: bool = False
    read: Read | None = None  # None: the number of bytes is enough to know
    refused: bool = False


def read_model(graph: bytes) -> Message:
    """Read an ONNX model: its fields by name, lists where a field may be there more than once.

    Of bytes that are not looked at, such as the numbers of a tensor, it has their count.

    Raises:
        InputError: it is damaged, or has a field that no graph of softhash has.

    """
    return _read(graph, 0, len(graph), iter(range(MAX_FIELDS)), "model", _MODEL)


def _read(
    data: bytes, position: int, end: int, budget: Budget, kind: str, fields: Mapping[int, _Field]
) -> Message:
    found: Message = {}
    while position < end:
        tag, position = _varint(data, position, end)
        field = fields.get(tag)
        if field is None or field.refused:
            what = field.name if field else f"a field {tag >> 3} of wire type {tag & 7}"
            raise InputError(f"its {kind} has {what}", HINT)
        if next(budget, None) is None:
            raise InputError(f"it has more than {MAX_FIELDS:,} fields", HINT)
        name, many, read, _ = field
        value, position = _value(data, position, end, tag & 7)
        if read is not None:
            value = read(data, position - value, position, budget)
        if many:
            found.setdefault(name, []).append(value)
        elif name in found:
            raise InputError(f"its {kind} has {name} twice", HINT)
        else:
            found[name] = value
    return found


def _value(data: bytes, position: int, end: int, wire: int) -> tuple[int, int]:
    """Return a number, or how many bytes there are, and where the next field begins."""
    if wire == FIXED:
        number = 4
    else:
        number, position = _varint(data, position, end)
    if wire == VARINT:
        return (number - (1 << 64) if number >> 63 else number), position
    if position + number > end:
        raise _cut()
    return number, position + number


def _varint(data: bytes, position: int, end: int) -> tuple[int, int]:
    """Read a number, seven bits per byte; a longer spelling than need be is refused."""
    if position < end and data[position] < 128:  # as most are
        return data[position], position + 1
    number = 0
    for i, byte in enumerate(data[position : min(position + MAX_VARINT, end)]):
        number |= (byte & 127) << (7 * i)
        if byte < 128:
            if not byte or number >> 64:
                break
            return number, position + i + 1
    raise _cut()


def _cut() -> InputError:
    return InputError("it is cut short or damaged", "copy the folder again")


def _text(data: bytes, start: int, end: int, _: Budget) -> str:
    try:
        return data[start:end].decode()
    except UnicodeDecodeError:
        raise _cut() from None


def _message(kind: str, fields: Mapping[int, _Field]) -> Read:
    return lambda data, start, end, budget: _read(data, start, end, budget, kind, fields)


def _fields(*fields: tuple[int, int, _Field]) -> dict[int, _Field]:
    return {number << 3 | wire: field for number, wire, field in fields}


def _refuse(fields: Mapping[int, str]) -> dict[int, _Field]:
    """Make fields whose names are worth printing when they are refused."""
    return {n << 3 | LENGTH: _Field(name, refused=True) for n, name in fields.items()}


_TENSOR = _fields(
    (1, VARINT, _Field("dims", many=True)),
    (2, VARINT, _Field("data_type")),
    (8, LENGTH, _Field("name")),
    (9, LENGTH, _Field("raw_data")),
    (12, LENGTH, _Field("doc_string")),
) | _refuse({13: "external data, which is read from a file"})

_ATTRIBUTE = _fields(
    (1, LENGTH, _Field("name")),
    (2, FIXED, _Field("f")),
    (3, VARINT, _Field("i")),
    (4, LENGTH, _Field("s")),
    (5, LENGTH, _Field("t", read=_message("tensor", _TENSOR))),
    (7, FIXED, _Field("floats", many=True)),
    (8, VARINT, _Field("ints", many=True)),
    (13, LENGTH, _Field("doc_string")),
    (20, VARINT, _Field("type")),
) | _refuse({6: "a graph within the graph", 11: "graphs within the graph", 22: "a sparse tensor"})

_NODE = _fields(
    (1, LENGTH, _Field("input", many=True)),
    (2, LENGTH, _Field("output", many=True)),
    (3, LENGTH, _Field("name")),
    (4, LENGTH, _Field("op_type", read=_text)),
    (5, LENGTH, _Field("attribute", many=True, read=_message("attribute", _ATTRIBUTE))),
    (6, LENGTH, _Field("doc_string")),
    (7, LENGTH, _Field("domain", read=_text)),
)

_DIMENSION = _fields(
    (1, VARINT, _Field("dim_value")),
    (2, LENGTH, _Field("dim_param", read=_text)),
)
_SHAPE = _fields(
    (1, LENGTH, _Field("dim", many=True, read=_message("dimension", _DIMENSION))),
)
_TENSOR_TYPE = _fields(
    (1, VARINT, _Field("elem_type")),
    (2, LENGTH, _Field("shape", read=_message("shape", _SHAPE))),
)
_TYPE = _fields(
    (1, LENGTH, _Field("tensor_type", read=_message("type", _TENSOR_TYPE))),
)
_VALUE = _fields(
    (1, LENGTH, _Field("name", read=_text)),
    (2, LENGTH, _Field("type", read=_message("type", _TYPE))),
    (3, LENGTH, _Field("doc_string")),
)

_GRAPH = _fields(
    (1, LENGTH, _Field("node", many=True, read=_message("node", _NODE))),
    (2, LENGTH, _Field("name")),
    (5, LENGTH, _Field("initializer", many=True, read=_message("tensor", _TENSOR))),
    (10, LENGTH, _Field("doc_string")),
    (11, LENGTH, _Field("input", many=True, read=_message("input", _VALUE))),
    (12, LENGTH, _Field("output", many=True, read=_message("output", _VALUE))),
    (13, LENGTH, _Field("value_info", many=True, read=_message("value", _VALUE))),
) | _refuse({15: "a sparse tensor"})

_OPSET = _fields(
    (1, LENGTH, _Field("domain", read=_text)),
    (2, VARINT, _Field("version")),
)
_MODEL = _fields(
    (1, VARINT, _Field("ir_version")),
    (2, LENGTH, _Field("producer_name")),
    (3, LENGTH, _Field("producer_version")),
    (4, LENGTH, _Field("domain")),
    (5, VARINT, _Field("model_version")),
    (6, LENGTH, _Field("doc_string")),
    (7, LENGTH, _Field("graph", read=_message("graph", _GRAPH))),
    (8, LENGTH, _Field("opset_import", many=True, read=_message("opset", _OPSET))),
) | _refuse({14: "metadata", 20: "training steps", 25: "functions of its own"})
