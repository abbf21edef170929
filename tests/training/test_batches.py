"""Batches from disk: the bytes, the order and the model of memory, in a few slots of memory."""

import gc
import threading
import time
import weakref
from contextlib import closing

import numpy as np
import pytest
import torch

from softhash.data.row_file import RowFile
from softhash.errors import InputError
from softhash.training import batches as module
from softhash.training import pictures
from softhash.training.batches import AHEAD, THREAD_NAME, batches, bring_near, in_parts
from softhash.training.pictures import PictureRows

CPU = torch.device("cpu")
COUNT, SHAPE = 50, (6, 7, 3)
PICTURE = 6 * 7 * 3


@pytest.fixture
def array():
    return np.random.default_rng(0).integers(0, 256, (COUNT, *SHAPE), dtype=np.uint8)


@pytest.fixture
def rows(array, tmp_path):
    """Half as many pictures again in the file, and those that count in another order."""
    random = np.random.default_rng(1)
    where = random.permutation(COUNT + 25)[:COUNT]
    stored = random.integers(0, 256, (COUNT + 25, *SHAPE), dtype=np.uint8)
    stored[where] = array
    np.save(tmp_path / "pictures.npy", stored)
    return PictureRows(RowFile.of(np.load(tmp_path / "pictures.npy", mmap_mode="r")), where)


def readers():
    return [thread for thread in threading.enumerate() if thread.name.startswith(THREAD_NAME)]


def drawn(count=40, length=8):
    generator = torch.Generator().manual_seed(3)
    return [torch.randint(0, COUNT, (length,), generator=generator) for _ in range(count)]


def test_rows_look_like_the_tensor_that_they_stand_for(array, rows):
    tensor = torch.from_numpy(array)
    for own, other in ((rows, tensor), (rows[tensor[:5, 0, 0, 0].long() % 9], tensor[:5])):
        assert len(own) == len(other)
        assert (own.shape, own.ndim, own.nbytes) == (other.shape, other.ndim, other.nbytes)
    positions = torch.tensor([4, 0, 4, 31])
    assert rows[positions].to("cpu").equal(tensor[positions])
    assert rows[positions][1:3].to(CPU).equal(tensor[positions][1:3])


def test_batches_have_the_bytes_of_memory_in_the_order_of_the_steps(array, rows):
    order = [*drawn(), torch.tensor([7, 7, 2])]  # the last one is shorter
    with closing(batches(rows, iter(order), CPU)) as found:
        for wanted, (index, chosen) in zip(order, found, strict=True):
            assert index.equal(wanted)
            np.testing.assert_array_equal(chosen, array[wanted])
    assert not readers()


@pytest.mark.parametrize("length", [1, 8, 25, 49, 50, 51])
def test_parts_are_all_rows_in_their_order(array, rows, length):
    for inputs in (rows, torch.from_numpy(array)):
        with closing(in_parts(inputs, length, CPU)) as parts:
            found = [part.clone() for part in parts]
        assert max(len(part) for part in found) == min(length, COUNT)
        np.testing.assert_array_equal(torch.cat(found), array)


def test_nothing_has_no_batches(rows):
    assert list(batches(rows, [], CPU)) == []
    assert not readers()


@pytest.mark.parametrize(("budget", "ahead"), [(10**9, AHEAD), (3 * 8 * PICTURE, 3), (1, 2)])
def test_batches_are_read_ahead_as_far_as_the_budget_goes_and_no_further(
    rows, monkeypatch, budget, ahead
):
    monkeypatch.setattr(pictures, "MEMORY_BYTES", budget)
    slots, read = [], []

    class Slot(module._Slot):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            slots.append(self)

        def fill(self, positions):
            read.append(positions)
            return super().fill(positions)

    monkeypatch.setattr(module, "_Slot", Slot)
    with closing(batches(rows, drawn(), CPU)) as found:
        for used, _ in enumerate(found):
            deadline = time.monotonic() + 10
            while len(read) < min(40, used + ahead) and time.monotonic() < deadline:
                time.sleep(0.001)
            assert len(read) == min(40, used + ahead)
    assert len(slots) == ahead


def test_a_batch_stays_as_it_is_until_the_next_is_asked_for(array, rows):
    order = drawn()
    with closing(batches(rows, order, CPU)) as found:
        for wanted in order[:12]:
            _, chosen = next(found)
            time.sleep(0.005)  # readers are ahead by then
            np.testing.assert_array_equal(chosen, array[wanted])


def test_readers_end_when_the_one_who_asks_stops(rows):
    found = batches(rows, drawn(), CPU)
    next(found)
    assert readers()
    with pytest.raises(KeyboardInterrupt), closing(found):
        raise KeyboardInterrupt
    assert not readers()


def test_an_error_of_a_reader_reaches_the_one_who_asks_and_ends_the_others(rows):
    length = rows.file.path.stat().st_size
    with rows.file.path.open("r+b") as stream:
        stream.truncate(length // 2)
    with (
        pytest.raises(InputError, match=r"pictures\.npy cannot be read: .*cut off"),
        closing(batches(rows, drawn(), CPU)) as found,
    ):
        list(found)
    assert not readers()


def test_few_pictures_are_brought_into_memory_and_many_stay_on_disk(array, rows, monkeypatch):
    monkeypatch.setattr(pictures, "MEMORY_BYTES", 10 * PICTURE)
    assert bring_near(rows, CPU) is rows
    few = bring_near(rows[:10], CPU)
    assert isinstance(few, torch.Tensor)
    np.testing.assert_array_equal(few, array[:10])
    tensor = torch.from_numpy(array)
    assert bring_near(tensor, CPU) is tensor


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_a_gpu_that_lags_behind_gets_every_batch_whole(array, rows):
    """The loop queues work for the GPU and goes on: no place may be overwritten too early."""
    device, kept, order = torch.device("cuda"), [], drawn(200)
    with closing(batches(rows, order, device)) as found:
        for index, chosen in found:
            torch.cuda._sleep(2_000_000)
            kept.append((index.clone(), chosen.clone()))
    for wanted, (index, chosen) in zip(order, kept, strict=True):
        assert index.cpu().equal(wanted)
        np.testing.assert_array_equal(chosen.cpu(), array[wanted])


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_pictures_are_copied_to_a_gpu_that_has_room_and_left_where_it_has_not(
    array, rows, monkeypatch
):
    device = torch.device("cuda")
    near = bring_near(rows, device)
    assert near.device.type == "cuda"
    np.testing.assert_array_equal(near.cpu(), array)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (rows.nbytes, rows.nbytes))
    assert bring_near(rows, device) is rows


def test_memory_is_let_go_with_the_batches(rows, monkeypatch):
    slots = weakref.WeakSet()

    class Slot(module._Slot):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            slots.add(self)

    monkeypatch.setattr(module, "_Slot", Slot)
    with closing(batches(rows, drawn(), CPU)) as found:
        next(found)
        assert len(slots) == AHEAD
    del found
    gc.collect()
    assert not slots
