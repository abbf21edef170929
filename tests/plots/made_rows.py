"""Rows as `softhash bench` writes them, with numbers made up for tests."""

from softhash.training.recipe import Recipe

CUTS = (100, 5000, "all")  # as in older rows; newer ones have 20 too
CONTRACT = {
    "queries": 1000, "database": 12125, "database_without_labels": 18, "classes": 20,
    "split": "ab12",
}  # fmt: skip


def made_row(value=0.5, *, contract=None, curves=True, hits=(), cuts=CUTS, **recipe):
    """Return a row in which every metric has one value, and the stable ones a hundredth less."""
    names = [f"{m}@{cut}" for m in ("map", "wap", "acg", "ndcg", "precision") for cut in cuts]
    row = {
        "recipe": Recipe.with_defaults(**{"method": "idhn", "bits": 48, **recipe}).as_dict(),
        "metrics": dict.fromkeys(names, value),
        "metrics_stable": dict.fromkeys(names, value - 0.01),
        "contract": CONTRACT | (contract or {}),
        "data": {
            "name": "photos", "format": "table", "pictures": 99, "protocol": "random", "seed": 0,
        },
        "hits": list(hits),
        "seconds": {"train": 2.0, "encode and evaluate": 1.0},
        "versions": {"softhash": "0", "commit": "abc123", "device": "x"},
    }  # fmt: skip
    if curves:
        n = [100, 2500, 5000, 12125]
        falling = [value, value / 2, value / 3, 0.1]
        row["curves"] = dict.fromkeys(("acg", "ndcg", "precision"), falling)
        row["curves"] |= {"n": n, "recall": [0.1, 0.5, 0.8, 1.0]}
    return row
