import torch
from torch import nn

from softhash.model.backbones.efficientnet_lite import SameConv2d


def test_fixed_statistics_fold_into_the_convolution_gradients_included():
    torch.manual_seed(0)
    for stride, groups in ((1, 1), (2, 8)):
        conv, norm = SameConv2d(8, 8, 3, stride, groups).double(), nn.BatchNorm2d(8).double()
        norm.running_mean.normal_()
        norm.running_var.uniform_(0.5, 2)
        norm.weight.data.normal_()
        norm.bias.data.normal_()
        norm.eval()
        x = torch.randn(3, 8, 9, 9, dtype=torch.float64)
        weights = [conv.weight, norm.weight, norm.bias]
        gradients = []
        for y in (norm(conv(x)), conv.normalised(x, norm)):
            gradients.append([y.detach(), *torch.autograd.grad(y.sin().sum(), weights)])
        for plain, folded in zip(*gradients, strict=True):
            assert torch.allclose(plain, folded)


def test_moving_statistics_are_normalised_as_ever():
    torch.manual_seed(0)
    conv, norm = SameConv2d(3, 4, 3), nn.BatchNorm2d(4)
    x = torch.randn(5, 3, 8, 8)
    before = norm.running_mean.clone()
    conv.normalised(x, norm)
    assert not torch.equal(before, norm.running_mean)
