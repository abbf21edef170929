"""EfficientNet-Lite with fixed normalisation on a GPU, forward and backward by hand.

Three `torch.autograd.Function`s, block, stem and head (`_cuda_ends`), whose tensors are (n, height,
width, channels) in the autocast's type. What is stored between layers is past its ReLU6, and a
gradient past its gate: the product or convolution that makes it applies them. Convolutions pad by
leaving out what lies outside. Products that need none of this are cuBLAS's.
"""

from collections.abc import Sequence
from typing import Any

import torch
import triton
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from softhash.model.backbones import _triton_blocks as blocks
from softhash.model.backbones.efficientnet_lite_shape import same_padding

PROGRAMS = 132 * 6  # as many as keep a large GPU busy
# Height, width and channels of a depthwise program's tile, and its warps, by the output's width.
FORWARD_TILES = {8: (4, 4, 128, 4), 29: (8, 16, 32, 4), 1 << 30: (4, 16, 32, 4)}
BACKWARD_TILES = {29: (4, 4, 128, 4), 57: (4, 8, 32, 4), 1 << 30: (4, 16, 32, 4)}
# Pixels, channels and warps of a program that sums up a row of taps, by the kernel's side.
WEIGHT_TILES = {3: (64, 32, 8), 5: (64, 32, 4)}

Tile = tuple[int, int, int, int]
Layer = Sequence[Tensor]  # weight rows, gamma, beta, mean, var


def layer(conv: nn.Conv2d, norm: nn.BatchNorm2d) -> Layer:
    """Return a convolution's weights, a row an output (the stem's channels last), and its norm."""
    rows = conv.weight.permute(0, 2, 3, 1).flatten(1)
    return rows, norm.weight, norm.bias, norm.running_mean, norm.running_var  # type: ignore[return-value]


def fold(
    layer: Layer, eps: float, kind: torch.dtype, *, taps: bool = False
) -> tuple[Tensor, Tensor]:
    """Return scaled weights, (outputs, length) or with ``taps`` (length, outputs), and the bias."""
    outputs, length = layer[0].shape
    shape = (length, outputs) if taps else (outputs, length)
    folded = torch.empty(shape, dtype=kind, device=layer[0].device)
    bias = torch.empty(outputs, dtype=kind, device=layer[0].device)
    steps = (1, outputs) if taps else (length, 1)
    blocks.fold_kernel[(outputs,)](
        *layer, eps, folded, bias, length, *steps, BLOCK=triton.next_power_of_2(length)
    )
    return folded, bias


def unfold(g: Tensor, g_bias: Tensor, layer: Layer, eps: float, steps: tuple[int, int]) -> Any:
    """Return the gradients by a layer, whose folded weights' gradient lies in ``steps``."""
    weight, gamma, beta, mean, var = layer
    outputs, length = weight.shape
    found = torch.empty_like(weight), torch.empty_like(gamma), torch.empty_like(beta)
    blocks.unfold_kernel[(outputs,)](
        g, g_bias, weight, gamma, mean, var, eps, *found, length, *steps,
        BLOCK=triton.next_power_of_2(length),
    )  # fmt: skip
    return *found, None, None


def column_sums(x: Tensor) -> Tensor:
    """Sum the rows of (n, columns) in float32."""
    count, columns = x.shape
    width = min(64, triton.next_power_of_2(columns))
    tall = 4096 // width
    across = triton.cdiv(columns, width)
    steps = max(1, count * across // (tall * PROGRAMS))
    programs = triton.cdiv(count, tall * steps)
    sums = x.new_empty((programs, columns), dtype=torch.float32)
    blocks.column_sums_kernel[(across, programs)](
        x, sums, count, steps, COLUMNS=columns, BM=tall, BC=width, num_warps=4
    )
    return sums.sum(0)


def product(
    x: Tensor, weight: Tensor, *, bias: Tensor | None = None, gate: Tensor | None = None
) -> Tensor:
    """Return φ(x·weightᵀ + bias), or x·weight where 0 < ``gate`` < 6, and 0 elsewhere."""
    count, length = x.shape
    columns = weight.shape[0] if gate is None else weight.shape[1]
    steps = (length, 1) if gate is None else (1, columns)
    out = x.new_empty((count, columns))
    tall, wide, deep, warps = product_tile(length, columns)
    blocks.product_kernel[(triton.cdiv(count, tall) * triton.cdiv(columns, wide),)](
        x, weight, bias, gate, out, count, columns, *steps, LENGTH=length,
        GATED=gate is not None, BM=tall, BN=wide, BK=deep, num_warps=warps, num_stages=2,
    )  # fmt: skip
    return out


def product_tile(length: int, columns: int) -> tuple[int, int, int, int]:
    """Return rows, columns and depth of a program's part of a product, and its warps."""
    deep = min(64, max(16, triton.next_power_of_2(length)))
    return (
        128,
        64 if columns < 200 else 128,
        32 if length == 80 else deep,
        4 if columns < 200 else 8,
    )


def tile(tiles: dict[int, Tile], columns: int) -> Tile:
    """Return the first tile of a table made for pictures at least this wide."""
    return next(tile for widest, tile in tiles.items() if columns <= widest)


def pads(height: int, width: int, kernel: int, stride: int) -> dict[str, int]:
    """Count the zeros before rows and columns."""
    return {
        "PY": same_padding(height, kernel, stride)[0],
        "PX": same_padding(width, kernel, stride)[0],
    }


def _form(height: int, width: int, kernel: int, stride: int) -> dict[str, int]:
    return {"K": kernel, "S": stride, **pads(height, width, kernel, stride)}


def depthwise(h: Tensor, weight: Tensor, bias: Tensor, kernel: int, stride: int) -> Tensor:
    """Convolve each channel of (n, height, width, channels) by itself, and apply ReLU6."""
    n, height, width, channels = h.shape
    rows, columns = -(-height // stride), -(-width // stride)
    d = h.new_empty((n, rows, columns, channels))
    tall, long, wide, warps = tile(FORWARD_TILES, columns)
    tiles = triton.cdiv(rows, tall) * triton.cdiv(columns, long) * triton.cdiv(channels, wide)
    blocks.depthwise_kernel[(tiles, n)](
        h, weight, bias, d, height, width, rows, columns, channels,
        **_form(height, width, kernel, stride),
        TH=tall, TW=long, BC=wide, num_warps=warps, num_stages=1,
    )  # fmt: skip
    return d


def depthwise_by_input(
    e: Tensor, h: Tensor, weight: Tensor, kernel: int, stride: int, gated: bool
) -> Tensor:
    """Return the gradient by h, from that by its convolution, e."""
    n, height, width, channels = h.shape
    rows, columns = -(-height // stride), -(-width // stride)
    gh = torch.empty_like(h)
    tall, long, wide, warps = tile(BACKWARD_TILES, columns)
    tiles = triton.cdiv(rows, tall) * triton.cdiv(columns, long) * triton.cdiv(channels, wide)
    blocks.depthwise_input_kernel[(tiles, n)](
        e, h, weight, gh, height, width, rows, columns, channels,
        **_form(height, width, kernel, stride), GATED=gated,
        TH=tall, TW=long, BC=wide, num_warps=warps, num_stages=1,
    )  # fmt: skip
    return gh


def depthwise_by_weight(e: Tensor, h: Tensor, kernel: int, stride: int) -> Tensor:
    """Return the gradients by taps and bias, (kernel·kernel + 1, channels), in float32."""
    n, height, width, channels = h.shape
    rows, columns = -(-height // stride), -(-width // stride)
    pixels, wide, warps = WEIGHT_TILES[kernel]
    count, across = n * rows * columns, triton.cdiv(channels, wide) * (kernel + 1)
    steps = max(1, count * across // (pixels * PROGRAMS))
    programs = triton.cdiv(count, pixels * steps)
    sums = h.new_empty((programs, kernel**2 + 1, channels), dtype=torch.float32)
    blocks.depthwise_weight_kernel[(across, programs)](
        e, h, sums, count, steps, height, width, rows, columns, channels,
        **_form(height, width, kernel, stride), BP=pixels, BC=wide, num_warps=warps,
    )  # fmt: skip
    return sums.sum(0)


class FusedBlock(torch.autograd.Function):
    """An inverted residual: d = φ(dw(h)), h = φ(x·W₁ᵀ + b₁), y = d·W₃ᵀ + b₃ (+ x)."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, form: tuple[int, int, bool, float], *tensors: Tensor
    ) -> Tensor:
        """Compute y; ``form`` is kernel, stride, skips, eps; ``tensors`` are the layers."""
        kernel, stride, skips, eps = form
        *first, middle, last = [tensors[i : i + 5] for i in range(0, len(tensors), 5)]
        pixels, w1, h = x.flatten(0, 2), None, x
        if first:
            w1, b1 = fold(first[0], eps, x.dtype)
            h = product(pixels, w1, bias=b1).view(*x.shape[:3], -1)
        w2, b2 = fold(middle, eps, torch.float32, taps=True)
        d = depthwise(h, w2, b2, kernel, stride)
        w3, b3 = fold(last, eps, x.dtype)
        y = torch.addmm(b3, d.flatten(0, 2), w3.t())
        if skips:
            y += pixels
        ctx.form = form
        ctx.save_for_backward(x, h, d, w1, w2, w3, *tensors)
        return y.view(*d.shape[:3], -1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> Any:
        """Return the gradients by x and by the layers' weights."""
        kernel, stride, skips, eps = ctx.form
        x, h, d, w1, w2, w3, *tensors = ctx.saved_tensors
        *first, middle, last = [tensors[i : i + 5] for i in range(0, len(tensors), 5)]
        g, d = g.contiguous().flatten(0, 2), d.flatten(0, 2)
        g_last = unfold(g.t() @ d, column_sums(g), last, eps, (w3.shape[1], 1))
        e = product(g, w3, gate=d)
        gh = depthwise_by_input(e, h, w2, kernel, stride, bool(first))
        taps = depthwise_by_weight(e, h, kernel, stride)
        g_middle = unfold(taps, taps[-1], middle, eps, (1, h.shape[3]))
        if not first:
            gx = gh + g.view_as(gh) if skips else gh
            return gx, None, *g_middle, *g_last
        gh = gh.flatten(0, 2)
        g_first = unfold(gh.t() @ x.flatten(0, 2), column_sums(gh), first[0], eps, (w1.shape[1], 1))
        gx = torch.addmm(g, gh, w1) if skips else gh @ w1
        return gx.view_as(x), None, *g_first, *g_middle, *g_last


def block(module: Any, x: Tensor) -> Tensor:
    """Apply a block of `efficientnet_lite` to (n, height, width, channels)."""
    conv, norm = module._depthwise_conv, module._bn1
    layers = [*layer(conv, norm), *layer(module._project_conv, module._bn2)]
    if module.expands:
        layers = [*layer(module._expand_conv, module._bn0), *layers]
    form = (conv.kernel_size[0], conv.stride[0], module.skips, norm.eps)
    return FusedBlock.apply(x, form, *layers)  # type: ignore[no-any-return, no-untyped-call]
