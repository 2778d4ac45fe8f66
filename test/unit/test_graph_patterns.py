"""
Patterns over graph ops: each kind of term, reasons, and all matches against a search
that tries everything.
"""

import time
from collections.abc import Sequence
from itertools import permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp, f32, f64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

import transom
from transom.dialects import graph
from transom.dialects.graph.desc import tensor
from transom.passes.graph_patterns import (
    Match,
    Matcher,
    Pattern,
    PatternError,
    Term,
    constant,
    each,
    either,
    op,
    optional,
    repeated,
    rest,
    value,
    weight,
    where,
)


def body(text: str, type: str = "tensor<4x4xf32>") -> dict[str, Operation]:
    """Ops by the names of their first results; `%x` and `%y` are arguments."""
    types = f"%x: {type}, %y: {type}"
    module = transom.parse(f"func.func @main({types}) {{\n{text}\nfunc.return\n}}")
    return {
        hint: op
        for op in module.walk()
        if op.results and (hint := op.results[0].name_hint) is not None
    }


def add(name: str, a: str, b: str) -> str:
    return f"%{name} = graph.add %{a}, %{b} : tensor<4x4xf32>"


def relu(name: str, a: str) -> str:
    return f"%{name} = graph.relu %{a} : tensor<4x4xf32>"


def found(pattern: Pattern, op: Operation) -> list[list[str | None]]:
    """The matches of a pattern, as the names of their ops."""
    return [
        [op.results[0].name_hint for op in match.ops] for match in pattern.matches(op)
    ]


def reason(pattern: Pattern, op: Operation) -> str:
    assert pattern.match(op) is None
    return pattern.mismatch(op).reason


def test_a_value_that_is_used_twice_is_one():
    ops = body("\n".join([add("a", "x", "x"), add("b", "x", "y")]))
    x = value("x")
    double = Pattern(op(graph.AddOp, x, x))
    assert found(double, ops["a"]) == [["a"]]
    assert reason(double, ops["b"]) == "expected shared parts to be the same"
    assert found(Pattern(op(graph.AddOp, value(), value())), ops["b"]) == [["b"]]


def test_shared_ops_make_a_graph():
    lines = [relu("r", "x"), relu("s", "x"), relu("t", "r"), add("a", "t", "r")]
    ops = body("\n".join([*lines, add("b", "t", "s")]))
    first = op(graph.ReluOp, value())
    pattern = Pattern(op(graph.AddOp, op(graph.ReluOp, first), first))
    assert found(pattern, ops["a"]) == [["r", "t", "a"]]
    assert pattern.match(ops["b"]) is None


def test_operands_are_swapped_where_that_is_the_same():
    ops = body("\n".join([relu("r", "x"), add("a", "y", "r")]))
    term = op(graph.ReluOp, value())
    assert found(Pattern(op(graph.AddOp, term, value())), ops["a"]) == [["r", "a"]]
    fixed = Pattern(op(graph.AddOp, term, value(), commutative=False))
    assert reason(fixed, ops["a"]) == "expected 'graph.relu', but got a block argument"
    sub = body("%a = graph.sub %x, %y : tensor<4x4xf32>")["a"]
    x, y = value("x"), value("y", where=where("the first", lambda v: v.index == 0))
    assert Pattern(op(graph.SubOp, x, y)).match(sub) is None
    swapped = Pattern(op(graph.SubOp, x, y, commutative=True)).match(sub)
    assert swapped is not None and swapped.value("y").name_hint == "x"


def test_a_part_may_be_left_out():
    ops = body("\n".join([add("a", "x", "y"), relu("r", "a"), relu("s", "x")]))
    inner = op(graph.AddOp, value(), value(), name="sum")
    pattern = Pattern(optional(lambda t: op(graph.ReluOp, t, name="relu"), inner))
    with_it, without = pattern.match(ops["r"]), pattern.match(ops["a"])
    assert with_it is not None and "relu" in with_it
    assert without is not None and "relu" not in without
    with pytest.raises(KeyError, match="part 'relu' of the pattern is not there"):
        without.value("relu")
    with pytest.raises(KeyError, match="named 'relus'; did you mean 'relu'"):
        without.value("relus")
    assert reason(pattern, ops["s"]) == (
        "expected 'graph.add', but got a block argument"
    )


def test_all_alternatives_that_fit_are_matches():
    ops = body("\n".join([relu("r", "x"), relu("s", "r")]))
    inner = op(graph.ReluOp, value())
    pattern = Pattern(op(graph.ReluOp, either(inner, value("any"))))
    assert found(pattern, ops["s"]) == [["r", "s"], ["s"]]


@pytest.mark.parametrize(("at_least", "at_most"), [(0, 8), (1, 2), (3, 3), (4, 8)])
def test_parts_are_repeated(at_least: int, at_most: int):
    lines = [add("a", "x", "y"), relu("r", "a"), relu("s", "r"), relu("t", "s")]
    ops = body("\n".join(lines))
    start = op(graph.AddOp, value(), value())
    pattern = Pattern(
        repeated(
            lambda t: op(graph.ReluOp, t, name="step"),
            start,
            at_least=at_least,
            at_most=at_most,
        )
    )
    for count, name in enumerate("arst"):
        match = pattern.match(ops[name])
        assert (match is not None) == (at_least <= count <= at_most)
        if match is not None:
            steps = [v.name_hint for v in match.values("step")]
            assert steps == list("rst")[:count]


def test_operands_that_are_left_match_each_on_its_own():
    text = "\n".join([relu("r", "x"), relu("s", "y"), relu("t", "y")])
    concat = "graph.concat %r, %s, %t axis 0"
    types = "tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32> -> tensor<12x4xf32>"
    ops = body(f"{text}\n%c = {concat} : {types}")
    parts = each(op(graph.ReluOp, value("in"), name="part"), at_least=2)
    match = Pattern(op(graph.ConcatOp, parts)).match(ops["c"])
    assert match is not None
    assert [v.name_hint for v in match.values("part")] == ["r", "s", "t"]
    assert [v.name_hint for v in match.values("in")] == ["x", "y", "y"]
    # A part that is used outside of it is one value for all.
    y = value("y")
    after = each(op(graph.ReluOp, y))
    pattern = Pattern(op(graph.ConcatOp, op(graph.ReluOp, value()), after))
    assert pattern.match(ops["c"]) is not None
    outside = Pattern(op(graph.ConcatOp, op(graph.ReluOp, y), after))
    assert outside.match(ops["c"]) is None
    assert Pattern(op(graph.ConcatOp, rest("all"))).match(ops["c"]) is not None
    more = Pattern(op(graph.ConcatOp, each(value(), at_least=4)))
    assert reason(more, ops["c"]) == (
        "'graph.concat': expected 4 operands or more, but got 3"
    )


def test_results_are_told_apart():
    ops = body("""
%m, %i = graph.composite "two" (%a = %x : tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  graph.yield %a, %a : tensor<4x4xf32>, tensor<4x4xf32>
}
%r = graph.relu %m : tensor<4x4xf32>
%n = graph.neg %i : tensor<4x4xf32>""")  # noqa: E501
    two = op(graph.CompositeOp, value(), attributes={"composite": "two"})
    assert found(Pattern(op(graph.ReluOp, two)), ops["r"]) == [["m", "r"]]
    second = two.result(1, "indices")
    match = Pattern(op(graph.NegOp, second)).match(ops["n"])
    assert match is not None and match.value("indices").name_hint == "i"
    assert reason(Pattern(op(graph.ReluOp, second)), ops["r"]) == (
        "expected result 1 of 'graph.composite', but got 0"
    )


def test_further_roots_are_found_among_readers():
    ops = body("\n".join([relu("r", "x"), add("a", "r", "y"), relu("s", "r")]))
    shared = op(graph.ReluOp, value())
    pattern = Pattern(
        op(graph.AddOp, shared, value(), name="a"), op(graph.ReluOp, shared, name="b")
    )
    assert found(pattern, ops["a"]) == [["r", "a", "s"]]
    assert pattern.match(body(add("a", "x", "y"))["a"]) is None


def test_what_constants_and_weights_are():
    ops = body(
        "%k = graph.constant dense<0.0> : tensor<4x4xf32>\n"
        "%l = graph.constant dense<1.0> : tensor<4x4xf32>\n"
        + "\n".join([add("a", "x", "k"), add("b", "x", "l"), add("c", "x", "y")])
    )
    zero = Pattern(op(graph.AddOp, value(), constant("k", equal_to=0)))
    match = zero.match(ops["a"])
    assert match is not None and match.copied == (ops["k"],)
    assert match.ops == (ops["a"],)
    assert reason(zero, ops["b"]) == (
        "'graph.constant': expected elements of 0, but got 'tensor<4x4xf32>'"
    )
    known = Pattern(op(graph.AddOp, value(), weight()))
    assert reason(known, ops["c"]) == (
        "expected 'graph.weight_ref' or 'graph.constant', but got a block argument"
    )


TYPED: list[tuple[Term, str | None]] = [
    (value(type=tensor((4, 4), f32)), None),
    (value(type=tensor((4, 4), f64)), "type 'tensor<4x4xf64>'"),
    (value(dtype=(f32, f64)), None),
    (value(dtype=f64), "elements of f64"),
    (value(rank=2), None),
    (value(rank=3), "rank 3"),
    (value(shape=(4, None)), None),
    (value(shape=(4, 5)), "shape 4x5"),
    (value(where=where("luck", lambda v: False)), "luck"),
]


@pytest.mark.parametrize(("term", "expected"), TYPED)
def test_values_are_of_types(term: Term, expected: str | None):
    op_ = body(relu("r", "x"))["r"]
    pattern = Pattern(op(graph.ReluOp, term))
    if expected is None:
        assert pattern.match(op_) is not None
    else:
        found = f"expected {expected}, but got 'tensor<4x4xf32>'"
        assert reason(pattern, op_) == found


ATTRIBUTES: list[tuple[object, str | None]] = [
    (1, None),
    (0, "expected axis to be 0, but got 1"),
    (where("odd", lambda axis: axis % 2 == 1), None),
    (where("even", lambda axis: axis % 2 == 0), "expected axis to be even, but got 1"),
]


@pytest.mark.parametrize(("wanted", "expected"), ATTRIBUTES)
def test_attributes(wanted: object, expected: str | None):
    op_ = body("%s = graph.softmax %x axis 1 : tensor<4x4xf32>")["s"]
    pattern = Pattern(op(graph.SoftmaxOp, value(), attributes={"axis": wanted}))
    if expected is None:
        assert pattern.match(op_) is not None
    else:
        assert reason(pattern, op_) == f"'graph.softmax': {expected}"


def test_demands_on_ops_and_matches():
    op_ = body(relu("r", "x"))["r"]
    never = where("another day", lambda _: False)
    assert reason(Pattern(op(graph.ReluOp, value(), where=never)), op_) == (
        "'graph.relu': expected another day"
    )
    whole = Pattern(op(graph.ReluOp, value()), where=never)
    assert reason(whole, op_) == "expected another day"


def test_the_way_that_led_furthest_is_told():
    ops = body("\n".join([relu("r", "x"), relu("s", "r"), add("a", "s", "y")]))
    deep = op(graph.ReluOp, op(graph.ReluOp, op(graph.NegOp, value())))
    pattern = Pattern(op(graph.AddOp, either(op(graph.NegOp, value()), deep), value()))
    assert reason(pattern, ops["a"]) == "expected 'graph.neg', but got a block argument"
    assert pattern.mismatch(ops["a"]).depth == 3


def test_ops_of_other_blocks_are_no_parts_but_constants_are():
    module = transom.parse("""
func.func @main(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %k = graph.constant dense<2.0> : tensor<4xf32>
  %r = graph.relu %x : tensor<4xf32>
  %y = scf.if %c -> (tensor<4xf32>) {
    %a = graph.add %r, %k : tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}""")
    (sum_,) = (o for o in module.walk() if isinstance(o, graph.AddOp))
    term = op(graph.ReluOp, value())
    assert reason(Pattern(op(graph.AddOp, term, value())), sum_) == (
        "expected 'graph.relu' in the same block"
    )
    assert Pattern(op(graph.AddOp, value(), constant())).match(sum_) is not None


def nothing() -> Pattern:
    return Pattern(value())


def a_result() -> Pattern:
    return Pattern(op(graph.CompositeOp, value()).result(0))


def no_kind() -> Term:
    return op(())


def each_first() -> Term:
    return op(graph.ConcatOp, rest(), value())


def swapped_three() -> Term:
    return op("acme.sum", value(), value(), value(), commutative=True)


def too_often() -> Term:
    return repeated(lambda t: op(graph.ReluOp, t), value(), at_most=65)


def strangers() -> Pattern:
    return Pattern(op(graph.ReluOp, value()), op(graph.ReluOp, value()))


def a_part_again() -> Pattern:
    inner = op(graph.ReluOp, value())
    return Pattern(op(graph.ReluOp, inner), inner)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (nothing, "expected an op as the root, but got values of any origin"),
        (a_result, "expected an op as the root, but got one of its results"),
        (no_kind, "expected one kind of op or more"),
        (each_first, "expected 'rest' and 'each' as the last operand only"),
        (swapped_three, "expected two operands of what is commutative"),
        (too_often, "expected 0 <= at_least <= at_most <= 64, but got 0 and 65"),
        (strangers, "expected further roots to share a part with the first"),
        (a_part_again, "expected further roots that are not parts"),
        (lambda: either(rest()), "expected alternatives that are one value each"),
        (lambda: each(rest()), "expected a term that is one value"),
    ],
)
def test_patterns_that_mean_nothing(make: object, message: str):
    assert callable(make)
    with pytest.raises(PatternError) as error:
        make()
    assert str(error.value) == message


def test_taps_are_what_others_read():
    ops = body("\n".join([relu("r", "x"), relu("s", "r"), add("a", "r", "y")]))
    match = Pattern(op(graph.ReluOp, op(graph.ReluOp, value()))).match(ops["s"])
    assert match is not None and match.taps == (ops["r"].results[0],)


# All matches, against a search that tries everything.

KINDS = (graph.AddOp, graph.ReluOp, graph.SubOp)


def _made(kind: int, a: SSAValue, b: SSAValue) -> Operation:
    if kind == 1:
        return graph.ReluOp(a)
    return graph.AddOp(a, b) if kind == 0 else graph.SubOp(a, b)


def random_block(choices: Sequence[tuple[int, int, int]]) -> list[Operation]:
    """Ops on two arguments, each of a kind and with operands by number."""
    block = Block(arg_types=[tensor((2,), f32)] * 2)
    values: list[SSAValue] = list(block.args)
    ops: list[Operation] = []
    for kind, first, second in choices:
        a, b = values[first % len(values)], values[second % len(values)]
        made = _made(kind, a, b)
        ops.append(made)
        values.append(made.results[0])
    block.add_ops([*ops, ReturnOp()])
    ModuleOp([FuncOp("main", (block.arg_types, ()), Region(block))])
    return ops


Shape = tuple[int, object, object] | str
"""A kind and two parts, or the name of a value."""

shapes = st.recursive(
    st.sampled_from(["p", "q"]),
    lambda parts: st.tuples(st.sampled_from([0, 1, 2]), parts, parts),
    max_leaves=4,
).filter(lambda shape: not isinstance(shape, str))


def term_of(shape: Shape, values: dict[str, Term]) -> Term:
    if isinstance(shape, str):
        return values.setdefault(shape, value(shape))
    kind, a, b = shape
    parts = [term_of(part, values) for part in ((a,) if kind == 1 else (a, b))]  # pyright: ignore[reportArgumentType]
    return op(KINDS[kind], *parts)


Found = frozenset[tuple[str, SSAValue]]


def all_ways(shape: Shape, at: SSAValue) -> set[Found]:
    """What values may be bound to, by trying all orders of operands."""
    if isinstance(shape, str):
        return {frozenset({(shape, at)})}
    kind, *parts = shape
    if not isinstance(at.owner, KINDS[kind]):
        return set()
    operands = tuple(at.owner.operands)
    ways: set[Found] = set()
    for order in permutations(operands) if kind == 0 else (operands,):
        inner = [all_ways(p, v) for p, v in zip(parts, order, strict=False)]  # pyright: ignore[reportArgumentType]
        for choice in product(*inner):
            bound = frozenset[tuple[str, SSAValue]]().union(*choice)
            if len({name for name, _ in bound}) == len(bound):
                ways.add(bound)
    return ways


def bound_in(match: Match) -> Found:
    return frozenset((name, match.value(name)) for name in match.names)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from([0, 1, 2]), *[st.integers(0, 9)] * 2), max_size=9
    ),
    shapes,
)
def test_matches_are_those_of_a_search_that_tries_all(
    choices: list[tuple[int, int, int]], shape: Shape
):
    pattern, matcher = Pattern(term_of(shape, {})), Matcher()
    for op_ in random_block(choices):
        expected = all_ways(shape, op_.results[0])
        found = {bound_in(match) for match in pattern.matches(op_, matcher)}
        assert found <= expected
        # Of ways that differ only in the names of equal parts one is enough.
        assert bool(found) == bool(expected)


def test_matching_everywhere_takes_time_in_proportion():
    def seconds(count: int) -> float:
        ops = random_block([(i % 2, i + 1, i) for i in range(count)])
        part = op(graph.AddOp, op(graph.ReluOp, value()), value())
        pattern = Pattern(repeated(lambda t: op(KINDS, t, rest()), part, at_most=16))
        matcher, start = Matcher(), time.thread_time()
        for op_ in ops:
            pattern.match(op_, matcher)
        return time.thread_time() - start

    seconds(100)
    assert seconds(4000) < 20 * max(seconds(1000), 0.01)
