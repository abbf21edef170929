from collections import Counter

import pytest
import torch

from softhash.training.recipe import Recipe
from softhash.training.schedule import batch_at, rate_at, seed_at, step_count


@pytest.mark.parametrize(("items", "batch"), [(100, 32), (64, 64), (10, 128), (33, 32)])
def test_every_picture_is_seen_once_a_pass(items, batch):
    recipe = Recipe.with_defaults(batch_size=batch, epochs=8)
    steps = step_count(recipe, items)
    stream = torch.cat([batch_at(recipe, items, step) for step in range(steps)])
    for start in range(0, len(stream) - items + 1, items):
        assert sorted(stream[start : start + items].tolist()) == list(range(items))
    counts = Counter(stream.tolist())
    assert max(counts.values()) - min(counts.values()) <= 1
    assert max(counts.values()) <= 8


def test_the_papers_run_has_3125_steps():
    assert step_count(Recipe.with_defaults(epochs=100, batch_size=128), 4000) == 3125


def test_batches_depend_on_seed_and_step_alone():
    recipe = Recipe.with_defaults(seed=3)
    assert torch.equal(batch_at(recipe, 500, 7), batch_at(recipe, 500, 7))
    assert not torch.equal(batch_at(recipe, 500, 7), batch_at(recipe.changed(seed=4), 500, 7))
    assert not torch.equal(batch_at(recipe, 512, 0), batch_at(recipe, 512, 4))  # two passes


def test_rates_follow_their_schedules():
    cosine = [rate_at(Recipe.with_defaults(schedule="cosine"), step, 100) for step in (0, 50, 99)]
    assert cosine == pytest.approx([1, 0.5, 0.00025], abs=1e-3)
    cycle = [rate_at(Recipe.with_defaults(schedule="one-cycle"), step, 100) for step in range(100)]
    assert max(cycle) == cycle[9] == 1.0
    assert cycle[0] == pytest.approx(0.1)
    assert cycle[-1] < 0.001
    assert rate_at(Recipe.with_defaults(schedule="constant"), 99, 100) == 1.0


def test_seeds_of_steps_differ():
    assert len({seed_at(seed, step) for seed in range(5) for step in range(-50, 1000)}) == 5 * 1050
