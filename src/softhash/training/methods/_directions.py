"""What methods with a linear head share: centred features, principal directions, the head set."""

import torch
from torch import Tensor
from torch.nn.functional import pad

from softhash.model.heads import Head


def centred(head: Head, features: Tensor) -> Tensor:
    """Centre a head; return features (n, d) as its next layer will see them, in float64."""
    head.centre(features)
    return features.double() - head.mean.double()


def principal(x: Tensor, count: int) -> Tensor:
    """Directions (at most `count`, d) along which centred features vary most, the widest first.

    >>> principal(torch.tensor([[2.0, 0.1], [-2.0, -0.1], [0.0, 0.0]]), 1).abs().round(decimals=1)
    tensor([[1., 0.]])
    """
    return eigenvectors(x.T @ x)[:, :count].T


def padded_principal(x: Tensor, count: int) -> Tensor:
    """Directions (count, d) as of `principal`; those beyond the features are 0.

    >>> padded_principal(torch.tensor([[2.0], [-2.0]]), 2)
    tensor([[1.],
            [0.]])
    """
    found = principal(x, count)
    return pad(found, (0, 0, 0, count - len(found)))


def random_rotation(size: int, like: Tensor) -> Tensor:
    """Draw a rotation (size, size) that has the type and device of `like`."""
    rotation: Tensor = torch.linalg.qr(normal(size, size, like=like)).Q
    return rotation


def eigenvectors(symmetric: Tensor) -> Tensor:
    """Eigenvectors (d, d) of a symmetric matrix as columns, those of the largest values first.

    Each has the sign that makes its largest entry positive, so that devices agree.

    >>> eigenvectors(torch.diag(torch.tensor([1.0, 3.0])))
    tensor([[0., 1.],
            [1., 0.]])
    """
    vectors: Tensor = torch.linalg.eigh(symmetric).eigenvectors.flip(1)
    return vectors * vectors.gather(0, vectors.abs().argmax(0, keepdim=True)).sign()


def normal(rows: int, columns: int, like: Tensor) -> Tensor:
    """Draw from N(0, 1) on the processor, so that a seed means the same on every device.

    Args:
        rows: of the result.
        columns: of the result.
        like: a tensor whose type and device the result gets.

    """
    return torch.randn(rows, columns, dtype=torch.float64).to(like)


def drawn(count: int, items: int, like: Tensor) -> Tensor:
    """Draw positions, none twice.

    Args:
        count: how many, at most.
        items: how many positions there are.
        like: a tensor whose device the result gets.

    """
    return torch.randperm(items)[:count].to(like.device)


def signs(x: Tensor) -> Tensor:
    """−1 where a number is not above 0, otherwise 1, as codes are packed.

    >>> signs(torch.tensor([-2.0, 0.0, 3.0]))
    tensor([-1., -1.,  1.])
    """
    return (x > 0).to(x.dtype) * 2 - 1


@torch.no_grad()
def set_output(head: Head, weight: Tensor, bias: Tensor | None = None) -> None:
    """Set the linear layer of a head.

    Args:
        head: changed in place.
        weight: (bits, inputs).
        bias: (bits,), 0 by default.

    """
    head.output.weight.copy_(weight)
    if bias is None:
        head.output.bias.zero_()
    else:
        head.output.bias.copy_(bias)
