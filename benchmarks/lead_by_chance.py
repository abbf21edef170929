"""How often methods that do not differ are called leading, or behind: a simulation.

    python benchmarks/lead_by_chance.py

Values of queries are drawn alike for all methods: a hardness that they share, noise of their own,
and with three seeds a deviation of each seed. Whatever `softhash plot` then calls is by chance.
"""

import numpy as np

from softhash.experiments.significance import compare_methods

COLUMNS, QUERIES, REPLICATES = 200, 300, 500
HARDNESS, NOISE, SEED_DEVIATION = 0.2, 0.1, 0.01


def simulate(methods: int, seeds: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return the share of columns with a lead, and of other lines that are called behind."""
    leads, behind = 0, 0
    for _ in range(COLUMNS):
        hardness = rng.normal(0, HARDNESS, QUERIES)
        values = {
            str(method): hardness
            + rng.normal(0, NOISE, (seeds, QUERIES))
            + (rng.normal(0, SEED_DEVIATION, (seeds, 1)) if seeds > 1 else 0.0)
            for method in range(methods)
        }
        found = compare_methods(values, replicates=REPLICATES)
        level = sum(one.level for one in found.values())  # the best is level with itself
        leads += level == 1
        behind += methods - level
    return leads / COLUMNS, behind / (COLUMNS * (methods - 1))


def main() -> None:
    """Print the table."""
    rng = np.random.default_rng(0)
    print("| methods | seeds | columns with a lead by chance | lines called behind by chance |")
    print("|---|---|---|---|")
    for methods in (2, 5, 10):
        for seeds in (1, 3):
            lead, behind = simulate(methods, seeds, rng)
            print(f"| {methods} | {seeds} | {100 * lead:.0f} % | {100 * behind:.0f} % |")


if __name__ == "__main__":
    main()
