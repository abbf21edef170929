"""NUS-WIDE: the layouts in circulation, and what they lack."""

import layouts
import pytest

from softhash.data.formats.nuswide import FREQUENT
from softhash.data.image_set import ImageSet
from softhash.errors import InputError

SPELLINGS = {
    "as listed": lambda name: f"Flickr/{name}",
    "flat": lambda name: f"images/{name.split('/')[1]}",
    "by id": lambda name: f"images/{name.split('_')[1]}",
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_nuswide_finds_the_pictures_in_each_layout(tmp_path, spelling):
    spell = SPELLINGS[spelling]
    images = ImageSet.read(layouts.nus(tmp_path, spell))
    assert images.file_names == tuple(map(spell, layouts.NUS_NAMES[:2]))
    assert images.missing == (spell(layouts.NUS_NAMES[2]),)
    assert images.partition["train"].tolist() == [0]
    assert images.partition["test"].tolist() == [1]


def test_nuswide_reads_all_concepts_or_the_frequent_ones(tmp_path):
    layouts.nus(tmp_path)
    images = ImageSet.read(tmp_path)
    assert len(images.classes) == 22
    assert images.notes == ("22 concepts are there, not 81",)
    assert images.labels[:, images.classes.index("zebra")].tolist() == [0, 1]
    frequent = ImageSet.read(tmp_path, concepts=21)
    assert frequent.classes == FREQUENT
    assert len(FREQUENT) == 21
    assert frequent.labels.sum(axis=1).tolist() == [1, 1]


@pytest.mark.parametrize(
    ("content", "message"),
    [("0\n1\n", "2 lines, but the image list has 3"), ("0\n1\n2\n", "other lines than 0 and 1")],
)
def test_nuswide_refuses_labels_that_do_not_fit(tmp_path, content, message):
    layouts.put(layouts.nus(tmp_path) / "Groundtruth/AllLabels/Labels_sky.txt", content)
    with pytest.raises(InputError, match=message):
        ImageSet.read(tmp_path)


def test_nuswide_names_what_it_lacks(tmp_path):
    layouts.nus(tmp_path)
    (tmp_path / "Groundtruth/AllLabels/Labels_sky.txt").unlink()
    with pytest.raises(InputError, match=r"lacks 1 files: Labels_sky\.txt"):
        ImageSet.read(tmp_path, concepts=21)
    layouts.put(tmp_path / "ImageList/TrainImagelist.txt", "x\\y.jpg\n")
    with pytest.raises(
        InputError, match=r"names 1 pictures that ImageList\.txt does not: x/y\.jpg"
    ):
        ImageSet.read(tmp_path)
    layouts.put(tmp_path / "ImageList/ImageList.txt", "..\\..\\y.jpg\n")
    with pytest.raises(InputError, match="leads out"):
        ImageSet.read(tmp_path)
