"""How sure hits are, and searches with several pictures, in an index with a model of its own."""

import math
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from softhash.codes import unpack
from softhash.data.image_set import ImageSet
from softhash.errors import ImageError, InputError, QueryError, UsageError
from softhash.index import HammingIndex, retrieval
from softhash.model.hasher import Hasher
from softhash.model.sureness import Sureness

PICTURES = 14
WEIGHTS = [1.5, -3.0, 0.8, 0.7]
LABELS = {0: "sea", 1: "sea;sky", 2: "boat", 3: "sky", 5: "boat"}


@pytest.fixture(scope="module")
def hasher(telling_model):
    hasher = Hasher.load(telling_model)
    sureness = Sureness(np.array(WEIGHTS))
    hasher.label_classifier = replace(hasher.label_classifier, sureness=sureness)
    return hasher


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sure") / "photos"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for number in range(PICTURES):
        colour, size = rng.integers(0, 256, 3), (8, 8, 3)
        pixels = np.clip(colour + rng.integers(-60, 60, size), 0, 255).astype(np.uint8)
        Image.fromarray(pixels).resize((40, 40), 0).save(folder / f"{number:02}.png")
    rows = [f"{number:02}.png,{LABELS.get(number, '')}" for number in range(PICTURES)]
    (folder / "metadata.csv").write_text("\n".join(["file_name,labels", *rows]))
    return folder


@pytest.fixture(scope="module")
def index(hasher, folder):
    with HammingIndex.create(folder.with_name("index"), hasher) as index:
        index.add(ImageSet.read(folder), device="cpu")
        yield index


def kept(index, id):
    """The probabilities of an item: likely ones as kept, given ones 1."""
    item = index.get(id)
    return index.store.likely.get([(id, item.entry)])[0] | dict.fromkeys(item.entry.labels, 1.0)


def by_hand(query, given, hit, item, bits=12):
    """How sure a hit is, from the definition."""
    if set(given) & set(hit.labels):
        return 1.0
    miss = 1.0
    for name in set(query) & set(item):
        miss *= 1 - query[name] * item[name]
    overlap = min(max(1 - miss, 1e-3), 1 - 1e-3)
    terms = [1, hit.distance / bits, math.log(overlap / (1 - overlap)), max(query.values())]
    return 1 / (1 + math.exp(-sum(w * x for w, x in zip(WEIGHTS, terms, strict=True))))


@pytest.mark.parametrize("id", [0, 2, 7])
def test_hits_of_an_item_are_as_sure_as_the_definition_says(index, id):
    found = index.search(id=id, k=PICTURES)
    given = index.get(id).entry.labels
    right = [by_hand(kept(index, id), given, hit, kept(index, hit.id)) for hit in found]
    assert [hit.sure for hit in found] == pytest.approx(right)
    assert {1.0, *right} != {1.0}
    assert (1.0 in right) == (id != 7)
    assert [hit.as_dict()["sure"] for hit in found] == [round(hit.sure, 4) for hit in found]


def test_hits_of_a_picture_use_what_the_classifier_finds_in_it(index, hasher):
    picture = np.full((40, 40, 3), (200, 90, 30), np.uint8)
    x = hasher.features(picture, device="cpu")
    likely = dict(zip(hasher.classes, hasher.label_classifier.probabilities(x)[0], strict=True))
    found = index.search(picture, k=PICTURES)
    right = [by_hand(likely, (), hit, kept(index, hit.id)) for hit in found]
    assert [hit.sure for hit in found] == pytest.approx(right, abs=5e-3)  # a byte of probability
    u = hasher.outputs(picture, device="cpu")[0]
    same = index.search(outputs=u, features=x[0], k=PICTURES)
    assert [hit.sure for hit in same] == [hit.sure for hit in found]


def test_a_picture_of_the_index_shares_its_given_labels(index, folder):
    found = index.search(folder / "00.png", k=PICTURES)
    assert {hit.file_name for hit in found if hit.sure == 1} == {"00.png", "01.png"}


def test_nothing_is_known_of_the_hits_of_a_code_of_words_and_of_labels(index):
    code = index.get(0).code
    for asked in ({"code": code}, {"words": "sea"}, {"labels": ["sea"]}):
        found = index.search(**asked)
        assert found
        assert all(hit.sure is None and "sure" not in hit.as_dict() for hit in found)


def test_an_item_without_likely_labels_is_not_judged(hasher, folder, tmp_path):
    with HammingIndex.create(tmp_path / "index", hasher) as index:
        index.add(ImageSet.read(folder), device="cpu")
        (path,) = (tmp_path / "index").glob("likely-*.bin")
        path.write_bytes(b"")
    with HammingIndex.open(tmp_path / "index") as index:
        found = index.search(id=0, k=PICTURES)
        assert {hit.file_name: hit.sure for hit in found if not hit.labels} == {
            hit.file_name: None for hit in found if not hit.labels
        }
        assert {hit.sure for hit in found if "sea" in hit.labels} == {1.0}
        assert all(hit.sure is None for hit in index.search(id=7, k=PICTURES))


def test_a_model_without_sureness_judges_nothing(telling_model, folder, tmp_path):
    with HammingIndex.create(tmp_path / "index", Hasher.load(telling_model)) as index:
        index.add(ImageSet.read(folder), device="cpu")
        assert all(hit.likely and hit.sure is None for hit in index.search(id=7, k=3))
        with pytest.raises(UsageError, match="does not know how sure its hits are"):
            index.search(id=7, at_least=0.2)


def test_hits_that_are_not_sure_enough_are_left_out(index):
    whole = index.search(id=7, k=PICTURES)
    middle = sorted(hit.sure for hit in whole)[PICTURES // 2]
    right = [hit for hit in whole if hit.sure >= middle]
    assert 0 < len(right) < len(whole)
    assert list(index.search(id=7, k=PICTURES, at_least=middle)) == right
    pages = [index.search(id=7, k=2, offset=i, at_least=middle) for i in range(0, PICTURES, 2)]
    assert [hit for page in pages for hit in page] == right
    assert len(index.search(id=7, at_least=1.0)) == 0
    assert len(index.search(id=0, at_least=1.0)) == 1
    both = index.search(id=7, more="sea", k=PICTURES)
    sure = [hit for hit in both if hit.sure >= middle]
    assert list(index.search(id=7, more="sea", k=PICTURES, at_least=middle)) == sure


def test_only_the_first_of_a_ranking_are_looked_at_for_sure_hits(index, monkeypatch):
    monkeypatch.setattr(retrieval, "CANDIDATES", 4)
    assert list(index.search(id=7, k=PICTURES, at_least=0.0)) == list(index.search(id=7, k=4))


def test_a_code_has_no_sure_hits(index):
    for asked in ({"code": index.get(0).code}, {"outputs": np.ones(12)}):
        with pytest.raises(UsageError, match=r"hits of a code.*with the picture or an item"):
            index.search(**asked, at_least=0.1)


def test_features_of_another_model_are_refused(index):
    with pytest.raises(InputError, match=r"features have the shape \(3,\)"):
        index.search(outputs=np.ones(12), features=np.ones(3))


def test_several_pictures_are_searched_for_by_the_mean_of_their_outputs(index, hasher, folder):
    several = [folder / "03.png", folder / "04.png", folder / "09.png"]
    u = np.mean([hasher.outputs(one, device="cpu")[0] for one in several], axis=0)
    found = index.search(several, k=PICTURES)
    bits = unpack(np.frombuffer(found.code, np.uint8)[np.newaxis], 12)[0]
    assert bits.astype(bool).tolist() == (u > 0).tolist()
    wanted = []
    for item in index.store.items():
        own = unpack(np.frombuffer(item.code, np.uint8)[np.newaxis], 12)[0]
        differ = [i for i in range(12) if bool(own[i]) != bool(u[i] > 0)]
        wanted.append((sum(abs(float(u[i])) for i in differ), len(differ), item.id))
    wanted.sort(key=lambda one: (round(one[0], 5), *one[1:]))
    assert [(hit.distance, hit.id) for hit in found] == [one[1:] for one in wanted]
    assert [hit.rescored for hit in found] == pytest.approx([w[0] for w in wanted], rel=1e-5)
    x = np.mean([hasher.features(one, device="cpu")[0] for one in several], axis=0)
    assert found.likely == pytest.approx(hasher.label_classifier.likely(x[np.newaxis])[0], abs=1e-3)


def test_several_pictures_have_the_labels_that_all_of_them_have(index, folder):
    assert index.search([folder / "00.png", folder / "01.png"]).labels == ("sea",)
    assert index.search([folder / "00.png", folder / "04.png"]).labels == ()


def test_one_picture_in_a_list_is_that_picture_and_several_take_words(index, folder):
    assert index.search([folder / "03.png"]) == index.search(folder / "03.png")
    several = [folder / "03.png", folder / "04.png"]
    found = index.search(several, more="sea", k=PICTURES)
    assert all(hit.rescored is None and hit.score is not None for hit in found)


def test_no_picture_and_a_broken_one_among_several_are_refused(index, folder, tmp_path):
    with pytest.raises(QueryError, match="no picture to search for"):
        index.search([])
    (tmp_path / "broken.png").write_bytes(b"no picture")
    with pytest.raises(ImageError, match=r"broken\.png"):
        index.search([folder / "03.png", tmp_path / "broken.png"])
