from softhash.errors import InputError, MissingExtraError, SofthashError, UsageError, unknown_name


def test_every_error_is_a_softhash_error_with_an_exit_code():
    for kind, code in ((InputError, 1), (UsageError, 2), (MissingExtraError, 1)):
        assert issubclass(kind, SofthashError)
        assert kind.exit_code == code


def test_missing_extra_names_the_install_line():
    assert "pip install 'softhash[serve]'" in str(MissingExtraError("fastapi", "serve"))


def test_unknown_name_without_a_close_match_lists_what_is_known():
    assert str(unknown_name("method", "xyz", ["idhn", "dhn"])) == (
        "unknown method 'xyz'; known: dhn, idhn"
    )
