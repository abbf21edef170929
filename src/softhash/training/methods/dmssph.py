"""DMSSPH, a reconstruction from what others write of it: its text was not available.

Wu, Lin, Li, Ye, Wang, "Deep Supervised Hashing for Multi-Label and Large-Scale Image Retrieval",
2017. Known is that it keeps several levels of similarity apart by a loss on pairs whose margin
depends on the level. This is the plainest such loss, DSH with levels: a pair that shares labels
costs ½[‖Δ‖² − m·(1 − s)]₊, s the cosine of the labels, so that pictures with the same labels are
pulled together and others only as near as their labels are; a pair that shares none costs
½[m − ‖Δ‖²]₊. Quantisation is DSH's. Results of this method are ours, not the paper's.

Settings: m = 2q and α = 0.1 as for DSH here.

Checked against float64 numpy loops, and gradients by finite differences.
"""

from torch import Tensor, where

from softhash.training.methods.dsh import DSH
from softhash.training.methods.losses import label_cosine
from softhash.training.methods.method import Line


class DMSSPHReconstruction(DSH):
    """DMSSPH, a reconstruction: contrastive loss, its margin set by the cosine of the labels."""

    name, title, order = "dmssph", "DMSSPH", 220
    line = Line("#7a4b9d", "-", ">")

    def pair_loss(self, distance: Tensor, labels: Tensor) -> Tensor:
        """½[‖Δ‖² − m·(1 − s)]₊ where a label is shared, otherwise ½[m − ‖Δ‖²]₊."""
        s = label_cosine(labels)
        near = (distance - self.margin * (1 - s)).clamp_min(0)
        apart = (self.margin - distance).clamp_min(0)
        return where(s > 0, near, apart) / 2
