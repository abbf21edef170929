"""Codes of codebooks: assignment, fitting, distances, and a hasher that has them."""

import json
from itertools import pairwise, product

import numpy as np
import pytest
import torch

from softhash import HammingIndex, Hasher, UsageError, evaluate, unpack
from softhash.model.config import ModelConfig
from softhash.model.heads import QuantiserHead, make_head
from softhash.model.quantiser import (
    assign,
    bit_table,
    distances,
    fit_codebooks,
    indices,
    reconstruct,
    start_codebooks,
)


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.double)


def error(z, codes, codebooks):
    return (z - reconstruct(codes, codebooks)).square().sum(1)


def exhaustive(z, codebooks):
    """The smallest error of all combinations of words."""
    books, words, _ = codebooks.shape
    every = torch.tensor(list(product(range(words), repeat=books)))
    return torch.stack([error(z, codes.expand(len(z), -1), codebooks) for codes in every]).amin(0)


@pytest.mark.parametrize(("books", "words"), [(1, 8), (2, 4), (3, 4)])
def test_assignment_to_product_codebooks_is_that_of_exhaustive_search(books, words):
    torch.manual_seed(0)
    z = drawn(40, 7)
    codebooks = start_codebooks(z, books, words)
    found = error(z, assign(z, codebooks), codebooks)
    torch.testing.assert_close(found, exhaustive(z, codebooks))


def test_assignment_to_any_codebooks_is_near_exhaustive_search():
    z, codebooks = drawn(200, 7), drawn(3, 4, 7, seed=1)
    found, best = error(z, assign(z, codebooks), codebooks), exhaustive(z, codebooks)
    assert (found >= best - 1e-9).all()
    assert (found < best + 1e-9).double().mean() > 0.5
    assert found.mean() < 1.25 * best.mean()


def test_assignment_never_raises_the_error_of_any_vector():
    z, codebooks = drawn(200, 7), drawn(3, 8, 7, seed=1)
    start = torch.randint(8, (200, 3), generator=torch.Generator().manual_seed(2))
    before, after = error(z, start, codebooks), error(z, assign(z, codebooks, start), codebooks)
    assert (after <= before + 1e-9).all()
    assert after.mean() < 0.9 * before.mean()


def test_fitting_never_raises_the_error_and_leaves_unused_words_alone():
    z, codebooks = drawn(200, 7), drawn(3, 8, 7, seed=1)
    codes = torch.randint(7, (200, 3), generator=torch.Generator().manual_seed(2))
    fitted = fit_codebooks(z, codes, codebooks)
    assert error(z, codes, fitted).sum() < error(z, codes, codebooks).sum()
    assert torch.equal(fitted[:, 7], codebooks[:, 7])
    assert not torch.equal(fitted[:, :7], codebooks[:, :7])


def test_alternation_falls_to_near_the_least_squares_of_its_codes():
    torch.manual_seed(0)
    z = drawn(300, 6)
    codebooks = start_codebooks(z, 2, 4)
    codes = assign(z, codebooks)
    errors = [error(z, codes, codebooks).sum().item()]
    for _ in range(30):
        codebooks = fit_codebooks(z, codes, codebooks)
        errors.append(error(z, codes, codebooks).sum().item())
        codes = assign(z, codebooks, codes)
        errors.append(error(z, codes, codebooks).sum().item())
    assert all(later <= before + 1e-9 for before, later in pairwise(errors))
    chosen = np.concatenate([np.eye(4)[codes[:, m]] for m in range(2)], axis=1)
    _, rest, _, _ = np.linalg.lstsq(chosen[:, 1:], z.numpy(), rcond=None)
    assert errors[-1] < 1.02 * rest.sum()


@pytest.mark.parametrize("count", [3, 50])
def test_k_means_starts_with_fewer_vectors_than_words(count):
    torch.manual_seed(0)
    z = drawn(count, 5)
    codebooks = start_codebooks(z, 2, 64)
    assert torch.isfinite(codebooks).all()
    assert (codebooks[0][:, 3:] == 0).all()
    assert (codebooks[1][:, :3] == 0).all()
    assert error(z, assign(z, codebooks), codebooks).max() < 1e-9  # every vector has its word


def test_distances_are_those_to_the_sum_of_words_and_equal_codes_tie():
    codebooks, queries = drawn(3, 8, 7), drawn(5, 7, seed=1)
    codes = torch.randint(8, (40, 3), generator=torch.Generator().manual_seed(2))
    codes[31] = codes[4]
    near = distances(queries.float(), codes, codebooks.float())
    for q in range(5):
        for i in range(40):
            total = sum(codebooks[m, codes[i, m]] for m in range(3))
            expected = float((queries[q] - total).square().sum())
            assert near[q, i].item() == pytest.approx(expected, rel=1e-4)
    assert torch.equal(near[:, 31], near[:, 4])


def test_bits_and_indices_are_inverse():
    codes = torch.randint(64, (20, 4), generator=torch.Generator().manual_seed(0))
    bits = bit_table(64)[codes].flatten(1)
    assert bits.shape == (20, 24)
    assert torch.equal(indices(bits > 0, 64), codes)


def quantising_hasher():
    """A hasher of features with codebooks fitted to them."""
    hasher = Hasher.from_features(9, 12, embedding=16, words=8, activation="tanh", dropout=0.5)
    head = hasher.network.head.eval()
    torch.manual_seed(0)
    torch.nn.init.normal_(head.output.weight)
    with torch.no_grad():
        z = head.embed(drawn(500, 9).float())
        head.codebooks.copy_(start_codebooks(z, 4, 8))
    return hasher


def test_a_quantising_hasher_is_saved_loaded_and_encodes(tmp_path):
    hasher, features = quantising_hasher(), drawn(200, 9, seed=1).float()
    head = hasher.network.head
    assert isinstance(head, QuantiserHead)
    hasher.save(tmp_path / "model")
    loaded = Hasher.load(tmp_path / "model")
    assert loaded.ranking == "quantiser"
    codes = loaded.encode(features.numpy())  # by ONNX Runtime
    with torch.no_grad():
        words = assign(head.embed(features), head.codebooks)
    found = indices(torch.from_numpy(unpack(codes, 12)), 8)
    assert (found == words).all(dim=1).float().mean() > 0.98  # but for vectors between two words
    assert torch.equal(loaded.network.head.codebooks, head.codebooks)


def test_whatever_goes_by_hamming_distance_refuses_a_quantising_hasher(tmp_path):
    with pytest.raises(UsageError, match="indices of codebooks"):
        evaluate(quantising_hasher(), None, None)
    with pytest.raises(UsageError, match="indices of codebooks"):
        HammingIndex.create(tmp_path / "index", quantising_hasher())
    assert not (tmp_path / "index").exists()


def test_a_head_quantises_in_evaluation_mode_only():
    head = make_head(9, 12, embedding=16, words=8, dropout=0.5)
    assert head(torch.ones(2, 9)).shape == (2, 16)
    assert head.eval()(torch.ones(2, 9)).shape == (2, 12)
    assert not isinstance(make_head(9, 12), QuantiserHead)


@pytest.mark.parametrize("words", [0, 1, 6, 32])
def test_codebooks_that_do_not_fit_the_bits_are_refused(words):
    for make in (make_head, Hasher.from_features):
        with pytest.raises(UsageError, match=f"codebooks of {words} words do not fit"):
            make(9, 12, embedding=16, words=words)


def test_models_older_than_quantisers_are_read():
    settings = json.loads(ModelConfig(12, None, 9).to_json())
    del settings["embedding"], settings["words"], settings["sha256"]["config.json"]
    older = json.dumps(settings)
    assert ModelConfig.from_json(older, "config.json") == ModelConfig(12, None, 9)
