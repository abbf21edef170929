"""Files of codes become an index, file by file."""

import numpy as np
import pytest

pytest.importorskip("pyarrow")

from softhash.data.shards.code_file import About, write_codes
from softhash.errors import InputError, ModelMismatchError, NoModelError
from softhash.index import _new_names
from softhash.index.code_import import SeenIds, check_alike, create_for_codes, import_codes

ABOUT = About(16, "a" * 64)


@pytest.fixture(autouse=True, params=["few", "many"])
def ways(request, monkeypatch):
    """Add items one by one, and as many are added."""
    if request.param == "many":
        monkeypatch.setattr(_new_names, "FEW", 0)


def write(path, ids, seed=0, about=ABOUT):
    codes = np.random.default_rng(seed).integers(0, 256, (len(ids), 2), np.uint8)
    with write_codes(path, about.bits) as writer:
        writer.add(ids, codes, [""] * len(ids))
        writer.finish(about)
    return path, codes


def test_items_have_the_ids_and_codes_of_the_files_in_their_order(tmp_path):
    first, a = write(tmp_path / "a.parquet", ["x/1", "x/2"])
    second, b = write(tmp_path / "b.parquet", ["y"], seed=1)
    with create_for_codes(tmp_path / "i", check_alike([first, second])) as index:
        found = import_codes(index, [first, second], ABOUT)
        assert found == (3, 0, 3)
        assert [index.get(i).file_name for i in range(3)] == ["x/1", "x/2", "y"]
        np.testing.assert_array_equal(index.store.codes([0, 1, 2]), np.vstack((a, b)))
        assert import_codes(index, [second], ABOUT) == (0, 1, 3)
        with pytest.raises(NoModelError):
            index.search("dog.jpg")


def test_an_id_in_two_files_is_an_error_unless_items_are_named_after_files(tmp_path):
    first, _ = write(tmp_path / "a.parquet", ["1", "2"])
    second, _ = write(tmp_path / "b.parquet", ["3", "2"], seed=1)
    with (
        create_for_codes(tmp_path / "i", ABOUT) as index,
        pytest.raises(InputError, match=r"2 is in .*b\.parquet and in a file before it"),
    ):
        import_codes(index, [first, second], ABOUT)
    with create_for_codes(tmp_path / "j", ABOUT) as index:
        found = import_codes(index, [first, second], ABOUT, with_shard=True)
        assert found.items == 4
        assert index.get(3).file_name == "b/2"
    twice, _ = write(tmp_path / "c.parquet", ["1", "1"])
    with (
        create_for_codes(tmp_path / "k", ABOUT) as index,
        pytest.raises(InputError, match=r"1 is in .* more than once"),
    ):
        import_codes(index, [twice], ABOUT)


def test_codes_of_two_models_do_not_meet(tmp_path):
    first, _ = write(tmp_path / "a.parquet", ["1"])
    second, _ = write(tmp_path / "b.parquet", ["2"], about=About(16, "b" * 64))
    with pytest.raises(ModelMismatchError, match="weights bbbb"):
        check_alike([first, second])
    with create_for_codes(tmp_path / "i", ABOUT) as index:
        with pytest.raises(ModelMismatchError, match="make a new index"):
            import_codes(index, [second], About(16, "b" * 64))
        assert len(index) == 0


def test_ids_are_remembered_as_a_set_would():
    rng = np.random.default_rng(0)
    seen, oracle = SeenIds(), set()
    for _ in range(200):
        ids = rng.choice(20_000, 20, replace=False).tolist()
        expected = next((i for i, id in enumerate(ids) if id in oracle), None)
        assert seen.first_known(ids) == expected
        oracle |= set(ids)
    assert seen.first_known([1 << 62]) is None
