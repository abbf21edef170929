"""``softhash demo``: what there is to see, in a minute."""


def demo() -> None:
    """Show what softhash does, on codes that are made up: exact search, and metrics under ties."""
    import numpy as np
    from rich.console import Console

    from softhash import evaluate_codes, nearest, pack
    from softhash.cli._report import print_report

    console = Console(highlight=False)
    rng = np.random.default_rng(0)
    queries, classes, bits = 500, 12, 16
    labels = (rng.random((20_500, classes)) < 0.25).astype(np.uint8)
    u = labels @ rng.normal(size=(classes, bits)) + rng.normal(size=(len(labels), bits))
    codes = pack(u)
    sides = codes[:queries], codes[queries:], labels[:queries], labels[queries:]

    console.print(
        f"{len(labels):,} made-up items with {labels.sum(axis=1).mean():.1f} labels each, "
        f"coded in {bits} bits so that shared labels bring codes together.\n"
    )
    console.print("[bold]Search[/]: the five items nearest to the first query")
    distances, positions = nearest(sides[0][:1], sides[1], k=5)
    for distance, position in zip(distances[0], positions[0], strict=True):
        shared = int(sides[3][position] @ sides[2][0])
        console.print(f"  item {position:6}   distance {distance}   {shared} labels shared")

    console.print("\n[bold]Evaluation[/]: exact means over all orders of items at equal distance")
    print_report(evaluate_codes(*sides, bits=bits, at=(100, 5000, "all")))

    relevant = (sides[3] @ sides[2].T).mean(axis=1)
    console.print("[bold]Why ties matter[/]: the same codes, ranked by three sorts that break ties")
    orders = {
        "ties as they come": np.arange(len(sides[1])),
        "ties, best luck": np.argsort(-relevant, kind="stable"),
        "ties, worst luck": np.argsort(relevant, kind="stable"),
    }
    for name, order in orders.items():
        sorted_sides = sides[0], sides[1][order], sides[2], sides[3][order]
        report = evaluate_codes(*sorted_sides, bits=bits, at=100, ties="stable")
        console.print(f"  {name:18} MAP@100 {report.metrics['map@100']:.4f}")
    mean = evaluate_codes(*sides, bits=bits, at=100).metrics["map@100"]
    console.print(f"  {'over all orders':18} MAP@100 {mean:.4f}   (what softhash reports)")
