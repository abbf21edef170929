from made_rows import made_row

from softhash.plots.details import describe_group, list_entries
from softhash.plots.groups import group_rows
from softhash.plots.page import Section, page


def timed(seconds, side_by_side=None, **recipe):
    shared = {} if side_by_side is None else {"side_by_side": side_by_side}
    return made_row(**recipe) | {
        "seconds": {"train": seconds, "encode and evaluate": 1.0, **shared}
    }


def test_training_times_are_of_runs_that_had_the_device_to_themselves():
    rows = [
        timed(2.0), timed(4.0, 1, seed=1), timed(60.0, 4, seed=2),
        timed(50.0, 4, method="dhn"),
    ]  # fmt: skip
    (group,) = group_rows(rows)
    lines = {label: (cells, seconds) for label, _, cells, seconds in list_entries(group)}
    assert lines == {"IDHN": (3, 3.0), "DHN": (1, None)}
    text = page([Section("a", "b", entries=list_entries(group))], [])
    assert '<td class="number">3.0</td>' in text
    assert '<td class="number">–</td>' in text


def test_the_time_of_all_runs_counts_seconds_alone():
    (group,) = group_rows([timed(119.0, 4), timed(59.0, seed=1)])
    assert dict(describe_group(group))["run"] == (
        "2 cells, 3.0 minutes in all, 1 of them side by side with others"
    )


def test_settings_that_differ_from_length_to_length_are_all_listed():
    rows = [
        made_row(bits=bits, head_rate=rate) | {"variant": "tuned"}
        for bits, rate in ((12, 0.1), (48, 0.2))
    ]
    (group,) = group_rows(rows)
    ((_, own, _, _),) = list_entries(group)
    assert "head_rate 0.1 or 0.2" in own
