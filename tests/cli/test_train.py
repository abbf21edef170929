"""``train`` and ``evaluate MODEL DATA`` as a person runs them."""

import json
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from types import ModuleType

import numpy as np
import pytest
from command import run

from softhash import Options, fit
from softhash.cli.train import train
from softhash.codes import DEFAULT_BITS
from softhash.data import scenes
from softhash.data.image_set import ImageSet
from softhash.evaluation.by_distance import evaluate_rescored
from softhash.model.hasher import Hasher


@pytest.fixture(scope="module")
def arrays(tmp_path_factory):
    folder = tmp_path_factory.mktemp("arrays")
    rng = np.random.default_rng(0)
    labels = (rng.random((150, 5)) < 0.35).astype(np.uint8)
    np.save(folder / "labels.npy", labels)
    np.save(folder / "features.npy", labels @ rng.normal(size=(5, 16)))
    return folder


def test_embeddings_are_trained_saved_and_logged(arrays, tmp_path):
    arguments = ["--features", arrays / "features.npy", "--labels", arrays / "labels.npy"]
    done = run("train", *arguments, "-o", tmp_path / "model", "--bits", 16, "--epochs", 5)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    hasher = Hasher.load(tmp_path / "model")
    assert hasher.bits == 16
    assert hasher.config["card"]["settings"]["epochs"] == 5
    lines = (tmp_path / "model" / "log.jsonl").read_text().splitlines()
    log = [json.loads(line) for line in lines]
    assert [figures["epoch"] for figures in log][:2] == [1, 2]
    assert [path.name for path in tmp_path.iterdir()] == ["model"]  # the run's folder is gone
    again = run("train", *arguments, "-o", tmp_path / "model", "--bits", 16)
    assert again.returncode == 1
    assert "--force" in again.stderr
    forced = run("train", *arguments, "-o", tmp_path / "model", "--epochs", 1, "--force")
    assert forced.returncode == 0, forced.stderr
    assert Hasher.load(tmp_path / "model").bits == DEFAULT_BITS


@pytest.mark.slow
def test_torchrun_trains_the_model_that_one_process_does(torchrun, arrays, tmp_path):
    recipe = tmp_path / "recipe.toml"
    recipe.write_text("bits = 16\nepochs = 6\nhidden = 0\ndropout = 0.0\nbatch_size = 31\n")
    (tmp_path / "even.toml").write_text(recipe.read_text().replace("31", "30"))
    arguments = ["--features", arrays / "features.npy", "--labels", arrays / "labels.npy"]
    one = run("train", *arguments, "-o", tmp_path / "one", "--recipe", tmp_path / "even.toml")
    assert one.returncode == 0, one.stderr
    command = [sys.executable, *torchrun, "-m", "softhash", "train", *arguments]
    command += ["-o", tmp_path / "two", "--recipe", recipe]  # 31: shares must be equally long
    two = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120)
    assert two.returncode == 0, two.stderr
    features = np.load(arrays / "features.npy").astype(np.float32)
    outputs = [Hasher.load(tmp_path / name).outputs(features) for name in ("one", "two")]
    assert np.allclose(*outputs, atol=1e-5)
    assert len((tmp_path / "two" / "log.jsonl").read_text().splitlines()) >= 6
    assert two.stderr.count("saved") == 1
    assert not (tmp_path / "two.run").exists()


@pytest.mark.slow
def test_an_interrupted_run_is_kept_and_resumed_to_the_same_model(arrays, tmp_path):
    arguments = ["--features", arrays / "features.npy", "--labels", arrays / "labels.npy"]
    arguments += ["--epochs", "400", "--bits", "16"]
    whole = run("train", *arguments, "-o", tmp_path / "whole")
    assert whole.returncode == 0, whole.stderr
    command = [sys.executable, "-m", "softhash", "train", *arguments, "-o", tmp_path / "cut"]
    process = subprocess.Popen(
        list(map(str, command)),
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # it may be off
    )
    log = tmp_path / "cut.run" / "log.jsonl"
    while process.poll() is None and not (log.exists() and log.stat().st_size):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 130, said
    assert "--resume goes on" in said
    assert not (tmp_path / "cut").exists()
    again = run("train", *arguments, "-o", tmp_path / "cut", "--resume")
    assert again.returncode == 0, again.stderr
    features = np.load(arrays / "features.npy").astype(np.float32)
    models = [Hasher.load(tmp_path / name) for name in ("whole", "cut")]
    assert np.array_equal(*(model.outputs(features) for model in models))
    for name in ("whole", "cut"):  # each epoch once, whatever was logged before the interruption
        lines = (tmp_path / name / "log.jsonl").read_text().splitlines()
        assert [json.loads(line)["epoch"] for line in lines] == list(range(1, 401))


def test_a_model_sees_pictures_of_the_size_it_was_trained_with(tmp_path):
    scenes.write(tmp_path / "photos", count=24, size=48, workers=1)
    asked = ["train", tmp_path / "photos", "--protocol", "all", "--bits", 16, "--epochs", 1]
    done = run(*asked, "--weights", "random", "--size", 96, "-o", tmp_path / "model")
    assert done.returncode == 0, done.stderr
    hasher = Hasher.load(tmp_path / "model")
    assert hasher.size == hasher.config["card"]["settings"]["size"] == 96


@pytest.mark.usefixtures("tiny_backbone")
def test_python_trains_the_model_that_the_command_trains(tmp_path, monkeypatch, capsys):
    """In this process, so that the backbone can be put there; notes are printed on the way."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    scenes.write(tmp_path / "photos", count=60, size=48, workers=1)
    with (tmp_path / "photos" / "metadata.csv").open("a") as table:
        table.write("scene-00000.png,cat\n")
    train(
        tmp_path / "model", str(tmp_path / "photos"),
        method="idhn", bits=16, backbone="tiny", device="cpu", protocol="random",
    )  # fmt: skip
    printed = capsys.readouterr().err
    assert "note: 1 files have rows that differ" in printed
    assert "note: 60 pictures" in printed
    assert "training idhn, 16 bits, on 24 of 60 pictures, the train set of the split" in printed
    images = ImageSet.read(tmp_path / "photos").split("random", seed=0).train
    hasher = fit(Hasher("tiny", 16), images, method="idhn", options=Options(device="cpu"))
    assert hasher.identity == Hasher.load(tmp_path / "model").identity


@pytest.mark.usefixtures("tiny_backbone")
def test_without_a_protocol_all_pictures_are_trained_on_and_the_quality_is_estimated(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    scenes.write(tmp_path / "photos", count=60, size=48, workers=1)
    asked = {"method": "itq", "bits": 8, "backbone": "tiny", "device": "cpu"}
    train(tmp_path / "model", str(tmp_path / "photos"), **asked)
    printed = capsys.readouterr().err
    assert "training itq, 8 bits, on all 60 pictures" in printed
    assert "new pictures can expect (60 queries, cross-validation by 3 folds)" in printed
    card = Hasher.load(tmp_path / "model").config["card"]
    assert card["split"] == {"protocol": "all"}
    codes, features = card["estimate"]["codes"], card["estimate"]["features"]
    assert f"  codes of 8 bits    precision@20 {codes['precision@20']:.3f}  ndcg@20" in printed
    assert list(codes) == list(features)
    lost = card["estimate"]["lost"]
    assert ("note: this model is worse than plain features in" in printed) == bool(lost)
    images = ImageSet.read(tmp_path / "photos")
    hasher = fit(Hasher("tiny", 8), images, method="itq", options=Options(device="cpu"))
    assert hasher.identity == Hasher.load(tmp_path / "model").identity
    train(tmp_path / "quick", str(tmp_path / "photos"), **asked, estimate=False)
    assert "new pictures" not in capsys.readouterr().err
    assert "estimate" not in Hasher.load(tmp_path / "quick").config["card"]


@pytest.mark.usefixtures("tiny_backbone")
def test_an_estimate_that_cannot_be_made_is_a_note_and_the_model_is_saved(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    scenes.write(tmp_path / "photos", count=10, size=48, workers=1)
    asked = {"method": "itq", "bits": 4, "backbone": "tiny", "device": "cpu"}
    train(tmp_path / "model", str(tmp_path / "photos"), **asked)
    assert "the quality is not estimated: 10 labelled pictures are too" in capsys.readouterr().err
    assert Hasher.load(tmp_path / "model").bits == 4


def test_logs_of_tensorboard_are_written_where_they_are_asked_for_alone(
    arrays, tmp_path, monkeypatch
):
    """With a writer in place of TensorBoard's, which need not be installed."""
    written = {}

    class Writer:
        def __init__(self, folder):
            self.figures = written.setdefault(folder, [])

        def add_scalar(self, name, value, step):
            self.figures.append(name)

        def close(self):
            self.figures.append("closed")

    board = ModuleType("torch.utils.tensorboard")
    board.SummaryWriter = Writer
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", board)
    monkeypatch.chdir(tmp_path)
    given = {"features": arrays / "features.npy", "labels": arrays / "labels.npy"}
    given |= {"epochs": 1, "bits": 8, "device": "cpu"}
    train(tmp_path / "plain", **given)
    assert written == {}
    assert [path.name for path in tmp_path.iterdir()] == ["plain"]
    train(tmp_path / "logged", **given, tensorboard=tmp_path / "logs")
    figures = written[str(tmp_path / "logs")]
    assert set(figures) == {"loss", "rate", "pictures_per_second", "closed"}


@pytest.mark.skipif(find_spec("tensorboard") is not None, reason="TensorBoard is installed")
def test_a_missing_tensorboard_is_named_before_any_work(arrays, tmp_path):
    arguments = ["--features", arrays / "features.npy", "--labels", arrays / "labels.npy"]
    done = run("train", *arguments, "-o", tmp_path / "m", "--tensorboard", tmp_path / "logs")
    assert done.returncode == 2
    assert "--tensorboard needs tensorboard; install it with" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["scenes", "--method", "idnh"], 2, "unknown method 'idnh'; did you mean 'idhn'"),
        (["scenes", "--bits", "0"], 2, "1 to 1024 bits, not 0"),
        (["scenes", "--backbone", "alexnte"], 2, "did you mean 'alexnet'"),
        (["scenes", "--size", "-1"], 2, "size is -1; give at least 0"),
        (["scenes", "--size", "31"], 2, "size is 31; for efficientnet_lite0 give at least 32"),
        (["scenes", "--backbone", "alexnet", "--size", "62"], 2, "alexnet give at least 63"),
        (["scenes", "--device", "cuda"], 2, "no CUDA device"),
        (["nowhere"], 1, "nowhere does not exist"),
        ([], 2, "give either DATA, or --features"),
        (["--features", "x.npy"], 1, "x.npy does not exist"),
    ],
)
def test_wrong_use_is_named(arguments, code, message, tmp_path):
    done = run("train", *arguments, "-o", tmp_path / "model", cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert not (tmp_path / "model").exists()


def test_a_recipe_with_an_unknown_key_is_named(tmp_path):
    (tmp_path / "r.toml").write_text("bitz = 3\n")
    done = run("train", "scenes", "-o", tmp_path / "m", "--recipe", tmp_path / "r.toml")
    assert done.returncode == 2
    assert "unknown recipe key 'bitz'; did you mean 'bits'" in done.stderr


def test_rescored_searches_are_evaluated_where_that_is_asked_for(tiny_model, tmp_path):
    scenes.write(tmp_path / "photos", count=60, size=48, workers=1)
    asked = ["evaluate", tiny_model, tmp_path / "photos", "--at", "10,all", "--device", "cpu"]
    plain, report = (
        json.loads(run(*asked, *more, "--json").stdout) for more in ([], ["--rescore", "bits"])
    )
    assert "metrics_rescored" not in plain
    rescored = report.pop("metrics_rescored")
    assert report["contract"].pop("rescored") == "asymmetric distance within the first 5,000"
    assert report == plain
    hasher = Hasher.load(tiny_model)
    parts = ImageSet.read(tmp_path / "photos").split("random", seed=0)
    u, codes = hasher.outputs(parts.query), hasher.encode(parts.database)
    sides = u, codes, parts.query.labels, parts.database.labels
    assert rescored == evaluate_rescored(*sides, at=(10, "all")).metrics
    lines = [line.split() for line in run(*asked, "--rescore", "bits").stdout.splitlines()]
    values = [f"{rescored[name]:.4f}" for name in ("map@10", "map@all")]
    assert ["map,", "rescored", *values] in lines


@pytest.mark.slow
def test_scenes_are_learned_by_a_frozen_network(tmp_path):
    """The real backbone, on the drawn collection: trained, evaluated on the model's own split."""
    asked = ["--bits", 32, "--epochs", 10, "--protocol", "random"]
    trained = run("train", "scenes", "-o", tmp_path / "model", *asked)
    assert trained.returncode == 0, trained.stderr
    done = run("evaluate", tmp_path / "model", "scenes", "--at", "100,all", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["metrics"]["map@all"] > 0.93  # chance is 0.81
    assert report["metrics"]["ndcg@100"] > 0.55
    card = Hasher.load(tmp_path / "model").config["card"]
    assert report["contract"]["split"] == card["split"]["sha256"]
