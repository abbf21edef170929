"""Where a recipe lets the backbone start."""

import pytest
import torch
from safetensors.torch import save_file

from softhash.errors import InputError
from softhash.training.fit import build_hasher
from softhash.training.recipe import Recipe


def first_layer(weights):
    recipe = Recipe.with_defaults(backbone="efficientnet_lite0", weights=str(weights), bits=8)
    return build_hasher(recipe).network.backbone._conv_stem.weight.detach()


def test_a_file_of_some_layers_replaces_just_these(tmp_path):
    file = tmp_path / "stem.safetensors"
    given = torch.arange(32 * 3 * 3 * 3, dtype=torch.float32).reshape(32, 3, 3, 3)
    save_file({"_conv_stem.weight": given}, file)
    assert torch.equal(first_layer(file), given)
    assert not torch.equal(first_layer("random"), first_layer("default"))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.safetensors"):
        first_layer(tmp_path / "nowhere.safetensors")
