"""An ONNX graph, put together node by node."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from softhash.errors import InputError
from softhash.model.onnx_graph import IR_VERSION, OPSET

Shape = Sequence[int | str]
TYPES = {"float32": TensorProto.FLOAT, "uint8": TensorProto.UINT8}


class GraphBuilder:
    """Nodes in the order they are computed, and the arrays they use.

    Args:
        arrays: weights by name, as torch names its parameters.
        source: what errors call them.

    """

    def __init__(self, arrays: Mapping[str, NDArray[Any]], source: str) -> None:
        self._arrays = arrays
        self._source = source
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, NDArray[Any]] = {}

    def take(self, name: str, *shape: int) -> NDArray[Any]:
        """Return the weights of that name, after a look whether they have the shape.

        Raises:
            InputError: there are none, or they have another shape.

        """
        found = self._arrays.get(name)
        if found is None or found.shape != shape:
            what = "is missing" if found is None else f"has the shape {found.shape}"
            raise InputError(
                f"{name} of {self._source} {what}, and {shape} is needed",
                "is it the file of another model?",
            )
        return found

    def constant(self, name: str, array: NDArray[Any]) -> str:
        """Add an array that nodes use, and return its name."""
        self._constants[name] = np.asarray(array, order="C")
        return name

    def has(self, name: str) -> bool:
        """Return whether a node has that name."""
        return any(node.name == name for node in self._nodes)

    def add(self, kind: str, name: str, *inputs: str, **attributes: Any) -> str:
        """Add a node with one output, and return the output's name, which is the node's."""
        self._nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def to_bytes(
        self, given: tuple[str, str, Shape], answers: Sequence[tuple[str, str, Shape]]
    ) -> bytes:
        """Write the graph; inputs and outputs are name, type and shape, where "n" is any number."""
        takes, *gives = (
            helper.make_tensor_value_info(name, TYPES[kind], shape)
            for name, kind, shape in (given, *answers)
        )
        constants = [numpy_helper.from_array(a, name) for name, a in self._constants.items()]
        graph = helper.make_graph(self._nodes, "softhash", [takes], gives, constants)
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="softhash",
        )
        return bytes(model.SerializeToString())
