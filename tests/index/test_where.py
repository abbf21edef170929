"""Label logic: read, written back, brought into one form, and always what it means."""

import pickle

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from softhash.errors import ExpressionError
from softhash.index.expressions import MAX_DEPTH, MAX_LENGTH, build_where, parse_where
from softhash.index.where import EVERYTHING, NOTHING, And, Label, Not, Or, canonical, literals

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
        assert tree.keeps(labels) == form.keeps(labels) == wanted
        assert negated.keeps(labels) != wanted
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
