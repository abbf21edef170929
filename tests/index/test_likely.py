"""Likely labels kept with an index in a folder: what counts, what is missing, what is filled."""

import math
import os
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest
from likely_words import keep_words, likely_rows
from PIL import Image
from safetensors.numpy import load_file

from softhash.data.image_set import ImageSet
from softhash.errors import UsageError
from softhash.index import Entry, HammingIndex
from softhash.index.features import keep_features
from softhash.index.likely import (
    can_keep_likely,
    fill_likely,
    keep_likely,
    kept_likely,
    missing_likely,
)
from softhash.index.local import (
    LocalStore,
    _crc32,
    _derived,
    _derived_columns,
    _likely,
    _likely_columns,
)
from softhash.index.store import Meta
from softhash.index.where import Label, Likely, with_likely
from softhash.model.hasher import Hasher
from softhash.model.label_classifier import LabelClassifier

PICTURES = 6
SIZE = 48


@pytest.fixture(scope="module")
def hasher(telling_model):
    return Hasher.load(telling_model)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    for number in range(PICTURES):
        draw(folder / f"{number}.png", number)
    return folder


@pytest.fixture
def index(tmp_path, hasher):
    with HammingIndex.create(tmp_path / "index", hasher) as index:
        yield index


def draw(path, seed):
    """Draw a picture of one colour, so that the model finds each another."""
    colour = np.random.default_rng(seed).integers(0, 256, 3, np.uint8)
    Image.fromarray(np.full((40, 40, 3), colour)).save(path)


def update(index, folder):
    return index.update(ImageSet.read(folder), device="cpu")


def fill(index):
    return fill_likely(index, device="cpu")


def path(index):
    (found,) = index.store.model_folder.parent.glob("likely-*.bin")
    return found


def missing(index):
    return sorted(entry.file_name for _, entry in missing_likely(index))


def found(store, name, at_least=0.5):
    return [item.id for item in store.items(where=Likely(name, at_least))]


@pytest.fixture
def expected(folder, hasher, telling_model):
    """Return 255 times the probability of each label of a file, by sums in plain Python."""
    parts = load_file(telling_model / "labels.safetensors")

    def expected(name):
        x = hasher.features(folder / name, device="cpu")[0].tolist()
        rows = zip(hasher.classes, parts["weight"].tolist(), parts["bias"].tolist(), strict=True)
        logits = {n: sum(w * v for w, v in zip(ws, x, strict=True)) + b for n, ws, b in rows}
        return {name: 255 / (1 + math.exp(-one)) for name, one in logits.items()}

    return expected


def check_kept(index, expected, tolerance=0.51):
    """Compare the likely labels of every item, and what filters find, with sums by hand."""
    items = list(index.store.scan())
    rows = index.store.likely.get(items)
    for (_, entry), row in zip(items, rows, strict=True):
        wanted = expected(entry.file_name)
        assert set(wanted) - set(row) <= {name for name, value in wanted.items() if value < 1}
        for name, p in row.items():
            assert abs(255 * p - wanted[name]) < tolerance
        assert list(row.values()) == sorted(row.values(), reverse=True)
    ids = [id for id, _ in items]
    for name in index.store.likely.words:
        for at_least in (0.1, 0.5, 0.9):
            pairs = zip(ids, rows, strict=True)
            wanted = [id for id, row in pairs if row.get(name, 0) >= at_least]
            assert found(index.store, name, at_least) == wanted
    assert any(found(index.store, name) for name in index.store.likely.words)


def test_likely_labels_are_kept_up_to_date_by_every_update(index, folder, expected):
    update(index, folder)
    assert not missing(index)
    assert index.store.likely.words == ("sea", "7", "night", "sky")
    check_kept(index, expected)
    assert path(index).stat().st_size == PICTURES * SIZE
    draw(folder / "1.png", 100)
    draw(folder / "new.png", 101)
    (folder / "2.png").rename(folder / "moved.png")
    (folder / "3.png").unlink()
    os.utime(folder / "4.png", ns=(5, 5))
    update(index, folder)
    assert not missing(index)
    check_kept(index, expected)
    assert index.store.verify() == []


def test_codes_are_the_same_with_and_without_likely_labels(index, folder, tiny_model, tmp_path):
    update(index, folder)
    with HammingIndex.create(tmp_path / "plain", Hasher.load(tiny_model)) as plain:
        update(plain, folder)
        assert not can_keep_likely(plain.store)
        assert kept_likely(plain.store) is None
        assert (missing(plain), fill(plain)) == ([], 0)
        assert not list((tmp_path / "plain").glob("likely-*"))
        items = plain.store.items()
    assert [item.code for item in index.store.items()] == [item.code for item in items]


def test_a_deleted_file_is_harmless_and_made_again(index, folder, expected):
    update(index, folder)
    path(index).unlink()
    assert kept_likely(index.store) is None
    assert index.store.verify() == []
    assert index.store.count(Likely("sky"), with_likely(Label("sky"))) == [0, 0]
    assert (index.store.likely_counts(), index.store.rank_by_words({"sky": 1}, 5)) == ({}, [])
    update(index, folder)
    assert len(missing(index)) == PICTURES
    assert fill(index) == PICTURES
    assert fill(index) == 0
    check_kept(index, expected)


def test_kept_features_are_used_where_the_index_has_them(index, folder, expected, monkeypatch):
    keep_features(index)
    update(index, folder)
    path(index).unlink()
    index.store.features.put([0], ["another content"], np.ones((1, index.store.features.width)))
    (folder / "1.png").unlink()  # which its features make up for
    streamed, told, stream = [], [], index.hasher.stream

    def watched(images, **options):
        streamed.append(images.file_names)
        return stream(images, **options)

    monkeypatch.setattr(index.hasher, "stream", watched)
    filled = fill_likely(index, device="cpu", progress=lambda *done: told.append(done))
    assert (filled, streamed) == (PICTURES, [("0.png",)])
    assert told == [(PICTURES - 1, PICTURES), (PICTURES, PICTURES)]
    draw(folder / "1.png", 1)
    check_kept(index, expected, tolerance=4)  # features are rounded


def stop(*given):
    raise KeyboardInterrupt


def test_a_kill_between_codes_and_likely_labels_leaves_nothing_stale(
    index, folder, expected, monkeypatch
):
    update(index, folder)
    ids = index.store.find_names(["1.png", "2.png"])
    draw(folder / "1.png", 100)
    draw(folder / "2.png", 101)
    draw(folder / "new.png", 102)
    with monkeypatch.context() as patch:
        patch.setattr(_likely.LikelyFile, "put", stop)
        with pytest.raises(KeyboardInterrupt):
            update(index, folder)
    assert len(index) == PICTURES + 1  # the codes are there
    assert len(found(index.store, "sky", 0.0)) == PICTURES - 2
    for name in index.store.likely.words:
        assert not {*ids.values(), PICTURES} & set(found(index.store, name, 0.0))
    assert index.store.verify() == []
    update(index, folder)
    assert missing(index) == ["1.png", "2.png", "new.png"]
    assert fill(index) == 3
    check_kept(index, expected)


KILLED = """
import os, sys
from softhash.data.image_set import ImageSet
from softhash.index import HammingIndex
from softhash.index.local import _transactions

with HammingIndex.open(sys.argv[1], writable=True) as index:
    _transactions.Session._commit = lambda self: os._exit(9)
    index.update(ImageSet.read(sys.argv[2]), device="cpu")
"""


def test_a_kill_before_the_commit_lets_go_what_was_about_to_change(index, folder, expected):
    update(index, folder)
    index.close()
    draw(folder / "1.png", 100)
    location = index.store.location
    done = subprocess.run([sys.executable, "-c", KILLED, location, str(folder)], check=False)
    assert done.returncode == 9
    with HammingIndex.open(location, writable=True) as index:
        assert missing(index) == ["1.png"]
        update(index, folder)
        assert not missing(index)
        check_kept(index, expected)


READER = """
import sys
from softhash.index.local import LocalStore
from softhash.index.where import Likely

store = LocalStore.open(sys.argv[1])
for line in sys.stdin:
    print(store.count(*(Likely(name) for name in line.split())), flush=True)
"""


def test_a_reader_of_another_process_sees_what_is_written(index, folder):
    names = ["sea", "7", "night", "sky"]

    def here():
        return str([len(found(index.store, name)) for name in names])

    command = [sys.executable, "-c", READER, index.store.location]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as reader:

        def there():
            reader.stdin.write(" ".join(names) + "\n")
            reader.stdin.flush()
            return reader.stdout.readline().strip()

        assert there() == "[0, 0, 0, 0]"
        answers = []
        for number in range(3):
            update(index, folder)
            answers.append(there())
            assert answers[-1] == here()
            draw(folder / f"later {number}.png", 200 + number)
        assert len(set(answers)) == 3
        items = list(index.store.scan())
        for word in ("night", "sea", "7", "night"):  # the file stays as long as it is
            rows = likely_rows(names, *({word: 200} for _ in items))
            index.store.likely.put([id for id, _ in items], [e.sha256 for _, e in items], rows)
            assert there() == here() == str([len(items) * (name == word) for name in names])
        path(index).unlink()
        assert there() == "[0, 0, 0, 0]"
        reader.stdin.close()


@pytest.mark.parametrize("place", [0, 3, 4, 11, 12, 35, 36, 47])
def test_a_record_that_is_not_as_written_is_missing_and_verify_names_it(index, folder, place):
    update(index, folder)
    before = {name: found(index.store, name, 0.0) for name in index.store.likely.words}
    data = bytearray(path(index).read_bytes())
    data[2 * SIZE + place] ^= 0x10
    path(index).write_bytes(data)
    assert missing(index) == ["2.png"]
    assert 2 in before["sky"]
    for name, ids in before.items():
        assert found(index.store, name, 0.0) == [id for id in ids if id != 2]
    (line,) = index.store.verify()
    assert "the record of item 2" in line
    assert fill(index) == 1
    assert index.store.verify() == []
    assert before == {name: found(index.store, name, 0.0) for name in before}


def test_a_file_cut_short_lacks_what_was_cut(index, folder):
    update(index, folder)
    os.truncate(path(index), 3 * SIZE + 5)
    assert missing(index) == ["3.png", "4.png", "5.png"]
    assert max(found(index.store, "sky", 0.0)) < 3
    assert fill(index) == 3


def test_items_that_were_removed_are_never_found(index, folder):
    update(index, folder)
    ids = found(index.store, "sky", 0.0)
    index.remove(ids[0])
    assert found(index.store, "sky", 0.0) == ids[1:]
    assert ids[0] not in [id for _, id in index.store.rank_by_words({"sky": 1}, 100)]
    assert index.store.likely_counts(0.0)["sky"] == len(ids) - 1


def test_records_of_another_content_or_classifier_count_as_missing(index, folder, tmp_path):
    update(index, folder)
    kept = path(index).read_bytes()
    draw(folder / "1.png", 100)
    update(index, folder)
    path(index).write_bytes(kept)  # a backup that is older than the items
    assert missing(index) == ["1.png"]
    assert fill(index) == 1
    store = LocalStore.create(str(tmp_path / "other"), Meta(8))
    store.add(np.zeros((PICTURES, 1), np.uint8), [entry for _, entry in index.store.scan()])
    keep_words(store, index.store.likely.words)
    (own,) = (tmp_path / "other").glob("likely-*")
    shutil.copy(path(index), tmp_path / "other")
    assert store.count(Likely("sky", 0.0)) == [0]  # of another classifier, so of another name
    shutil.copy(path(index), own)
    assert len(store.likely.missing(list(store.scan()))) == PICTURES
    store.likely.keep()
    assert list((tmp_path / "other").glob("likely-*")) == [own]
    store.close()


def test_a_reader_reads_likely_labels_and_writes_none(index, folder, tmp_path):
    update(index, folder)
    with HammingIndex.open(tmp_path / "index") as reader:
        assert not missing(reader)
        assert found(reader.store, "sky") == found(index.store, "sky")
        for write in (keep_likely, lambda store: store.likely.drop()):
            with pytest.raises(UsageError, match="open for reading"):
                write(reader.store)
    index.store.likely.drop()
    assert not list((tmp_path / "index").glob("likely-*"))


def test_labels_that_only_the_model_names_can_be_asked_for_as_likely_ones(index, folder):
    update(index, folder)
    result = index.search(id=0, where=with_likely(Label("sky"), 0.1), k=PICTURES)
    assert {hit.id for hit in result} == set(found(index.store, "sky", 0.1)) - {0}
    with pytest.raises(UsageError, match="no item has the label 'sky'"):
        index.search(id=0, where=Label("sky"), given_only=True)
    for where in (with_likely(Label("skyy")), Likely("skyy")):
        with pytest.raises(UsageError, match="unknown label 'skyy'; did you mean 'sky'"):
            index.search(id=0, where=where, given_only=True)


def test_searches_see_likely_labels_that_were_written_since(index, folder):
    update(index, folder)
    words, query = index.store.likely.words, np.zeros((1, 2), np.uint8)
    items = list(index.store.scan())
    for first in range(PICTURES):
        each = ({"sea": 255} if id >= first else {"sky": 255} for id, _ in items)
        contents = [entry.sha256 for _, entry in items]
        index.store.likely.put([id for id, _ in items], contents, likely_rows(words, *each))
        for _ in range(3):  # what is asked for again may come from a cache
            (near,) = index.store.search(query, 100, where=Likely("sea"))
            assert {one.id for one in near} == set(range(first, PICTURES))


def test_what_was_read_is_used_until_the_file_changes(index, folder, monkeypatch):
    update(index, folder)
    monkeypatch.setattr(_derived_columns, "SETTLED_NS", -1)
    before = found(index.store, "sky", 0.0)
    monkeypatch.setattr(_likely_columns, "_read", stop)
    assert found(index.store, "sky", 0.0) == before
    os.utime(path(index), ns=(1, 1))
    with pytest.raises(KeyboardInterrupt):
        found(index.store, "sky")


def test_a_change_within_the_same_tick_of_the_clock_is_seen(index, folder):
    update(index, folder)
    items, words = list(index.store.scan()), index.store.likely.words
    now = time.time_ns()
    for word in ("sea", "night", "sea"):
        rows = likely_rows(words, *({word: 255} for _ in items))
        index.store.likely.put([id for id, _ in items], [e.sha256 for _, e in items], rows)
        os.utime(path(index), ns=(now, now))
        assert len(found(index.store, word)) == PICTURES


def test_room_of_removed_items_is_given_back(tmp_path, monkeypatch):
    monkeypatch.setattr(_derived, "MIN_BYTES", 0)
    store = LocalStore.create(str(tmp_path / "index"), Meta(8))
    keep_words(store, ["sea", "sky"])
    contents = [f"{i:064x}" for i in range(1, 5001)]
    entries = [Entry(f"{i}", sha256=content) for i, content in enumerate(contents)]
    ids = store.add(np.zeros((5000, 1), np.uint8), entries)
    store.likely.put(ids, contents, likely_rows(["sea", "sky"], *[{"sea": 255}] * 5000))
    store.remove([id for id in ids if id not in (17, 4999)])
    (file,) = (tmp_path / "index").glob("likely-*.bin")
    before = file.stat().st_blocks
    store.likely.compact(len(store), (id for id, _ in store.scan()))
    assert file.stat().st_blocks < before / 4
    assert found(store, "sea") == [17, 4999]
    assert store.verify() == []
    store.close()


def test_the_most_likely_labels_are_those_of_sums_by_hand():
    rng = np.random.default_rng(0)
    for classes in (1, 5, 12, 13, 40):
        weight = rng.normal(0, 2, (classes, 3)).astype(np.float32)
        bias = rng.normal(-3, 2, classes).astype(np.float32)
        x = rng.normal(size=(20, 3))
        rows = LabelClassifier(weight, bias, tuple(map(str, range(classes)))).most_likely(x)
        assert (rows.words.dtype, rows.probabilities.dtype) == (np.uint16, np.uint8)
        for words, values, row in zip(*rows, x.tolist(), strict=True):
            p = [
                1 / (1 + math.exp(-sum(a * b for a, b in zip(ws, row, strict=True)) - c))
                for ws, c in zip(weight.tolist(), bias.tolist(), strict=True)
            ]
            first = sorted(range(classes), key=lambda i, p=p: -p[i])[:12]
            wanted = [(i, round(255 * p[i])) for i in first if round(255 * p[i])]
            wanted += [(65535, 0)] * (12 - len(wanted))
            assert list(zip(words.tolist(), values.tolist(), strict=True)) == wanted


def test_checksums_of_many_records_are_those_of_zlib():
    rng = np.random.default_rng(1)
    for size in (8, 16, 48):
        data = rng.integers(0, 256, (50, size), np.uint8)
        sums = [_derived.crc32(row[4:].tobytes()) for row in data]
        data[:, :4] = np.array(sums, "<u4")[:, np.newaxis].view(np.uint8)
        data[7, size - 1] ^= 1
        data[9, 0] ^= 128
        flags = _crc32.are_sound(data.view(f"V{size}").reshape(-1))
        assert np.flatnonzero(~flags).tolist() == [7, 9]
