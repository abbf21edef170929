import pickle

import pytest

from softhash import errors
from softhash.cli._errors import HINTS, message
from softhash.errors import (
    ExpressionError,
    InputError,
    MissingExtraError,
    SofthashError,
    UsageError,
    unknown_name,
)

KINDS = sorted((kind for name, kind in vars(errors).items() if name.endswith("Error")), key=str)
BUILT = {ExpressionError, MissingExtraError}  # which write their detail themselves


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_is_in_the_tree_that_is_drawn(kind):
    assert issubclass(kind, SofthashError)
    assert f" {kind.__name__} " in f" {errors.__doc__} ".replace("\n", " \n ")
    assert kind.exit_code == (2 if issubclass(kind, UsageError) else 1)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in BUILT])
def test_an_error_has_a_detail_and_a_hint_also_in_another_process(kind):
    error = pickle.loads(pickle.dumps(kind("a.npy is empty", "write it again")))
    assert (type(error), error.detail, error.hint) == (kind, "a.npy is empty", "write it again")
    assert str(error) == "a.npy is empty; write it again"
    assert str(kind("a.npy is empty")) == "a.npy is empty"


def test_commands_speak_of_options_where_the_library_speaks_of_arguments():
    for kind, hint in HINTS.items():
        error = kind("it is so", "pass force=True")
        assert "--" not in str(error)
        assert message(error) == f"it is so; {hint}"
    assert message(InputError("it is so")) == "it is so"


def test_missing_extra_names_the_install_line():
    error = pickle.loads(pickle.dumps(MissingExtraError("fastapi", "serve")))
    assert "pip install 'softhash[serve]'" in str(error)


def test_unknown_name_without_a_close_match_lists_what_is_known():
    assert str(unknown_name("method", "xyz", ["idhn", "dhn"])) == (
        "unknown method 'xyz'; known: dhn, idhn"
    )
