"""An index remembers the engine that made its codes, and pictures are encoded by it."""

import numpy as np
import pytest

from softhash import HammingIndex, Hasher, ImageSet, ModelMismatchError
from softhash.data import scenes

BITS = 64


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("engines") / "photos"
    scenes.write(folder, count=12, size=64, workers=1)
    return ImageSet.read(folder)


@pytest.fixture(scope="module")
def hasher():
    return Hasher("efficientnet_lite0", bits=BITS, size=64)


@pytest.fixture(scope="module")
def codes(hasher, photos):
    return {name: hasher.with_engine(name).encode(photos, device="cpu") for name in ENGINES}


ENGINES = ("fp32", "int8")


def kept(index):
    return index.store.codes([one.id for one in index.store.items()])


def test_the_engines_differ_in_a_few_bits(codes):
    different = np.bitwise_count(codes["fp32"] ^ codes["int8"]).sum(axis=1)
    assert 0 < different.mean() < 0.15 * BITS


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("keep_model", [True, False])
def test_an_index_is_searched_and_extended_by_its_own_engine(
    engine, keep_model, hasher, photos, codes, tmp_path
):
    """Whichever engine the model has that it is opened with, or none is given."""
    made = hasher.with_engine(engine)
    with HammingIndex.create(tmp_path / "index", made, keep_model=keep_model) as index:
        index.add(photos.select(range(6)))
    given = [hasher.with_engine(name) for name in ENGINES] + [None] * keep_model
    for number, one in enumerate(given):
        with HammingIndex.open(tmp_path / "index", one, writable=True) as index:
            assert index.hasher.engine == engine
            index.add(photos.select(range(6 + 2 * number, 8 + 2 * number)))
            for i in range(8 + 2 * number):
                assert index.search(photos.path(i), k=1)[0].distance == 0
            np.testing.assert_array_equal(kept(index), codes[engine][: 8 + 2 * number])


def test_a_model_that_is_kept_later_gets_the_engine_of_the_codes(hasher, photos, tmp_path):
    with HammingIndex.create(
        tmp_path / "index", hasher.with_engine("int8"), keep_model=False
    ) as index:
        index.add(photos)
        index.keep_model(hasher)
        assert index.hasher.engine == "int8"
    assert Hasher.load(tmp_path / "index" / "model").engine == "int8"


def test_a_model_of_other_weights_is_still_refused(hasher, photos, tmp_path):
    HammingIndex.create(tmp_path / "index", hasher.with_engine("int8")).close()
    other = Hasher("efficientnet_lite0", bits=BITS, size=64, seed=5)
    for engine in ENGINES:
        with pytest.raises(ModelMismatchError):
            HammingIndex.open(tmp_path / "index", other.with_engine(engine))
