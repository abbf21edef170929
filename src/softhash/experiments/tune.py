"""Random search: every method gets as many settings, from the same ranges, on the train set alone.

The train set is split again (`Split.validation`): half of it is trained on, a quarter are queries
and a quarter is the database. The best trial of each method and length is measured on the queries
of the split itself, once for each seed. Its rows carry the name ``tuned``.

Keys of the recipe are drawn from `RANGES`, the same draws for all methods. A method's own settings
(weights of terms, margins) are multiplied by factors from `FACTORS`. The first trial is the recipe
as it is.
"""

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from softhash.data.splits.split import Split
from softhash.errors import InputError, UsageError
from softhash.experiments.inputs import GridInputs, arrange_inputs
from softhash.experiments.references import REFERENCES
from softhash.experiments.results import Row
from softhash.training.methods import create, is_shallow
from softhash.training.recipe import Recipe

TUNED = "tuned"
MEASURES = ("map@5000", "ndcg@100")  # whose mean decides
VALIDATION = 0.25  # share of the train set that are queries; as many are the database
FACTORS = (1 / 4, 4.0)
MAX_DRAWS = 100  # of settings that a method refuses

Draw = Callable[[np.random.Generator], Any]


def between(low: float, high: float) -> Draw:
    """Draw evenly; two digits are enough."""
    return lambda rng: round(float(rng.uniform(low, high)), 2)


def times(low: float, high: float) -> Draw:
    """Draw the logarithm evenly; three digits are enough."""
    return lambda rng: float(f"{math.exp(rng.uniform(math.log(low), math.log(high))):.3g}")


def one_of(*values: Any) -> Draw:
    """Draw one of a few."""
    return lambda rng: values[rng.integers(len(values))]


RANGES: dict[str, dict[str, Draw]] = {
    "frozen": {
        "head_rate": times(5e-4, 1e-2),
        "weight_decay": times(1e-4, 1e-1),
        "hidden": one_of(0, 512, 1024, 2048),
        "dropout": between(0.2, 0.8),
        "skip_dropout": one_of(1.0, 0.8, 0.6, 0.4),
        "batch_size": one_of(64, 128, 256),
        "epochs": one_of(20, 40, 80),
    },
    "finetune": {
        "head_rate": times(5e-4, 1e-2),
        "backbone_rate": times(2e-5, 5e-4),
        "weight_decay": times(1e-4, 1e-1),
        "dropout": between(0.2, 0.8),
        "skip_dropout": one_of(1.0, 0.8, 0.6, 0.4),
        "batch_size": one_of(64, 128, 256),
        "epochs": one_of(10, 20, 40),
        "augment": one_of(False, True),
    },
}


def draw_trials(recipe: Recipe, classes: int, count: int) -> list[Recipe]:
    """Draw the trials of one method at one length: the recipe as it is, then others at random.

    Args:
        recipe: of the method, with the length; its seed is what the draw depends on.
        classes: of the collection.
        count: how many.

    >>> trials = draw_trials(Recipe(method="idhn", bits=12), classes=20, count=3)
    >>> [trial.head_rate for trial in trials], trials[1].settings.keys()
    ([0.003, 0.00337, 0.0077], dict_keys(['alpha', 'gamma', 'lambda_']))

    """
    if count < 1:
        raise UsageError(f"{count} trials are none", "give at least 1")
    with torch.random.fork_rng([]):
        settings = create(recipe.method, recipe.bits, classes, **recipe.settings).settings()
    seed = abs(recipe.seed)
    shared, own = np.random.default_rng([seed, 0]), np.random.default_rng([seed, 1])
    trials = [recipe]
    while len(trials) < count:
        drawn = {key: draw(shared) for key, draw in RANGES[recipe.mode].items()}
        trials.append(_with_settings(recipe.changed(**drawn), settings, classes, own))
    return trials


def _with_settings(
    recipe: Recipe, settings: dict[str, Any], classes: int, rng: np.random.Generator
) -> Recipe:
    """Change the method's own settings to others that it takes."""
    for _ in range(MAX_DRAWS):
        own = dict(recipe.settings)
        for key, value in settings.items():
            if isinstance(value, float):
                own[key] = float(f"{value * times(*FACTORS)(rng):.3g}")
        try:
            with torch.random.fork_rng([]):
                create(recipe.method, recipe.bits, classes, **own)
        except UsageError:
            continue
        return recipe.changed(settings=own)
    raise UsageError(f"no settings near those of {recipe.method} make sense", "tune it by hand")


def tunable(recipes: Iterable[Recipe]) -> list[Recipe]:
    """Return each recipe that has something to tune, with its first seed.

    Shallow methods and references take nothing from `RANGES`.
    """
    found: dict[str, Recipe] = {}
    for recipe in recipes:
        if recipe.method not in REFERENCES and not is_shallow(recipe.method):
            found.setdefault(_without_seed(recipe), recipe)
    return list(found.values())


def _without_seed(recipe: Recipe) -> str:
    return json.dumps(replace(recipe, seed=0).as_dict(), sort_keys=True)


def validation_inputs(inputs: GridInputs) -> GridInputs:
    """Return the inputs of the train set alone, split again."""
    within = np.full(len(inputs.split.images), -1)
    train = inputs.split.positions["train"]
    within[train] = np.arange(len(train))
    kept = np.flatnonzero(within[inputs.rows] >= 0)
    features = inputs.features[torch.from_numpy(kept)]
    return arrange_inputs(features, within[inputs.rows[kept]], validation_split(inputs.split))


def validation_split(split: Split) -> Split:
    """Split a train set into one to train on, queries and a database."""
    return split.validation(VALIDATION)


def choose_tuned(
    tuned: Sequence[Recipe],
    recipes: Sequence[Recipe],
    classes: int,
    count: int,
    rows: Sequence[Row],
) -> list[Recipe]:
    """Return the recipes of a grid with the settings of each method's best trial.

    Args:
        tuned: the recipes that trials were drawn from, one of all seeds.
        recipes: of the grid, all seeds.
        classes: of the collection.
        count: trials of each of them.
        rows: of the trials, all of one split.

    Raises:
        InputError: none of a method's trials has a row.

    """
    scores = [(Recipe(**row["recipe"]), score(row)) for row in rows]
    best: dict[str, Recipe] = {}
    for recipe in tuned:
        trials = draw_trials(recipe, classes, count)
        found = [(value, trial) for trial, value in scores if trial in trials]
        if not found:
            raise InputError(f"no trial of {recipe.method} with {recipe.bits} bits came to an end")
        value = max(value for value, _ in found)
        first = next(trial for known, trial in found if known == value)
        best[_without_seed(recipe)] = first
    chosen: list[Recipe] = []
    for recipe in recipes:
        if (key := _without_seed(recipe)) in best:
            again = replace(best[key], seed=recipe.seed)
            if again not in chosen:
                chosen.append(again)
    return chosen


def score(row: Row) -> float:
    """Return what trials are compared by: the mean of MAP@5000 and NDCG@100."""
    return float(np.mean([row["metrics"][name] for name in MEASURES]))
