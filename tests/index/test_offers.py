"""What a store offers, asked once per class."""

from typing import Protocol, runtime_checkable

from softhash.index import HammingIndex
from softhash.index._offers import offers
from softhash.index.kept_model import kept_classifier
from softhash.model.hasher import Hasher


@runtime_checkable
class Counted(Protocol):
    @property
    def count(self) -> int: ...


class Store:
    asked = 0

    @property
    def count(self) -> int:
        type(self).asked += 1
        return 7


def test_offers_answers_as_isinstance_does_and_calls_no_property_again():
    assert not offers(object(), Counted)
    assert offers(Store(), Counted)
    asked = Store.asked
    assert offers(Store(), Counted)
    assert Store.asked == asked


def test_an_index_has_the_label_classifier_of_its_model_once(telling_model, tmp_path):
    HammingIndex.create(tmp_path / "index", Hasher.load(telling_model)).close()
    with HammingIndex.open(tmp_path / "index") as index:
        assert index.hasher.label_classifier is not None
        assert index.hasher.label_classifier is kept_classifier(index.store)
