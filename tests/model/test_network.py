import pytest
import torch

from softhash.model.config import ModelConfig
from softhash.model.heads import Head
from softhash.model.network import HashNetwork
from softhash.model.weights import build, fingerprint

CONFIG = ModelConfig(
    bits=12, backbone="tiny", features=12, size=32, mean=(120, 125, 130), std=(60, 61, 62)
)


@pytest.fixture
def network(tiny_backbone):
    return build(CONFIG).eval()


def pictures(n=4):
    generator = torch.Generator().manual_seed(0)
    return torch.randint(0, 256, (n, 32, 32, 3), dtype=torch.uint8, generator=generator)


def test_network_normalises_plain_pictures_itself(network):
    pixels = pictures()
    u, features = network(pixels), network.features(pixels)
    assert (u.shape, features.shape) == ((4, 12), (4, 12))
    mean, std = torch.tensor([120.0, 125.0, 130.0]), torch.tensor([60.0, 61.0, 62.0])
    by_hand = ((pixels.float() - mean) / std).permute(0, 3, 1, 2)
    torch.testing.assert_close(features, network.backbone(by_hand))
    torch.testing.assert_close(u, network.head(features))


def test_network_runs_channels_last_and_under_autocast(network):
    expected = network(pictures())
    network.to(memory_format=torch.channels_last)
    torch.testing.assert_close(network(pictures()), expected)
    with torch.autocast("cpu", torch.bfloat16):
        u, features = network.both(pictures())
    assert (u.dtype, features.dtype) == (torch.float32, torch.float32)
    torch.testing.assert_close(u, expected, atol=0.01, rtol=0.05)
    u.sum().backward()
    assert network.backbone[0].weight.grad.abs().sum() > 0


def test_network_without_a_backbone_takes_features():
    network = HashNetwork(None, None, Head(5, 3))
    features = torch.randn(7, 5, dtype=torch.float64)
    torch.testing.assert_close(network(features), network.head(features.float()))


def test_network_of_one_seed_has_one_set_of_weights(tiny_backbone):
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    first, second = build(CONFIG), build(CONFIG)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert fingerprint(first) == fingerprint(second)
    other = ModelConfig(**{**CONFIG.__dict__, "seed": 1})
    assert fingerprint(build(other)) != fingerprint(first)


def test_fingerprint_notices_a_single_changed_number(network):
    before = fingerprint(network)
    network.head.output.bias.data[3] += 1e-6
    assert fingerprint(network) != before
