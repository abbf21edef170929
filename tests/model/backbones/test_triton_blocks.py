"""The GPU kernels against torch in float32; skipped, and said so, where no GPU is."""

import pytest
import torch
from torch import nn

from softhash.model.backbones import efficientnet_lite
from softhash.model.backbones.efficientnet_lite import Block, EfficientNetLite
from softhash.model.backbones.efficientnet_lite_shape import BlockShape

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
]


def trained(module):
    for norm in module.modules():
        if isinstance(norm, nn.BatchNorm2d):
            norm.running_mean.normal_(0, 0.3)
            norm.running_var.uniform_(0.5, 2)
            norm.weight.data.uniform_(0.5, 1.5)
            norm.bias.data.normal_(1, 0.5)
    return module.eval().cuda().to(memory_format=torch.channels_last)


def pictures(*shape):
    return torch.randn(*shape, device="cuda").to(memory_format=torch.channels_last)


def distance(found, expected):
    difference = (found.float() - expected).detach()
    return float(difference.norm() / expected.detach().norm())


@pytest.mark.parametrize("kernel", [3, 5])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("sides", [(8, 8), (15, 15), (29, 57), (114, 40)])
@pytest.mark.parametrize(
    ("channels", "width", "expansion"), [(24, 24, 6), (32, 16, 1), (80, 112, 6)]
)
def test_block_and_its_gradients(kernel, stride, sides, channels, width, expansion):
    from softhash.model.backbones import _cuda_blocks

    torch.manual_seed(0)
    block = trained(Block(BlockShape(channels, width, kernel, stride, expansion)))
    x = pictures(3, channels, *sides).bfloat16().requires_grad_()
    exact = x.detach().float().requires_grad_()
    y = block(exact)
    g = torch.randn_like(y).bfloat16()
    weights = list(block.parameters())
    expected = [y, *torch.autograd.grad(y, [exact, *weights], g.float())]
    y = _cuda_blocks.block(block, x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
    found = [y, *torch.autograd.grad(y, [x, *weights], g)]
    assert distance(y, expected[0]) < 0.01
    # Rounding moves some values across the corners of ReLU6, and their gradients with them.
    assert max(map(distance, found, expected)) < 0.1


def test_backbone_is_as_near_to_float32_as_torch_in_bf16(monkeypatch):
    torch.manual_seed(0)
    network = trained(EfficientNetLite())
    x = pictures(8, 3, 227, 227)
    weights = list(network.parameters())
    y = network(x)
    g = torch.randn_like(y)

    def flat(gradients):
        return torch.cat([w.flatten().float() for w in gradients])

    def cosine():
        with torch.autocast("cuda", torch.bfloat16):
            z = network(x)
        assert distance(z, y) < 0.03
        found = flat(torch.autograd.grad(z, weights, g.to(z.dtype)))
        return float(nn.functional.cosine_similarity(found, expected, 0))

    expected = flat(torch.autograd.grad(y, weights, g))
    with torch.autocast("cuda", torch.bfloat16):
        assert efficientnet_lite._fuses(network, x)
    fused = cosine()
    monkeypatch.setattr(efficientnet_lite, "_fuses", lambda network, x: False)
    assert fused > cosine() - 0.02


def test_sums_are_the_same_every_time():
    torch.manual_seed(0)
    network = trained(EfficientNetLite())
    x = pictures(4, 3, 64, 64)
    gradients = []
    for _ in range(2):
        with torch.autocast("cuda", torch.bfloat16):
            y = network(x)
        gradients.append(torch.autograd.grad(y.square().sum(), list(network.parameters())))
    assert all(map(torch.equal, *gradients))
