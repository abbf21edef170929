"""Padding against TensorFlow's formula, written out, and a convolution in plain loops."""

import numpy as np
import pytest
import torch

from softhash.model.backbones.efficientnet_lite import SameConv2d


def reference(x: np.ndarray, weight: np.ndarray, stride: int) -> np.ndarray:
    """One channel, convolved as TensorFlow documents "SAME"; outside the picture are zeros."""
    kernel = weight.shape[0]
    before = []
    for side in x.shape:
        rest = side % stride
        before.append(max(kernel - (rest if rest else stride), 0) // 2)
    result = np.zeros([-(-side // stride) for side in x.shape])
    for i, j in np.ndindex(*result.shape):
        for a, b in np.ndindex(kernel, kernel):
            row, column = i * stride + a - before[0], j * stride + b - before[1]
            if 0 <= row < x.shape[0] and 0 <= column < x.shape[1]:
                result[i, j] += weight[a, b] * x[row, column]
    return result


@pytest.mark.parametrize("shape", [(8, 8), (7, 7), (8, 7), (9, 12), (5, 1), (2, 2)])
@pytest.mark.parametrize("kernel", [1, 3, 5])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_same_convolution_is_tensorflow_s(shape, kernel, stride):
    random = np.random.default_rng(0)
    x, weight = random.normal(size=shape), random.normal(size=(kernel, kernel))
    layer = SameConv2d(1, 1, kernel, stride).double()
    layer.weight.data[0, 0] = torch.from_numpy(weight)
    actual = layer(torch.from_numpy(x)[None, None])[0, 0].detach().numpy()
    np.testing.assert_allclose(actual, reference(x, weight, stride), atol=1e-12)
