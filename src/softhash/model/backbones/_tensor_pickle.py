"""The pickle inside a torch file, interpreted without running any of it.

A pickle is a program for a stack machine, and Python's own machine calls whatever function the
program names. This one carries out the opcodes that a dict of tensors is made of, and the only
"functions" it has build a dict and describe a tensor. Anything else is refused.
"""

import pickletools
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any

from softhash.errors import InputError

MAX_BYTES = 1 << 22  # of pickle; published models have a tenth of that
MAX_DIMENSIONS = 64  # of an array

STORAGES = {  # the classes of torch, as numpy names their numbers
    "DoubleStorage": "<f8", "FloatStorage": "<f4", "HalfStorage": "<f2", "LongStorage": "<i8",
    "IntStorage": "<i4", "ShortStorage": "<i2", "CharStorage": "<i1", "ByteStorage": "<u1",
    "BoolStorage": "|b1",
}  # fmt: skip
HINT = "save the module's state_dict() alone, or give a .safetensors file"


@dataclass(frozen=True)
class StorageRef:
    """A block of numbers that lies elsewhere in the file."""

    key: str
    dtype: str
    count: int


@dataclass(frozen=True)
class TensorRef:
    """A view of a storage; offset and strides count numbers, not bytes."""

    storage: StorageRef
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True)
class _Global:
    """A class or function that the pickle names; never looked up."""

    name: str


class _Mark:
    """Where the arguments of the next collection begin."""


def read_pickle(stream: IO[bytes]) -> Any:
    """Read one pickle: dicts, lists, tuples, text, numbers and `TensorRef`s; leave what follows.

    Raises:
        InputError: the bytes are not a pickle, or one that holds anything else.

    """
    machine = _Machine()
    try:
        for opcode, argument, position in pickletools.genops(stream):
            if (position or 0) > MAX_BYTES:
                raise InputError(f"its pickle is longer than {MAX_BYTES:,} bytes", HINT)
            if opcode.name == "STOP":
                return machine.pop()
            machine.run(opcode.name, argument)
    # Python warns of text with strange escapes; where warnings are errors, it is one more.
    except (ValueError, DeprecationWarning) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"its pickle is damaged: {error}", "get the file again") from None
    raise InputError("its pickle has no end", "get the file again")


def damaged() -> InputError:
    """Return the error for a pickle that no pickler writes."""
    return InputError("its pickle makes no sense", "get the file again")


class _Machine:
    def __init__(self) -> None:
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}

    def run(self, name: str, argument: Any) -> None:
        """Carry out one opcode."""
        if name in _VALUES:
            self._stack.append(argument)
        elif name in _CONSTANTS:
            self._stack.append(_CONSTANTS[name]())
        elif name in _ACTIONS:
            _ACTIONS[name](self, argument)
        elif name not in _IGNORED:
            raise InputError(f"its pickle holds more than tensors (opcode {name})", HINT)

    def pop(self) -> Any:
        """Take the topmost value."""
        if not self._stack or isinstance(self._stack[-1], _Mark):
            raise damaged()
        return self._stack.pop()

    def _pop_many(self, count: int) -> tuple[Any, ...]:
        return tuple(self.pop() for _ in range(count))[::-1]

    def _pop_marked(self) -> list[Any]:
        for i in range(len(self._stack) - 1, -1, -1):
            if isinstance(self._stack[i], _Mark):
                values = self._stack[i + 1 :]
                del self._stack[i:]
                return values
        raise damaged()

    def _tuple(self, _: object) -> None:
        self._stack.append(tuple(self._pop_marked()))

    def _tuple_of(self, count: int) -> None:
        self._stack.append(self._pop_many(count))

    def _put(self, place: int) -> None:
        self._memo[place] = self.pop()
        self._stack.append(self._memo[place])

    def _memoize(self, _: object) -> None:
        self._put(len(self._memo))

    def _get(self, place: int) -> None:
        if place not in self._memo:
            raise damaged()
        self._stack.append(self._memo[place])

    def _append(self, values: list[Any]) -> None:
        self._of_type(list).extend(values)

    def _set(self, items: list[Any]) -> None:
        target = self._of_type(dict)
        keys = items[::2]
        # Text alone: the hash of tuples within tuples can take for ever.
        if len(items) % 2 or not all(isinstance(key, str) for key in keys):
            raise InputError("its pickle has a dict whose keys are not names", HINT)
        target.update(zip(keys, items[1::2], strict=True))

    def _of_type(self, kind: type) -> Any:
        if not self._stack or not isinstance(self._stack[-1], kind):
            raise damaged()
        return self._stack[-1]

    def _global(self, argument: str) -> None:
        self._stack.append(_Global(argument.replace(" ", ".", 1)))

    def _stack_global(self, _: object) -> None:
        module, name = self._pop_many(2)
        if not isinstance(module, str) or not isinstance(name, str):
            raise damaged()
        self._stack.append(_Global(f"{module}.{name}"))

    def _persistent(self, _: object) -> None:
        self._stack.append(_storage(self.pop()))

    def _reduce(self, _: object) -> None:
        function, arguments = self._pop_many(2)
        if not isinstance(function, _Global) or not isinstance(arguments, tuple):
            raise damaged()
        if function.name not in _FUNCTIONS:
            raise _refused(function)
        self._stack.append(_FUNCTIONS[function.name](arguments))

    def _build(self, _: object) -> None:
        self.pop()  # attributes of a state dict: versions of its layers
        self._of_type(dict)


def _refused(found: _Global) -> InputError:
    name = found.name if found.name.isprintable() and len(found.name) < 80 else "something"
    return InputError(f"its pickle wants to run {name}, and holds more than tensors", HINT)


def _storage(given: Any) -> StorageRef:
    """Read ("storage", class, key, device, count), in older files followed by None."""
    if not isinstance(given, tuple) or len(given) not in (5, 6) or given[5:] not in ((), (None,)):
        raise damaged()
    kind, cls, key, _, count = given[:5]
    if kind != "storage" or not isinstance(cls, _Global) or not isinstance(key, str):
        raise damaged()
    package, _, name = cls.name.rpartition(".")
    if package != "torch" or name not in STORAGES:
        raise _refused(cls)
    return StorageRef(key, STORAGES[name], _natural(count))


def _dict(arguments: tuple[Any, ...]) -> dict[str, Any]:
    if arguments:
        raise damaged()
    return {}


def _tensor(arguments: tuple[Any, ...]) -> TensorRef:
    """Read storage, offset, shape, strides; whether gradients are wanted and hooks follow."""
    if len(arguments) < 4 or not isinstance(arguments[0], StorageRef):
        raise damaged()
    storage, offset, shape, strides = arguments[:4]
    return TensorRef(storage, _natural(offset), _naturals(shape), _naturals(strides))


def _parameter(arguments: tuple[Any, ...]) -> TensorRef:
    if not arguments or not isinstance(arguments[0], TensorRef):
        raise damaged()
    return arguments[0]


def _naturals(values: Any) -> tuple[int, ...]:
    if not isinstance(values, tuple) or len(values) > MAX_DIMENSIONS:
        raise damaged()
    return tuple(map(_natural, values))


def _natural(value: Any) -> int:
    """Return a number that counts something in a file."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 48:
        raise damaged()
    return value


_FUNCTIONS: dict[str, Callable[[tuple[Any, ...]], Any]] = {
    "collections.OrderedDict": _dict,
    "torch._utils._rebuild_tensor_v2": _tensor,
    "torch._utils._rebuild_parameter": _parameter,
}
_VALUES = {"BINUNICODE", "SHORT_BINUNICODE", "BININT", "BININT1", "BININT2", "LONG1"}
_IGNORED = {"PROTO", "FRAME"}
_CONSTANTS: dict[str, Callable[[], Any]] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_TUPLE": tuple,
    "EMPTY_LIST": list,
    "EMPTY_DICT": dict,
    "MARK": _Mark,
}
_ACTIONS: dict[str, Callable[[_Machine, Any], None]] = {
    "TUPLE": _Machine._tuple,
    "TUPLE1": lambda machine, _: machine._tuple_of(1),
    "TUPLE2": lambda machine, _: machine._tuple_of(2),
    "TUPLE3": lambda machine, _: machine._tuple_of(3),
    "BINPUT": _Machine._put,
    "LONG_BINPUT": _Machine._put,
    "MEMOIZE": _Machine._memoize,
    "BINGET": _Machine._get,
    "LONG_BINGET": _Machine._get,
    "APPEND": lambda machine, _: machine._append([machine.pop()]),
    "APPENDS": lambda machine, _: machine._append(machine._pop_marked()),
    "SETITEM": lambda machine, _: machine._set(list(machine._pop_many(2))),
    "SETITEMS": lambda machine, _: machine._set(machine._pop_marked()),
    "GLOBAL": _Machine._global,
    "STACK_GLOBAL": _Machine._stack_global,
    "BINPERSID": _Machine._persistent,
    "REDUCE": _Machine._reduce,
    "BUILD": _Machine._build,
}
