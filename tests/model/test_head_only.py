"""The head of a model alone takes features, and gives the codes of the whole model."""

import numpy as np
import pytest

from softhash import Hasher, UsageError
from softhash.codes import unpack

PICTURES = np.random.default_rng(0).integers(0, 256, (12, 64, 64, 3), np.uint8)


@pytest.mark.parametrize("options", [{}, {"hidden": 16}, {"hidden": 16, "skip_dropout": 0.5}])
def test_features_become_the_codes_of_their_pictures(options):
    hasher = Hasher("efficientnet_lite0", 32, size=64, weights=None, **options)
    features, u = hasher.features(PICTURES), hasher.outputs(PICTURES)
    head = hasher.head_only()
    assert head.backbone is None
    assert np.allclose(head.outputs(features), u, atol=1e-5)
    sure = np.abs(u) > 1e-5
    same = unpack(head.encode(features), 32) == unpack(hasher.encode(PICTURES), 32)
    assert same[sure].all()


def test_a_head_that_only_torch_can_export_is_refused():
    hasher = Hasher.from_features(8, 8, hidden=4, lift="rbf")
    with pytest.raises(UsageError, match=r"a graph of this head is not built here; export it"):
        hasher.head_only()
