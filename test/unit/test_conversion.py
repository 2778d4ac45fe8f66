"""Modes, legality, patterns and what a conversion reports."""

import pytest
from conversion_cases import (
    Rewrite,
    body,
    fingerprint,
    parse,
    pattern,
    rename,
    unregistered,
)
from xdsl.dialects import arith, func, test
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import Operation

from transom.dialects.diagnostics import OpError
from transom.dialects.verifier import verify_module
from transom.lowering.conversion import (
    BudgetError,
    ConversionError,
    ConversionRewriter,
    ConversionTarget,
    Operands,
    PatternError,
    Refusal,
    analyze_conversion,
    apply_full_conversion,
    apply_partial_conversion,
)

CHAIN = """
func.func @f(%x: f32) -> f32 {
  %a = "g.neg"(%x) : (f32) -> f32
  %b = "g.relu"(%a) : (f32) -> f32
  %c = "g.relu"(%b) : (f32) -> f32
  func.return %c : f32
}
"""


def illegal(*dialects: str) -> ConversionTarget:
    target = ConversionTarget()
    target.add_illegal_dialect(*dialects)
    return target


def refuse(root: str, reason: str, **options: object):
    return pattern(root, lambda op, operands, rewriter: Refusal(reason), **options)  # pyright: ignore[reportArgumentType]


def message(error: pytest.ExceptionInfo[OpError]) -> str:
    return str(error.value)


# Modes


def test_full_replaces_all_illegal_ops():
    module = parse(CHAIN)
    report = apply_full_conversion(
        module, illegal("g"), [rename("g.neg", "h.neg"), rename("g.relu", "h.relu")]
    )
    verify_module(module)
    assert body(module) == [
        "func.func @f(%x: f32) -> f32 {",
        '%a = "h.neg"(%x) : (f32) -> f32',
        '%b = "h.relu"(%a) : (f32) -> f32',
        '%c = "h.relu"(%b) : (f32) -> f32',
        "func.return %c : f32",
        "}",
    ]
    assert report.converted == {"g.neg": 1, "g.relu": 2}
    assert report.rewrites == {"g.neg->h.neg": 1, "g.relu->h.relu": 2}
    assert report.ok


def test_failure_changes_nothing_and_lists_all_ops():
    module = parse(CHAIN)
    before = fingerprint(module)
    with pytest.raises(ConversionError) as error:
        apply_full_conversion(module, illegal("g"), [rename("g.neg", "h.neg")])
    assert fingerprint(module) == before
    assert message(error) == (
        "m.mlir:4:3: error: no legal form for 'g.relu' x2 (no pattern); "
        "its type is (f32) -> f32\n"
        "m.mlir:5:3: note: also here"
    )


def test_groups_are_by_op_and_reason():
    module = parse(
        """
        %0 = "g.a"() : () -> f32
        %1 = "g.a"() : () -> f64
        %2 = "g.b"() : () -> f32
        %3 = "g.a"() {bad} : () -> f32
        """
    )

    def rewrite(op: Operation, operands: Operands, rewriter: ConversionRewriter):
        return Refusal("expected no 'bad'" if "bad" in op.attributes else "too small")

    with pytest.raises(ConversionError) as error:
        apply_full_conversion(
            module, illegal("g"), [pattern("g.a", rewrite, name="ConvertA")]
        )
    assert message(error) == (
        "m.mlir:2:9: error: no legal form for 'g.a' x2 (ConvertA: too small); "
        "its type is () -> f32\n"
        "m.mlir:3:9: note: also here, of type () -> f64\n"
        "m.mlir:4:9: note: no legal form for 'g.b' x1 (no pattern); "
        "its type is () -> f32\n"
        "m.mlir:5:9: note: no legal form for 'g.a' x1 (ConvertA: expected no 'bad'); "
        "its type is () -> f32"
    )
    assert [f.op_name for f in error.value.report.failures] == [
        "g.a",
        "g.a",
        "g.b",
        "g.a",
    ]


def test_every_pattern_that_refused_is_named():
    module = parse('"g.a"() : () -> ()')
    with pytest.raises(ConversionError) as error:
        apply_full_conversion(
            module,
            illegal("g"),
            [
                refuse("g.a", "first reason", name="P"),
                refuse("g.a", "second reason", name="Q", benefit=2),
            ],
        )
    assert "no legal form for 'g.a' x1 (Q: second reason; P: first reason)" in message(
        error
    )


def test_partial_leaves_what_is_not_mentioned():
    module = parse('%0 = "g.a"() : () -> f32\n%1 = "h.b"(%0) : (f32) -> f32')
    report = apply_partial_conversion(
        module, illegal("g"), [rename("g.a", "k.a"), refuse("h.b", "not today")]
    )
    assert body(module) == [
        '%0 = "k.a"() : () -> f32',
        '%1 = "h.b"(%0) : (f32) -> f32',
    ]
    assert [(f.op_name, f.reason) for f in report.kept] == [
        ("h.b", "Pattern: not today")
    ]
    assert "'h.b' x1 stayed (Pattern: not today)" in str(report)


def test_partial_converts_what_is_not_mentioned_if_a_pattern_does():
    module = parse('"h.b"() : () -> ()')
    apply_partial_conversion(module, illegal("g"), [rename("h.b", "k.b")])
    assert body(module) == ['"k.b"() : () -> ()']


def test_partial_fails_on_an_explicitly_illegal_op():
    module = parse('"g.a"() : () -> ()')
    with pytest.raises(ConversionError, match=r"no legal form for 'g.a' x1"):
        apply_partial_conversion(module, illegal("g"), [])


def test_analysis_changes_nothing():
    module = parse(CHAIN)
    before = fingerprint(module)
    report = analyze_conversion(module, illegal("g"), [rename("g.neg", "h.neg")])
    assert fingerprint(module) == before
    assert not report.ok
    assert report.converted == {"g.neg": 1}
    assert str(report) == (
        "converted 'g.neg' x1\n"
        "no legal form for 'g.relu' x2 (no pattern); its type is (f32) -> f32"
    )


# Legality


def test_a_closed_target_leaves_nothing_else():
    target = ConversionTarget()
    target.add_legal_dialect("h")
    target.add_legal_op(ModuleOp)
    module = parse('"h.a"() : () -> ()\n"k.b"() : () -> ()')
    with pytest.raises(ConversionError) as error:
        apply_full_conversion(module, target, [])
    assert "'k.b' x1 (the target does not mention it; no pattern)" in message(error)
    apply_partial_conversion(module, target, [])


def test_exceptions_from_an_illegal_dialect_do_not_close_a_target():
    target = illegal("g")
    target.add_legal_op("g.keep")
    assert not target.closed
    module = parse('"g.keep"() : () -> ()\n"k.b"() : () -> ()')
    apply_full_conversion(module, target, [])


@pytest.mark.parametrize(("closed", "fails"), [(True, True), (False, False)])
def test_a_target_can_say_what_of_the_rest(closed: bool, fails: bool):
    target = ConversionTarget()
    target.add_legal_dialect("h")
    (target.mark_unknown_illegal if closed else target.mark_unknown_legal)()
    report = analyze_conversion(parse('"k.b"() : () -> ()'), target, [])
    assert report.ok is not fails


def test_unknown_ops_can_be_legal_by_predicate():
    target = ConversionTarget()
    target.mark_unknown_dynamically_legal(lambda op: "ok" in op.attributes)
    module = parse('"k.a"() {ok} : () -> ()\n"k.b"() : () -> ()')
    report = analyze_conversion(module, target, [])
    assert [f.op_name for f in report.failures] == ["k.b"]


def test_the_more_specific_statement_wins():
    target = ConversionTarget()
    target.add_illegal_op(arith.AddfOp)
    target.add_legal_op("arith.addf")
    target.add_illegal_dialect("arith", "test")
    target.add_legal_op(arith.FloatingPointLikeBinaryOperation)
    target.add_legal_op(test.TestOp)
    module = parse(
        """
        %0 = "test.op"() : () -> f32
        %1 = arith.addf %0, %0 : f32
        %2 = arith.mulf %0, %0 : f32
        %3 = arith.negf %0 : f32
        """
    )
    report = analyze_conversion(module, target, [])
    assert [f.op_name for f in report.failures] == ["arith.addf", "arith.negf"]


def test_legality_may_depend_on_the_op_and_give_a_reason():
    target = ConversionTarget()

    def predicate(op: Operation) -> bool | Refusal:
        if "why" in op.attributes:
            return Refusal("it has 'why'")
        return "ok" in op.attributes

    target.add_dynamically_legal_dialect("g", predicate=predicate)
    module = parse(
        '"g.a"() {ok} : () -> ()\n"g.b"() : () -> ()\n"g.c"() {why} : () -> ()'
    )
    report = analyze_conversion(module, target, [refuse("g.c", "no", name="P")])
    assert [(f.op_name, f.reason) for f in report.failures] == [
        ("g.b", "no pattern"),
        ("g.c", "it has 'why'; P: no"),
    ]


def test_an_op_that_is_legal_dynamically_is_not_rewritten():
    target = ConversionTarget()
    target.add_dynamically_legal_op("g.a", predicate=lambda op: "ok" in op.attributes)
    module = parse('"g.a"() {ok} : () -> ()\n"g.a"() : () -> ()')
    apply_full_conversion(module, target, [rename("g.a", "h.a")])
    assert body(module) == ['"g.a"() {ok} : () -> ()', '"h.a"() : () -> ()']


def test_what_a_recursively_legal_op_holds_is_legal():
    target = illegal("g")
    target.mark_recursively_legal(
        func.FuncOp, predicate=lambda op: "keep" in op.attributes
    )
    module = parse(
        """
        func.func @f() attributes {keep} {
          "g.a"() : () -> ()
          func.return
        }
        func.func @g() {
          "g.a"() : () -> ()
          func.return
        }
        """
    )
    apply_full_conversion(module, target, [rename("g.a", "h.a")])
    text = str(module)
    assert text.count("g.a") == 1
    assert text.index("g.a") < text.index("h.a")


def test_a_recursively_legal_op_sees_converted_values():
    target = illegal("g")
    target.add_legal_op("k.hold")
    target.mark_unknown_legal()
    target.mark_recursively_legal("k.hold")
    module = parse(
        """
        %0 = "g.a"() : () -> f32
        "k.hold"() ({
          "g.use"(%0) : (f32) -> ()
        }) : () -> ()
        """
    )
    apply_full_conversion(module, target, [rename("g.a", "h.a")])
    assert '%0 = "h.a"()' in str(module)
    assert '"g.use"(%0) : (f32)' in str(module)


# Patterns


def test_patterns_are_found_by_class_base_class_union_and_name():
    seen: list[str] = []

    def note(tag: str):
        def rewrite(op: Operation, operands: Operands, rewriter: ConversionRewriter):
            seen.append(f"{tag} {op.name}")
            return Refusal("only looking")

        return rewrite

    module = parse(
        """
        %0 = "test.op"() : () -> f32
        %1 = arith.addf %0, %0 : f32
        %2 = arith.negf %0 : f32
        """
    )
    both = pattern((), note("union"))
    both.root = arith.AddfOp | arith.NegfOp
    analyze_conversion(
        module,
        illegal("arith", "g"),
        [
            pattern(arith.FloatingPointLikeBinaryOperation, note("base")),
            pattern("arith.addf", note("name")),
            both,
            pattern((arith.NegfOp, "g.x"), note("tuple"), benefit=2),
        ],
    )
    assert seen == [
        "base arith.addf",
        "name arith.addf",
        "union arith.addf",
        "tuple arith.negf",
        "union arith.negf",
    ]


def test_a_refusal_takes_back_what_was_inserted():
    module = parse('%0 = "g.a"() : () -> f32\n"test.op"(%0) : (f32) -> ()')

    def rewrite(op: Operation, operands: Operands, rewriter: ConversionRewriter):
        rewriter.insert(unregistered("h.left_over"))
        rewriter.refuse("changed its mind")

    apply_full_conversion(
        module,
        illegal("g"),
        [pattern("g.a", rewrite, benefit=2), rename("g.a", "h.a")],
    )
    assert body(module) == [
        '%0 = "h.a"() : () -> f32',
        '"test.op"(%0) : (f32) -> ()',
    ]


def test_ops_made_before_a_refusal_leave_no_uses():
    module = parse('%0 = "test.op"() : () -> f32\n"g.a"(%0) : (f32) -> ()')
    before = fingerprint(module)

    def rewrite(op: Operation, operands: Operands, rewriter: ConversionRewriter):
        arith.NegfOp(operands[0])
        return Refusal("made an op for nothing")

    report = analyze_conversion(module, illegal("g"), [pattern("g.a", rewrite)])
    assert not report.ok
    assert fingerprint(module) == before


def test_generated_ops_are_converted_in_turn():
    module = parse(CHAIN)
    report = apply_full_conversion(
        module,
        illegal("g", "m"),
        [
            rename("g.neg", "m.neg"),
            rename("m.neg", "h.neg"),
            rename("g.relu", "h.relu"),
        ],
    )
    assert '%a = "h.neg"(%x)' in str(module)
    assert report.converted == {"g.neg": 1, "g.relu": 2}
    assert report.rewrites["m.neg->h.neg"] == 1


def test_a_pattern_fails_if_what_it_generates_has_no_legal_form():
    module = parse('"g.a"() : () -> ()')
    patterns = [
        rename("g.a", "m.a", name="First", benefit=2),
        refuse("m.a", "never", name="Second"),
    ]
    report = analyze_conversion(module, illegal("g", "m"), patterns)
    assert [f.reason for f in report.failures] == [
        "First: generated 'm.a', which has no legal form (Second: never)"
    ]
    apply_full_conversion(module, illegal("g", "m"), [*patterns, rename("g.a", "h.a")])
    assert body(module) == ['"h.a"() : () -> ()']


def test_ops_inside_generated_ops_are_converted():
    from xdsl.ir import Block, Region

    module = parse('"g.a"() : () -> ()')

    def rewrite(op: Operation, operands: Operands, rewriter: ConversionRewriter):
        inner = unregistered("g.b")
        region = Region(Block([unregistered("h.x"), inner, unregistered("h.y")]))
        rewriter.replace(op, unregistered("h.a", regions=(region,)))

    apply_full_conversion(
        module, illegal("g"), [pattern("g.a", rewrite), rename("g.b", "h.b")]
    )
    assert body(module) == [
        '"h.a"() ({',
        '"h.x"() : () -> ()',
        '"h.b"() : () -> ()',
        '"h.y"() : () -> ()',
        "}) : () -> ()",
    ]
    assert all(str(op.location) == 'loc("m.mlir":1:1)' for op in module.body.walk())


def test_ops_inside_generated_ops_must_have_a_legal_form():
    from xdsl.ir import Block, Region

    module = parse('"g.a"() : () -> ()')

    def rewrite(op: Operation, operands: Operands, rewriter: ConversionRewriter):
        region = Region(Block([unregistered("g.b")]))
        rewriter.replace(op, unregistered("h.a", regions=(region,)))

    report = analyze_conversion(module, illegal("g"), [pattern("g.a", rewrite)])
    assert [f.reason for f in report.failures] == [
        "Pattern: generated 'g.b', which has no legal form (no pattern)"
    ]


def test_an_op_can_be_replaced_by_values_that_exist():
    module = parse(
        """
        %0 = "test.op"() : () -> f32
        %1 = "g.id"(%0) : (f32) -> f32
        %2 = "g.id"(%1) : (f32) -> f32
        "test.op"(%2, %1) : (f32, f32) -> ()
        """
    )

    def rewrite(op: Operation, operands: Operands, rewriter: ConversionRewriter):
        rewriter.replace(op, (), operands.flat)

    apply_full_conversion(module, illegal("g"), [pattern("g.id", rewrite)])
    assert body(module) == [
        '%0 = "test.op"() : () -> f32',
        '"test.op"(%0, %0) : (f32, f32) -> ()',
    ]


def test_an_op_can_be_erased():
    module = parse('"g.a"() : () -> ()\n"test.op"() : () -> ()')
    apply_full_conversion(
        module,
        illegal("g"),
        [pattern("g.a", lambda op, operands, rewriter: rewriter.erase(op))],
    )
    assert body(module) == ['"test.op"() : () -> ()']


# Broken patterns


def neighbour(op: Operation | None) -> Operation:
    assert op is not None
    return op


BROKEN: list[tuple[Rewrite, str]] = [
    (
        lambda op, operands, rewriter: None,
        "P neither replaced 'g.a' nor refused it",
    ),
    (
        lambda op, operands, rewriter: rewriter.replace(op, ()),
        "P replaces the 1 results of 'g.a' by 0",
    ),
    (
        lambda op, operands, rewriter: rewriter.replace(
            op, (), (unregistered("h.a", (), (f32,)).results[0],)
        ),
        "P replaces a result by a value of type 'f32' that was not inserted before",
    ),
    (
        lambda op, operands, rewriter: rewriter.replace(
            neighbour(op.next_op), unregistered("h.a")
        ),
        "P replaces 'g.c', which is not",
    ),
    (
        lambda op, operands, rewriter: rewriter.replace(
            op, (neighbour(op.prev_op), unregistered("h.a", (), (f32,)))
        ),
        "'test.op' is inserted twice",
    ),
    (
        lambda op, operands, rewriter: rewriter.replace(
            op,
            unregistered("h.a", unregistered("h.b", (), (f32,)).results, (f32,)),
        ),
        "'h.a' uses a value that was never inserted",
    ),
]


@pytest.mark.parametrize(("rewrite", "expected"), BROKEN)
def test_a_broken_pattern_is_named(rewrite: Rewrite, expected: str):
    module = parse(
        '"test.op"() : () -> ()\n%0 = "g.a"() : () -> f32\n"g.c"() : () -> ()'
    )
    before = fingerprint(module)
    with pytest.raises(PatternError) as error:
        apply_full_conversion(
            module,
            illegal("g"),
            [pattern("g.a", rewrite, name="P"), rename("g.c", "h.c")],
        )
    assert expected in str(error.value)
    assert fingerprint(module) == before


def test_a_pattern_may_only_generate_what_it_says():
    module = parse('%0 = "g.a"() : () -> f32')

    def rewrite(op: Operation, operands: Operands, rewriter: ConversionRewriter):
        rewriter.replace(op, unregistered("h.a", (), (f32,)))

    for generates in ((arith.AddfOp, "h.b"), ()):
        with pytest.raises(PatternError) as error:
            apply_full_conversion(
                module,
                illegal("g"),
                [pattern("g.a", rewrite, name="P", generates=generates)],
            )
        assert str(error.value) == (
            "P generated 'h.a', which its 'generates' does not list"
        )
    apply_full_conversion(
        module, illegal("g"), [pattern("g.a", rewrite, generates=("h.a",))]
    )


def test_another_exception_names_pattern_and_op_and_changes_nothing():
    module = parse(CHAIN)
    before = fingerprint(module)

    def rewrite(op: Operation, operands: Operands, rewriter: ConversionRewriter):
        rewriter.insert(unregistered("h.a", operands.flat))
        raise KeyError("oops")

    with pytest.raises(KeyError) as error:
        apply_full_conversion(
            module,
            illegal("g"),
            [rename("g.neg", "h.neg"), pattern("g.relu", rewrite, name="P")],
        )
    assert error.value.__notes__ == ["in P on 'g.relu'"]
    assert fingerprint(module) == before


# Sets that do not end


def test_patterns_that_undo_each_other_are_named():
    module = parse('"g.a"() : () -> ()')
    before = fingerprint(module)
    with pytest.raises(BudgetError) as error:
        apply_full_conversion(
            module,
            illegal("g", "m"),
            [rename("g.a", "m.a", name="There"), rename("m.a", "g.a", name="Back")],
        )
    assert message(error).startswith(
        "m.mlir:1:1: error: expected the conversion to end, but after "
    )
    assert message(error).endswith(" rewrites there is still work for 'Back', 'There'")
    assert fingerprint(module) == before


def test_a_set_that_grows_without_end_uses_up_the_budget():
    module = parse('"g.a"() {n = 0 : i64} : () -> ()')

    def rewrite(op: Operation, operands: Operands, rewriter: ConversionRewriter):
        for _ in range(60):
            rewriter.insert(unregistered("m.a"))
        rewriter.erase(op)

    patterns = [
        pattern("g.a", rewrite, name="Sixty"),
        pattern(
            "m.a",
            lambda op, operands, rewriter: rewriter.erase(op),
            name="One",
        ),
    ]
    with pytest.raises(BudgetError) as error:
        apply_full_conversion(module, illegal("g", "m"), patterns, budget=50)
    assert "after 51 rewrites there is still work for 'One'" in message(error)
    apply_full_conversion(module, illegal("g", "m"), patterns, budget=61)
    assert body(module) == []


# Blame


def test_an_op_that_a_pattern_consumes_needs_no_pattern():
    module = parse(
        """
        %0 = "test.pureop"() : () -> i64
        %1 = "test.pureop"(%0) : (i64) -> i64
        "g.pad"(%1) : (i64) -> ()
        """
    )
    target = illegal("g")
    target.add_illegal_op(test.TestPureOp)

    def rewrite(op: Operation, operands: Operands, rewriter: ConversionRewriter):
        rewriter.replace(op, unregistered("h.pad"))

    apply_full_conversion(module, target, [pattern("g.pad", rewrite)])
    assert body(module) == ['"h.pad"() : () -> ()']


def test_the_consumer_that_failed_is_blamed_for_an_op_that_stays():
    module = parse(
        """
        %0 = "test.pureop"() : () -> i64
        "g.pad"(%0) : (i64) -> ()
        """
    )
    before = fingerprint(module)
    target = illegal("g")
    target.add_illegal_op(test.TestPureOp)
    with pytest.raises(ConversionError) as error:
        apply_full_conversion(
            module, target, [refuse("g.pad", "weight rank is not 2 or 3", name="Pad")]
        )
    assert message(error) == (
        "m.mlir:3:9: error: no legal form for 'g.pad' x1 "
        "(Pad: weight rank is not 2 or 3); its type is (i64) -> ()\n"
        "m.mlir:2:9: note: no legal form for 'test.pureop' x1 "
        "(no pattern, used by 'g.pad'); its type is () -> i64"
    )
    assert fingerprint(module) == before


def test_an_op_that_was_unused_from_the_start_is_not_dropped():
    module = parse('%0 = "test.pureop"() : () -> i64')
    target = ConversionTarget()
    target.add_illegal_op(test.TestPureOp)
    with pytest.raises(ConversionError, match=r"'test.pureop' x1"):
        apply_full_conversion(module, target, [])


def test_an_op_with_effects_is_not_dropped():
    module = parse('%0 = "g.read"() : () -> i64\n"g.pad"(%0) : (i64) -> ()')
    with pytest.raises(ConversionError, match=r"'g.read' x1"):
        apply_full_conversion(
            module,
            illegal("g"),
            [pattern("g.pad", lambda op, operands, rewriter: rewriter.erase(op))],
        )
