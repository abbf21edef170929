"""``softhash demo``: what there is to see, in a minute."""


def demo() -> None:
    """Show what softhash does, on made-up data."""
