"""A shorter code from a longer one: the first bits of a model's code, as a model of their own.

The head loses the rows of its linear layers that belong to the bits left out. The ONNX graph gives
the first columns of `u`, so that short codes are the beginning of the long ones bit for bit. Codes
of a model that was trained for several lengths (`lengths` of its settings) are good at each of
them; of any other model the first bits are a worse code than one trained for that length.
"""

from dataclasses import replace

import numpy as np

from softhash.codes import check_first_bits
from softhash.model._safetensors import read_arrays
from softhash.model.config import ModelConfig
from softhash.model.folder import GRAPH, WEIGHTS
from softhash.model.lazy_network import LazyNetwork
from softhash.model.onnx_graph import OUTPUTS
from softhash.model.weights import arrays_to_bytes, head_shapes

CARD = "shortened"  # the section of the card that says where the codes come from


def shorten(model: LazyNetwork, bits: int) -> LazyNetwork:
    """Make a model of the first bits of another's codes; torch is not needed for a saved one.

    Args:
        model: the longer one, which stays as it is.
        bits: length of the shorter codes.

    Raises:
        UsageError: the model's codes are not so long, or have no first bits (DQN).

    """
    config = shorten_config(model.config, bits, model.identity())
    parts = {
        WEIGHTS: shorten_weights(model.to_bytes(), config),
        GRAPH: shorten_graph(model.graph(), model.config.bits, bits),
    }
    return LazyNetwork.from_parts(config, parts)


def shorten_config(config: ModelConfig, bits: int, identity: str) -> ModelConfig:
    """Return the settings of the shorter model.

    Its card says what it was shortened from, and has no metrics: those are of the longer codes.

    Args:
        config: the longer model's.
        bits: length of the shorter codes.
        identity: SHA-256 of the longer model's weights.

    """
    config.check_hamming()
    check_first_bits(bits, config.bits)
    origin = f"The first {bits} of {config.bits} bits of the model with weights {identity}."
    card = {name: part for name, part in config.card.items() if name != "metrics"}
    lengths = tuple(length for length in config.lengths if length <= bits)
    return replace(config, bits=bits, lengths=lengths, card={**card, CARD: origin})


def shorten_weights(data: bytes, config: ModelConfig) -> bytes:
    """Cut the tensors of a head to the shapes that the shorter model's settings ask for."""
    arrays = read_arrays(data, WEIGHTS)
    for name, shape in head_shapes(config).items():
        arrays[name] = np.ascontiguousarray(arrays[name][: shape[0]])
    return arrays_to_bytes(arrays)


def shorten_graph(graph: bytes, whole: int, bits: int) -> bytes:
    """Make an ONNX graph give the first columns of `u`.

    Args:
        graph: the longer model's.
        whole: how many columns it has.
        bits: how many are kept.

    """
    import onnx
    from onnx import helper, numpy_helper

    model = onnx.load_from_string(graph)
    before = f"{OUTPUTS} of {whole} bits"  # another name each time that a model is shortened
    for node in model.graph.node:
        for ends in (node.input, node.output):
            ends[:] = [before if name == OUTPUTS else name for name in ends]
    columns = {f"{before}, from": 0, f"{before}, to": bits, f"{before}, axis": 1}
    for name, value in columns.items():
        model.graph.initializer.append(numpy_helper.from_array(np.array([value]), name))
    name = f"{OUTPUTS} of {bits} bits"
    model.graph.node.append(helper.make_node("Slice", [before, *columns], [OUTPUTS], name=name))
    for output in model.graph.output:
        if output.name == OUTPUTS:
            output.type.tensor_type.shape.dim[1].dim_value = bits
    return bytes(model.SerializeToString())
