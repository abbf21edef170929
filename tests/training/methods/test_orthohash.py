"""OrthoHash against an independent version by loops, and by finite differences."""

import numpy as np
import pytest
import torch

from softhash.model.heads import Head
from softhash.training.methods import create

BITS, CLASSES, N = 16, 5, 9
RNG = np.random.default_rng(1)
U = RNG.normal(size=(N, BITS))
LABELS = (RNG.random((N, CLASSES)) < 0.5).astype(int)
LABELS[4] = 0
LABELS[5] = 1
GAMMA, BETA = RNG.uniform(-2, 2, BITS), RNG.normal(size=BITS)


def made(**settings):
    """A method in float64, whose normalisation has more than its first parameters."""
    torch.manual_seed(0)
    method = create("orthohash", BITS, CLASSES, **settings).double()
    if method.batch_norm:
        method.gamma.data.copy_(torch.tensor(GAMMA))
        method.beta.data.copy_(torch.tensor(BETA))
    return method


def normalised(u, gamma, beta):
    """Batch normalisation as its paper states it, bit by bit."""
    v = np.zeros_like(u)
    for k in range(u.shape[1]):
        mean = sum(u[:, k]) / len(u)
        variance = sum((x - mean) ** 2 for x in u[:, k]) / len(u)
        for i, x in enumerate(u[:, k]):
            v[i, k] = gamma[k] * (x - mean) / np.sqrt(variance + 1e-5) + beta[k]
    return v


def reference(outputs, centres, scale, margin):
    total = 0.0
    for v, y in zip(outputs, LABELS, strict=True):
        logits = []
        for centre, has in zip(centres, y, strict=True):
            cosine = v @ centre / np.sqrt((v @ v) * (centre @ centre))
            logits.append(scale * (cosine - margin * has))
        chances = np.exp(logits) / np.exp(logits).sum()
        shares = y / y.sum() if y.sum() else np.full(CLASSES, 1 / CLASSES)
        total -= (shares * np.log(chances)).sum()
    return total / len(outputs)


def loss_of(method, u=U):
    return method(torch.tensor(u), torch.tensor(LABELS), torch.arange(N))


@pytest.mark.parametrize("batch_norm", [True, False])
@pytest.mark.parametrize(("scale", "margin"), [(8.0, 0.2), (3.0, 0.5)])
def test_value_is_that_of_the_reference(scale, margin, batch_norm):
    method = made(scale=scale, margin=margin, batch_norm=batch_norm)
    outputs = normalised(U, GAMMA, BETA) if batch_norm else U
    expected = reference(outputs, method.centres.numpy(), scale, margin)
    assert loss_of(method).item() == pytest.approx(expected, rel=1e-9)


def test_gradients_of_outputs_and_normalisation_are_those_of_finite_differences():
    method, labels, index = made(), torch.tensor(LABELS), torch.arange(N)

    def loss(u, gamma, beta):
        parameters = {"gamma": gamma, "beta": beta}
        return torch.func.functional_call(method, parameters, (u, labels, index))

    u = torch.tensor(U, requires_grad=True)
    assert torch.autograd.gradcheck(loss, (u, method.gamma, method.beta))


def test_gradient_without_normalisation_is_that_of_finite_differences():
    method, u = made(batch_norm=False), torch.tensor(U, requires_grad=True)
    labels, index = torch.tensor(LABELS), torch.arange(N)
    assert torch.autograd.gradcheck(lambda u: method(u, labels, index), (u,))


def test_scale_and_offset_of_outputs_do_not_matter():
    method = made()
    moved = U * RNG.uniform(1, 10, BITS) + RNG.normal(size=BITS)
    assert loss_of(method).item() == pytest.approx(loss_of(method, moved).item(), abs=1e-4)
    plain = made(batch_norm=False)
    assert loss_of(plain).item() == pytest.approx(loss_of(plain, 10 * U).item())


@pytest.mark.parametrize("n", [1, 6])
def test_outputs_without_variance_have_moderate_gradients(n):
    """Every v is β, which starts at 0: no direction at all."""
    torch.manual_seed(0)
    method = create("orthohash", BITS, CLASSES)
    u = torch.full((n, BITS), 0.7, requires_grad=True)
    loss = method(u, torch.ones(n, CLASSES), torch.arange(n))
    loss.backward()
    assert torch.isfinite(loss)
    for gradient in (u.grad, method.gamma.grad, method.beta.grad):
        assert (gradient.abs() < 1e4).all()


def test_a_picture_of_one_class_has_its_smallest_loss_at_the_class_code():
    method = made(batch_norm=False)
    label, index = torch.eye(CLASSES)[:1], torch.arange(1)
    best = method(method.centres[:1], label, index)
    others = [method(method.centres[c : c + 1], label, index) for c in range(1, CLASSES)]
    noise = method(method.centres[:1] + 0.5 * torch.randn(1, BITS), label, index)
    assert best < min([*others, noise])


def trained_head(**options):
    torch.manual_seed(2)
    head = Head(7, BITS, dropout=0.5, activation="identity", **options).double().eval()
    for weight in head.parameters():
        torch.nn.init.normal_(weight)
    return head, torch.randn(2500, 7).double()


@pytest.mark.parametrize("options", [{}, {"hidden": 10}, {"hidden": 10, "skip_dropout": 0.3}])
def test_a_finished_head_returns_normalised_outputs(options):
    """More rows than are computed at once; other rows are normalised by the train set's numbers."""
    head, features = trained_head(**options)
    others = torch.randn(40, 7).double()
    u, new = (head(x).detach().numpy() for x in (features, others))
    made().finish(head, lambda: features)
    assert np.allclose(head(features).detach().numpy(), normalised(u, GAMMA, BETA))
    expected = GAMMA * (new - u.mean(0)) / np.sqrt(u.var(0) + 1e-5) + BETA
    assert np.allclose(head(others).detach().numpy(), expected)


def test_a_head_trained_without_normalisation_stays_as_it_is():
    head, features = trained_head()
    before = head(features)
    method = made(batch_norm=False)
    method.finish(head, lambda: features)
    assert torch.equal(head(features), before)
    assert not list(method.parameters())


def test_settings_name_the_normalisation():
    assert create("orthohash", BITS, CLASSES).settings() == {
        "scale": 8.0,
        "margin": 0.2,
        "batch_norm": True,
    }
