import hashlib
import json

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from softhash import Hasher, InputError
from softhash.model.label_classifier import fit_label_classifier

CLASSES = ("cat", "dog", "sofa")


def material(n=400, bits=8):
    rng = np.random.default_rng(0)
    u = np.tanh(rng.normal(size=(n, bits)) * 2)
    logits = u @ rng.normal(size=(bits, len(CLASSES))) * 2 + [-1, 0, -2]
    return u, (logits + rng.logistic(size=logits.shape) > 0).astype(np.uint8)


def fitted(ridges=(1.0,)):
    u, y = material()
    return fit_label_classifier(torch.from_numpy(u), torch.from_numpy(y), CLASSES, ridges)


@pytest.mark.parametrize("label", range(len(CLASSES)))
def test_it_is_the_logistic_regression_of_scikit_learn(label):
    u, y = material()
    standard = (u - u.mean(axis=0)) / u.std(axis=0)
    theirs = LogisticRegression(C=1.0, tol=1e-8, max_iter=1000).fit(standard, y[:, label])
    ours = fitted()
    assert np.allclose(ours.weight[label] * u.std(axis=0), theirs.coef_[0], atol=1e-3)
    assert np.allclose(
        ours.probabilities(u)[:, label], theirs.predict_proba(standard)[:, 1], atol=1e-3
    )


def test_of_several_ridges_the_one_that_foretells_best_is_taken():
    assert np.array_equal(fitted((1.0, 1e4)).weight, fitted((1.0,)).weight)
    u, y = (torch.from_numpy(part) for part in material())
    chance = y[torch.randperm(len(y), generator=torch.Generator().manual_seed(0))]
    found = fit_label_classifier(u, chance, CLASSES, (1.0, 1e4)).weight
    assert np.array_equal(found, fit_label_classifier(u, chance, CLASSES, (1e4,)).weight)


def test_of_many_labels_some_choose_the_ridge_and_all_are_fitted():
    rng = np.random.default_rng(0)
    u, y = (
        torch.from_numpy(rng.normal(size=(200, 6))),
        torch.from_numpy(rng.random((200, 70)) < 0.2),
    )
    names, steps = [str(i) for i in range(70)], []
    found = fit_label_classifier(u, y, names, (1.0, 1e4), progress=lambda *step: steps.append(step))
    assert np.array_equal(found.weight, fit_label_classifier(u, y, names, (1e4,)).weight)
    assert found.weight.shape == (70, 6)
    assert steps == [(0, 3), (1, 3), (2, 3)]


def test_a_label_that_every_picture_has_or_none_is_no_trouble():
    u, y = material()
    y[:, 0], y[:, 1] = 1, 0
    found = fit_label_classifier(
        torch.from_numpy(u), torch.from_numpy(y), CLASSES, [1.0]
    ).probabilities(u)
    assert (found[:, 0] > 0.99).all()
    assert (found[:, 1] < 0.01).all()


def test_likely_labels_come_with_the_most_probable_first():
    u, _ = material()
    label_classifier = fitted()
    for row, probable in zip(
        label_classifier.likely(u), label_classifier.probabilities(u), strict=True
    ):
        assert set(row) == {name for name, p in zip(CLASSES, probable, strict=True) if p >= 0.3}
        assert list(row.values()) == sorted(row.values(), reverse=True)


def test_a_model_keeps_it(tmp_path):
    hasher = Hasher.from_features(8, bits=6)
    features = np.random.default_rng(1).normal(size=(5, 8)).astype(np.float32)
    u, nothing = hasher.outputs_and_labels(features)
    assert nothing == [{}] * 5
    hasher.classes, hasher.label_classifier = CLASSES, fitted()
    hasher.save(tmp_path / "model")
    again = Hasher.load(tmp_path / "model")
    again.save(tmp_path / "copy")
    for one in (hasher, again, Hasher.load(tmp_path / "copy")):
        outputs, labels = one.outputs_and_labels(features)
        assert np.array_equal(outputs, u)
        assert labels == hasher.label_classifier.likely(features) != nothing


def test_other_names_of_labels_make_it_void():
    hasher = Hasher.from_features(8, bits=6)
    hasher.classes, hasher.label_classifier = CLASSES, fitted()
    hasher.classes = list(CLASSES)
    assert hasher.label_classifier
    hasher.classes = (*CLASSES[:2], "bus")
    assert hasher.label_classifier is None


def test_a_damaged_one_is_named(tmp_path):
    hasher = Hasher.from_features(8, bits=6)
    hasher.classes, hasher.label_classifier = CLASSES, fitted()
    hasher.save(tmp_path / "model")
    path, config = tmp_path / "model" / "labels.safetensors", tmp_path / "model" / "config.json"
    plain = json.loads(config.read_text())
    del plain["sha256"]["config.json"]
    whole, settings = path.read_bytes(), json.dumps(plain)

    path.write_bytes(whole[:50])
    with pytest.raises(InputError, match="not what was saved with this model"):
        Hasher.load(tmp_path / "model")
    config.write_text(settings.replace(digest(whole), digest(whole[:50])))
    with pytest.raises(InputError, match=r"labels\.safetensors is damaged"):
        Hasher.load(tmp_path / "model")
    path.write_bytes(whole)
    config.write_text(settings.replace('"sofa"', '"sofa", "bus"'))
    with pytest.raises(InputError, match=r"shape \(3, 8\), but config.json has \(4, 8\)"):
        Hasher.load(tmp_path / "model")


def digest(data):
    return hashlib.sha256(data).hexdigest()
