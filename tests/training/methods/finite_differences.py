"""Slopes of a function of an array by central differences, and those of a method by autograd."""

import numpy as np
import torch

STEP = 1e-6


def slopes(function, values):
    """Differentiate a function of an array (n, d) entry by entry."""
    found = np.zeros_like(values)
    for place in np.ndindex(values.shape):
        sides = []
        for sign in (1, -1):
            moved = values.copy()
            moved[place] += sign * STEP
            sides.append(function(moved))
        found[place] = (sides[0] - sides[1]) / (2 * STEP)
    return found


def loss_and_gradient(method, values, labels, index=None):
    """Compute a method's loss of outputs (n, bits) in float64, and its gradient."""
    u = torch.tensor(values, requires_grad=True)
    index = np.arange(len(values)) if index is None else index
    loss = method.double()(u, torch.tensor(labels), torch.tensor(index))
    loss.backward()
    return loss.item(), u.grad.numpy()
