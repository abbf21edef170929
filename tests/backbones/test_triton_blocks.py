"""The GPU kernels against torch in float32; skipped, and said so, where no GPU is."""

import pytest
import torch
from torch import nn

from softhash.backbones.efficientnet_lite import Block, EfficientNetLite, _fuses

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
    return float((found.float() - expected).norm() / expected.norm())


@pytest.mark.parametrize("kernel", [3, 5])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("sides", [(8, 8), (15, 15), (29, 57), (114, 40)])
@pytest.mark.parametrize(
    ("channels", "width", "expansion"), [(24, 24, 6), (32, 16, 1), (80, 112, 6)]
)
def test_block_and_its_gradients(kernel, stride, sides, channels, width, expansion):
    from softhash.backbones import _cuda_blocks

    torch.manual_seed(0)
    block = trained(Block(channels, width, kernel=kernel, stride=stride, expansion=expansion))
    x = pictures(3, channels, *sides).bfloat16().requires_grad_()
    exact = x.detach().float().requires_grad_()
    y = block(exact)
    g = torch.randn_like(y).bfloat16()
    weights = list(block.parameters())
    expected = [y, *torch.autograd.grad(y, [exact, *weights], g.float())]
    y = _cuda_blocks.block(block, x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
    found = [y, *torch.autograd.grad(y, [x, *weights], g)]
    assert max(map(distance, found, expected)) < 0.03


def test_backbone_and_its_gradients():
    torch.manual_seed(0)
    network = trained(EfficientNetLite())
    x = pictures(8, 3, 227, 227)
    weights = list(network.parameters())
    y = network(x)
    g = torch.randn_like(y)
    expected = torch.cat([w.flatten() for w in torch.autograd.grad(y, weights, g)])
    with torch.autocast("cuda", torch.bfloat16):
        assert _fuses(network, x)
        z = network(x)
    found = torch.cat([w.flatten() for w in torch.autograd.grad(z, weights, g)])
    assert distance(z, y) < 0.03
    assert torch.nn.functional.cosine_similarity(found, expected, 0) > 0.99


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
