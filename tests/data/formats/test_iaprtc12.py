"""IAPR TC-12 in both layouts, and the matrices of MATLAB."""

import io
import random

import layouts
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from softhash.data.formats._matlab import read_matrices
from softhash.data.image_set import ImageSet
from softhash.errors import InputError

DTYPES = st.sampled_from(["u1", "i1", "u2", "i4", "f4", "f8", "i8"])
MATRICES = arrays.arrays(
    DTYPES, arrays.array_shapes(min_dims=2, max_dims=2), elements={"min_value": 0, "max_value": 1}
)


def test_iaprtc12_reads_lists_and_matrices(tmp_path):
    images = ImageSet.read(layouts.iapr(tmp_path))
    assert images.file_names == ("images/00/25.jpg", "images/00/28.jpg", "images/00/26.jpg")
    assert images.classes == ("adult", "airplane")
    assert images.labels.tolist() == [[1, 0], [1, 1], [0, 1]]
    assert images.partition["train"].tolist() == [0, 1]
    assert images.partition["test"].tolist() == [2]


def test_iaprtc12_says_what_does_not_fit(tmp_path):
    layouts.iapr(tmp_path)
    layouts.put(tmp_path / "IAPRTC-12_TestLabels.mat", layouts.mat(np.array([[0.0, 2.0]])))
    with pytest.raises(InputError, match="other values than 0 and 1"):
        ImageSet.read(tmp_path)
    layouts.put(tmp_path / "IAPRTC-12_TestLabels.mat", layouts.mat(np.zeros((2, 2))))
    with pytest.raises(InputError, match=r"1 pictures and 2 words, and has \(2, 2\), \(2, 2\)"):
        ImageSet.read(tmp_path)
    layouts.put(tmp_path / "IAPRTC-12_TestLabels.mat", b"MATLAB" * 100)
    with pytest.raises(InputError, match="does not start like one"):
        ImageSet.read(tmp_path)
    (tmp_path / "IAPRTC-12_TestLabels.mat").unlink()
    with pytest.raises(InputError, match=r"should have one \*TestLabels\.mat, and has none"):
        ImageSet.read(tmp_path)


@given(matrix=MATRICES, compressed=st.booleans(), sparse=st.booleans())
def test_read_matrices_agrees_with_scipy(tmp_path_factory, matrix, compressed, sparse):
    from scipy.io import savemat
    from scipy.sparse import csc_matrix

    stored = csc_matrix(matrix.astype("f8")) if sparse else matrix
    stream = io.BytesIO()
    savemat(stream, {"text": "abc", "m": stored}, do_compression=compressed)
    path = layouts.put(tmp_path_factory.getbasetemp() / "scipy.mat", stream.getvalue())
    assert read_matrices(path)[-1].tolist() == matrix.tolist()


def test_read_matrices_takes_the_other_byte_order(tmp_path):
    def element(kind, data):
        return kind.to_bytes(4) + len(data).to_bytes(4) + data + b"\0" * (-len(data) % 8)

    body = element(6, (6).to_bytes(4) + bytes(4)) + element(5, (1).to_bytes(4) + (2).to_bytes(4))
    body += element(1, b"m") + element(9, np.array([1.0, 0.0], ">f8").tobytes())
    path = layouts.put(tmp_path / "big.mat", bytes(124) + b"\x01\x00MI" + element(14, body))
    assert read_matrices(path)[0].tolist() == [[1.0, 0.0]]


def test_read_matrices_refuses_a_file_that_unpacks_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr("softhash.data.formats._matlab._MOST_BYTES", 1000)
    path = layouts.put(tmp_path / "bomb.mat", layouts.mat(np.zeros((100, 100))))
    with pytest.raises(InputError, match="more than 1,000 bytes"):
        read_matrices(path)


@pytest.mark.parametrize("sparse", [False, True])
def test_damaged_matrices_raise_only_input_errors(tmp_path, sparse):
    from scipy.io import savemat
    from scipy.sparse import csc_matrix

    matrix = np.eye(3, 4)
    stream = io.BytesIO()
    savemat(stream, {"m": csc_matrix(matrix) if sparse else matrix})
    rng = random.Random(0)
    for _ in range(1000):
        data = bytearray(stream.getvalue())
        for _ in range(rng.choice([1, 1, 3])):
            data[rng.randrange(124, len(data))] = rng.choice([0, 1, 2, 4, 14, 127, 255])
        path = layouts.put(tmp_path / "m.mat", bytes(data[: rng.randrange(128, len(data) * 2)]))
        try:
            assert all(found.ndim == 2 for found in read_matrices(path))
        except InputError:
            continue


@pytest.mark.parametrize("inside", ["", "benchmark"])
def test_saiapr_reads_the_labels_of_regions(tmp_path, inside):
    images = ImageSet.read(layouts.saiapr(tmp_path) / inside)
    assert images.format == "saiapr"
    assert images.classes == ("air hostess", "sky-blue", "tree")
    assert images.labels.tolist() == [[0, 1, 1], [0, 0, 0], [1, 0, 0]]
    assert images.file_names[2] == "saiapr_tc-12/01/images/1000.jpg"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1000 1 99", r"1 regions have labels not in wlist\.txt: 99 \(01/labels\.txt line 1\)"),
        ("1000 1", r"labels\.txt line 1 is '1000 1'; it should be picture region label"),
    ],
)
def test_saiapr_says_what_is_wrong(tmp_path, line, message):
    layouts.put(layouts.saiapr(tmp_path) / "benchmark/saiapr_tc-12/01/labels.txt", line)
    with pytest.raises(InputError, match=message):
        ImageSet.read(tmp_path)


def test_saiapr_names_missing_pictures(tmp_path):
    layouts.put(layouts.saiapr(tmp_path) / "benchmark/saiapr_tc-12/01/labels.txt", "1001 1 1")
    assert ImageSet.read(tmp_path).missing == ("saiapr_tc-12/01/images/1001.jpg",)
