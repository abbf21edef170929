"""LSH: Charikar, Similarity Estimation Techniques from Rounding Algorithms, 2002.

b = sign(W(x − μ)) with W ~ N(0, 1): two pictures differ in a bit with probability θ/π, θ the angle
between them. This is what comparisons of hashing methods run under the name, although some, the
IDHN paper among them, cite the p-stable buckets of Datar et al. (2004), which are not binary.

No settings. The features are centred, as binary codes of embeddings usually are: those that come
from a ReLU are nowhere negative, all their angles are small, and most bits would be equal. More
bits than features make no difference here.

Checked by Monte Carlo: the share of differing bits is θ/π.
"""

from typing import ClassVar

from torch import Tensor

from softhash.model.heads import Head
from softhash.training.methods._directions import centred, normal, set_output
from softhash.training.methods.method import Line, Shallow


class LSH(Shallow):
    """Signs of random projections of the features."""

    name, title, order = "lsh", "LSH", 570
    line = Line("#8a6d3b", "-.", "^")
    unsupervised: ClassVar[bool] = True

    def fit_head(self, head: Head, features: Tensor, labels: Tensor) -> None:
        """Centre, and draw the directions."""
        x = centred(head, features)
        set_output(head, normal(self.bits, x.shape[1], like=x))
