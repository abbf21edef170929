"""What is damaged on disk never answers: it is checked when it is used."""

import contextlib
import os
import random
import sqlite3

import numpy as np
import pytest
import version_1
from test_local_store import fill
from test_store_conformance import Twin, random_codes

from softhash.errors import IndexDamagedError, InputError
from softhash.index.expressions import build_where
from softhash.index.hamming_index import HammingIndex
from softhash.index.items import Entry
from softhash.index.local import LocalStore, _guard, _sums, _transactions
from softhash.index.store import Meta

QUERY = np.zeros((1, 2), np.uint8)
WRAP = (1 << 64) - 1
USES = {
    "search": lambda store: store.search(QUERY, 5),
    "filtered search": lambda store: store.search(QUERY, 5, where=build_where(("sea",))),
    "items": lambda store: store.items(where=build_where((), ("sea",))),
    "codes": lambda store: store.codes([1, 2]),
    "labels": lambda store: store.labels(),
}


@pytest.fixture
def folder(tmp_path):
    """Make an index of 300 items of which two were removed."""
    fill(tmp_path / "index")
    with opened(tmp_path / "index", writable=True) as store:
        store.remove([4, 299])
    return tmp_path / "index"


@contextlib.contextmanager
def opened(folder, **options):
    with contextlib.closing(LocalStore.open(str(folder), **options)) as store:
        yield store


def flip(path, bit):
    data = bytearray(path.read_bytes())
    data[bit >> 3] ^= 1 << (bit & 7)
    path.write_bytes(data)


def change(folder, *statements):
    with contextlib.closing(sqlite3.connect(folder / "items.sqlite")) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def test_search_ends_where_one_bit_brings_a_removed_item_back(folder):
    flip(folder / "labels-1.bin", 64 * 4)
    with opened(folder) as store, HammingIndex(store) as index:
        for use in (
            lambda: index.search(code=b"\0\0", k=300),
            lambda: store.items(limit=300),
            lambda: store.codes([4]),
        ):
            with pytest.raises(IndexDamagedError, match=r"labels-1\.bin is damaged.*delete it"):
                use()


def test_index_without_sums_ends_a_search_too(tmp_path):
    codes = random_codes(np.random.default_rng(0), 20, 64)
    version_1.write(tmp_path / "v1", codes, [Entry(f"{i}") for i in range(20)], removed=[4])
    flip(tmp_path / "v1" / "labels-1.bin", 64 * 4)
    with opened(tmp_path / "v1") as store, HammingIndex(store) as index:
        with pytest.raises(IndexDamagedError, match=r"items\.sqlite is damaged: 1 items are"):
            store.items()
        with pytest.raises(IndexDamagedError, match="item 4 is missing"):
            index.search(code=bytes(8), k=20)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("name", ["codes.bin", "labels-1.bin"])
def test_flipped_bit_is_seen_by_whatever_uses_the_file(folder, name, use):
    dice = random.Random(f"{name}{use}")
    files = {"search": {"codes.bin", "labels-1.bin"}, "items": {"labels-1.bin"}}
    used = files.get(use, {"labels-1.bin"} if use == "labels" else {"codes.bin", "labels-1.bin"})
    for _ in range(3):
        bit = dice.randrange(8 * (folder / name).stat().st_size)
        flip(folder / name, bit)
        with opened(folder) as store:
            if name in used:
                with pytest.raises(IndexDamagedError, match=f"{name}.*0 to 299"):
                    USES[use](store)
            else:
                USES[use](store)
        flip(folder / name, bit)
    with opened(folder) as store:
        USES[use](store)


def test_swapped_records_are_seen(folder):
    records = np.fromfile(folder / "codes.bin", np.uint64)
    records[[7, 8]] = records[[8, 7]]
    records.tofile(folder / "codes.bin")
    with opened(folder) as store, pytest.raises(IndexDamagedError, match=r"codes\.bin"):
        store.search(QUERY, 1)


def hash_word(word, slot, place):
    """Hash a word as `_sums` does, in integers of Python."""
    key = (2 * slot + 1) * 0x9E3779B97F4A7C15 + place * 0xC2B2AE3D27D4EB4E
    mixed = word * key & WRAP
    mixed = (mixed ^ mixed >> 32) * 0xFF51AFD7ED558CCD & WRAP
    return mixed ^ mixed >> 29


def expected_sums(folder, block):
    """Sum up the files, when nothing is pending."""
    (path,) = folder.glob("labels-*.bin")
    sums = {}
    for column, name in enumerate(("codes.bin", path.name)):
        words = 1 if column == 0 else int(path.stem.split("-")[1])
        for slot, record in enumerate(np.fromfile(folder / name, np.uint64).reshape(-1, words)):
            total = sum(
                hash_word(word, slot % block, place) for place, word in enumerate(record.tolist())
            )
            row = sums.setdefault(slot // block, [0, 0])
            row[column] = row[column] + total & WRAP
    return sums


def kept_sums(folder):
    with contextlib.closing(sqlite3.connect(folder / "items.sqlite")) as connection:
        rows = connection.execute("SELECT * FROM blocks").fetchall()
    return {number: [codes & WRAP, labels & WRAP] for number, codes, labels in rows}


def test_sums_follow_every_change(tmp_path, monkeypatch):
    for module in (_sums, _guard):
        monkeypatch.setattr(module, "BLOCK", 16)
    folder = tmp_path / "index"
    twin = Twin(LocalStore.create(str(folder), Meta(12)), 12, [f"{i}" for i in range(9)], seed=4)
    for step in range(12):
        twin.random.choice([twin.add, twin.add, twin.upsert, twin.revise, twin.remove])()
        if step == 6:  # longer label records
            twin.labels = [f"{i}" for i in range(90)]
        twin.check()
        assert kept_sums(folder) == expected_sums(folder, 16)
    twin.store.close()
    assert len(kept_sums(folder)) > 5


def test_sums_do_not_count_a_change_that_was_undone(folder):
    before = kept_sums(folder)
    with opened(folder, writable=True) as store:
        with pytest.raises(InputError):
            store.add(np.ones((2, 2), np.uint8), [Entry("new"), Entry("7.jpg")])
        assert kept_sums(folder) == before
        store.add(np.ones((1, 2), np.uint8) << 4, [Entry("new")])
    assert kept_sums(folder) == expected_sums(folder, _sums.BLOCK)


def test_block_is_looked_at_once(tmp_path, monkeypatch):
    for module in (_sums, _guard):
        monkeypatch.setattr(module, "BLOCK", 16)
    looked = []
    settled = _guard._settled
    monkeypatch.setattr(
        _guard,
        "_settled",
        lambda block, first, *late: looked.append(first) or settled(block, first, *late),
    )
    fill(tmp_path / "index", 70)
    with opened(tmp_path / "index") as store, opened(tmp_path / "index", writable=True) as writer:
        for _ in range(3):
            store.search(QUERY, 3)
        assert looked == [0, 16, 32, 48, 64]
        looked.clear()
        writer.add(np.zeros((1, 2), np.uint8), [Entry("new")])
        store.search(QUERY, 3)
        assert looked == [64]
        looked.clear()
        writer.upsert(np.full((1, 2), 16, np.uint8), [Entry("20.jpg")])
        store.search(QUERY, 3)
        assert looked == [16]


def test_file_whose_sum_was_damaged_is_made_again_with_its_sum(folder):
    change(folder, "UPDATE blocks SET codes = codes + 1")
    with opened(folder) as store:
        with pytest.raises(IndexDamagedError, match=r"codes\.bin.*delete it"):
            store.search(QUERY, 1)
        assert "codes.bin" in store.verify()[0]
    (folder / "codes.bin").unlink()
    with opened(folder, writable=True) as store:
        assert store.search(QUERY, 1)
    assert kept_sums(folder) == expected_sums(folder, _sums.BLOCK)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE state SET items = items + 1",
        "UPDATE state SET slots = slots - 1",
        "UPDATE state SET root = 'elsewhere'",
        "UPDATE state SET label_words = 2",
        "UPDATE labels SET name = 'see' WHERE name = 'sea'",
        "UPDATE labels SET number = 9 WHERE name = 'sea'",
        "DELETE FROM labels WHERE name = 'dog'",
        "INSERT INTO pending VALUES (300)",
        "INSERT INTO pending VALUES (-1)",
        "DELETE FROM blocks",
        "INSERT INTO blocks VALUES (7, 0, 0)",
    ],
)
def test_counts_and_labels_changed_behind_its_back_are_seen_on_opening(folder, statement):
    change(folder, statement)
    for writable in (False, True):
        with (
            pytest.raises(IndexDamagedError, match=r"items\.sqlite"),
            opened(folder, writable=writable),
        ):
            pass


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE items SET labels = '[\"se' WHERE id = 7",
        "UPDATE items SET labels = 7 WHERE id = 7",
        "UPDATE items SET size = 5 WHERE id = 7",
        "UPDATE items SET code = x'00' WHERE id = 7",
        "UPDATE items SET uploaded = 1 WHERE id = 7",
    ],
)
def test_row_changed_behind_its_back_is_seen_when_it_is_read(folder, statement):
    change(folder, statement)
    with opened(folder, writable=True) as store:
        for use in (
            lambda: store.get([7]),
            lambda: store.items(),
            lambda: list(store.scan()),
            lambda: store.find_names(["7.jpg"]),
            lambda: store.revise({7: Entry("7.jpg")}),
            lambda: store.remove([7]),
        ):
            with pytest.raises(IndexDamagedError, match=r"items\.sqlite.*item 7 does not match"):
                use()


def test_lost_row_is_missed(folder):
    change(folder, "DELETE FROM items WHERE id = 7")
    with opened(folder) as store:
        with pytest.raises(IndexDamagedError, match="item 7 is missing"):
            store.get([7])
        with pytest.raises(IndexDamagedError, match="1 items are missing"):
            store.items()
        with pytest.raises(IndexDamagedError, match="1 of 298 items are missing"):
            list(store.scan())


def test_item_in_the_way_of_a_new_one_is_damage(folder):
    change(
        folder, "INSERT INTO items SELECT 300, 'x', labels, 1, 1, '', code, 7, 0 FROM items LIMIT 1"
    )
    with opened(folder, writable=True) as store:
        with pytest.raises(IndexDamagedError, match="do not fit in"):
            store.add(QUERY, [Entry("new")])
        assert len(store) == 298


def test_number_too_large_for_the_items_is_refused(folder):
    with opened(folder, writable=True) as store:
        with pytest.raises(InputError, match="does not take these values"):
            store.add(QUERY, [Entry("new", size=1 << 63)])
        assert len(store) == 298


@pytest.mark.parametrize("field", ["file_name", "sha256"])
def test_verify_sees_a_name_or_content_that_leads_nowhere(folder, field):
    """Whoever looks it up cannot tell it from one that is not there."""
    entry = Entry("123.jpg", ("sea",), sha256="5ea57a7e5ea57a7f" + "0" * 48)
    with opened(folder, writable=True) as store:
        store.revise({123: entry})
    text = b"123.jpg" if field == "file_name" else bytes.fromhex(entry.sha256)[:8]
    path = folder / "items.sqlite"
    data = bytearray(path.read_bytes())
    places = [i for i in range(len(data)) if data.startswith(text, i)]
    assert len(places) == 2  # in the row, and in the index
    for place in places:
        broken = bytearray(data)
        broken[place] = ord("~")
        path.write_bytes(broken)
        with opened(folder) as store:
            assert store.verify()


def test_name_that_leads_to_another_item_is_seen(folder):
    """The index of names is another part of the file than the rows."""
    path = folder / "items.sqlite"
    data = path.read_bytes()
    places = [i for i in range(len(data)) if data.startswith(b"123.jpg", i)]
    assert len(places) == 2
    for place in places:
        flipped = bytearray(data)
        flipped[place] += 1  # 223.jpg, which there is
        path.write_bytes(flipped)
        with opened(folder) as store, contextlib.suppress(IndexDamagedError):
            assert store.find_names(["223.jpg"]) == {"223.jpg": 223}


@pytest.mark.parametrize("name", ["codes.bin", "labels-1.bin"])
def test_file_cut_under_a_reader_is_named(folder, name):
    with opened(folder) as store:
        store.search(QUERY, 3)
        os.truncate(folder / name, 8)
        with pytest.raises(
            IndexDamagedError, match=f"{name} is damaged: it holds 1 of 300 records"
        ):
            store.search(QUERY, 3)


def test_replaced_file_does_not_disturb_a_reader(folder):
    with opened(folder) as store:
        expected = store.search(QUERY, 5)
        os.replace(folder / "labels-1.bin", folder / "elsewhere.bin")  # noqa: PTH105
        assert store.search(QUERY, 5) == expected


def test_more_labels_than_an_index_takes_are_refused_and_nothing_is_lost(folder, monkeypatch):
    monkeypatch.setattr(_transactions, "MAX_LABELS", 100)
    codes = np.zeros((98, 2), np.uint8)
    entries = [Entry(f"new/{i}", (f"label {i}",)) for i in range(98)]
    with opened(folder, writable=True) as store:
        with pytest.raises(InputError, match=r"101 different labels.*up to 100.*Milvus"):
            store.add(codes, entries)
        with pytest.raises(InputError, match="101 different labels"):
            store.revise({i: Entry(f"{i}", (f"label {i}",)) for i in (range(5, 103))})
        assert len(store) == 298
        assert store.verify() == []
        store.add(codes[1:], entries[1:])
        assert len(store.labels()) == 100
        assert store.verify() == []
