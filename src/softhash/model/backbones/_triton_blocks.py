"""GPU kernels of EfficientNet-Lite with fixed normalisation; see ``_cuda_blocks`` for their use.

Pictures are (n, height, width, channels), channels side by side. φ is ReLU6,
φ(v) = min(max(v, 0), 6), and [φ'(v)] is 1 where 0 < v < 6, else 0; it is the same taken of v and of
φ(v). Sums are in float32.
A kernel that reduces over pixels writes one row of sums a program; torch adds the rows, so that
the result is the same every time.
"""

import triton
import triton.language as tl


@triton.jit
def relu6(v):
    """Return φ(v)."""
    return tl.minimum(tl.maximum(v, 0.0), 6.0)


@triton.jit
def gated(g, v):
    """Return g·[φ'(v)], in float32."""
    return tl.where((v > 0) & (v < 6), g.to(tl.float32), 0.0)


@triton.jit
def place(height, width, channels, TH: tl.constexpr, TW: tl.constexpr, BC: tl.constexpr):
    """Return rows and columns (TH·TW) and channels (BC) of this program's tile of a picture."""
    blocks = tl.cdiv(channels, BC)
    tile = tl.program_id(0) // blocks
    across = tl.cdiv(width, TW)
    p = tl.arange(0, TH * TW)
    y = (tile // across) * TH + p // TW
    x = (tile % across) * TW + p % TW
    c = (tl.program_id(0) % blocks) * BC + tl.arange(0, BC)
    return y, x, c


@triton.jit
def product_kernel(
    x, weight, bias, gate, out, count, columns, row_step, step, LENGTH: tl.constexpr,
    GATED: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """Write out = φ(x·weight + bias), or with GATED x·weight·[φ'(gate)].

    x is (count, LENGTH), out (count, columns); weight[k, c] lies at k·step + c·row_step.
    """
    across = tl.cdiv(columns, BN)
    m = (tl.program_id(0) // across) * BM + tl.arange(0, BM)
    c = (tl.program_id(0) % across) * BN + tl.arange(0, BN)
    here, some = (m < count)[:, None], (c < columns)[None, :]
    rows = m.to(tl.int64)[:, None]
    total = tl.zeros([BM, BN], tl.float32)
    for first in range(0, LENGTH, BK):
        k = first + tl.arange(0, BK)
        v = tl.load(x + rows * LENGTH + k[None, :], mask=here & (k < LENGTH)[None, :], other=0.0)
        at = weight + k[:, None] * step + c[None, :] * row_step
        w = tl.load(at, mask=(k < LENGTH)[:, None] & some, other=0.0)
        total = tl.dot(v, w, total)
    at = rows * columns + c[None, :]
    if GATED:
        total = gated(total, tl.load(gate + at, mask=here & some, other=0.0))
    else:
        b = tl.load(bias + c, mask=c < columns, other=0.0)
        total = relu6(total + b.to(tl.float32)[None, :])
    tl.store(out + at, total.to(out.dtype.element_ty), mask=here & some)


@triton.jit
def depthwise_kernel(
    h, weight, bias, d, height, width, rows, columns, channels,
    K: tl.constexpr, S: tl.constexpr, PY: tl.constexpr, PX: tl.constexpr,
    TH: tl.constexpr, TW: tl.constexpr, BC: tl.constexpr,
):  # fmt: skip
    """Write d[y, x] = φ(bias + Σ weight[i, j]·h[S·y + i − PY, S·x + j − PX]), zero outside h.

    weight is (K·K, channels).
    """
    y, x, c = place(rows, columns, channels, TH, TW, BC)
    n = tl.program_id(1).to(tl.int64)
    h += n * height * width * channels
    d += n * rows * columns * channels
    some = c < channels
    total = tl.zeros([TH * TW, BC], tl.float32)
    for i in range(K):
        iy = y * S + (i - PY)
        for j in tl.static_range(K):
            ix = x * S + (j - PX)
            inside = (iy >= 0) & (iy < height) & (ix >= 0) & (ix < width)
            at = h + ((iy * width + ix) * channels)[:, None] + c[None, :]
            v = tl.load(at, mask=inside[:, None] & some[None, :], other=0.0).to(tl.float32)
            w = tl.load(weight + (i * K + j) * channels + c, mask=some, other=0.0)
            total += v * w[None, :]
    total = relu6(total + tl.load(bias + c, mask=some, other=0.0)[None, :])
    inside = (y < rows) & (x < columns)
    at = d + ((y * columns + x) * channels)[:, None] + c[None, :]
    tl.store(at, total.to(d.dtype.element_ty), mask=inside[:, None] & some[None, :])


@triton.jit
def depthwise_input_kernel(
    e, h, weight, gh, height, width, rows, columns, channels,
    K: tl.constexpr, S: tl.constexpr, PY: tl.constexpr, PX: tl.constexpr, GATED: tl.constexpr,
    TH: tl.constexpr, TW: tl.constexpr, BC: tl.constexpr,
):  # fmt: skip
    """Write gh, the gradient by h, from e, that before d's φ; gated by [φ'(h)] where GATED.

    Tap (i, j) joins (y, x) of h to ((y + PY − i)/S, (x + PX − j)/S) of e where both divide. A tile
    has so many cells of S×S pixels; pixels of like place in their cells have the same taps.
    """
    y, x, c = place(rows, columns, channels, TH, TW, BC)
    n = tl.program_id(1).to(tl.int64)
    e += n * rows * columns * channels
    some = (c < channels)[None, :]
    for py in tl.static_range(S):
        for px in tl.static_range(S):
            total = tl.zeros([TH * TW, BC], tl.float32)
            for i in tl.static_range(K):
                for j in tl.static_range(K):
                    if (py + PY - i) % S == 0 and (px + PX - j) % S == 0:
                        oy, ox = y + (py + PY - i) // S, x + (px + PX - j) // S
                        inside = (oy >= 0) & (oy < rows) & (ox >= 0) & (ox < columns)
                        at = e + ((oy * columns + ox) * channels)[:, None] + c[None, :]
                        g = tl.load(at, mask=inside[:, None] & some, other=0.0).to(tl.float32)
                        w = tl.load(weight + (i * K + j) * channels + c, mask=c < channels)
                        total += g * w[None, :]
            iy, ix = y * S + py, x * S + px
            here = ((iy < height) & (ix < width))[:, None] & some
            at = ((n * height + iy) * width + ix)[:, None] * channels + c[None, :]
            if GATED:
                total = gated(total, tl.load(h + at, mask=here, other=0.0))
            tl.store(gh + at, total.to(gh.dtype.element_ty), mask=here)


@triton.jit
def tap(h, row, x, c, fits, width, channels):
    """Load channels ``c`` of column ``x`` of rows of h where it exists, in float32."""
    inside = fits & (x >= 0) & (x < width)
    at = h + (row + x * channels)[:, None] + c[None, :]
    return tl.load(at, mask=inside[:, None] & (c < channels)[None, :], other=0.0).to(tl.float32)


@triton.jit
def depthwise_weight_kernel(
    e, h, sums, count, steps, height, width, rows, columns, channels,
    K: tl.constexpr, S: tl.constexpr, PY: tl.constexpr, PX: tl.constexpr,
    BP: tl.constexpr, BC: tl.constexpr,
):  # fmt: skip
    """Write sums, (programs, K·K + 1, channels): e[y, x]·h[S·y + i − PY, S·x + j − PX], and e.

    A program takes a row of taps, i, and steps·BP pixels of e; row K is e alone. A tap's BP×BC
    products stay apart until the end, so that threads need not wait for each other at every step.
    K is 3 or 5.
    """
    i = tl.program_id(0) // tl.cdiv(channels, BC)
    c = (tl.program_id(0) % tl.cdiv(channels, BC)) * BC + tl.arange(0, BC)
    some = c < channels
    a0 = tl.zeros([BP, BC], tl.float32)
    a1, a2, a3, a4 = a0, a0, a0, a0
    for step in range(steps):
        m = (tl.program_id(1) * steps + step) * BP + tl.arange(0, BP)
        at = e + m.to(tl.int64)[:, None] * channels + c[None, :]
        g = tl.load(at, mask=(m < count)[:, None] & some[None, :], other=0.0).to(tl.float32)
        if i == K:
            a0 += g
        else:
            y, x = (m // columns) % rows * S + (i - PY), m % columns * S - PX
            fits = (m < count) & (y >= 0) & (y < height)
            row = ((m // (rows * columns)).to(tl.int64) * height + y) * width * channels
            a0 += g * tap(h, row, x, c, fits, width, channels)
            a1 += g * tap(h, row, x + 1, c, fits, width, channels)
            a2 += g * tap(h, row, x + 2, c, fits, width, channels)
            if K == 5:
                a3 += g * tap(h, row, x + 3, c, fits, width, channels)
                a4 += g * tap(h, row, x + 4, c, fits, width, channels)
    at = sums + (tl.program_id(1) * (K * K + 1) + i * K) * channels + c
    tl.store(at, tl.sum(a0, 0), mask=some)
    if i < K:
        tl.store(at + channels, tl.sum(a1, 0), mask=some)
        tl.store(at + 2 * channels, tl.sum(a2, 0), mask=some)
        if K == 5:
            tl.store(at + 3 * channels, tl.sum(a3, 0), mask=some)
            tl.store(at + 4 * channels, tl.sum(a4, 0), mask=some)


@triton.jit
def column_sums_kernel(
    x, sums, count, steps, COLUMNS: tl.constexpr, BM: tl.constexpr, BC: tl.constexpr
):
    """Write the sums of steps·BM rows of x, (count, COLUMNS), a program."""
    c = tl.program_id(0) * BC + tl.arange(0, BC)
    total = tl.zeros([BM, BC], tl.float32)
    for step in range(steps):
        row = (tl.program_id(1).to(tl.int64) * steps + step) * BM + tl.arange(0, BM)
        here = (row < count)[:, None] & (c < COLUMNS)[None, :]
        total += tl.load(x + row[:, None] * COLUMNS + c[None, :], mask=here, other=0.0)
    tl.store(sums + tl.program_id(1) * COLUMNS + c, tl.sum(total, 0), mask=c < COLUMNS)


@triton.jit
def fold_kernel(
    weight, gamma, beta, mean, var, eps, folded, bias, length, row_step, step, BLOCK: tl.constexpr
):
    """Write a row of weight·s and of beta − mean·s, where s = gamma/√(var + eps)."""
    row = tl.program_id(0)
    k = tl.arange(0, BLOCK)
    s = tl.load(gamma + row) / tl.sqrt(tl.load(var + row) + eps)
    w = tl.load(weight + row * length + k, mask=k < length, other=0.0) * s
    tl.store(folded + row * row_step + k * step, w.to(folded.dtype.element_ty), mask=k < length)
    tl.store(bias + row, (tl.load(beta + row) - tl.load(mean + row) * s).to(bias.dtype.element_ty))


@triton.jit
def unfold_kernel(
    g_folded, g_bias, weight, gamma, mean, var, eps, g_weight, g_gamma, g_beta,
    length, row_step, step, BLOCK: tl.constexpr,
):  # fmt: skip
    """Write the gradients by weight, gamma and beta of what ``fold_kernel`` writes."""
    row = tl.program_id(0)
    k = tl.arange(0, BLOCK)
    r = 1.0 / tl.sqrt(tl.load(var + row) + eps)
    w = tl.load(weight + row * length + k, mask=k < length, other=0.0)
    g = tl.load(g_folded + row * row_step + k * step, mask=k < length, other=0.0).to(tl.float32)
    gb = tl.load(g_bias + row).to(tl.float32)
    tl.store(g_weight + row * length + k, g * r * tl.load(gamma + row), mask=k < length)
    tl.store(g_gamma + row, r * (tl.sum(g * w) - tl.load(mean + row) * gb))
    tl.store(g_beta + row, gb)
