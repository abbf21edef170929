"""A network behind a hasher: hashed once, and hashed again whenever it has changed."""

import numpy as np
import pytest
import torch

from softhash.model import weights
from softhash.model.config import ModelConfig
from softhash.model.hasher import Hasher

FEATURES = np.random.default_rng(0).normal(size=(3, 40)).astype(np.float32)


@pytest.fixture
def hashed(monkeypatch):
    """The networks that were hashed as a whole."""
    calls = []
    whole = weights.fingerprint

    def counted(network, part=""):
        calls.append(network)
        return whole(network, part)

    monkeypatch.setattr(weights, "fingerprint", counted)
    return calls


def test_encoding_again_does_not_hash_the_network_again(hashed):
    hasher = Hasher.from_features(40, bits=16)
    expected = hasher.encode(FEATURES, device="cpu")
    for _ in range(3):
        np.testing.assert_array_equal(hasher.encode(FEATURES, device="cpu"), expected)
    assert len(hashed) == 1


def optimised(network):
    optimiser = torch.optim.SGD(network.parameters(), lr=1.0)
    network(torch.tensor(FEATURES)).sum().backward()
    optimiser.step()


def loaded(network):
    network.load_state_dict({name: t + 1 for name, t in network.state_dict().items()})


def standardised(network):
    network.head.standardise(torch.tensor(FEATURES))


def written_past_the_count(network):
    for parameter in network.parameters():
        parameter.data += 1


def with_another_layer(network):
    network.head.output = torch.nn.Linear(40, 16)


def written_in_one_place(network):
    with torch.no_grad():
        network.head.output.weight[5, 7] += 1


@pytest.mark.parametrize(
    "change",
    [
        optimised,
        loaded,
        standardised,
        written_past_the_count,
        with_another_layer,
        written_in_one_place,
    ],
)
def test_a_change_of_the_network_is_noticed(change, hashed):
    hasher = Hasher.from_features(40, bits=16)
    hasher.encode(FEATURES, device="cpu")
    before = hasher.identity
    change(hasher.network)
    with torch.inference_mode():
        expected = hasher.network.eval()(torch.tensor(FEATURES)).numpy()
    np.testing.assert_allclose(hasher.outputs(FEATURES, device="cpu"), expected, atol=1e-5)
    assert hasher.identity != before
    assert len(hashed) == 2


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_networks_of_any_type_and_layout_are_looked_at(tiny_backbone, dtype):
    network = Hasher("tiny", bits=8).network.to(dtype).to(memory_format=torch.channels_last)
    cached = weights.CachedFingerprint()
    seen = [weights._quick_look(network) for _ in range(2)]
    assert seen[0] == seen[1]
    with torch.no_grad():
        network.backbone[0].bias += 1
    assert weights._quick_look(network) != seen[0]
    if dtype != torch.bfloat16:  # which numpy cannot hold
        assert cached(network) == weights.fingerprint(network)


def test_a_network_built_in_inference_mode_is_hashed(hashed):
    with torch.inference_mode():
        network = weights.build(ModelConfig(bits=8, backbone=None, features=40))
    cached = weights.CachedFingerprint()
    first = cached(network)
    assert cached(network) == first
    assert len(hashed) == 1
    with torch.inference_mode():
        network.head.output.weight += 1
    assert cached(network) != first


def test_a_loaded_model_is_that_of_its_folder_until_it_is_trained(tiny_backbone, tiny_model):
    hasher = Hasher.load(tiny_model)
    saved = hasher.config["sha256"]["model.safetensors"]
    assert hasher.identity == saved
    assert hasher.network is hasher.network
    assert hasher.identity == saved
    with torch.no_grad():
        hasher.network.head.output.bias += 1
    assert hasher.identity != saved
