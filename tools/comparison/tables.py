"""Tables of a part: several measures at one length, or one measure at every length."""

from collections.abc import Sequence

from tools.comparison.part import Part
from tools.page_parts import TIES, wrap

from softhash.plots.markup import to_markdown
from softhash.plots.tables import comparison_table, overview_table

PAPER = (("map", "5000"), ("wap", "5000"), ("acg", "5000"), ("ndcg", "5000"))
SCREEN = (("ndcg", "20"), ("acg", "20"), ("precision", "20"), ("ndcg", "100"), ("acg", "100"))


def overview(part: Part, bits: int, measures: Sequence[tuple[str, str]]) -> str:
    """Write one table of several measures at one length."""
    return wrap(to_markdown(overview_table(part.group, bits, measures, TIES, part.tested)))


def by_length(part: Part, metric: str, cut: str) -> str:
    """Write one table of one measure at every length."""
    return wrap(to_markdown(comparison_table(part.group, metric, cut, TIES, part.tested)))
