"""``encode`` of shards and ``index`` of their codes, as a person runs them."""

import json
import os
import subprocess
import sys
import tarfile
import time

import numpy as np
import pytest
from command import run

pq = pytest.importorskip("pyarrow.parquet")

from softhash.data import scenes  # noqa: E402
from softhash.data.image_set import ImageSet  # noqa: E402
from softhash.model.hasher import Hasher  # noqa: E402

CPU = ("--device", "cpu")


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """Thirty scenes, one of them cut short."""
    folder = tmp_path_factory.mktemp("shards") / "photos"
    scenes.write(folder, count=30, size=64, workers=1)
    cut = folder / "scene-00005.png"
    cut.write_bytes(cut.read_bytes()[:300])
    return folder


@pytest.fixture
def shards(photos, tmp_path):
    """The same pictures in three archives of ten."""
    for i in range(3):
        with tarfile.open(tmp_path / f"data-{i}.tar", "w") as archive:
            for j in range(10 * i, 10 * i + 10):
                name = f"scene-{j:05}.png"
                archive.add(photos / name, name)
    return tmp_path / "data-{0..2}.tar"


def expected_codes(photos, model):
    images = ImageSet.read(photos)
    found = Hasher.load(model).encode_readable(images)
    ids = [images.file_names[i].removesuffix(".png") for i in found.positions]
    return dict(zip(ids, found.values.tolist(), strict=True))


def codes_in(folder):
    """Read all files with pyarrow alone."""
    rows = [row for path in sorted(folder.iterdir()) for row in pq.read_table(path).to_pylist()]
    assert len({row["id"] for row in rows}) == len(rows)
    return {row["id"]: list(row["code"]) for row in rows}


def test_shards_have_the_codes_of_their_pictures_and_a_second_run_does_nothing(
    shards, photos, tiny_model, tmp_path
):
    codes = tmp_path / "codes"
    done = run("encode", shards, "-m", tiny_model, "-o", codes, *CPU)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert f"skipped: {tmp_path / 'data-0.tar'}: scene-00005.png" in done.stderr
    assert "1 file skipped: 1 damaged" in done.stderr
    assert "29 pictures of 3 shards" in done.stderr
    assert codes_in(codes) == expected_codes(photos, tiny_model)
    about = json.loads(pq.read_metadata(codes / "data-0.parquet").metadata[b"softhash"])
    assert about["model"] == Hasher.load(tiny_model).identity
    assert (about["bits"], about["skipped"]) == (12, {"damaged": 1})
    before = {path: path.stat().st_mtime_ns for path in codes.iterdir()}
    (codes / "data-1.parquet").unlink()
    again = run("encode", shards, "-m", tiny_model, "-o", codes, *CPU)
    assert "2 of 3 shards have their codes" in again.stderr
    assert "10 pictures of 1 shard in" in again.stderr
    after = {path: path.stat().st_mtime_ns for path in codes.iterdir()}
    assert [path.stem for path in before if after[path] != before[path]] == ["data-1"]


def test_parts_share_the_shards_and_write_the_same_files(shards, tiny_model, tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert run("encode", shards, "-m", tiny_model, "-o", whole, *CPU).returncode == 0
    for part, names in (("1/2", ["data-0", "data-2"]), ("2/2", ["data-0", "data-1", "data-2"])):
        done = run("encode", shards, "-m", tiny_model, "-o", parts, "--part", part, *CPU)
        assert done.returncode == 0, done.stderr
        assert sorted(path.stem for path in parts.iterdir()) == names
    for path in whole.iterdir():
        assert (parts / path.name).read_bytes() == path.read_bytes()


def test_a_damaged_shard_does_not_stop_the_others_and_is_tried_again(shards, tiny_model, tmp_path):
    damaged = tmp_path / "data-1.tar"
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:5000])
    codes = tmp_path / "codes"
    done = run("encode", shards, "-m", tiny_model, "-o", codes, *CPU)
    assert done.returncode == 1
    assert f"no codes of a shard: {damaged} " in done.stderr
    assert "1 of 3 shards have no codes" in done.stderr
    assert sorted(path.name for path in codes.iterdir()) == ["data-0.parquet", "data-2.parquet"]
    damaged.write_bytes(whole)
    assert run("encode", shards, "-m", tiny_model, "-o", codes, *CPU).returncode == 0
    assert len(codes_in(codes)) == 29


def test_a_killed_run_leaves_whole_files_and_the_next_one_does_the_rest(
    shards, photos, tiny_model, tmp_path
):
    codes = tmp_path / "codes"
    command = [sys.executable, "-m", "softhash", "encode", str(shards), "-m", str(tiny_model)]
    with subprocess.Popen([*command, "-o", str(codes), *CPU], stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and not (codes.is_dir() and any(codes.iterdir())):
            time.sleep(0.002)  # until the first shard is being written
        process.kill()
    whole = [path for path in codes.glob("*.parquet") if pq.read_table(path).num_rows >= 9]
    assert len(whole) == len(list(codes.glob("*.parquet")))
    assert run("encode", shards, "-m", tiny_model, "-o", codes, *CPU).returncode == 0
    assert codes_in(codes) == expected_codes(photos, tiny_model)
    assert len(list(codes.iterdir())) == 3, "what the killed run left is gone"


def test_codes_of_another_model_are_replaced_with_force_alone(
    shards, tiny_model, telling_model, tmp_path
):
    codes = tmp_path / "codes"
    assert run("encode", shards, "-m", tiny_model, "-o", codes, *CPU).returncode == 0
    short = ("encode", shards, "-m", tiny_model, "-o", codes, "--bits", 8, *CPU)
    refused = run(*short)
    assert refused.returncode == 1
    assert "of another model or another shard" in refused.stderr
    assert "--force" in refused.stderr
    assert run(*short, "--force").returncode == 0
    assert {len(code) for code in codes_in(codes).values()} == {1}


def test_codes_become_an_index_that_is_searched_by_picture(shards, photos, tiny_model, tmp_path):
    codes, index = tmp_path / "codes", tmp_path / "my.index"
    assert run("encode", shards, "-m", tiny_model, "-o", codes, *CPU).returncode == 0
    files = sorted(codes.iterdir())
    done = run("index", "--codes", *files, "-o", index, "-m", tiny_model, "--json")
    assert done.returncode == 0, done.stderr
    assert {**json.loads(done.stdout), "seconds": 0} == {
        "added": 29, "changed": 0, "items": 29, "seconds": 0,
    }  # fmt: skip
    found = run("search", photos / "scene-00007.png", "-i", index, "-k", 29, "--json")
    hits = json.loads(found.stdout)["hits"]
    assert "scene-00007" in [hit["file_name"] for hit in hits if hit["distance"] == 0]
    other = run("index", "--codes", codes, "-o", tmp_path / "b.index", "--with-shard")
    assert other.returncode == 0, other.stderr
    assert "29 items; 29 added, 0 replaced, from 3 files" in other.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["encode", "{tar}", "-m", "{model}", "-o", "c.npy"], "codes of shards go to a folder"),
        (["encode", "{tar}", "-m", "{model}", "-o", "c", "--ids", "i.txt"], "leave --ids out"),
        (["encode", "{tar}", "photos", "-m", "{model}", "-o", "c"], "photos is not a shard"),
        (["encode", "a", "b", "-m", "{model}", "-o", "c.npy"], "several collections are named"),
        (["encode", "a", "-m", "{model}", "-o", "c.npy", "--part", "1/2"], "are for shards"),
        (["encode", "{tar}", "-m", "{model}", "-o", "c", "--part", "3/2"], "--part is '3/2'"),
        (["encode", "no.tar", "-m", "{model}", "-o", "c"], "shards do not exist: no.tar"),
        (["index", "--codes", "no.parquet", "-o", "i"], "1 of 1 shards do not exist"),
        (["index", "--codes", "{tar}", "-o", "i"], "codes come with names and length"),
    ],
)
def test_what_cannot_be_meant_is_said_in_a_line(shards, tiny_model, tmp_path, arguments, message):
    places = {"tar": tmp_path / "data-0.tar", "model": tiny_model}
    done = run(*(word.format(**places) for word in arguments), cwd=tmp_path)
    assert done.returncode in (1, 2)
    assert message in " ".join(done.stderr.split()), done.stderr
    assert "Traceback" not in done.stderr
    assert np.all([path.name != "c.npy" for path in tmp_path.iterdir()])


def test_the_extra_is_named_where_pyarrow_is_not_installed(shards, tiny_model, tmp_path):
    (tmp_path / "hiding").mkdir()
    hide = 'import sys\n\nsys.modules["pyarrow"] = None\n'
    (tmp_path / "hiding" / "sitecustomize.py").write_text(hide)
    paths = [str(tmp_path / "hiding"), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    done = run("encode", shards, "-m", tiny_model, "-o", tmp_path / "c", *CPU, env=environment)
    assert done.returncode == 1
    assert "this needs pyarrow; install it with: pip install 'softhash[parquet]'" in done.stderr
