"""Tie-aware AP and NDCG from soft counts, by loops."""

import numpy as np


def soft_loss(u, labels, name, bins, weights=None):
    """1 − score, the mean over queries that have something to find; they may weigh."""
    losses = soft_losses(u, labels, name, bins, weights)
    weights = [1.0] * len(u) if weights is None else list(weights)
    return np.average(list(losses.values()), weights=[weights[i] for i in losses])


def soft_losses(u, labels, name, bins, weights=None):
    """1 − score of each such query, from soft counts, bin by bin; items may weigh.

    Labels between 0 and 1 are expected ones, and items relevant by so much.
    """
    n, bits = u.shape
    width, losses = bits / bins, {}
    weights = [1.0] * n if weights is None else list(weights)
    for i in range(n):
        shared = [float(labels[i] @ labels[j]) for j in range(n) if j != i]
        distance = [(bits - u[i] @ u[j]) / 2 for j in range(n) if j != i]
        weight = [weights[j] for j in range(n) if j != i]
        gain = [2.0**r - 1 for r in shared]
        if not any(shared):
            continue
        before = hits_before = score = 0.0
        for d in range(bins + 1):
            near = [max(0.0, 1 - abs(x - d * width) / width) for x in distance]
            pulse = [w * p for w, p in zip(weight, near, strict=True)]
            size = sum(pulse)
            hits = sum(p * min(1, r) for p, r in zip(pulse, shared, strict=True))
            if "ap" in name:
                slope = max(hits - 1, 0) / max(size - 1, 1)
                mean = steps(lambda t: 1 / t, before, size)
                score += hits * (slope + (hits_before + 1 - slope * (before + 1)) * mean)
            else:
                held = sum(p * g for p, g in zip(pulse, gain, strict=True))
                score += held * steps(lambda t: 1 / np.log2(1 + t), before, size)
            before, hits_before = before + size, hits_before + hits
        weighed = sorted((w * g for w, g in zip(weight, gain, strict=True)), reverse=True)
        ideal = sum(g / np.log2(2 + k) for k, g in enumerate(weighed))
        relevant = sum(w * min(1, r) for w, r in zip(weight, shared, strict=True))
        losses[i] = 1 - score / (ideal if "ndcg" in name else relevant)
    return losses


def steps(value, start, length):
    """Average a step function, value(t) from t − 1 to t, over an interval."""
    if length < 1e-3:
        return 0.0
    covered = [
        (t, min(start + length, t) - max(start, t - 1)) for t in range(1, int(start + length) + 2)
    ]
    return sum(value(t) * share for t, share in covered if share > 0) / length
