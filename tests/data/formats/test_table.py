"""Tables: both spellings, both kinds of label, and what can be wrong with them."""

import layouts
import numpy as np
import pytest

from softhash.data.image_set import ImageSet
from softhash.errors import InputError


@pytest.fixture
def write(tmp_path):
    layouts.jpeg(tmp_path / "a.jpg", tmp_path / "b.jpg")

    def write(text: str | bytes, name: str = "metadata.csv") -> ImageSet:
        layouts.put(tmp_path / name, text)
        return ImageSet.read(tmp_path)

    return write


def test_table_reads_labels_with_semicolons(tmp_path):
    images = ImageSet.read(layouts.table(tmp_path))
    assert images.file_names == ("a.jpg", "sub/b.jpg", "c.jpg")
    assert images.classes == ("sea", "sky")
    assert images.labels.tolist() == [[1, 1], [0, 1], [0, 0]]
    assert images.without_labels.tolist() == [False, False, True]
    assert (images.missing, images.notes, images.partition) == ((), (), None)


def test_table_reads_jsonl_and_given_files(tmp_path):
    layouts.jsonl(tmp_path)
    for path in (tmp_path, tmp_path / "metadata.jsonl"):
        assert ImageSet.read(path).labels.tolist() == [[1, 1], [0, 0]]
    other = layouts.put(tmp_path / "mine.csv", "file_name,labels\nb.jpg,sun\n")
    assert ImageSet.read(other).classes == ("sun",)


def test_table_takes_zero_one_columns_in_their_order(write):
    images = write("file_name,sky,caption,sea\na.jpg,1,text,0\nb.jpg,,more,1\n")
    assert images.classes == ("sky", "sea")
    assert images.labels.tolist() == [[1, 0], [0, 1]]
    assert images.notes == ("columns without 0 and 1 are not labels: caption",)
    images = write(
        '{"file_name": "a.jpg", "sky": true}\n{"file_name": "b.jpg", "sea": 1}\n', "m.jsonl"
    )


def test_table_takes_json_lists_quotes_and_a_byte_order_mark(write):
    text = '\ufefffile_name,labels\r\na.jpg,"[""a, b"", 3]"\r\n\r\n"b.jpg",a;;\r\n'
    images = write(text)
    assert images.classes == ("3", "a", "a, b")
    assert images.labels.tolist() == [[1, 0, 1], [0, 1, 0]]


def test_table_reads_the_split(write):
    images = write("file_name,labels,split\nb.jpg,x,train;all\na.jpg,x,all\n")
    assert {name: part.tolist() for name, part in images.partition.items()} == {
        "train": [0],
        "all": [0, 1],
    }


def test_table_merges_rows_of_one_file(write):
    images = write("file_name,labels\na.jpg,sky\nb.jpg,sea\n./a.jpg,sun\nb.jpg,sea\n")
    assert images.file_names == ("a.jpg", "b.jpg")
    assert images.labels.tolist() == [[0, 1, 1], [1, 0, 0]]
    assert images.notes == ("1 files have rows that differ; labels merged: a.jpg",)


def test_table_names_what_is_missing(write):
    images = write("file_name,labels,split\nnone.jpg,sky,train\nb.jpg,sea,train\n")
    assert images.missing == ("none.jpg",)
    assert images.file_names == ("b.jpg", "a.jpg")
    assert images.partition["train"].tolist() == [0]
    with pytest.raises(InputError, match=r"none of the 1 images .* none\.jpg"):
        write("file_name,labels\nnone.jpg,sky\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no rows"),
        ("file_name,labels\n", "no rows"),
        ("name,labels\na.jpg,sky\n", "line 2 has no file_name; its columns are name, labels"),
        ("file_name,labels\na.jpg,sky,sea\n", "line 2 has 3 cells"),
        ("file_name,labels,labels\na.jpg,x,y\n", "two columns of one name"),
        ('file_name,labels\na.jpg,"sky\n', "not CSV"),
        ("file_name,labels\na.jpg,[1\n", "the list in .* is not JSON"),
        ('file_name,labels\na.jpg,"[{}]"\n', "write a list of names"),
        ("file_name,sky\na.jpg,1\nb.jpg,2\n", "line 3 has '2' in column 'sky'"),
        (b"file_name,labels\na.jpg,\xff\n", "line 2 is not UTF-8"),
    ],
)
def test_table_says_what_is_wrong_with_a_csv(write, text, message):
    with pytest.raises(InputError, match=message):
        write(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]\n", "line 1 is not an object"),
        ('{"file_name": "a.jpg"}\n{"file_name"\n', "line 2 is not JSON"),
        ('{"file_name": 3}\n', "no file_name"),
        ('{"file_name": "a.jpg", "labels": {"sky": 1}}\n', "write a list of names"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_table_says_what_is_wrong_with_a_jsonl(write, text, message):
    with pytest.raises(InputError, match=message):
        write(text, "metadata.jsonl")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../a.jpg", "leads out"),
        ("sub/../../a.jpg", "leads out"),
        ("/etc/passwd", "absolute"),
        ("C:/a.jpg", "absolute"),
        ("sub\\\\a.jpg", "backslash"),
        ("a\\u0000.jpg", "not text"),
        ("\\ud800.jpg", "not text"),
        ("", "names no file"),
        ("./", "names no file"),
    ],
)
def test_table_never_leaves_its_folder(write, name, reason):
    with pytest.raises(InputError, match=rf"1 file names cannot be used: .*{reason}"):
        write(f'{{"file_name": "{name}", "labels": []}}\n', "metadata.jsonl")


def test_links_may_lead_within_the_folder_and_not_out_of_it(tmp_path):
    root = layouts.table(tmp_path / "set")
    layouts.jpeg(tmp_path / "outside/x.jpg")
    (root / "c.jpg").unlink()
    (root / "c.jpg").symlink_to(root / "a.jpg")
    assert len(ImageSet.read(root)) == 3
    (root / "c.jpg").unlink()
    (root / "c.jpg").symlink_to(tmp_path / "outside/x.jpg")
    with pytest.raises(InputError, match=r"c\.jpg is a link out of"):
        ImageSet.read(root)
    (root / "c.jpg").unlink()
    (root / "deep").symlink_to(tmp_path / "outside")
    layouts.put(root / "metadata.csv", "file_name\ndeep/x.jpg\n")
    with pytest.raises(InputError, match="deep is a link out of"):
        ImageSet.read(root)
    (root / "loop.jpg").symlink_to(root / "loop.jpg")
    layouts.put(root / "metadata.csv", "file_name\nloop.jpg\na.jpg\n")
    assert ImageSet.read(root).missing == ("loop.jpg",)


def test_table_without_labels_has_no_classes(write):
    images = write("file_name\na.jpg\nb.jpg\n")
    assert images.labels.shape == (2, 0)
    assert images.labels.dtype == np.uint8
