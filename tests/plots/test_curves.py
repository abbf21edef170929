import sys

import pytest

from softhash.data.decoding import image_size
from softhash.errors import MissingExtraError
from softhash.plots import curves_figure, save_figure

CURVES = {"n": [10, 20, 30], "precision": [0.9, 0.8, 0.7], "ndcg": [0.6, 0.6, 0.5]}


def test_a_figure_has_a_panel_for_each_metric_and_a_line_for_each_name(tmp_path):
    pytest.importorskip("matplotlib")
    figure = curves_figure({"ours": CURVES, "chance": CURVES}, ("precision", "ndcg"))
    assert [panel.get_title() for panel in figure.axes] == ["precision", "NDCG"]
    for panel, metric in zip(figure.axes, ("precision", "ndcg"), strict=True):
        assert [line.get_label() for line in panel.lines] == ["ours", "chance"]
        assert list(panel.lines[0].get_ydata()) == CURVES[metric]
        assert list(panel.lines[0].get_xdata()) == CURVES["n"]
    save_figure(figure, tmp_path / "curves.png")
    assert image_size(tmp_path / "curves.png")[1] > 500


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"softhash\[plot\]"):
        curves_figure({"ours": CURVES})
