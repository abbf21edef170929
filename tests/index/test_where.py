"""Label logic: read, written back, brought into one form, and always what it means."""

import pickle

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from softhash.errors import ExpressionError, UsageError
from softhash.index.criteria import photo_criteria
from softhash.index.expressions import MAX_DEPTH, MAX_LENGTH, build_where, parse_where
from softhash.index.where import (
    EVERYTHING,
    NOTHING,
    And,
    Camera,
    Described,
    Folder,
    Label,
    Likely,
    Not,
    Or,
    Taken,
    canonical,
    leaves,
    literals,
    with_likely,
    without_derived,
)

A, B, C = map(Label, "abc")
NAMES = ["a", "b", "c", "d"]


def trees(names, min_terms=0):
    """Trees as anybody may build them; from two terms on, as the parser builds them."""

    def larger(smaller):
        terms = st.lists(smaller, min_size=min_terms, max_size=3).map(tuple)
        return st.builds(Not, smaller) | st.builds(And, terms) | st.builds(Or, terms)

    return st.recursive(st.builds(Label, names), larger, max_leaves=12)


def meaning(where, labels):
    """What a tree means, by Python's own operators."""
    if isinstance(where, Label):
        return where.name in labels
    if isinstance(where, Not):
        return not meaning(where.term, labels)
    each = [meaning(term, labels) for term in where.terms]
    return (all if isinstance(where, And) else any)(each)


SETS = [{name for i, name in enumerate(NAMES) if number >> i & 1} for number in range(16)]


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a", A),
        ("a & b | c", Or((And((A, B)), C))),
        ("a | b & c", Or((A, And((B, C))))),
        ("!a & b", And((Not(A), B))),
        ("!(a & b)", Not(And((A, B)))),
        ("!!a", Not(Not(A))),
        ("a&b&c", And((A, B, C))),
        ("(a & b) & c", And((And((A, B)), C))),
        ("a and not b OR c", Or((And((A, Not(B))), C))),
        ("a && b || c", Or((And((A, B)), C))),
        ("not(a)or(b)", Or((Not(A), B))),
        ("nota | order", Or((Label("nota"), Label("order")))),
        ('"traffic light" & \'it is "so"\'', And((Label("traffic light"), Label('it is "so"')))),
        (r'"back\\slash \"x\""', Label('back\\slash "x"')),
        ("\"and\" & ''", And((Label("and"), Label("")))),
        ("Straße&日本", And((Label("Straße"), Label("日本")))),
        ("t-shirt/#1+@50%", Label("t-shirt/#1+@50%")),
    ],
)  # fmt: skip
def test_an_expression_is_read_by_precedence(text, tree):
    assert parse_where(text) == tree
    assert parse_where(str(tree)) == tree


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        ("dog & & cat", 6, "a label is missing before '&'"),
        ("dog &", 5, "a label is missing"),
        ("", 0, "the expression is empty"),
        ("  ", 2, "the expression is empty"),
        ("| dog", 0, "a label is missing before '|'"),
        ("()", 1, "a label is missing before ')'"),
        ("dog not", 4, "& or | is missing before 'not'"),
        ("traffic light", 8, "& or | is missing before 'light'"),
        ("(dog cat)", 5, "& or | is missing before 'cat'"),
        ("dog)", 3, "a ) without a ("),
        ("a & (dog | b", 4, "a ( that is not closed"),
        ('a & "dog', 4, "a quote that is not closed"),
        ("dog > 5", 4, "'>' is not expected"),
        ("a,b", 1, "',' is not expected"),
        ("!" * (MAX_DEPTH + 1) + "a", MAX_DEPTH, f"more than {MAX_DEPTH} levels"),
        ("(" * 9000, MAX_DEPTH, f"more than {MAX_DEPTH} levels"),
        ("a" * (MAX_LENGTH + 1), MAX_LENGTH, f"more than {MAX_LENGTH:,} characters"),
    ],
)
def test_an_error_has_the_place(text, place, problem):
    with pytest.raises(ExpressionError) as caught:
        parse_where(text)
    error = caught.value
    assert (error.problem, error.place, error.exit_code) == (problem, place, 2)
    assert f"{problem} at character {place + 1:,} of '" in str(error)
    assert error.hint
    assert len(str(error)) < 400
    assert pickle.loads(pickle.dumps(error)).args == error.args


def test_as_deep_and_as_long_as_is_allowed_is_read():
    assert parse_where("(" * MAX_DEPTH + "a" + ")" * MAX_DEPTH) == A
    many = "|".join(["a"] * (MAX_LENGTH // 2))
    assert len(parse_where(many).terms) == MAX_LENGTH // 2


@given(st.text(max_size=60) | st.text("ab&|!()\"'\\ <notradw\ud800", max_size=60))
@settings(max_examples=300)
@example("\\")
def test_whatever_is_sent_is_a_tree_or_an_error_with_a_place(text):
    tree, place = None, 0
    try:
        tree = parse_where(text)
    except ExpressionError as error:
        place = error.place
    assert 0 <= place <= len(text)
    assert tree is None or parse_where(str(tree)) == tree


@given(trees(st.text(max_size=6) | st.sampled_from(["and", "NOT", 'a"b', "x\\", " "]), min_terms=2))
def test_a_tree_is_printed_so_that_it_is_read_again(tree):
    assert parse_where(str(tree)) == tree


@given(trees(st.sampled_from(NAMES)))
def test_a_tree_keeps_what_it_means(tree):
    form, negated = canonical(tree), canonical(Not(tree))
    for labels in SETS:
        wanted = meaning(tree, labels)
        assert tree.keeps(Described(labels)) == form.keeps(Described(labels)) == wanted
        assert negated.keeps(Described(labels)) != wanted
    assert canonical(form) == form
    assert canonical(negated, negated=True) == form
    assert {name for name, _ in literals(form)} <= {name for name, _ in literals(tree)}


@given(trees(st.sampled_from(NAMES)), st.randoms())
def test_the_order_of_terms_does_not_matter_to_the_canonical_form(tree, random):
    def shuffled(tree):
        if isinstance(tree, Label):
            return tree
        if isinstance(tree, Not):
            return Not(shuffled(tree.term))
        terms = [shuffled(term) for term in tree.terms]
        random.shuffle(terms)
        return type(tree)((*terms, *terms[:1]))

    assert canonical(shuffled(tree)) == canonical(tree)


def test_any_of_and_none_of_are_the_same_logic():
    assert build_where() == EVERYTHING == canonical(Not(NOTHING))
    assert build_where(["a"]) == A
    assert build_where(["a", "b"], ["c"]) == And((Or((A, B)), Not(C)))
    assert build_where((), (), "a & b") == parse_where("a & b")
    assert canonical(build_where(["a"], ["b"], C)) == canonical(parse_where("!b & a & c"))


def test_a_label_is_wanted_where_it_is_not_negated():
    tree = parse_where("dog & !(beach | !lake)")
    assert list(literals(tree)) == [("dog", True), ("beach", False), ("lake", True)]


LIKELY_ROWS = [{}, {"a": 0.5}, {"a": 0.49, "b": 1.0}, {"b": 0.7, "c": 0.2, "d": 0.5}]


def likely_meaning(where, labels, likely):
    """What a tree of given and likely labels means, by Python's own operators."""
    if isinstance(where, Label):
        return where.name in labels
    if isinstance(where, Likely):
        return likely.get(where.name, -1) >= where.at_least
    if isinstance(where, Not):
        return not likely_meaning(where.term, labels, likely)
    each = [likely_meaning(term, labels, likely) for term in where.terms]
    return (all if isinstance(where, And) else any)(each)


def mixed_trees():
    names = st.sampled_from(NAMES)
    leaf = st.builds(Label, names) | st.builds(Likely, names, st.sampled_from([0.2, 0.5, 0.7]))

    def larger(smaller):
        terms = st.lists(smaller, max_size=3).map(tuple)
        return st.builds(Not, smaller) | st.builds(And, terms) | st.builds(Or, terms)

    return st.recursive(leaf, larger, max_leaves=12)


@given(mixed_trees())
def test_a_tree_of_likely_labels_keeps_what_it_means(tree):
    form, negated, without = canonical(tree), canonical(Not(tree)), without_derived(tree)
    for labels in SETS[::3]:
        for likely in LIKELY_ROWS:
            wanted, item = likely_meaning(tree, labels, likely), Described(labels, likely)
            assert tree.keeps(item) == form.keeps(item) == wanted
            assert negated.keeps(item) != wanted
        assert without.keeps(Described(labels, {"a": 1.0})) == tree.keeps(Described(labels))
    assert canonical(form) == form
    assert not any(isinstance(leaf, Likely) for leaf, _ in leaves(without))


@given(trees(st.sampled_from(NAMES)))
def test_likely_labels_count_as_given_where_that_is_asked_for(tree):
    for labels in SETS[::3]:
        for likely in LIKELY_ROWS:
            found = labels | {name for name, p in likely.items() if p >= 0.5}
            assert with_likely(tree).keeps(Described(labels, likely)) == meaning(tree, found)
    assert set(literals(with_likely(tree))) == set(literals(tree))


def test_likely_labels_are_printed_with_what_tells_them_apart():
    tree = canonical(Or((Likely("a", 0.7), Likely("a"), Likely("old town", 0.25), A)))
    assert str(tree) == 'a | ~"old town">=0.25 | ~a | ~a>=0.7'
    assert canonical(Or(tree.terms[::-1])) == tree


def test_facts_and_folders_are_leaves_that_are_not_labels():
    tree = And((A, Not(Or((Folder("Old Town"), Camera("D90")))), Taken("2024-05", "2025")))
    form = canonical(tree)
    assert str(form) == '!camera:D90 & !folder:"Old Town" & a & taken:2024-05..2025'
    assert canonical(Not(Not(And(tree.terms[::-1])))) == form
    assert [leaf for leaf, wanted in leaves(tree) if not wanted] == [*tree.terms[1].term.terms]
    assert list(literals(tree)) == [("a", True)]
    assert with_likely(tree).terms[1:] == tree.terms[1:]
    assert canonical(without_derived(Or((A, Taken("2024"), Not(Camera("x")))))) == EVERYTHING
    assert without_derived(Folder("x")) == Folder("x")


def test_a_tree_of_facts_keeps_what_all_its_leaves_keep():
    tree = And((A, Not(Or((Folder("Old Town"), Camera("D90")))), Taken("2024-05", "2025")))
    known = Described(["a"], {}, "x/a.jpg", "2024-05-01T00:00:00", "Canon")
    assert tree.keeps(known)
    for name, value in (
        ("labels", []),
        ("file_name", "x/Old Town/a.jpg"),
        ("camera", "NIKON d90"),
        ("taken", "2024-04-30T23:59:59"),
        ("taken", "2025-01-01T00:00:00"),
        ("taken", ""),
    ):
        assert not tree.keeps(known._replace(**{name: value}))


@pytest.mark.parametrize(
    "text", ["", "24", "2024-5", "2024-13", "2024-02-30", "2024-05-17T10", "0000", "May", "٢٠٢٤"]
)
def test_a_date_that_makes_no_sense_is_refused_with_the_way_out(text):
    for option in ("after", "before"):
        with pytest.raises(UsageError, match="is not a date") as caught:
            photo_criteria(**{option: text})
        assert "2024-05-17" in caught.value.hint


def test_options_that_are_not_given_ask_for_nothing():
    assert photo_criteria() == []
    wanted = [Taken("2024"), Folder("Italy"), Camera("nikon")]
    assert photo_criteria(after="2024", before=None, folder="Italy", camera="nikon") == wanted
    assert photo_criteria(before="2024-05") == [Taken("", "2024-05")]
    with pytest.raises(UsageError, match="does not name a folder"):
        photo_criteria(folder="/")
