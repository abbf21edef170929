"""Duplicates of an index, against copies that the tests make themselves."""

import os

import numpy as np
import pytest
from PIL import Image, ImageEnhance

from softhash.data import scenes
from softhash.data.image_set import ImageSet
from softhash.errors import InputError, UsageError
from softhash.files import hash_file
from softhash.index import Entry, HammingIndex
from softhash.index._near_copies import Fingerprints, find_near_copies, with_neighbour
from softhash.index._perceptual_hash import SIDE, HashedFiles, hash_files, perceptual_hashes
from softhash.index.duplicates import find_duplicates
from softhash.index.entries import file_status


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    folder = tmp_path_factory.mktemp("duplicates") / "drawn"
    scenes.write(folder, count=6, size=128, workers=1)
    return [Image.open(path).convert("RGB") for path in sorted(folder.glob("*.png"))]


@pytest.fixture
def photos(tmp_path, drawn):
    """Six different pictures, as JPEGs."""
    folder = tmp_path / "photos"
    folder.mkdir()
    for number, picture in enumerate(drawn):
        picture.save(folder / f"{number}.jpg", quality=92)
    return folder


def indexed(folder, place):
    """An index of a folder, all codes 0."""
    index = HammingIndex.create(place, bits=16)
    index.set_root(folder)
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    entries = [
        Entry(name, (), *file_status(folder / name), hash_file(folder / name)) for name in names
    ]
    index.add_codes(np.zeros((len(names), 2), np.uint8), entries)
    return index


def found_in(folder, tmp_path, **options):
    with indexed(folder, tmp_path / "index") as index:
        return find_duplicates(index, **options)


def kinds(found):
    return [[(copy.file_name, copy.kind) for copy in group] for group in found.groups]


def test_the_hash_is_that_of_a_cosine_transform_written_out():
    pixels = np.random.default_rng(0).integers(0, 256, (2, SIDE, SIDE, 3), dtype=np.uint8)
    hashes, counts = perceptual_hashes(pixels)
    x = np.arange(SIDE)
    for one, packed in zip(pixels.astype(float), hashes, strict=True):
        grey = 0.299 * one[..., 0] + 0.587 * one[..., 1] + 0.114 * one[..., 2]
        wave = [np.cos(np.pi * (2 * x + 1) * k / (2 * SIDE)) for k in range(8)]
        values = [(grey * np.outer(wave[v], wave[u])).sum() for v in range(8) for u in range(8)]
        assert np.unpackbits(packed).tolist() == [int(v > np.median(values)) for v in values]
    assert counts.all()


def test_a_picture_of_one_colour_has_no_hash_that_counts():
    blank = np.full((1, SIDE, SIDE, 3), 200, np.uint8)
    assert not perceptual_hashes(blank)[1].any()


def test_neighbours_are_those_of_a_table_of_all_distances():
    hashes = np.random.default_rng(1).integers(0, 256, (60, 2), dtype=np.uint8)
    table = np.unpackbits(hashes[:, None] ^ hashes[None], axis=2).sum(axis=2)
    np.fill_diagonal(table, 99)
    for radius in (0, 2, 3):
        assert (with_neighbour(hashes, radius) == (table.min(axis=1) <= radius)).all()


def prints(hashes, codes=None, apart=np.nan):
    hashes = np.array([[h, 0, 0, 0, 0, 0, 0, 0] for h in hashes], np.uint8)
    codes = np.zeros((len(hashes), 1), np.uint8) if codes is None else np.array(codes, np.uint8)
    return Fingerprints(hashes, codes, 8, lambda place, others: np.full(len(others), apart))


def test_every_copy_is_near_to_the_first_of_its_group_and_not_to_another_copy_alone():
    chain = prints([0b0, 0b1111, 0b11111111])  # the last is 8 bits from the first
    assert find_near_copies(chain, [0, 1, 2], 4).first.tolist() == [0, 0, 2]
    assert find_near_copies(chain, [1, 0, 2], 4).first.tolist() == [1, 1, 1]


def test_codes_that_are_far_apart_are_no_copies():
    assert find_near_copies(prints([0, 0], [[0], [0b111]]), [0, 1], 4).first.tolist() == [0, 1]
    found = find_near_copies(prints([0, 1], [[0], [0b11]]), [0, 1], 4)
    assert (found.first[1], found.distances[1], found.hash_distances[1]) == (0, 2, 1)


@pytest.mark.parametrize(("apart", "first"), [(np.nan, 1), (0.5, 1), (0.1, 0)])
def test_hashes_that_are_less_sure_are_confirmed_by_features(apart, first):
    assert find_near_copies(prints([0, 0b111111], apart=apart), [0, 1], 10).first[1] == first


def test_identical_and_near_copies_are_grouped_with_the_largest_first(photos, tmp_path, drawn):
    (photos / "0 (1).jpg").write_bytes((photos / "0.jpg").read_bytes())
    drawn[1].resize((256, 256)).save(photos / "large.png")
    ImageEnhance.Brightness(drawn[1]).enhance(0.9).save(photos / "dark.jpg", quality=50)
    for name in ("0.jpg", "0 (1).jpg"):
        os.utime(photos / name, (1e9, 1e9))
    found = found_in(photos, tmp_path)
    assert kinds(found) == [
        [("large.png", "first"), ("1.jpg", "near"), ("dark.jpg", "near")],
        [("0.jpg", "first"), ("0 (1).jpg", "identical")],
    ]
    assert [copy.path.name for copy in found.copies] == ["1.jpg", "dark.jpg", "0 (1).jpg"]
    first = found.groups[0][0]
    assert (first.width, first.bytes) == (256, (photos / "large.png").stat().st_size)


def test_only_identical_files_are_found_where_only_they_are_asked_for(photos, tmp_path):
    (photos / "copy.jpg").write_bytes((photos / "3.jpg").read_bytes())
    Image.open(photos / "4.jpg").save(photos / "small.jpg", quality=40)
    found = found_in(photos, tmp_path, near=False)
    assert [{copy.file_name for copy in group} for group in found.groups] == [{"3.jpg", "copy.jpg"}]


def test_links_to_one_file_are_not_copies(photos, tmp_path):
    (photos / "soft.jpg").symlink_to(photos / "2.jpg")
    os.link(photos / "2.jpg", photos / "hard.jpg")
    assert found_in(photos, tmp_path).groups == ()


def test_a_link_that_leads_out_of_the_folder_is_left_out(photos, tmp_path):
    outside = tmp_path / "outside.jpg"
    outside.write_bytes((photos / "2.jpg").read_bytes())
    (photos / "link.jpg").symlink_to(outside)
    found = found_in(photos, tmp_path)
    assert (found.groups, found.missing) == ((), ("link.jpg",))


@pytest.mark.parametrize(("features", "copies"), [((2, 0), 1), ((0, 1), 0)])
def test_a_crop_is_a_copy_where_kept_features_agree(tmp_path, drawn, monkeypatch, features, copies):
    (tmp_path / "photos").mkdir()
    for name, picture in (("a.png", drawn[0]), ("b.png", drawn[1])):
        picture.save(tmp_path / "photos" / name)
    hashes = np.array([[0] * 8, [255] + [0] * 7], np.uint8)  # 8 bits apart
    hashed = HashedFiles(hashes, np.ones(2, bool), ())
    monkeypatch.setattr("softhash.index.duplicates.hash_files", lambda *_, **__: hashed)
    with indexed(tmp_path / "photos", tmp_path / "index") as index:
        assert find_duplicates(index).copies == []
        index.store.features.keep(2)
        contents = [entry.sha256 for _, entry in index.store.scan()]
        index.store.features.put([0, 1], contents, np.array([(1, 0), features], np.float32))
        assert len(find_duplicates(index).copies) == copies


def test_files_that_are_gone_changed_or_broken_are_left_out_and_named(photos, tmp_path):
    for name in ("gone", "changed", "whole"):
        (photos / f"{name}.jpg").write_bytes((photos / "5.jpg").read_bytes())
    (photos / "broken.jpg").write_bytes(b"not a picture")
    with indexed(photos, tmp_path / "index") as index:
        (photos / "gone.jpg").unlink()
        (photos / "changed.jpg").write_bytes(b"something else")
        found = find_duplicates(index)
    assert [{copy.file_name for copy in group} for group in found.groups] == [
        {"5.jpg", "whole.jpg"}
    ]
    assert (found.missing, found.changed) == (("gone.jpg",), ("changed.jpg",))
    assert len(found.broken) == 1
    assert "broken.jpg" in found.broken[0]


def test_where_no_file_is_there_the_drive_is_asked_for(photos, tmp_path):
    with indexed(photos, tmp_path / "index") as index:
        photos.rename(tmp_path / "elsewhere")
        with pytest.raises(InputError, match="not one of 6 files"):
            find_duplicates(index)


def test_an_index_of_codes_or_a_wild_tolerance_is_refused(tmp_path):
    with HammingIndex.create(tmp_path / "index", bits=8) as index:
        with pytest.raises(InputError, match="codes only"):
            find_duplicates(index)
        with pytest.raises(UsageError, match="17 bits"):
            find_duplicates(index, tolerance=17)


def test_an_index_without_items_has_no_duplicates(tmp_path):
    (tmp_path / "photos").mkdir()
    assert found_in(tmp_path / "photos", tmp_path).groups == ()


def test_hashes_are_kept_until_a_file_changes(photos, tmp_path, monkeypatch):
    images = ImageSet.read(photos)
    first = hash_files(images, cache=tmp_path / "cache")
    again = hash_files(images, cache=tmp_path / "cache")
    plain = hash_files(images)
    assert (first.hashes == plain.hashes).all()
    assert (again.hashes == plain.hashes).all()
    read = []
    monkeypatch.setattr(
        "softhash.index._perceptual_hash.perceptual_hashes",
        lambda pixels: read.append(len(pixels)) or perceptual_hashes(pixels),
    )
    hash_files(images, cache=tmp_path / "cache")
    assert read == []
    os.utime(photos / "0.jpg", (1, 1))
    hash_files(images, cache=tmp_path / "cache")
    assert read == [1]
