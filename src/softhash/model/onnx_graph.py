"""What an ONNX graph of softhash is, and a look at a foreign one before ONNX Runtime sees it."""

import math

from softhash.errors import InputError
from softhash.model._onnx_reader import HINT, Message, read_model

OPSET = 17  # every ONNX Runtime since 1.13 runs it
IR_VERSION = 8  # the file format that belongs to it
PIXELS, FEATURES, OUTPUTS = "pixels", "features", "u"  # what graphs take and give
DOMAINS = ("", "ai.onnx")  # both are ONNX's own operators

# They compute numbers from numbers, each time the same. Not here: loops and branches, random
# numbers, sequences, text, and operators of other packages. The built-in backbones need a quarter
# of them; the others are for models of timm, torchvision and plug-ins.
_OPERATORS = """
    Abs Acos Acosh Add And ArgMax ArgMin Asin Asinh Atan Atanh AveragePool BatchNormalization
    BitShift Cast CastLike Ceil Celu Clip Concat Constant ConstantOfShape Conv ConvTranspose Cos
    Cosh CumSum DepthToSpace Div Dropout Einsum Elu Equal Erf Exp Expand Flatten Floor Gather
    GatherElements GatherND Gemm GlobalAveragePool GlobalLpPool GlobalMaxPool Greater GreaterOrEqual
    GridSample HardSigmoid HardSwish Hardmax Identity InstanceNormalization IsInf IsNaN LRN
    LayerNormalization LeakyRelu Less LessOrEqual Log LogSoftmax LpNormalization LpPool MatMul Max
    MaxPool Mean MeanVarianceNormalization Min Mod Mul Neg Not OneHot Or PRelu Pad Pow Range
    Reciprocal ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin
    ReduceProd ReduceSum ReduceSumSquare Relu Reshape Resize Round ScatterElements ScatterND Selu
    Shape Shrink Sigmoid Sign Sin Sinh Size Slice Softmax Softplus Softsign SpaceToDepth Split Sqrt
    Squeeze Sub Sum Tan Tanh ThresholdedRelu Tile TopK Transpose Trilu Unsqueeze Where Xor
"""
OPERATORS = frozenset(_OPERATORS.split())
IN_8_BITS = frozenset({"DequantizeLinear", "QLinearConv", "QuantizeLinear"})  # for int8 alone
MAX_DIMS = 16
ITEM_SIZES = {1: 4, 2: 1, 3: 1, 6: 4, 7: 8, 9: 1, 10: 2, 11: 8}  # bytes, by ONNX's types of numbers


def check_graph(graph: bytes, name: str, *, int8: bool = False) -> None:
    """Raise unless a graph is complete in itself, and computes with nothing but `OPERATORS`.

    Args:
        graph: the content of an ONNX file.
        name: what errors call it.
        int8: whether it may have the operators of `IN_8_BITS` too.

    Raises:
        InputError: it is damaged, names files, or has what no graph of softhash has.

    """
    try:
        _check_model(read_model(graph), OPERATORS | IN_8_BITS if int8 else OPERATORS)
    except InputError as error:
        raise InputError(f"{name} is refused: {error.detail}", error.hint) from None


def _check_model(model: Message, operators: frozenset[str]) -> None:
    opsets = [(one.get("domain", ""), one.get("version")) for one in model.get("opset_import", ())]
    if len(opsets) != 1 or opsets[0][0] not in DOMAINS or opsets[0][1] != OPSET:
        found = ", ".join(f"{domain[:40]!r} {version}" for domain, version in opsets[:4]) or "none"
        raise InputError(f"its sets of operators are {found}, not ONNX's {OPSET}", HINT)
    graph = model.get("graph", {})
    for tensor in graph.get("initializer", ()):
        _check_tensor(tensor)
    for node in graph.get("node", ()):
        _check_node(node, operators)


def _check_node(node: Message, operators: frozenset[str]) -> None:
    operator, domain = node.get("op_type", ""), node.get("domain", "")
    if domain not in DOMAINS or operator not in operators:
        full = f"{domain}.{operator}" if domain else operator
        raise InputError(f"it uses the operator {full[:80]!r}", HINT)
    for attribute in node.get("attribute", ()):
        if "t" in attribute:
            _check_tensor(attribute["t"])


def _check_tensor(tensor: Message) -> None:
    """Raise unless a tensor has exactly the bytes that its shape asks for."""
    dims, kind = tensor.get("dims", []), tensor.get("data_type", 0)
    size, found = ITEM_SIZES.get(kind, 0), tensor.get("raw_data", 0)
    sound = size > 0 and len(dims) <= MAX_DIMS and min(dims, default=0) >= 0
    if not sound or math.prod(dims) * size != found:
        raise InputError(f"a tensor of type {kind} and shape {dims[:8]} has {found:,} bytes", HINT)
