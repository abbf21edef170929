"""GPU kernels of EfficientNet-Lite's two ends: the stem, and the average pool after the head.

The notation is that of ``_triton_blocks``. The stem is a product of matrices: a pixel's patch, its
27 inputs, is gathered where it is needed and never stored.
"""

import triton
import triton.language as tl

from softhash.model.backbones._triton_blocks import gated, relu6


@triton.jit
def patches(
    x, m, count, height, width, rows, columns, sn, sy, sx, sc, PY: tl.constexpr, PX: tl.constexpr
):
    """Return the patches (pixels, 32) of 3×3×3 inputs at stride 2; column 27 is all ones."""
    k = tl.arange(0, 32)[None, :]
    n, y, c = (m // (rows * columns)).to(tl.int64), (m // columns) % rows, k % 3
    iy = (y * 2 - PY)[:, None] + k // 9
    ix = ((m % columns) * 2 - PX)[:, None] + (k // 3) % 3
    inside = (iy >= 0) & (iy < height) & (ix >= 0) & (ix < width)
    inside = inside & (k < 27) & (m < count)[:, None]
    v = tl.load(x + (n * sn)[:, None] + iy * sy + ix * sx + c * sc, mask=inside, other=0.0)
    return tl.where((k == 27) & (m < count)[:, None], 1.0, v.to(tl.float32))


@triton.jit
def stem_kernel(
    x, weight, bias, out, count, height, width, rows, columns, sn, sy, sx, sc,
    PY: tl.constexpr, PX: tl.constexpr, WIDTH: tl.constexpr, BM: tl.constexpr,
):  # fmt: skip
    """Write out = φ(patch·weightᵀ + bias) for BM pixels; weight is (WIDTH, 27)."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    k, o = tl.arange(0, 32), tl.arange(0, WIDTH)
    v = patches(x, m, count, height, width, rows, columns, sn, sy, sx, sc, PY, PX)
    w = tl.load(weight + o[None, :] * 27 + k[:, None], mask=(k < 27)[:, None], other=0.0)
    y = tl.dot(v.to(w.dtype), w) + tl.load(bias + o).to(tl.float32)[None, :]
    at = out + m.to(tl.int64)[:, None] * WIDTH + o[None, :]
    tl.store(at, relu6(y).to(out.dtype.element_ty), mask=(m < count)[:, None])


@triton.jit
def stem_backward_kernel(
    x, g, y, sums, steps, count, height, width, rows, columns, sn, sy, sx, sc,
    PY: tl.constexpr, PX: tl.constexpr, WIDTH: tl.constexpr, BM: tl.constexpr,
):  # fmt: skip
    """Write sums (programs, 32, WIDTH) of patchᵀ·g·[φ'(y)]; the ones make row 27 the bias's."""
    k, o = tl.arange(0, 32), tl.arange(0, WIDTH)
    total = tl.zeros([32, WIDTH], tl.float32)
    for step in range(steps):
        m = (tl.program_id(0) * steps + step) * BM + tl.arange(0, BM)
        at, here = m.to(tl.int64)[:, None] * WIDTH + o[None, :], (m < count)[:, None]
        e = gated(tl.load(g + at, mask=here, other=0.0), tl.load(y + at, mask=here, other=0.0))
        v = patches(x, m, count, height, width, rows, columns, sn, sy, sx, sc, PY, PX)
        total += tl.dot(tl.trans(v).to(g.dtype.element_ty), e.to(g.dtype.element_ty))
    tl.store(sums + (tl.program_id(0) * 32 + k[:, None]) * WIDTH + o[None, :], total)


@triton.jit
def pool_kernel(h, pooled, pixels, channels, BP: tl.constexpr, BC: tl.constexpr):
    """Write the mean over a picture's pixels of φ(h)."""
    n, c = tl.program_id(1), tl.program_id(0) * BC + tl.arange(0, BC)
    total = tl.zeros([BP, BC], tl.float32)
    for first in range(0, pixels, BP):
        p = first + tl.arange(0, BP)
        here = (p < pixels)[:, None] & (c < channels)[None, :]
        at = h + (n.to(tl.int64) * pixels + p)[:, None] * channels + c[None, :]
        total += relu6(tl.load(at, mask=here, other=0.0).to(tl.float32))
    tl.store(pooled + n * channels + c, tl.sum(total, 0) / pixels, mask=c < channels)


@triton.jit
def pool_backward_kernel(g, h, gh, sums, pixels, channels, BP: tl.constexpr, BC: tl.constexpr):
    """Write gh = g·[φ'(h)]/pixels, and its sums over a picture, (n, channels)."""
    n, c = tl.program_id(1), tl.program_id(0) * BC + tl.arange(0, BC)
    share = tl.load(g + n * channels + c, mask=c < channels, other=0.0) / pixels
    total = tl.zeros([BP, BC], tl.float32)
    for first in range(0, pixels, BP):
        p = first + tl.arange(0, BP)
        here = (p < pixels)[:, None] & (c < channels)[None, :]
        at = (n.to(tl.int64) * pixels + p)[:, None] * channels + c[None, :]
        e = gated(share[None, :], tl.load(h + at, mask=here, other=0.0))
        tl.store(gh + at, e.to(gh.dtype.element_ty), mask=here)
        total += e
    tl.store(sums + n * channels + c, tl.sum(total, 0), mask=c < channels)
