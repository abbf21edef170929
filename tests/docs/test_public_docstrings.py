import pytest
from docstrings import entries, public_names, undocumented, unexplained


def test_every_public_name_has_a_docstring():
    assert undocumented() == []


def test_every_parameter_is_explained_where_there_are_three_or_more():
    assert unexplained() == []


def test_methods_and_properties_of_public_classes_are_public_names():
    assert {"Hasher", "Hasher.encode", "Hasher.bits", "Recipe.read", "pack"} <= set(public_names())


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        (None, {}),
        ("One line.", {}),
        ("Add.\n\n    Args:\n        a: one,\n            or more.\n        *b: two.\n",
         {"a": "one, or more.", "b": "two."}),
        ("Add.\n\n    Args:\n        a (int): one.\n\n    Returns:\n        b: no argument.\n",
         {"a": "one."}),
    ],
)  # fmt: skip
def test_entries_of_a_docstring_are_read_by_name(docstring, expected):
    assert entries(docstring, "Args") == expected
