"""The reader of graphs against that of the onnx package: neither finds what the other does not."""

from random import Random

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from softhash.errors import InputError
from softhash.model._onnx_reader import read_model
from softhash.model.onnx_graph import DOMAINS, IR_VERSION, OPERATORS, OPSET, check_graph

from .mutations import spoiled

pytestmark = pytest.mark.slow
COUNT = 40_000
SEEDS = 4


def graph() -> bytes:
    """Make a small graph that has every kind of field that ours have."""
    weight = numpy_helper.from_array(np.ones((4, 3), np.float32), "w")
    nodes = [
        helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(np.ones(3, "f4"))),
        helper.make_node("Gemm", ["features", "w", "c"], ["g"], alpha=0.5, transB=0),
        helper.make_node("Transpose", ["g"], ["t"], perm=[1, 0]),
        helper.make_node("Pad", ["t", "p"], ["u"], mode="constant"),
    ]
    pads = numpy_helper.from_array(np.zeros(4, np.int64), "p")
    takes = helper.make_tensor_value_info("features", TensorProto.FLOAT, ["n", 4])
    gives = helper.make_tensor_value_info("u", TensorProto.FLOAT, [3, "n"])
    made = helper.make_graph(nodes, "g", [takes], [gives], [weight, pads], value_info=[takes])
    opset = [helper.make_opsetid("", OPSET)]
    model = helper.make_model(made, opset_imports=opset, ir_version=IR_VERSION)
    return bytes(model.SerializeToString())


def tensors(model: onnx.ModelProto) -> list[TensorProto]:
    attributes = [a.t for node in model.graph.node for a in node.attribute if a.HasField("t")]
    return [*model.graph.initializer, *attributes]


def check_by_onnx(model: onnx.ModelProto) -> None:
    """Look for all that is refused, in what the onnx package reads."""
    assert not model.functions
    assert not model.training_info
    assert not model.metadata_props
    assert not model.graph.sparse_initializer
    for node in model.graph.node:
        assert node.op_type in OPERATORS
        assert node.domain in DOMAINS
        for attribute in node.attribute:
            assert not attribute.HasField("g")
            assert not attribute.graphs
            assert not attribute.tensors
            assert not attribute.HasField("sparse_tensor")
    for tensor in tensors(model):
        assert not tensor.external_data
        assert tensor.data_location == TensorProto.DEFAULT


@pytest.mark.parametrize("seed", range(SEEDS))
def test_what_is_accepted_is_harmless_to_another_reader(seed):
    dice, whole = Random(seed), graph()
    check_by_onnx(onnx.load_model_from_string(whole))
    accepted = 0
    for _ in range(COUNT // SEEDS):
        data = spoiled(whole, dice)
        try:
            check_graph(data, "g")
        except InputError:
            continue
        try:
            model = onnx.load_model_from_string(data)
        except Exception:  # noqa: S112  (names that are not UTF-8: the runtime refuses them too)
            continue
        accepted += 1
        check_by_onnx(model)
        assert len(read_model(data).get("graph", {}).get("node", [])) == len(model.graph.node)
    assert accepted > COUNT // SEEDS // 100
