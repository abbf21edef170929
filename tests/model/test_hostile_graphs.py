"""Graphs that a stranger could send: none reads a file, loops, or gives what was not announced."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from softhash.errors import InputError
from softhash.model.config import ModelConfig
from softhash.model.engines import OnnxEngine
from softhash.model.onnx_graph import IR_VERSION, OPSET, check_graph

BITS, FEATURES = 12, 5
CONFIG = ModelConfig(BITS, None, FEATURES)
SECRET = b"TOPSECRETKEY"


def external(name: str = "secret") -> TensorProto:
    """Make a tensor whose numbers are the bytes of a file in the working directory."""
    tensor = TensorProto(name="w", data_type=TensorProto.UINT8, dims=[1, BITS])
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", name), ("offset", "0"), ("length", str(BITS))):
        tensor.external_data.add(key=key, value=value)
    return tensor


def subgraph() -> onnx.GraphProto:
    out = helper.make_tensor_value_info("o", TensorProto.UINT8, [1, BITS])
    return helper.make_graph([helper.make_node("Identity", ["w"], ["o"])], "g", [], [out])


def model(*nodes: onnx.NodeProto, constants: list[TensorProto] | None = None) -> onnx.ModelProto:
    """Make a graph from features to u, whose last node makes u of w and the features."""
    array = numpy_helper.from_array
    zeros = array(np.zeros((FEATURES, BITS), np.float32), "zeros")
    given = [array(np.arange(BITS, dtype=np.uint8)[None], "w")] if constants is None else constants
    body = [
        *nodes,
        helper.make_node("Cast", ["w"], ["wf"], to=TensorProto.FLOAT),
        helper.make_node("Gemm", ["features", "zeros", "wf"], ["u"]),
    ]
    takes = helper.make_tensor_value_info("features", TensorProto.FLOAT, ["n", FEATURES])
    gives = helper.make_tensor_value_info("u", TensorProto.FLOAT, ["n", BITS])
    graph = helper.make_graph(body, "g", [takes], [gives], [*given, zeros])
    opset = [helper.make_opsetid("", OPSET)]
    return helper.make_model(graph, opset_imports=opset, ir_version=IR_VERSION)


def run(made: onnx.ModelProto) -> np.ndarray:
    engine = OnnxEngine(made.SerializeToString(), CONFIG)
    return engine(np.ones((2, FEATURES), np.float32))[0]


@pytest.fixture
def _secret(tmp_path, monkeypatch):
    (tmp_path / "secret").write_bytes(SECRET)
    monkeypatch.chdir(tmp_path)


def test_a_graph_of_known_operators_is_run():
    assert run(model()).tolist() == [list(range(BITS))] * 2


@pytest.mark.usefixtures("_secret")
@pytest.mark.parametrize(
    "made",
    [
        model(constants=[external()]),
        model(helper.make_node("Constant", [], ["w"], value=external()), constants=[]),
    ],
    ids=["initializer", "attribute"],
)
def test_a_graph_does_not_read_files(made):
    with pytest.raises(InputError, match=r"external data, which is read from a file; .* you trust"):
        run(made)


def constant(name: str, value: object) -> onnx.NodeProto:
    return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.array(value)))


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        (
            [
                constant("yes", True),
                helper.make_node(
                    "If", ["yes"], ["v"], then_branch=subgraph(), else_branch=subgraph()
                ),
            ],
            "a graph within the graph",
        ),
        ([helper.make_node("Loop", ["", ""], ["v"])], "the operator 'Loop'"),
        ([helper.make_node("RandomNormal", [], ["v"], shape=[1])], "'RandomNormal'"),
        ([helper.make_node("Gelu", ["w"], ["v"], domain="com.microsoft")], "com.microsoft.Gelu"),
        ([helper.make_node("Relu", ["w"], ["v"], domain="evil")], "'evil.Relu'"),
        ([helper.make_node("Relu", ["w"], ["v"], metadata={"a": "b"})], "'Relu'|attribute|field"),
    ],
)
def test_a_graph_has_no_operators_but_those_of_networks(nodes, message):
    made = model(*nodes)
    with pytest.raises(InputError, match=message):
        run(made)


def with_function(made):
    made.functions.add(name="f", domain="evil")


def with_opset(made):
    made.opset_import.add(domain="ai.onnx.ml", version=3)


def with_other_opset(made):
    made.opset_import[0].version = OPSET + 1


def with_sparse(made):
    made.graph.sparse_initializer.add().values.name = "s"


def with_location(made):
    made.graph.initializer[0].data_location = TensorProto.EXTERNAL


def with_missing_bytes(made):
    made.graph.initializer[0].dims[0] = 1 << 40


def with_other_numbers(made):
    made.graph.initializer[0].ClearField("raw_data")
    made.graph.initializer[0].int32_data.extend(range(BITS))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda made: made.metadata_props.add(key="ort_config", value="{}"), "metadata"),
        (lambda made: made.training_info.add(), "training steps"),
        (with_function, "functions of its own"),
        (with_opset, "sets of operators are '' 17, 'ai.onnx.ml' 3, not ONNX's 17"),
        (with_other_opset, "sets of operators are '' 18"),
        (with_sparse, "a sparse tensor"),
        (with_location, "its tensor has a field 14"),
        (with_missing_bytes, r"shape \[1099511627776, 12\] has 12 bytes"),
        (with_other_numbers, "its tensor has a field 5"),
    ],
)
def test_a_graph_has_nothing_that_softhash_does_not_write(change, message):
    made = model()
    change(made)
    with pytest.raises(InputError, match=f"the graph is refused: .*{message}"):
        run(made)


def field(number: int, payload: bytes) -> bytes:
    assert len(payload) < 128
    return bytes([number << 3 | 2, len(payload)]) + payload


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (field(7, b""), "its model has graph twice"),  # other readers would join the two
        (b"\x88\x00\x08", "cut short or damaged"),  # the number 8, spelled in two bytes
        (b"\x0b\x0c", "field 1 of wire type 3"),
        (b"\x7a\x7f", "field 15"),
        (b"\x3a\xff", "cut short or damaged"),
        (b"\x08" + b"\xff" * 10, "cut short or damaged"),
        (b"\x08" + b"\xff" * 9 + b"\x7f", "cut short or damaged"),
    ],
)
def test_bytes_that_readers_could_take_for_different_things_are_refused(extra, message):
    with pytest.raises(InputError, match=message):
        check_graph(model().SerializeToString() + extra, "g")


@pytest.mark.parametrize("place", [b"\x12\x01n", b"\n\x08features\x12"])
def test_names_at_the_ends_are_text(place):
    graph = model().SerializeToString()
    assert place in graph
    spoiled = graph.replace(place, place[:2] + b"\xff" + place[3:])
    with pytest.raises(InputError, match="cut short or damaged"):
        OnnxEngine(spoiled, CONFIG)


def test_the_runtimes_own_format_is_not_tried():
    """Bytes that are ONNX to us must not be something else to the runtime."""
    disguised = field(2, b"..ORTM") + model().SerializeToString()
    assert disguised[4:8] == b"ORTM"  # by which the runtime knows it
    engine = OnnxEngine(disguised, CONFIG)
    assert engine(np.ones((1, FEATURES), np.float32))[0].tolist() == [list(range(BITS))]


def test_a_graph_of_too_many_fields_is_refused(monkeypatch):
    monkeypatch.setattr("softhash.model._onnx_reader.MAX_FIELDS", 20)
    with pytest.raises(InputError, match="more than 20 fields"):
        run(model())


def test_ends_of_other_names_and_types_are_refused():
    for place, change in (
        ("input", lambda end: setattr(end, "name", "pixels")),
        ("output", lambda end: setattr(end, "name", "v")),
        ("input", lambda end: setattr(end.type.tensor_type, "elem_type", TensorProto.DOUBLE)),
    ):
        made = model()
        change(getattr(made.graph, place)[0])
        with pytest.raises(InputError):
            run(made)


def lying(*nodes: onnx.NodeProto) -> onnx.ModelProto:
    """Make a graph whose shapes the runtime cannot know before it runs."""
    made = model(*nodes, constants=[])
    del made.graph.node[-2:]
    made.graph.output[0].type.tensor_type.shape.dim[1].dim_value = BITS
    return made


def test_answers_of_another_shape_or_not_finite_are_refused():
    width = helper.make_node("ReduceSum", ["features"], ["s"], keepdims=0)
    shape = helper.make_node("Cast", ["s"], ["i"], to=TensorProto.INT64)
    wide = [width, shape, constant("two", np.array([2])), constant("axis", np.array([0]))]
    bomb = [
        *wide,
        helper.make_node("Unsqueeze", ["i", "axis"], ["i1"]),
        helper.make_node("Concat", ["two", "i1"], ["dims"], axis=0),
        helper.make_node("ConstantOfShape", ["dims"], ["u"]),
    ]
    with pytest.raises(InputError, match=r"gives u of shape \(2, 10\)"):
        run(lying(*bomb))
    infinite = constant("w", np.full((1, BITS), np.inf, np.float32))
    with pytest.raises(InputError, match="gives NaN or infinity"):
        run(model(infinite, constants=[]))


def test_a_graph_that_fails_while_it_runs_is_named():
    where = helper.make_node("Cast", ["features"], ["i"], to=TensorProto.INT64)
    gather = helper.make_node("Gather", ["zeros", "i"], ["v"])  # row 9 of 5
    made = model(where, gather)
    made.graph.node[-1].input[2] = "s"
    made.graph.node.insert(2, helper.make_node("ReduceSum", ["v"], ["s"], keepdims=0))
    engine = OnnxEngine(made.SerializeToString(), CONFIG, "model.onnx")
    with pytest.raises(InputError, match=r"model\.onnx fails: .*indices"):
        engine(np.full((2, FEATURES), 9, np.float32))
