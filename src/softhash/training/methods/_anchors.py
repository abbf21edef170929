"""What methods with a kernel head share: anchors out of the train set, and the width."""

import torch
from torch import Tensor

from softhash.model.config import HeadOptions
from softhash.model.heads import Head
from softhash.training.methods._directions import centred, drawn
from softhash.training.methods.method import Shallow


class KernelMethod(Shallow):
    """A method whose bits are linear in similarities to so many `anchors`."""

    anchors: int

    def head_options(self, hidden: int, dropout: float) -> HeadOptions:
        """Return a head with a kernel."""
        own: HeadOptions = {"hidden": self.anchors, "lift": "rbf"}
        return super().head_options(hidden, dropout) | own


@torch.no_grad()
def place_anchors(head: Head, features: Tensor) -> int:
    """Set up the kernel of a head from a train set (n, d); return how many anchors are in use.

    Anchors are pictures of the train set, drawn without regard to labels. σ² is the mean squared
    distance between pictures and anchors. A train set smaller than the kernel leaves anchors over;
    they are at the mean, and are to get no weight.
    """
    x = centred(head, features).to(features.dtype)
    kernel = head.kernel
    anchors = x[drawn(len(kernel.anchors), len(x), x)]
    kernel.anchors.zero_()
    kernel.anchors[: len(anchors)] = anchors
    squared = torch.cdist(x, anchors).square().mean()
    kernel.sigma.copy_(squared.sqrt() if squared > 0 else torch.ones_like(squared))
    kernel.offset.copy_(kernel.similarities(x).mean(dim=0))
    return len(anchors)
