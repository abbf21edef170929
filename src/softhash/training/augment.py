"""Random changes of pictures, so that a network learns what stays the same under them."""

import math

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

ZOOM = 0.75, 1.3  # of a picture's side that is seen: things are 1.33 to 0.77 times as large
STRETCH = 0.1  # of one side more than of the other, each by up to e^0.1
BRIGHTNESS = 0.8, 1.2


def augment(pixels: Tensor) -> Tensor:
    """Zoom, mirror and brighten pictures (n, h, w, 3) at random; the result is float.

    Zooming in crops, and zooming out puts mirrored borders around: on average things are as large
    as in whole pictures; crops alone would make a network unused to these.
    """
    n, device = len(pixels), pixels.device
    x = pixels.permute(0, 3, 1, 2).float()
    zoom = torch.empty(n, 1, device=device).uniform_(*map(math.log, ZOOM))
    stretch = torch.empty(n, 2, device=device).uniform_(-STRETCH, STRETCH)
    scale = torch.exp(zoom + stretch)
    shift = (torch.rand(n, 2, device=device) * 2 - 1) * (1 - scale).abs()
    mirror = torch.where(torch.rand(n, device=device) < 0.5, -1.0, 1.0)
    theta = torch.zeros(n, 2, 3, device=device)
    theta[:, 0, 0], theta[:, 1, 1] = scale[:, 0] * mirror, scale[:, 1]
    theta[:, :, 2] = shift
    grid = F.affine_grid(theta, list(x.shape), align_corners=False)
    x = F.grid_sample(x, grid, padding_mode="reflection", align_corners=False)
    brightness = torch.empty(n, 1, 1, 1, device=device).uniform_(*BRIGHTNESS)
    return (x * brightness).clamp(0, 255).permute(0, 2, 3, 1)
