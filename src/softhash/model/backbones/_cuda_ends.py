"""EfficientNet-Lite's two ends on a GPU, and the whole of it; the notation is `_cuda_blocks`'s."""

from typing import Any

import torch
import triton
from torch import Tensor
from torch.autograd.function import once_differentiable

from softhash.model.backbones import _triton_ends as ends
from softhash.model.backbones._cuda_blocks import PROGRAMS, block, fold, layer, pads, unfold


class FusedStem(torch.autograd.Function):
    """Pictures (n, 3, height, width) of any strides → φ(conv) as (n, rows, columns, width)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, eps: float, kind: torch.dtype, *layer: Tensor) -> Tensor:
        """Compute the stem; x gets no gradient."""
        weight, bias = fold(layer, eps, kind)
        n, _, height, width = x.shape
        rows, columns, outputs = -(-height // 2), -(-width // 2), len(bias)
        y = x.new_empty((n, rows, columns, outputs), dtype=kind)
        sn, sc, sy, sx = x.stride()
        ctx.shape = (n * rows * columns, height, width, rows, columns, sn, sy, sx, sc)
        ctx.pads = pads(height, width, 3, 2)
        ends.stem_kernel[(triton.cdiv(ctx.shape[0], 128),)](
            x, weight, bias, y, *ctx.shape, **ctx.pads, WIDTH=outputs, BM=128, num_warps=4
        )
        ctx.eps = eps
        ctx.save_for_backward(x, y, *layer)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> Any:
        """Return the gradients by the layer's weights."""
        x, y, *layer = ctx.saved_tensors
        outputs = y.shape[3]
        steps = max(1, ctx.shape[0] // (128 * PROGRAMS))
        programs = triton.cdiv(ctx.shape[0], 128 * steps)
        sums = y.new_empty((programs, 32, outputs), dtype=torch.float32)
        ends.stem_backward_kernel[(programs,)](
            x, g.contiguous(), y, sums, steps, *ctx.shape, **ctx.pads,
            WIDTH=outputs, BM=128, num_warps=4,
        )  # fmt: skip
        sums = sums.sum(0)
        return None, None, None, *unfold(sums, sums[27], layer, ctx.eps, (1, outputs))


class FusedHead(torch.autograd.Function):
    """The last features: the mean over pixels of φ(x·Wᵀ + b), in float32."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, eps: float, *layer: Tensor) -> Tensor:
        """Compute the features (n, channels)."""
        weight, bias = fold(layer, eps, x.dtype)
        h = torch.addmm(bias, x.flatten(0, 2), weight.t())
        n, pixels, channels = len(x), x.shape[1] * x.shape[2], len(bias)
        pooled = x.new_empty((n, channels), dtype=torch.float32)
        grid = (triton.cdiv(channels, 64), n)
        ends.pool_kernel[grid](h, pooled, pixels, channels, BP=64, BC=64, num_warps=4)
        ctx.eps = eps
        ctx.save_for_backward(x, h, weight, *layer)
        return pooled

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> Any:
        """Return the gradients by x and by the layer's weights."""
        x, h, weight, *layer = ctx.saved_tensors
        n, pixels, channels = len(x), x.shape[1] * x.shape[2], h.shape[1]
        gh, sums = torch.empty_like(h), g.new_empty((n, channels), dtype=torch.float32)
        grid = (triton.cdiv(channels, 64), n)
        ends.pool_backward_kernel[grid](
            g.contiguous(), h, gh, sums, pixels, channels, BP=64, BC=64, num_warps=4
        )
        g_weight = gh.t() @ x.flatten(0, 2)
        g_layer = unfold(g_weight, sums.sum(0), layer, ctx.eps, (weight.shape[1], 1))
        return (gh @ weight).view_as(x), None, *g_layer


def features(network: Any, x: Tensor, kind: torch.dtype) -> Tensor:
    """Map normalised pictures to features as ``EfficientNetLite.forward`` does, in ``kind``."""
    stem, head = layer(network._conv_stem, network._bn0), layer(network._conv_head, network._bn1)
    y = FusedStem.apply(x, network._bn0.eps, kind, *stem)  # type: ignore[no-untyped-call]
    for module in network._blocks:
        y = block(module, y)
    return FusedHead.apply(y, network._bn1.eps, *head)  # type: ignore[no-any-return, no-untyped-call]
