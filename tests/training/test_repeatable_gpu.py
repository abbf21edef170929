"""A seed gives one model on a GPU too."""

import numpy as np
import pytest
import torch

from softhash.model.hasher import Hasher
from softhash.training.fit import fit_features
from softhash.training.options import Options
from softhash.training.recipe import Recipe

ITEMS, WIDTH, CLASSES, BITS = 2000, 64, 12, 48
ON_GPU = Options(device="cuda")


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("method", ["softhash", "talr-ap", "talr-ndcg", "idhn"])
def test_the_same_seed_gives_the_same_head(method):
    random = np.random.default_rng(0)
    features = random.normal(size=(ITEMS, WIDTH)).astype(np.float32)
    labels = (random.random((ITEMS, CLASSES)) < 0.15).astype(np.uint8)
    heads = []
    for _ in range(2):
        recipe = Recipe.with_defaults(method=method, bits=BITS, epochs=20, seed=3)
        hasher = Hasher.from_features(WIDTH, bits=BITS)
        fit_features(hasher, features, labels, recipe=recipe, options=ON_GPU)
        heads.append(hasher.network.head.state_dict())
    for name, value in heads[0].items():
        assert torch.equal(value, heads[1][name]), name
