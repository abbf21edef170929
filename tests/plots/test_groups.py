import pytest
from made_rows import made_row

from softhash.errors import UsageError
from softhash.plots.groups import check_commits, group_rows


def test_methods_stand_in_the_papers_order_and_unknown_ones_last():
    rows = [made_row(method=name) for name in ("zzz", "lsh", "hashnet", "idhn")]
    (group,) = group_rows(rows)
    assert [entry.label for entry in group.entries] == ["IDHN", "HashNet", "LSH", "zzz"]
    assert (group.title, group.slug, group.data) == (
        "VOC2012, frozen backbone", "voc2012-frozen", "voc2012",
    )  # fmt: skip


def test_splits_and_modes_are_kept_apart():
    other = {"split": "cd34"}
    rows = [made_row(), made_row(mode="finetune"), made_row(contract=other)]
    assert [group.title for group in group_rows(rows)] == [
        "VOC2012 (split ab12), frozen backbone",
        "VOC2012 (split ab12), fine-tuned",
        "VOC2012 (split cd34), frozen backbone",
    ]
    assert len({group.slug for group in group_rows(rows)}) == 3


def test_shallow_methods_stand_beside_those_fine_tuned_on_the_same_network():
    tuned = [made_row(mode="finetune", size=227), made_row(mode="finetune", method="dhn", size=227)]
    (group,) = group_rows([made_row(method="lsh", size=227), *tuned])
    assert [entry.label for entry in group.entries] == ["IDHN", "DHN", "LSH"]
    assert group.title == "VOC2012, fine-tuned"
    apart = [made_row(method="lsh"), made_row(size=227)]  # another size; a deep method
    assert len(group_rows([*apart, *tuned])) == 2


def test_a_split_unlike_the_papers_is_named_by_its_collection():
    (group,) = group_rows([made_row(contract={"database": 11540})])
    assert (group.title, group.data) == ("photos, frozen backbone", None)


def test_three_values_of_a_setting_are_a_sweep_and_two_are_lines():
    rows = [made_row(settings={"alpha": a}, seed=s) for a in ("1/q", "5/q", 1.0) for s in (0, 1)]
    (group,) = group_rows([*rows, made_row()])
    (sweep,) = group.sweeps
    assert (sweep.setting, [e.label for e in sweep.entries]) == ("alpha", ["1/q", "5/q", "1"])
    assert [len(entry.rows) for entry in sweep.entries] == [2, 2, 2]
    assert [entry.label for entry in group.entries] == ["IDHN"]
    (group,) = group_rows(rows[:4])
    assert not group.sweeps
    assert [e.label for e in group.entries] == ["IDHN (alpha 1/q)", "IDHN (alpha 5/q)"]


def test_a_setting_is_swept_only_where_all_else_is_equal():
    rows = [made_row(settings={"alpha": a}, epochs=e) for e, a in enumerate((0.1, 0.2, 0.3), 1)]
    (group,) = group_rows(rows)
    assert not group.sweeps
    assert group.entries[0].label == "IDHN (epochs 1, alpha 0.1)"


def test_backbones_are_named_where_there_are_several():
    rows = [made_row(backbone=name) for name in ("alexnet", "vgg19")]
    (group,) = group_rows([*rows, made_row(backbone="vgg19", seed=1)])
    assert [entry.label for entry in group.entries] == ["IDHN (vgg19)", "IDHN (alexnet)"]


def at_commit(commit, **recipe):
    row = made_row(**recipe)
    return row | {"versions": row["versions"] | {"commit": commit}}


def test_rows_of_one_group_have_one_commit_or_are_refused():
    other_split = {"split": "cd34"}
    apart = [at_commit("ab1"), at_commit("cd2", contract=other_split)]
    check_commits(group_rows(apart))
    rows = [at_commit("ab1"), at_commit("ab1", seed=1), at_commit("ab1-dirty", seed=2)]
    with pytest.raises(
        UsageError,
        match=r"'VOC2012, frozen backbone' are of 2 commits: ab1 \(2\), ab1-dirty \(1\); .*--mixed",
    ):
        check_commits(group_rows(rows))
    older = made_row(seed=3)
    del older["versions"]
    with pytest.raises(UsageError, match=r"ab1 \(1\), unknown \(1\)"):
        check_commits(group_rows([rows[0], older]))


def named(variant, **recipe):
    return made_row(**recipe) | {"variant": variant}


def test_a_variant_that_all_rows_have_is_in_the_title_and_in_no_label():
    rows = [named("tuned", method=method, epochs=7) for method in ("idhn", "dhn")]
    (group,) = group_rows([*rows, made_row(method="float")])
    assert [entry.label for entry in group.entries] == ["IDHN", "DHN", "float features"]
    assert (group.title, group.slug) == ("VOC2012, frozen backbone, tuned", "voc2012-frozen")
    (group,) = group_rows([*rows, made_row(method="dhn")])
    labels = ["IDHN (tuned)", "DHN", "DHN (tuned)"]
    assert [entry.label for entry in group.entries] == labels
    assert group.title == "VOC2012, frozen backbone"


def test_settings_tuned_for_each_length_are_one_line():
    rows = [
        named("tuned", bits=bits, seed=seed, head_rate=rate)
        for bits, rate in ((12, 0.1), (48, 0.2))
        for seed in (0, 1)
    ]
    (group,) = group_rows([made_row(bits=12), *rows])
    assert [(entry.label, len(entry.rows)) for entry in group.entries] == [
        ("IDHN", 1), ("IDHN (tuned)", 4),
    ]  # fmt: skip


def test_variants_of_one_name_and_one_length_are_told_apart_by_what_differs():
    rows = [named("tuned", head_rate=rate) for rate in (0.1, 0.2)]
    (group,) = group_rows([made_row(), *rows])
    labels = [entry.label for entry in group.entries]
    assert labels == ["IDHN", "IDHN (tuned, head_rate 0.1)", "IDHN (tuned, head_rate 0.2)"]
