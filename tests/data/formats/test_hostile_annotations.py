"""Annotations made to fill the memory, or to break a reader: one error, and the way out."""

import json
import struct
import zlib

import layouts
import numpy as np
import pytest

from softhash.data.formats import assembly
from softhash.data.formats._matlab import read_matrices
from softhash.data.image_set import ImageSet
from softhash.data.text_files import read_bytes
from softhash.errors import InputError


def element(kind, data):
    return struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8)


def array(kind, shape, *parts):
    head = element(6, struct.pack("<II", kind, 0)) + element(5, struct.pack("<ii", *shape))
    return element(14, head + element(1, b"m") + b"".join(parts))


def mat(*elements):
    return b"MATLAB 5.0".ljust(124) + b"\x00\x01IM" + b"".join(elements)


def compressed(data):
    packed = zlib.compress(data)
    return struct.pack("<II", 15, len(packed)) + packed


SPARSE = element(5, b""), element(5, bytes(4 * 1001)), element(9, b"")

HOSTILE = {
    "flags without a value": mat(element(14, element(6, b"") + element(5, b"") + element(1, b""))),
    "a shape of fractions": mat(
        element(14, element(6, bytes(8)) + element(9, b"\xff" * 16) + element(1, b"m"))
    ),
    "elements without end": mat(array(6, (1, 1), element(1, b"") * 100_001)),
    "several that fit each alone": mat(*[compressed(array(6, (0, 0), bytes(10**6)))] * 300),
    "sparse ones made full": mat(*[array(5, (10_000, 1000), *SPARSE)] * 12),
    "an index beyond its values": mat(
        array(5, (2, 1), element(5, b""), element(12, struct.pack("<qq", 1, 1 << 62)), SPARSE[2])
    ),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_read_matrices_refuses(what, tmp_path):
    path = layouts.put(tmp_path / "labels.mat", HOSTILE[what])
    with pytest.raises(InputError, match="not a MATLAB 5 file"):
        read_matrices(path)


def test_read_matrices_takes_an_empty_sparse_matrix(tmp_path):
    path = layouts.put(tmp_path / "labels.mat", mat(array(5, (10, 1000), *SPARSE)))
    assert [matrix.shape for matrix in read_matrices(path)] == [(10, 1000)]


def test_annotations_over_the_limit_are_not_read(tmp_path):
    path = layouts.put(tmp_path / "labels.txt", bytes(101))
    assert len(read_bytes(path, 101)) == 101
    with pytest.raises(InputError, match="more than 100 bytes"):
        read_bytes(path, 100)


@pytest.mark.parametrize("form", ["labels", "columns", "coco"])
def test_a_label_for_each_picture_is_refused_before_the_matrix_is_made(form, tmp_path, monkeypatch):
    monkeypatch.setattr(np, "zeros", lambda *_, **__: pytest.fail("a matrix was made"))
    monkeypatch.setattr(assembly, "MAX_LABEL_BYTES", 999_999)
    count = 1_000
    if form == "coco":
        data = {
            "images": [{"id": i, "file_name": f"{i}.jpg"} for i in range(count)],
            "categories": [{"id": i, "name": f"name {i}"} for i in range(count)],
            "annotations": [],
        }
        path = layouts.put(tmp_path / "instances.json", json.dumps(data))
    elif form == "labels":
        lines = [f"{i}.jpg,name {i}" for i in range(count)]
        path = layouts.put(tmp_path / "metadata.csv", "\n".join(["file_name,labels", *lines]))
    else:
        lines = [f'{{"file_name": "{i}.jpg", "name {i}": 1}}' for i in range(count)]
        path = layouts.put(tmp_path / "metadata.jsonl", "\n".join(lines))
    with pytest.raises(InputError, match=r"1,000 different labels of 1,000.*'name 0'.*captions"):
        ImageSet.read(path)
