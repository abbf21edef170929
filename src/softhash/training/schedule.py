"""Which pictures a step sees, and at what rate it learns: functions of the step alone.

Nothing is carried from step to step, so that a run that is resumed at any step goes on as it would
have.
"""

from functools import lru_cache
from math import cos, pi

import torch
from torch import Tensor

from softhash.training.distributed import world_size
from softhash.training.recipe import Recipe

RISE = 0.1  # share of a one-cycle schedule in which the rate rises


def step_count(recipe: Recipe, items: int) -> int:
    """Count the steps of a run: every picture is seen `epochs` times, the last few perhaps less."""
    return max(1, recipe.epochs * items // batch_length(recipe, items))


def warm_up_recipe(recipe: Recipe) -> Recipe:
    """Return how the head alone is trained before a network is fine-tuned."""
    return recipe.changed(mode="frozen", epochs=recipe.warm_up, schedule="cosine", average=0.0)


def run_length(recipe: Recipe, items: int) -> int:
    """Count the steps of a whole run, those of a warm-up included.

    Args:
        recipe: epochs, and those of the warm-up.
        items: pictures of the train set.

    >>> run_length(Recipe(epochs=3), 1280), run_length(Recipe(mode="finetune", warm_up=2), 1280)
    (30, 420)

    """
    warms = recipe.mode == "finetune" and recipe.warm_up
    before = step_count(warm_up_recipe(recipe), items) if warms else 0
    return before + step_count(recipe, items)


def epochs_done(recipe: Recipe, step: int, steps: int) -> int:
    """Count the epochs that are over after so many steps, all of them after the last.

    Args:
        recipe: how many epochs there are.
        step: steps that are done.
        steps: of the whole run.

    >>> [epochs_done(Recipe(epochs=3), step, 10) for step in range(11)]
    [0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3]

    """
    return step * recipe.epochs // steps


def batch_length(recipe: Recipe, items: int) -> int:
    """Return how many pictures a step sees: no more than there are, as many in each process."""
    shares = world_size()
    return max(shares, min(recipe.batch_size, items) // shares * shares)


def batch_at(recipe: Recipe, items: int, step: int) -> Tensor:
    """Return the positions of a step: the next of an endless stream of shuffled passes.

    Args:
        recipe: seed and batch size.
        items: pictures of the train set.
        step: its number, from 0.

    """
    length = batch_length(recipe, items)
    first, last = step * length, (step + 1) * length - 1
    now = _shuffled(items, recipe.seed, first // items)
    if first // items == last // items:
        return now[first % items : last % items + 1]
    then = _shuffled(items, recipe.seed, last // items)
    return torch.cat([now[first % items :], then[: last % items + 1]])


@lru_cache(maxsize=4)
def _shuffled(items: int, seed: int, number: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed_at(seed, -1 - number))
    return torch.randperm(items, generator=generator)


def seed_at(seed: int, step: int) -> int:
    """Mix a seed and a step into the seed of what chance decides in that step."""
    return (seed * 1_000_003 + step * 7_919 + 12_345) % (1 << 63)


def rate_at(recipe: Recipe, step: int, steps: int) -> float:
    """Return the factor of the learning rates at a step.

    Args:
        recipe: the schedule.
        step: its number, from 0.
        steps: of the whole run.

    >>> recipe = Recipe.with_defaults(schedule="halving")
    >>> [rate_at(recipe, step, 2000) for step in (0, 499, 500, 1000)]
    [1.0, 1.0, 0.5, 0.25]

    """
    if recipe.schedule == "halving":
        return float(0.5 ** (step // recipe.halve_every))
    if recipe.schedule == "cosine":
        return (1 + cos(pi * step / steps)) / 2
    if recipe.schedule == "one-cycle":
        top = max(1, round(RISE * steps))
        if step < top:
            return (step + 1) / top
        return (1 + cos(pi * (step - top) / max(1, steps - top))) / 2
    return 1.0
