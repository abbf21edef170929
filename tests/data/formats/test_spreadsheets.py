"""Tables as spreadsheets write them."""

import layouts
import pytest

from softhash.data.image_set import ImageSet
from softhash.errors import InputError


@pytest.fixture
def read(tmp_path):
    layouts.jpeg(tmp_path / "a.jpg", tmp_path / "b.jpg")

    def read(text: str, encoding: str = "utf-8") -> dict[str, tuple[str, ...]]:
        layouts.put(tmp_path / "metadata.csv", text.encode(encoding))
        images = ImageSet.read(tmp_path)
        return {name: images.label_names(i) for i, name in enumerate(images.file_names)}

    return read


SEA_AND_SKY = {"a.jpg": ("sea", "sky"), "b.jpg": ("sky",)}


@pytest.mark.parametrize(
    "text",
    [
        "file_name;labels\na.jpg;sea, sky\nb.jpg;sky\n",
        'file_name;labels\na.jpg;"sea;sky"\nb.jpg;sky\n',
        "file_name\tlabels\r\na.jpg\tsea;sky\r\nb.jpg\tsky\r\n",
        'file_name,labels\na.jpg,"sea, sky"\nb.jpg,sky\n',
        '"File Name";"Keywords"\n"a.jpg";"sea,sky"\n"b.jpg";"sky"\n',
        "sep=;\r\nFilename;Tags\r\na.jpg;sea,sky\r\nb.jpg;sky\r\n",
        "SourceFile,Subject\n./a.jpg,sea;sky\n./b.jpg,sky\n",
        "IMAGE;Sea;sky\na.jpg;1;1\nb.jpg;;1\n".replace("Sea", "sea"),
        "File-Name,Labels,,\na.jpg,sea;sky,,\nb.jpg,sky,,\n,,,\n",
    ],
)
def test_a_table_is_read_with_any_separator_and_header_that_people_write(read, text):
    assert read(text) == SEA_AND_SKY


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_table_is_read_in_the_encodings_of_spreadsheets(read, encoding):
    assert read("Datei\tfile_name\tTags\n1\ta.jpg\tMeer; Küste\n", encoding) == {
        "a.jpg": ("Küste", "Meer"),
        "b.jpg": (),
    }


def test_a_column_of_zeros_and_ones_is_a_label_whatever_its_name(read):
    found = read("file_name,tag,Subject,path\na.jpg,1,0,1\nb.jpg,0,1,0\n")
    assert found == {"a.jpg": ("tag", "path"), "b.jpg": ("Subject",)}


def test_a_single_label_may_have_commas(read):
    assert read('file_name,label\na.jpg,"crane, machine"\n')["a.jpg"] == ("crane, machine",)


def test_lines_are_counted_with_the_one_that_names_the_separator(read):
    with pytest.raises(InputError, match="line 3 has 3 cells"):
        read("sep=,\nfile_name,labels\na.jpg,sea,sky\n")


def test_pictures_that_a_table_does_not_name_are_kept_and_counted(tmp_path):
    root = layouts.table(tmp_path)
    layouts.jpeg(root / "sub/d.png", root / "e.jpg")
    layouts.put(root / "film.mov", "x")
    images = ImageSet.read(root)
    assert images.file_names[3:] == ("e.jpg", "sub/d.png")
    assert not images.labels[3:].any()
    assert images.notes == (
        "2 pictures are not in metadata.csv and are read without labels: e.jpg, sub/d.png",
    )
    assert images.skipped == {"video": 1}
    assert len(ImageSet.read(root / "metadata.csv")) == 3
