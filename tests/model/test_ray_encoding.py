"""Encoding on Ray: the same files as without it, also where a machine dies in the middle."""

import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="softhash[ray] is not installed")
pytest.importorskip("pyarrow")

from softhash.data import scenes
from softhash.data.shards.names import find_shards
from softhash.model.hasher import Hasher
from softhash.model.shard_encoding import describe_codes_of, encode_shards

pytestmark = pytest.mark.slow

CLUSTER = """
import json, os, sys
from pathlib import Path

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
import ray
from ray.cluster_utils import Cluster

from softhash.data.shards.names import find_shards
from softhash.model.hasher import Hasher
from softhash.model.ray_encoding import encode_shards
from softhash.model.shard_encoding import describe_codes_of

pattern, model, folder = sys.argv[1:]
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
workers = {one.node_id: one for one in [cluster.add_node(num_cpus=1) for _ in range(2)]}
cluster.wait_for_nodes()
hasher = Hasher.load(model)
about = describe_codes_of(hasher, "cpu")
done, killed = [], None
for outcome in encode_shards(
    hasher, find_shards([pattern]), Path(folder), about,
    address=cluster.address, model=Path(model), device="cpu",
):
    done.append([outcome.shard.name, str(outcome.error or ""), list(outcome.summary or [])[:2]])
    if not killed and len(done) >= 3:
        actors = ray._private.state.actors().values()
        encoders = [one for one in actors if "BatchEncoder" in one["ActorClassName"]]
        alive = [one["Address"]["NodeID"] for one in encoders if one["State"] == "ALIVE"]
        killed = next((node for node in workers if node in alive), None)
        if killed:
            at = len(done)
            cluster.remove_node(workers[killed], allow_graceful=False)
found = {"done": done, "at": at, "killed": killed}
print("RESULT" + json.dumps(found))
cluster.shutdown()
"""


@pytest.fixture
def shards(tmp_path):
    """Sixteen archives of forty scenes, one picture cut short, and a damaged archive."""
    photos = tmp_path / "photos"
    scenes.write(photos, count=40, size=64, workers=1)
    cut = photos / "scene-00005.png"
    cut.write_bytes(cut.read_bytes()[:300])
    for i in range(17):
        with tarfile.open(tmp_path / f"data-{i:02}.tar", "w") as archive:
            for path in sorted(photos.glob("*.png")):
                archive.add(path, f"{i:02}-{path.name}")
    damaged = tmp_path / "data-16.tar"
    damaged.write_bytes(damaged.read_bytes()[:30_000])
    return str(tmp_path / "data-{00..16}.tar")


def encode_here(shards, model, folder):
    folder.mkdir()
    hasher = Hasher.load(model)
    about = describe_codes_of(hasher, "cpu")
    return list(encode_shards(hasher, find_shards([shards]), folder, about, device="cpu"))


def contents(folder):
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def test_a_machine_that_dies_in_the_middle_costs_nothing_and_doubles_nothing(
    shards, tiny_model, tmp_path
):
    here = encode_here(shards, tiny_model, tmp_path / "here")
    assert [one.shard.name for one in here if one.error] == ["data-16"]
    (tmp_path / "ray").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", CLUSTER, shards, str(tiny_model), str(tmp_path / "ray")],
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT")]
    assert lines, done.stderr[-5000:]
    found = json.loads(lines[0].removeprefix("RESULT"))
    assert found["killed"], "a machine at work was killed"
    assert 3 <= found["at"] < 17, "in the middle"
    assert sorted(name for name, _, _ in found["done"]) == [f"data-{i:02}" for i in range(17)]
    assert {name: why for name, why, _ in found["done"] if why} == {
        one.shard.name: str(one.error) for one in here if one.error
    }
    assert contents(tmp_path / "ray") == contents(tmp_path / "here")


def test_the_command_on_a_ray_of_its_own_writes_the_same_files(shards, tiny_model, tmp_path):
    encode_here(shards, tiny_model, tmp_path / "here")
    command = [sys.executable, "-m", "softhash", "encode", shards, "-m", str(tiny_model)]
    done = subprocess.run(
        [*command, "-o", str(tmp_path / "ray"), "--ray", "local", "--device", "cpu"],
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert "1 of 17 shards have no codes" in done.stderr
    assert "16 files skipped: 16 damaged" in done.stderr
    assert contents(tmp_path / "ray") == contents(tmp_path / "here")
