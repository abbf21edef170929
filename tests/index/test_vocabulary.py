"""Words found in texts, and words to complete a prefix with."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from likely_words import keep_words
from memory_store import MemoryStore

from softhash.errors import UnknownWordError, UsageError
from softhash.index import Entry
from softhash.index.local import LocalStore
from softhash.index.store import Meta
from softhash.index.vocabulary import SYNONYMS, complete, find_words, known_words

KNOWN = [
    "beach", "bicycle", "bird of prey", "bus", "C++", "cherry", "dog", "flowers", "glass", "horse",
    "hot dog", "light", "Old Town", "sea", "traffic light", "traffic_cone", "tv", "t-shirt",
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("dog", ["dog"]),
        ("Dogs on the BEACH", ["dog", "beach"]),
        ("dog, beach; and horses.", ["dog", "beach", "horse"]),
        ("traffic light", ["traffic light"]),
        ("a traffic lights dog", ["traffic light", "dog"]),
        ('"traffic light" dog', ["traffic light", "dog"]),
        ('hot "dog"', UnknownWordError),
        ("hot dog dog", ["hot dog", "dog"]),
        ("a bird of prey at sea", ["bird of prey", "sea"]),
        ("cherries buses glasses", ["cherry", "bus", "glass"]),
        ("flower", ["flowers"]),
        ("old town", ["Old Town"]),
        ("traffic cone T-Shirts traffic-light", ["traffic_cone", "t-shirt", "traffic light"]),
        ("c++", ["C++"]),
        ("bikes and television", ["bicycle", "tv"]),
        ("dogs dog DOG", ["dog"]),
        ('dog "', ["dog"]),
        ('"traffic light', ["traffic light"]),
        ('dog ""', ["dog"]),
    ],
)
def test_words_are_found_as_people_write_them(text, words):
    if isinstance(words, list):
        assert find_words(text, KNOWN) == words
    else:
        with pytest.raises(words):
            find_words(text, KNOWN)


def test_a_word_that_is_known_is_no_synonym_of_another():
    assert find_words("bike", ["bicycle", "bike"]) == ["bike"]
    assert find_words("sofa", ["couch"]) == ["couch"]
    assert find_words("couch", ["sofa"]) == ["sofa"]
    with pytest.raises(UnknownWordError):
        find_words("sofa", ["chair"])


def test_a_name_is_a_synonym_in_one_group_alone():
    names = [name for group in SYNONYMS for name in group]
    assert len(set(names)) == len(names)


def test_exact_names_come_before_similar_ones():
    known = ["Sea", "sea", "glass", "glasses"]
    for name in known:
        assert find_words(name, known) == [name]
    assert find_words("SEA", known) == ["Sea"]


def test_small_words_count_where_they_are_all_there_is_or_in_quotes():
    known = ["dog", "in", "The Who"]
    assert find_words("dog in the", known) == ["dog"]
    assert find_words("in", known) == ["in"]
    assert find_words('dog "in"', known) == ["dog", "in"]
    assert find_words("the who", known) == ["The Who"]


@pytest.mark.parametrize("text", ["", "  ", "on the", '""', "?!"])
def test_a_text_without_words_is_refused(text):
    with pytest.raises(UsageError, match="no word to search for; name what is in the pictures"):
        find_words(text, KNOWN)


def test_an_unknown_word_is_refused_with_the_nearest_and_examples():
    with pytest.raises(UnknownWordError) as caught:
        find_words("dog on the baech", KNOWN)
    assert caught.value.detail == "unknown word 'baech'"
    assert caught.value.hint.startswith("did you mean 'beach'? ")
    assert caught.value.hint.endswith(f"and {len(KNOWN) - 5} more")
    with pytest.raises(UnknownWordError, match="'qqqq'; words are given labels and what the model"):
        find_words("qqqq", KNOWN)
    with pytest.raises(UnknownWordError, match="this index has none"):
        find_words("dog", [])


@given(st.text(max_size=60), st.lists(st.text(min_size=1, max_size=12), max_size=8))
def test_whatever_is_written_is_found_or_refused(text, known):
    try:
        found = find_words(text, known)
    except UsageError:
        return
    assert found
    assert set(found) <= set(known)


@given(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=8))
def test_every_known_word_finds_itself(known):
    for name in known:
        assert find_words(name, known) == [name]


def test_completion_has_beginnings_first_in_the_order_of_the_words():
    known = ["sea horse", "horse", "Horse cart", "dog", "whorse"]
    assert complete("horse", known, 9) == ["horse", "Horse cart", "sea horse", "whorse"]
    assert complete("HORSE", known, 2) == ["horse", "Horse cart"]
    assert complete("", known, 2) == ["sea horse", "horse"]
    assert complete("x", known, 9) == []


def test_known_words_are_given_labels_and_what_the_model_names(tmp_path):
    store = LocalStore.create(str(tmp_path / "index"), Meta(8))
    keep_words(store, ["sky", "dog"])
    store.add(codes(2), [Entry("a.jpg", ("zebra", "dog")), Entry("b.jpg")])
    assert known_words(store) == ["dog", "sky", "zebra"]
    store.close()
    plain = MemoryStore(Meta(8))
    plain.add(codes(1), [Entry("a.jpg", ("zebra",))])
    assert known_words(plain) == ["zebra"]


def codes(count):
    return np.arange(count, dtype=np.uint8)[:, np.newaxis]
