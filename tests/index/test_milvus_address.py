"""What needs no server: locations, expressions, a server that is away, ids, the lock."""

import json
import socket
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softhash.errors import (
    IndexBusyError,
    InputError,
    MissingExtraError,
    StoreUnavailableError,
    UsageError,
)
from softhash.index.expressions import build_where, parse_where
from softhash.index.items import Entry
from softhash.index.milvus import MilvusStore, _rows
from softhash.index.milvus._address import Address
from softhash.index.milvus._expressions import labelled, one_of, quoted
from softhash.index.milvus._lock import WriteLock
from softhash.index.milvus._names import IDS, choose_ids, first_id
from softhash.index.store import Meta
from softhash.index.where import EVERYTHING, NOTHING, Label, Not


@pytest.mark.parametrize(
    ("location", "uri", "collection", "token"),
    [
        ("milvus://host/photos", "http://host:19530", "photos", ""),
        ("milvus://host:1234/photos/", "http://host:1234", "photos", ""),
        ("milvus://[::1]:1234/p_2", "http://[::1]:1234", "p_2", ""),
        ("milvus+tls://u:p%40ss@host/c", "https://host:19530", "c", "u:p@ss"),
        ("milvus://host/c?token=key%3A1", "http://host:19530", "c", "key:1"),
    ],
)
def test_address_reads_every_form(location, uri, collection, token):
    address = Address.parse(location)
    assert (address.uri, address.collection, address.token) == (uri, collection, token)


@pytest.mark.parametrize(
    "location",
    [
        "milvus://",
        "milvus:///photos",
        "milvus://host",
        "milvus://host/",
        "milvus://host/a/b",
        "milvus://host/2photos",
        "milvus://host/my-photos",
        "milvus://host:port/photos",
        "milvus://host:99999/photos",
        "milvus://[::1/photos",
        "milvus://user:hunter2@host:x/photos",
        "milvus://user@host/photos",
        "milvus://user:hunter2@host/photos?token=hunter2",
        "milvus://host/photos?tokn=hunter2",
        "milvus://user:hunter2@/photos",
        "milvus://user:hunter2@host/2photos",
        "http://host/photos",
    ],
)
def test_address_of_another_form_is_refused_with_the_right_one(location):
    with pytest.raises(
        UsageError, match=r"milvus://\[user:password@\]host\[:19530\]/coll"
    ) as found:
        Address.parse(location)
    assert "hunter2" not in str(found.value)


def test_address_never_shows_its_secret():
    for location in ("milvus://ada:hunter2@h/c", "milvus://h/c?token=hunter2"):
        address = Address.parse(location)
        assert "hunter2" not in f"{address} {address!r}"
    assert str(Address.parse("milvus://ada:hunter2@h/c")) == "milvus://ada:***@h:19530/c"


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_quoted_is_one_literal_on_one_line(text):
    literal = quoted(text)
    assert json.loads(literal) == text
    assert "\n" not in literal
    assert not any("\\ud" in literal and ord(character) > 0xFFFF for character in text)


def test_expressions_keep_quotes_inside_their_literals():
    assert one_of("file_name", ['a"] or id > 0 or file_name in ["']) == (
        'file_name in ["a\\"] or id > 0 or file_name in [\\""]'
    )
    assert labelled(build_where(none_of=("a\\",))) == 'not array_contains_any(labels, ["a\\\\"])'
    assert labelled(EVERYTHING) == ""


def test_label_logic_becomes_an_expression_with_few_calls():
    assert labelled(parse_where("a & b & !c & !d & (e | f | !g & h)")) == (
        'array_contains_all(labels, ["a", "b"]) and not array_contains_any(labels, ["c", "d"])'
        ' and (array_contains_any(labels, ["e", "f"])'
        ' or array_contains_any(labels, ["h"]) and not array_contains_any(labels, ["g"]))'
    )
    assert labelled(parse_where("a | !b | !c")) == (
        '(array_contains_any(labels, ["a"]) or not array_contains_all(labels, ["b", "c"]))'
    )
    assert labelled(NOTHING) == labelled(Label("\udce9")) == "(id < 0)"
    assert labelled(Not(Label("\udce9"))) == "not (id < 0)"


def test_ids_are_below_two_to_53_and_step_over_those_taken():
    names = [f"{number}.jpg" for number in range(1000)]
    first = [first_id(name) for name in names]
    assert len(set(first)) == 1000
    assert 0 <= min(first) <= max(first) < IDS == 2**53
    taken = {first[0], first[0] + 1, first[1]}
    chosen = choose_ids(names[:2], lambda ids: taken & set(ids))
    assert chosen == {names[0]: first[0] + 2, names[1]: first[1] + 1}
    assert choose_ids(["x"], lambda ids: {first_id("x")} & set(ids))["x"] == first_id("x") + 1


def test_ids_wrap_around_at_the_end(monkeypatch):
    monkeypatch.setattr("softhash.index.milvus._names.first_id", lambda name: IDS - 1)
    assert choose_ids(["a", "b", "c"], lambda ids: set()) == {"a": IDS - 1, "b": 0, "c": 1}


def test_server_that_is_away_is_named_within_seconds():
    start = time.monotonic()
    with socket.socket() as silent:  # bound, but nobody listens
        silent.bind(("127.0.0.1", 0))
        port = silent.getsockname()[1]
        with pytest.raises(StoreUnavailableError, match=f"127.0.0.1:{port}.*start the server"):
            MilvusStore.open(f"milvus://ada:hunter2@127.0.0.1:{port}/photos")
    assert time.monotonic() - start < 10


def test_server_that_says_nothing_is_given_up_within_seconds():
    start = time.monotonic()
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        location = f"milvus://ada:hunter2@127.0.0.1:{deaf.getsockname()[1]}/photos"
        with pytest.raises(StoreUnavailableError) as found:
            MilvusStore.create(location, Meta(48))
    assert "hunter2" not in str(found.value)
    assert time.monotonic() - start < 15


def test_client_library_that_is_not_there_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymilvus", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'softhash\[milvus\]'"):
        MilvusStore.open("milvus://host/photos")


def test_lock_keeps_a_second_writer_out_until_released(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    address = Address.parse("milvus://ada:hunter2@host/photos")
    lock = WriteLock(address)
    WriteLock(Address.parse("milvus://host/others")).release()
    with pytest.raises(IndexBusyError, match=r"milvus://ada:\*\*\*@host:19530/photos"):
        WriteLock(address)
    lock.release()
    lock.release()
    WriteLock(address).release()


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (Entry("\udce9.jpg"), "not Unicode"),
        (Entry("é" * 40_000), "80,000 bytes"),
        (Entry("a", ("x" * 70_000,)), "70,000 bytes"),
        (Entry("a", tuple(map(str, range(5000)))), "5,000 labels"),
    ],
)
def test_entries_milvus_cannot_keep_are_refused(entry, reason):
    with pytest.raises(InputError, match=reason):
        _rows.check_entries([Entry("fine", ("sea",)), entry])


@pytest.mark.parametrize(
    "description", ["", "photos", "[]", '{"format": "other"}', '{"format": "softhash index"}']
)
def test_collection_of_somebody_else_is_told(description):
    address = Address.parse("milvus://host/photos")
    with pytest.raises(InputError, match="was not made by softhash"):
        _rows.read_meta(address, {"description": description, "fields": []})


def test_collection_of_a_newer_softhash_is_told():
    said = json.dumps({"format": _rows.FORMAT, "version": 3, "bits": 48, "model": ""})
    with pytest.raises(InputError, match="newer softhash"):
        _rows.read_meta(Address.parse("milvus://h/c"), {"description": said, "fields": []})
