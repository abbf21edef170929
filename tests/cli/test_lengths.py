"""``encode``, ``index`` and ``evaluate`` with ``--bits``: the first bits of longer codes."""

import json

import numpy as np
import pytest

from softhash import HammingIndex, Hasher, ImageSet, InputError, UsageError, evaluate_codes
from softhash.cli.encode import encode
from softhash.cli.evaluate import evaluate
from softhash.cli.index import index
from softhash.codes import pack, unpack
from softhash.data import scenes


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Twenty scenes with labels."""
    folder = tmp_path_factory.mktemp("collection") / "photos"
    scenes.write(folder, count=20, size=48, workers=1)
    return folder


@pytest.fixture(scope="module")
def nested(tmp_path_factory, tiny_model):
    """A model of 12 bits whose first 4 and 8 were trained as codes."""
    folder = tmp_path_factory.mktemp("models") / "nested"
    hasher = Hasher.load(tiny_model)
    hasher.lengths = (4, 8, 12)
    hasher.save(folder)
    return folder


def first(codes, bits):
    """Shorten codes of 12 bits one by one, as nothing else does."""
    return pack(unpack(codes, 12)[:, :bits])


def test_encode_writes_the_first_bits(folder, nested, tmp_path, capsys):
    encode([str(folder)], tmp_path / "all.npy", nested, device="cpu")
    encode([str(folder)], tmp_path / "some.npy", nested, bits=8, device="cpu")
    assert "20 codes of 8 bits" in capsys.readouterr().err
    expected = first(np.load(tmp_path / "all.npy"), 8)
    np.testing.assert_array_equal(np.load(tmp_path / "some.npy"), expected)


def test_a_length_that_a_model_was_not_trained_for_is_used_with_a_note(
    folder, nested, tiny_model, tmp_path, capsys
):
    encode([str(folder)], tmp_path / "7.npy", nested, bits=7, device="cpu")
    assert "trained for 4, 8, 12 bits, not for 7: one that is" in capsys.readouterr().err
    encode([str(folder)], tmp_path / "8.npy", tiny_model, bits=8, device="cpu")
    assert "trained for 12 bits, not for 8: one that is" in capsys.readouterr().err
    encode([str(folder)], tmp_path / "12.npy", tiny_model, bits=12, device="cpu")
    assert "note:" not in capsys.readouterr().err


def test_encode_refuses_more_bits_than_there_are(folder, nested, tmp_path):
    with pytest.raises(UsageError, match="codes have 12 bits, and the first 13 are asked"):
        encode([str(folder)], tmp_path / "codes.npy", nested, bits=13, device="cpu")
    assert not (tmp_path / "codes.npy").exists()


def test_an_index_keeps_the_first_bits_and_their_model(folder, nested, tmp_path, capsys):
    location = tmp_path / "index"
    index(str(location), [str(folder)], nested, bits=8, device="cpu")
    images = ImageSet.read(folder)
    codes = first(Hasher.load(nested).encode(images, device="cpu"), 8)
    with HammingIndex.open(location) as opened:
        assert opened.bits == opened.hasher.bits == 8
        assert opened.hasher.lengths == (4, 8)
        assert [item.code for item in opened.store.items()] == [code.tobytes() for code in codes]
        query = folder / images.file_names[3]
        assert opened.search(query, k=1)[0].distance == 0
    capsys.readouterr()
    index(str(location), [str(folder)], nested, bits=8, device="cpu")
    index(str(location), [str(folder)], device="cpu")
    assert capsys.readouterr().err.count("20 items; nothing changed") == 2


def test_another_length_of_an_existing_index_is_refused_with_the_way_out(folder, nested, tmp_path):
    location = tmp_path / "index"
    index(str(location), [str(folder)], nested, bits=8, device="cpu")
    for model in (nested, None):
        with pytest.raises(InputError, match="holds codes of 8 bits, not of 4") as refused:
            index(str(location), [str(folder)], model, bits=4, device="cpu")
        assert "leave --bits out, or make a new index of 4 bits" in refused.value.hint
    index(str(location), [str(folder)], device="cpu")  # nobody has it open


def test_codes_of_first_bits_are_indexed_with_the_model_they_came_from(folder, nested, tmp_path):
    codes, names, location = (tmp_path / name for name in ("codes.npy", "names.txt", "index"))
    encode([str(folder)], codes, nested, names, bits=4, device="cpu")
    index(str(location), [str(folder)], nested, codes=codes, names=names, bits=4)
    with HammingIndex.open(location) as opened:
        assert opened.hasher.bits == 4
        assert opened.search(folder / "scene-00003.png", k=1)[0].distance == 0


@pytest.fixture(scope="module")
def measured(folder, nested, tmp_path_factory):
    """What `evaluate --bits 4,12,8` saves."""
    path = tmp_path_factory.mktemp("reports") / "report.json"
    evaluate(nested, str(folder), bits="4,12,8", at="5,all", output=path, device="cpu")
    return json.loads(path.read_text())


def test_evaluate_measures_several_lengths_with_one_encoding(folder, nested, measured):
    split = ImageSet.read(folder).split("random", seed=0)
    sides = split.query, split.database
    codes = [Hasher.load(nested).encode(side, device="cpu") for side in sides]
    assert list(measured) == ["4", "12", "8"]
    for name, report in measured.items():
        bits = int(name)
        short = [first(side, bits) for side in codes]
        labels = [side.labels for side in sides]
        expected = evaluate_codes(*short, *labels, bits=bits, at=(5, "all"))
        assert report["metrics"] == pytest.approx(expected.metrics)
        assert report["contract"]["bits"] == bits
        assert report["contract"].get("first_of") == (None if bits == 12 else 12)
        assert report["contract"]["split"] == split.sha256


def test_several_lengths_are_one_table(folder, nested, measured, capsys):
    evaluate(nested, str(folder), bits="4,12", at="5,all", rescore=True, device="cpu")
    printed = capsys.readouterr()
    rows = [line.split() for line in printed.out.splitlines() if line.strip().startswith("@")]
    assert [row[:2] for row in rows[::2]] == [
        ["@5", "4"],
        ["@5", "12"],
        ["@all", "4"],
        ["@all", "12"],
    ]
    assert rows[0][2] == f"{measured['4']['metrics']['map@5']:.4f}"
    assert rows[1][1:3] == ["4,", "rescored"]
    assert "up to 12 bits" in printed.out
    assert max(map(len, printed.out.splitlines())) < 90


def test_one_length_is_one_report(folder, nested, measured, capsys):
    evaluate(nested, str(folder), bits="8", at="5,all", device="cpu", as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert found == measured["8"]
    evaluate(nested, str(folder), bits="8", at="5,all", device="cpu")
    assert "codes of 12 bits, their first 8 bits, ties expected" in capsys.readouterr().out


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Codes of 20 bits and labels, as files."""
    folder, rng = tmp_path_factory.mktemp("codes"), np.random.default_rng(0)
    arrays = {
        "query_codes": np.packbits(rng.random((9, 20)) < 0.5, axis=1),
        "database_codes": np.packbits(rng.random((40, 20)) < 0.5, axis=1),
        "query_labels": (rng.random((9, 3)) < 0.5).astype(np.uint8) | [1, 0, 0],
        "database_labels": (rng.random((40, 3)) < 0.5).astype(np.uint8),
    }
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    return {name: folder / f"{name}.npy" for name in arrays}, arrays


def test_given_codes_are_measured_at_several_lengths(files, capsys):
    paths, arrays = files
    evaluate(**paths, bits="10,20", at="all", device="cpu", as_json=True)
    found = json.loads(capsys.readouterr().out)
    for bits in (10, 20):
        codes = [
            pack(unpack(arrays[f"{side}_codes"], 20)[:, :bits]) for side in ("query", "database")
        ]
        labels = arrays["query_labels"], arrays["database_labels"]
        expected = evaluate_codes(*codes, *labels, bits=bits, at="all")
        assert found[str(bits)]["metrics"] == pytest.approx(expected.metrics)
    with pytest.raises(InputError, match="10 bits"):  # one length is that of the codes
        evaluate(**paths, bits="10", device="cpu")


@pytest.mark.parametrize("text", ["16,x", "16,,48", "-4", "4 bits"])
def test_what_is_not_a_number_of_bits_is_wrong_use(text):
    with pytest.raises(UsageError, match="is not a number of bits"):
        evaluate(bits=text)


def test_evaluate_refuses_more_bits_than_there_are_before_it_encodes(folder, nested, capsys):
    with pytest.raises(UsageError, match="codes have 12 bits, and the first 16 are asked"):
        evaluate(nested, str(folder), bits="4,16", device="cpu")
    assert "encoding" not in capsys.readouterr().err
