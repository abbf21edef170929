"""A first look at a collection: what it finds, and that nothing is encoded twice."""

import numpy as np
import pytest

from softhash import Hasher, ImageSet
from softhash.data import scenes
from softhash.index import HammingIndex
from softhash.index.first_look import look_at
from softhash.index.likely import kept_likely


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("first look") / "photos"
    scenes.write(folder, count=12, size=64, workers=1)
    (folder / "broken.png").write_bytes(b"\x89PNG")
    for table in folder.glob("*.csv"):
        table.unlink()
    return ImageSet.read(folder)


@pytest.fixture(scope="module")
def look(photos):
    return look_at(photos)


def test_a_look_has_the_features_of_all_pictures_that_can_be_read(photos, look):
    readable = [at for at, name in enumerate(photos.file_names) if name != "broken.png"]
    assert sorted(look.features) == readable
    expected = look.hasher.features([photos.path(at) for at in readable])
    found = np.stack([look.features[at] for at in readable])
    assert np.allclose(found, expected, rtol=1e-3, atol=1e-3)


def test_pictures_that_were_looked_at_are_not_encoded_again(photos, look, tmp_path, monkeypatch):
    with HammingIndex.create(tmp_path / "index", look.hasher) as index:
        streamed = []
        stream = Hasher.stream

        def note(self, source, kind="codes", **options):
            streamed.extend(source.file_names)
            return stream(self, source, kind, **options)

        monkeypatch.setattr(Hasher, "stream", note)
        summary = index.update(photos, features=look.features)
        assert streamed == ["broken.png"]
        assert (summary.added, len(summary.broken)) == (12, 1)
        monkeypatch.undo()
        for item in index.store.items():
            u = look.hasher.outputs(photos.root / item.file_name)
            sure = np.abs(u[0]) > 1e-4  # what is almost 0 may be rounded to either side
            code = np.unpackbits(np.frombuffer(item.code, np.uint8))
            assert np.array_equal(code[sure], (u[0] > 0)[sure])
        kept = kept_likely(index.store)
        assert all(kept.get([(item.id, item.entry) for item in index.store.items()]))


def test_what_is_known_of_some_pictures_leaves_the_others_as_they_are(photos, look, tmp_path):
    some = {at: look.features[at] for at in sorted(look.features)[::2]}
    codes = []
    for name, known in (("some", some), ("none", {})):
        with HammingIndex.create(tmp_path / name, look.hasher) as index:
            index.update(photos, features=known)
            found = {item.file_name: item.code for item in index.store.items()}
            codes.append([found[one] for one in sorted(found)])
    assert len(codes[0]) == 12
    pairs = zip(*(np.frombuffer(b"".join(one), np.uint8) for one in codes), strict=True)
    assert sum(int(a ^ b).bit_count() for a, b in pairs) <= 2  # by rounding, at most
