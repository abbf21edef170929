"""What is drawn is what was measured: numbers are read back from the figures."""

import pytest
from made_rows import made_row

from softhash.plots.groups import group_rows
from softhash.plots.styles import assign_styles
from softhash.training.methods import METHODS

pytest.importorskip("matplotlib")

from softhash.plots import save_figure
from softhash.plots.lines import bits_figure, has_curves, recall_figure, returned_figure
from softhash.plots.panels import bars_figure, sweeps_figure


@pytest.fixture
def group():
    rows = [
        made_row(value + seed / 10 + bits / 1000, method=method, seed=seed, bits=bits)
        for method, value in (("idhn", 0.6), ("dhn", 0.5), ("lsh", 0.3))
        for seed in (0, 1)
        for bits in (12, 48)
    ]
    return group_rows(rows)[0]


def test_curves_are_means_over_seeds_up_to_5000(group):
    figure = returned_figure(group)
    assert len(figure.axes) == 6
    assert [panel.get_title() for panel in figure.axes[:2]] == ["12 bits", "48 bits"]
    line = figure.axes[1].lines[1]  # ACG of DHN at 48 bits
    assert list(line.get_xdata()) == [100, 2500, 5000]
    first = 0.5 + 0.05 + 0.048
    assert list(line.get_ydata()) == pytest.approx([first, first / 2, first / 3])


def test_precision_is_drawn_against_recall_to_the_end(group):
    line = recall_figure(group).axes[0].lines[0]
    assert list(line.get_xdata()) == pytest.approx([0.1, 0.5, 0.8, 1.0])
    assert line.get_ydata()[-1] == pytest.approx(0.1)


def test_the_legend_of_bits_is_in_the_order_of_the_lines(group):
    figure = bits_figure(group, "map", "5000", "expected")
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["IDHN", "DHN", "LSH"]
    line = figure.axes[0].lines[0]
    assert list(line.get_xdata()) == [12, 48]
    assert list(line.get_ydata()) == pytest.approx([0.662, 0.698])


def test_a_bar_is_as_long_as_its_value(group):
    first, panel = bars_figure(group, "wap", "5000", "stable").axes
    assert [bar.get_width() for bar in panel.patches] == pytest.approx([0.688, 0.588, 0.388])
    assert [text.get_text() for text in first.get_yticklabels()] == ["IDHN", "DHN", "LSH"]
    assert panel.patches[0].get_facecolor() != panel.patches[1].get_facecolor()


def test_sweeps_have_the_papers_values_beside_ours():
    values = {"1/q": 0.5, "5/q": 0.7, 1.0: 0.6}
    rows = [made_row(v, settings={"alpha": a}, curves=False) for a, v in values.items()]
    group = group_rows(rows)[0]
    panel = sweeps_figure(group, "5000", "expected").axes[0]
    by_label = dict(zip(*reversed(panel.get_legend_handles_labels()), strict=True))
    assert list(by_label["48 bits"][0].get_ydata()) == pytest.approx([0.5, 0.7, 0.6])
    printed = by_label["48 bits, printed (AlexNet)"]
    assert list(printed.get_ydata()) == [0.6374, 0.7032, 0.6674]
    assert not has_curves(group)


@pytest.mark.parametrize("suffix", ["svg", "pdf", "png"])
def test_the_same_results_give_the_same_bytes(group, tmp_path, suffix):
    for name in ("a", "b"):
        save_figure(recall_figure(group), tmp_path / f"{name}.{suffix}")
    one, two = ((tmp_path / f"{name}.{suffix}").read_bytes() for name in ("a", "b"))
    assert one == two


def test_a_method_looks_the_same_in_every_figure_and_unlike_all_others():
    alone = [assign_styles([name])[0] for name in METHODS]
    assert assign_styles(list(METHODS)) == alone
    assert len(set(alone)) == len(METHODS)
    assert len(set(assign_styles([*METHODS, "new", "newer"]))) == len(METHODS) + 2
    assert len(set(assign_styles(["idhn", "idhn", "new", "newer"]))) == 4
