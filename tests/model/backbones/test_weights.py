"""Weights from files: by name, by shape, and nothing that runs."""

import pickle
from collections import OrderedDict
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from softhash.errors import InputError
from softhash.model import backbones
from softhash.model.backbones.weights import read


class Small(nn.Module):
    """Two layers and a classifier that is not there."""

    left_out = ("fc.",)

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.bn = nn.BatchNorm2d(4)


@pytest.fixture
def state() -> dict[str, torch.Tensor]:
    torch.manual_seed(0)
    return dict(Small().state_dict())


def test_a_file_of_torch_or_safetensors_is_copied_whole(tmp_path, state):
    state |= {"fc.weight": torch.zeros(10, 4)}
    torch.save(OrderedDict(state), tmp_path / "new.pth")
    torch.save(state, tmp_path / "old.pth", _use_new_zipfile_serialization=False)
    save_file(state, tmp_path / "a.safetensors")
    for file in ("new.pth", "old.pth", "a.safetensors"):
        module = Small()
        assert backbones.load_weights(module, tmp_path / file) == ()
        assert torch.equal(module.conv.weight, state["conv.weight"])
        assert module.conv.weight.requires_grad


def test_half_precision_is_widened_and_an_old_file_without_counters_is_enough(tmp_path, state):
    del state["bn.num_batches_tracked"]
    torch.save({name: value.half() for name, value in state.items()}, tmp_path / "half.pth")
    module = Small()
    module.bn.num_batches_tracked.fill_(7)
    assert backbones.load_weights(module, tmp_path / "half.pth") == ()
    assert module.conv.weight.dtype == torch.float32
    assert module.bn.num_batches_tracked == 0


def test_missing_unknown_and_misshapen_weights_are_named(tmp_path, state):
    file = tmp_path / "a.pth"
    torch.save({k: v for k, v in state.items() if k.startswith("bn")}, file)
    with pytest.raises(InputError, match=r"lacks 2 of .* conv.weight, conv.bias; .*partial=True"):
        backbones.load_weights(Small(), file)
    torch.save(state | {"module.conv": torch.zeros(1)}, file)
    for partial in (False, True):
        with pytest.raises(InputError, match=r"1 weights that Small does not: module.conv; .* co"):
            backbones.load_weights(Small(), file, partial=partial)
    torch.save(state | {"conv.bias": torch.zeros(5)}, file)
    with pytest.raises(InputError, match=r"conv.bias of shape \(5,\), but Small needs \(4,\)"):
        backbones.load_weights(Small(), file)


def test_a_partial_file_names_what_stays_random(tmp_path, state):
    file = tmp_path / "a.pth"
    torch.save({k: v for k, v in state.items() if k.startswith("conv")}, file)
    module = Small()
    left = backbones.load_weights(module, file, partial=True)
    assert left == ("bn.weight", "bn.bias", "bn.running_mean", "bn.running_var")
    assert torch.equal(module.conv.weight, state["conv.weight"])
    torch.save({}, file)
    with pytest.raises(InputError, match="lacks 6"):
        backbones.load_weights(module, file, partial=True)


class Trap:
    def __reduce__(self):
        return (Path.touch, (Path("sprung"),))


def test_a_pickle_that_runs_code_is_refused_and_not_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("plain.pth").write_bytes(pickle.dumps({"a": Trap()}))
    torch.save({"a": Trap()}, "zipped.pth")
    for file in ("plain.pth", "zipped.pth"):
        with pytest.raises(InputError, match=f"{file} is no file of weights"):
            read(Path(file))
    assert not Path("sprung").exists()


@pytest.mark.parametrize("suffix", [".pth", ".safetensors"])
@pytest.mark.parametrize("keep", [0, 1, 100, -10])
def test_a_damaged_file_is_an_input_error(tmp_path, state, suffix, keep):
    file = tmp_path / f"a{suffix}"
    save_file(state, file) if suffix == ".safetensors" else torch.save(state, file)
    file.write_bytes(file.read_bytes()[:keep])
    with pytest.raises(InputError, match=r"is no file of weights"):
        read(file)


def test_a_file_that_is_not_there_or_holds_more_than_tensors_is_an_input_error(tmp_path, state):
    with pytest.raises(InputError, match="is not there"):
        read(tmp_path / "none.pth")
    torch.save({"epoch": 3, "model": state}, tmp_path / "checkpoint.pth")
    with pytest.raises(InputError, match=r"a dict of epoch, model, not named tensors"):
        read(tmp_path / "checkpoint.pth")
    torch.save([1], tmp_path / "list.pth")
    with pytest.raises(InputError, match=r"holds list"):
        read(tmp_path / "list.pth")


def test_build_takes_a_file(tmp_path):
    torch.manual_seed(0)
    module = backbones.build("efficientnet_lite0", weights=None)
    save_file(module.state_dict(), tmp_path / "lite.safetensors")
    before = torch.get_rng_state()
    again = backbones.build("efficientnet_lite0", weights=str(tmp_path / "lite.safetensors"))
    assert torch.equal(torch.get_rng_state(), before)
    for name, value in again.state_dict().items():
        assert torch.equal(value, module.state_dict()[name])
    with pytest.raises(InputError, match="weights that GoogLeNet does not: _b"):
        backbones.build("googlenet", weights=tmp_path / "lite.safetensors")
