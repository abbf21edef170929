import pytest
import torch

from softhash.errors import InputError, UsageError
from softhash.model import config
from softhash.model.heads import ACTIVATIONS, Head


def test_head_names_its_activations_where_torch_is_not_imported():
    assert set(ACTIVATIONS) == set(config.ACTIVATIONS)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("softsign", [-0.75, 0.0, 0.5]), ("tanh", [-0.995055, 0.0, 0.761594]), ("identity", None)],
)
def test_head_activation_is_the_named_one(name, expected):
    x = torch.tensor([-3.0, 0.0, 1.0])
    torch.testing.assert_close(
        ACTIVATIONS[name](x), x if expected is None else torch.tensor(expected)
    )


@pytest.mark.parametrize("hidden", [0, 7])
def test_head_gives_bits_outputs_near_zero_at_the_start(hidden):
    torch.manual_seed(0)
    head = Head(5, 12, hidden=hidden, dropout=0.1)
    u = head(torch.randn(9, 5))
    assert u.shape == (9, 12)
    assert u.abs().max() < 0.2
    assert 0.005 < head.output.weight.std() < 0.02
    u.sum().backward()
    assert all(parameter.grad is not None for parameter in head.parameters())


def test_a_linear_path_beside_the_hidden_layer_is_added_before_the_activation():
    torch.manual_seed(0)
    head = Head(5, 12, hidden=7, dropout=0.7, skip_dropout=0.6, activation="tanh").eval()
    x = torch.randn(9, 5)
    hidden = torch.relu(x @ head.hidden[0].weight.T + head.hidden[0].bias)
    both = hidden @ head.output.weight.T + head.output.bias + x @ head.skip.weight.T
    torch.testing.assert_close(head(x), torch.tanh(both))
    head.train()(torch.ones(2000, 5)).sum().backward()
    seen = head.skip.weight.grad[0] / 2000  # of what is kept, 1 / 0.4; of 60 % nothing
    torch.testing.assert_close(seen, torch.ones(5), atol=0.15, rtol=0)


@pytest.mark.parametrize("options", [{}, {"hidden": 7}, {"skip_dropout": 0.5}])
def test_a_head_has_no_linear_path_unless_it_is_asked_for_and_has_a_layer_beside_it(options):
    assert Head(5, 12, **options).skip is None


def test_head_standardises_with_the_train_set():
    features = torch.randn(500, 3, generator=torch.Generator().manual_seed(0)) * 4 + 100
    head = Head(3, 2)
    head.standardise(features)
    standard = (features - head.mean) / head.scale
    torch.testing.assert_close(standard.mean(0), torch.zeros(3), atol=1e-4, rtol=0)
    torch.testing.assert_close(standard.std(0, correction=0), torch.ones(3))
    assert {"mean", "scale"} <= set(head.state_dict())


def test_head_does_not_blow_up_a_feature_that_hardly_varies():
    features = torch.randn(50, 3, generator=torch.Generator().manual_seed(0))
    features[:, 0] = 7.0
    features[:, 1] *= 1e-6
    head = Head(3, 2)
    head.standardise(features)
    assert (head.scale[:2] > 1e-3).all()
    head.standardise(torch.ones(1, 3))  # nothing varies
    torch.testing.assert_close(head.scale, torch.ones(3))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"activation": "tanhh"}, "did you mean 'tanh'"),
        ({"dropout": 1.0}, "dropout is 1.0"),
        ({"hidden": 3, "skip_dropout": 1.5}, "skip_dropout is 1.5"),
        ({"hidden": -1}, "-1 hidden units"),
        ({"bits": 0}, "not 0"),
        ({"features": 0}, "0 features"),
    ],
)
def test_head_refuses_settings_that_do_not_exist(options, message):
    with pytest.raises(UsageError, match=message):
        Head(**({"features": 4, "bits": 8} | options))


def test_head_refuses_features_it_cannot_learn_from():
    head = Head(3, 2)
    with pytest.raises(InputError, match=r"shape \(5, 4\)"):
        head.standardise(torch.ones(5, 4))
    with pytest.raises(InputError, match="n of at least 1"):
        head.standardise(torch.ones(0, 3))
    features = torch.ones(5, 3)
    features[3, 1] = torch.nan
    with pytest.raises(InputError, match="row 3"):
        head.standardise(features)
