"""multi-index.bin: searches answer as without it, whatever becomes of the index or of the file."""

import contextlib
import os
import time

import numpy as np
import pytest
from memory_store import MemoryStore
from test_store_conformance import Twin, random_codes, rank

from softhash.errors import IndexDamagedError, InputError, UsageError
from softhash.hamming.multi_index import MultiIndex
from softhash.index import HammingIndex, multi_index
from softhash.index.expressions import build_where
from softhash.index.items import Entry
from softhash.index.local import LocalStore, _guard, _multi_index, _sums, _tables
from softhash.index.local._transactions import Session
from softhash.index.store import Meta

BLOCK = 64
LABELS = [f"{i}" for i in range(9)]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Let blocks have few records, and tables be used however few there are."""
    for module in (_sums, _guard, _tables, _multi_index):
        monkeypatch.setattr(module, "BLOCK", BLOCK)
    monkeypatch.setattr(_multi_index, "MASKED", BLOCK // 64)
    monkeypatch.setattr(_multi_index, "MOST", 1)
    monkeypatch.setattr(_multi_index, "MIN_SLOTS", 0)
    monkeypatch.setattr(MultiIndex, "_budget", 1 << 40)


@pytest.fixture
def answered(monkeypatch):
    """List the searches that tables answered."""
    found, look_up = [], _multi_index._looked_up
    monkeypatch.setattr(
        _multi_index, "_looked_up", lambda *args: found.append(args) or look_up(*args)
    )
    return found


@pytest.fixture
def make_twin(tmp_path):
    """Make a store and its oracle, with items in them."""
    with contextlib.ExitStack() as stack:

        def make(n, bits, seed=0):
            store = LocalStore.create(str(tmp_path / "index"), Meta(bits))
            stack.enter_context(contextlib.closing(store))
            twin = Twin(store, bits, LABELS, seed)
            entries = [twin.entry() for _ in range(n)]
            twin.tell("add", random_codes(twin.rng, n, bits), entries)
            return twin

        yield make


def settle(path):
    """Let a file be old enough for what was read of it to be kept."""
    then = time.time() - 10
    os.utime(path, (then, then))


def flip(path, byte, bit=0):
    data = bytearray(path.read_bytes())
    data[byte] ^= 1 << bit
    path.write_bytes(data)


@pytest.mark.parametrize("bits", [12, 48, 64, 130])
def test_searches_with_tables_agree_with_the_plain_store_in_every_state(
    make_twin, bits, answered, tmp_path
):
    twin = make_twin(400, bits, seed=bits)
    twin.store.multi_index.make()
    path = tmp_path / "index" / _tables.NAME
    changes = [twin.add, twin.upsert, twin.revise, twin.remove]
    for step in range(9):
        twin.random.choice(changes)()
        if step % 3 == 2 and twin.store.multi_index.is_outdated():
            twin.store.multi_index.make()
        if step % 2:
            settle(path)
        twin.check()
    assert len(answered) > 10
    assert any(args[3] is not None for args in answered)


def test_narrow_and_wide_filters_and_windows_agree_with_the_plain_store(make_twin, answered):
    twin = make_twin(300, 16)
    twin.store.multi_index.make()
    twin.store.remove([3, 64])
    twin.oracle.remove([3, 64])
    items, code = twin.expected(), random_codes(twin.rng, 1, 16)
    for where in (build_where(), build_where(("1",)), build_where((), ("1",))):
        kept = [item for item in items if twin.keeps(where, item)]
        for radius in (-1, 0, 3, 8, 15, 16, 17, 64, 10**6, None):
            for k, offset in ((1, 0), (7, 5), (1000, 0), (5, 299)):
                found = twin.store.search(code, k, offset=offset, radius=radius, where=where)
                assert found == [rank(kept, code[0], radius)[offset : offset + k]]
    assert len(answered) > 60


def test_the_nearest_of_long_codes_are_scanned_for_unless_there_is_a_radius(make_twin, answered):
    twin = make_twin(200, 130)
    twin.store.multi_index.make()
    code = random_codes(twin.rng, 1, 130)
    wanted = rank(twin.expected(), code[0], None)[:5]
    assert twin.store.search(code, 5) == [wanted]
    assert not answered
    assert twin.store.search(code, 5, radius=129) == [wanted]
    assert len(answered) == 1


def test_few_items_are_scanned(make_twin, monkeypatch, answered):
    twin = make_twin(200, 64)
    twin.store.multi_index.make()
    for fewest, uses in ((201, 0), (200, 1)):
        monkeypatch.setattr(_multi_index, "MIN_SLOTS", fewest)
        twin.store.search(random_codes(twin.rng, 1, 64), 5)
        assert len(answered) == uses


def test_searches_agree_while_records_are_pending(make_twin, monkeypatch, answered):
    twin = make_twin(500, 48)
    twin.store.multi_index.make()
    monkeypatch.setattr(Session, "_apply_pending", lambda self: None)  # as if it were killed before
    twin.upsert()
    twin.remove()
    assert len(twin.store._reader.snapshot().pending.ids) > 3
    items = twin.expected()
    for where in twin.filters():
        twin.check_filter(where, items)
    assert answered


def test_a_file_that_is_cut_changed_or_gone_is_not_used(make_twin, tmp_path, answered):
    twin, path = make_twin(200, 64), tmp_path / "index" / _tables.NAME
    twin.store.multi_index.make()
    whole = path.read_bytes()
    used = len(answered)
    for size in (0, 1, 55, 56, 60, _tables.PAGE, len(whole) // 2, len(whole) - 1, len(whole) + 1):
        path.write_bytes(whole[:size].ljust(size, b"\0"))
        twin.check_filter(build_where(), twin.expected())
        assert twin.store.multi_index.is_outdated()
        assert "makes it again" in twin.store.verify()[0]
    path.unlink()
    twin.check_filter(build_where(), twin.expected())
    assert twin.store.verify() == []
    assert len(answered) == used


def test_a_flipped_bit_is_noticed_wherever_it_is(make_twin, tmp_path, answered):
    twin, path = make_twin(200, 64), tmp_path / "index" / _tables.NAME
    twin.store.multi_index.make()
    whole = path.read_bytes()
    code, items = random_codes(twin.rng, 1, 64), twin.expected()
    wanted = [rank(items, code[0], None)[:20]]
    start = _tables.HEADER.itemsize + 8 * 3 + 4  # header, sums of three blocks, checksums
    places = [*range(start), *range(_tables.PAGE, len(whole), len(whole) // 60), len(whole) - 1]
    for place in places:
        path.write_bytes(whole)
        flip(path, place, twin.random.randrange(8))
        settle(path)
        for _ in range(2):
            assert twin.store.search(code, 20) == wanted
        assert twin.store.multi_index.is_outdated(), place
    assert not answered
    path.write_bytes(whole)
    assert twin.store.search(code, 20) == wanted
    assert len(answered) == 1


def test_a_file_that_was_used_is_looked_at_again_when_it_changes(make_twin, tmp_path, answered):
    twin, path = make_twin(200, 64), tmp_path / "index" / _tables.NAME
    twin.store.multi_index.make()
    settle(path)
    code = random_codes(twin.rng, 1, 64)
    before = twin.store.search(code, 5)
    assert len(answered) == 1
    flip(path, len(path.read_bytes()) - 5)
    assert twin.store.search(code, 5) == before
    assert len(answered) == 1


def test_tables_of_another_index_are_not_used(make_twin, tmp_path, answered):
    twin = make_twin(200, 64)
    with contextlib.closing(LocalStore.create(str(tmp_path / "other"), Meta(64))) as other:
        codes = random_codes(np.random.default_rng(9), 200, 64)
        other.add(codes, [Entry(f"{i}") for i in range(200)])
        other.multi_index.make()
    (tmp_path / "other" / _tables.NAME).replace(tmp_path / "index" / _tables.NAME)
    twin.check()
    assert twin.store.multi_index.is_outdated() and not answered  # noqa: PT018


def test_tables_are_checked_part_by_part_and_used_when_all_are(
    make_twin, tmp_path, monkeypatch, answered
):
    monkeypatch.setattr(_tables, "CHUNK", 1 << 10)
    twin = make_twin(300, 64)
    twin.store.multi_index.make()
    path = tmp_path / "index" / _tables.NAME
    settle(path)
    chunks = -(-(path.stat().st_size - _tables.PAGE) // _tables.CHUNK)
    code = random_codes(twin.rng, 1, 64)
    for _ in range(-(-chunks // _tables.CHECKED_AT_ONCE) - 1):
        twin.store.search(code, 1)
    assert not answered
    twin.store.search(code, 1)
    assert len(answered) == 1 < chunks / _tables.CHECKED_AT_ONCE


def test_tables_are_outdated_when_many_records_are_scanned_beside_them(make_twin, monkeypatch):
    monkeypatch.setattr(_multi_index, "FEW", 4)
    twin = make_twin(400, 64)
    kept = twin.store.multi_index
    assert not kept.is_kept
    assert kept.is_outdated()
    kept.make()
    assert not kept.is_outdated()  # 400 are 6 blocks and a part of one
    twin.store.remove([3])
    assert not kept.is_outdated()
    twin.store.remove([3 + BLOCK])
    assert kept.is_outdated()
    kept.make()
    assert not kept.is_outdated()


def test_an_index_that_is_too_small_for_tables_gets_them_as_it_grows(make_twin, answered):
    twin = make_twin(BLOCK - 1, 64)
    index = HammingIndex(twin.store, None)
    assert not multi_index.refresh_multi_index(index)
    assert not twin.store.multi_index.is_kept
    assert multi_index.keep_multi_index(index)
    assert not multi_index.keep_multi_index(index)
    twin.check()
    assert not answered
    for _ in range(2):
        twin.add()
    assert multi_index.refresh_multi_index(index)
    twin.check_filter(build_where(), twin.expected())
    assert answered
    multi_index.drop_multi_index(index)
    assert not twin.store.multi_index.is_kept
    assert not multi_index.refresh_multi_index(index)


def test_an_empty_index_may_keep_tables(tmp_path):
    with contextlib.closing(LocalStore.create(str(tmp_path / "index"), Meta(64))) as store:
        store.multi_index.make()
        assert store.search(np.zeros((1, 8), np.uint8), 3) == [[]]
        assert not store.multi_index.is_outdated()
        assert store.verify() == []


def test_tables_are_never_made_of_damaged_codes(make_twin, tmp_path):
    twin = make_twin(200, 64)
    twin.store.close()
    flip(tmp_path / "index" / "codes.bin", 99)
    with contextlib.closing(LocalStore.open(str(tmp_path / "index"), writable=True)) as store:
        with pytest.raises(IndexDamagedError, match=r"codes\.bin is damaged"):
            store.multi_index.make()
        assert not store.multi_index.is_kept


def test_only_a_folder_that_is_open_for_writing_makes_tables(make_twin, tmp_path, monkeypatch):
    make_twin(100, 64).store.close()
    with contextlib.closing(LocalStore.open(str(tmp_path / "index"))) as store:
        for change in (store.multi_index.make, store.multi_index.drop):
            with pytest.raises(UsageError, match="open for reading"):
                change()
    with pytest.raises(UsageError, match="cannot keep a multi-index"):
        multi_index.keep_multi_index(HammingIndex(MemoryStore(Meta(64)), None))

    def fail(*args):
        raise OSError(28, "no space left on device")

    monkeypatch.setattr(_multi_index, "write_tables", fail)
    with (
        contextlib.closing(LocalStore.open(str(tmp_path / "index"), writable=True)) as store,
        pytest.raises(InputError, match=r"no space left.*the items are safe"),
    ):
        store.multi_index.make()


def test_damage_that_one_thread_saw_is_not_forgotten_by_another(make_twin, tmp_path, monkeypatch):
    monkeypatch.setattr(_tables, "CHUNK", 1 << 10)
    twin, path = make_twin(300, 64), tmp_path / "index" / _tables.NAME
    twin.store.multi_index.make()
    flip(path, _tables.PAGE + 5 * _tables.CHUNK)
    tables = _tables.read_tables(path)
    assert not tables.is_sound(8)
    tables._checked = 0  # as if another thread had begun before
    assert not tables.is_sound(2)
    assert not tables.is_whole()
