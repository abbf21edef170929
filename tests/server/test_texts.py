"""Texts that clients send, and that they are shown."""

import numpy as np
import pytest
from serving import is_problem, jpeg

from softhash.errors import IndexDamagedError
from softhash.index.items import Entry
from softhash.server.problems import build_problem


def charset_form(charset, label):
    body = b'--b\r\nContent-Disposition: form-data; name="label"\r\n\r\n' + label + b"\r\n--b--"
    return body, {"Content-Type": f"multipart/form-data; boundary=b; charset={charset}"}


@pytest.mark.parametrize("charset", ["punycode", "utf-7", "unicode_escape", '"UTF-16"', "idna;a=b"])
def test_forms_in_other_encodings_are_refused(client, charset):
    """Python decodes 300 kB of Punycode for seconds, and others to text that UTF-8 has not."""
    body, headers = charset_form(charset, b"-" + b"a" * 300_000)
    is_problem(client.post("/api/v1/search", content=body, headers=headers), 415, "charset")
    body, headers = charset_form("UTF-8", b"Meer")
    is_problem(client.post("/api/v1/search", content=body, headers=headers), 422)


@pytest.mark.parametrize("label", ["a\tb", " sea", "sea\n", "\x1b[31mred", "\u202eabc", "\0", ""])
def test_a_label_that_cannot_be_shown_is_not_taken(writer, writable, label):
    answer = writer.post("/api/v1/items", files={"image": ("a.jpg", jpeg())}, data={"label": label})
    is_problem(answer, 422, "invalid")
    assert len(writable) == 6


def test_names_and_labels_that_utf8_cannot_hold_are_answered_all_the_same(writer, writable):
    code = writable.get(1).code
    entry = Entry("Z\udcfcrich.jpg", ("\ud800",))
    (id,) = writable.add_codes(np.frombuffer(code, np.uint8)[np.newaxis], [entry])
    for path in (f"/items/{id}", "/items", "/index", f"/items/{id}/similar"):
        assert writer.get(f"/api/v1{path}").status_code == 200
    assert writer.get(f"/api/v1/items/{id}").json()["file_name"] == "Z?rich.jpg"


def test_what_a_client_sent_is_quoted_in_part(client, writer):
    answer = client.post("/api/v1/search", data={"x" * 100_000: "1"})
    assert len(is_problem(answer, 422) and answer.content) < 5_000
    answer = writer.post("/api/v1/items", files={"image": ("/" * 1_000, jpeg())})
    assert len(is_problem(answer, 422) and answer.content) < 5_000


def test_folders_of_the_server_are_not_shown(client, index, monkeypatch, caplog):
    place = index.store.location

    def damaged(ids):
        raise IndexDamagedError(f"{place}/codes.bin is damaged, below {index.root}", f"see {place}")

    monkeypatch.setattr(index.store, "get", damaged)
    told = is_problem(client.get("/api/v1/items/1"), 500, "damaged")
    assert told["detail"] == "codes.bin is damaged, below the folder"
    assert told["hint"] == "see the index"
    assert str(place) in caplog.text


def test_the_name_of_an_index_is_not_looked_for_within_words():
    error = IndexDamagedError("/srv/ix/codes.bin has 9 pixels", "see /srv/ix and /srv/ix2")
    problem = build_problem(error, {"ix": "the index", "/srv/ix": "the index"})
    assert problem.detail == "codes.bin has 9 pixels"
    assert problem.hint == "see the index and /srv/ix2"
