"""CSQ: Central Similarity Quantization for Efficient Image and Video Retrieval.

Yuan, Wang, Zhang, Tay, Jie, Liu and Feng, CVPR 2020. Every class has a centre in Hamming space; a
picture is pulled to its class's, bit by bit:

    L = mean BCE(½(u + 1), ½(t + 1)) + λ·mean (|u| − 1)²,   t = majority of its classes' centres

Multi-label, as in the paper: t is the bitwise majority of the centres of all its labels, and a tie
is decided by one vector of coins, drawn once. λ = 0.05 as in the authors' published code, which
has the square where the paper has log cosh; that code's additional pairwise loss is not in the
paper, nor here. Centres are rows of a Hadamard matrix and their negatives, where there is a matrix
of the length and twice the length suffices for the classes. The paper has Sylvester's, for powers
of two; Paley's add 12, 24, 36, 48 and others (`_centres`). Otherwise the paper throws coins, and
so do we, with the best of many throws for each class.

Checked against an independent float64 version by loops; gradients by finite differences.
"""

import torch
from torch import Tensor

from softhash.training.methods._centres import class_centres
from softhash.training.methods.method import Line, Method

SMALLEST = 1e-7  # probability whose logarithm is taken


class CSQ(Method):
    """Pulls every bit to the majority of the picture's class centres, by cross-entropy."""

    name, title, order = "csq", "CSQ", 400
    line = Line("#e69f00", ":", ">")
    activation = "tanh"
    centres: Tensor
    ties: Tensor

    def __init__(self, bits: int, classes: int, *, lambda_: float = 0.05) -> None:
        super().__init__(bits, classes)
        self.lambda_ = lambda_
        self.register_buffer("centres", class_centres(bits, classes))
        self.register_buffer("ties", torch.randint(2, (bits,)).float() * 2 - 1)

    def forward(self, u: Tensor, labels: Tensor, index: Tensor) -> Tensor:
        """L = L_C + λ·L_Q."""
        right = (1 + self.targets(labels) * u) / 2  # chance of the bit that is wanted
        quantisation = (u.abs() - 1).square().mean()
        return -right.clamp(min=SMALLEST).log().mean() + self.lambda_ * quantisation

    def targets(self, labels: Tensor) -> Tensor:
        """Vote, bit by bit, among the centres of a picture's classes: (n, bits) of ±1."""
        votes = labels.to(self.centres.dtype) @ self.centres
        return torch.where(votes == 0, self.ties, votes.sign())
