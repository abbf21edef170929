"""A seed gives one model on a GPU too."""

import numpy as np
import pytest
import torch

from softhash.model.hasher import Hasher
from softhash.training.finetune import fit_pixels
from softhash.training.fit import fit_features
from softhash.training.methods import method_class
from softhash.training.options import Options
from softhash.training.recipe import Recipe

ITEMS, WIDTH, CLASSES, BITS = 2000, 64, 12, 48
PICTURES, SIDE = 192, 96
ON_GPU = Options(device="cuda")

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
]


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
    assert_equal(*heads)


@pytest.mark.parametrize("backbone", ["efficientnet_lite0", "alexnet"])
def test_the_same_seed_gives_the_same_network(backbone):
    generator = torch.Generator().manual_seed(0)
    shape = (PICTURES, SIDE, SIDE, 3)
    pixels = torch.randint(0, 256, shape, dtype=torch.uint8, generator=generator)
    labels = (torch.rand((PICTURES, CLASSES), generator=generator) < 0.2).to(torch.uint8)
    settings = {"mode": "finetune", "method": "softhash", "epochs": 6, "batch_size": 32}
    recipe = Recipe.with_defaults(**settings, backbone=backbone, bits=BITS, teacher_zoom=0.0)
    networks = []
    for _ in range(2):
        torch.manual_seed(0)
        hasher = Hasher(backbone, bits=BITS, size=SIDE, weights=None)
        fit_pixels(hasher, method_class("softhash"), pixels, labels, recipe, ON_GPU)
        networks.append(hasher.network.state_dict())
    assert_equal(*networks)


def assert_equal(first, second):
    for name, value in first.items():
        assert torch.equal(value, second[name]), name
