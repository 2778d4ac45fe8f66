"""
Claims of patterns: what is shared by matches, what is told of those that are refused.
"""

from collections.abc import Callable, Sequence

import pytest
from hook_cases import CasesAttr, CasesTarget, cases_target
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from transom.dialects import graph
from transom.dialects.diagnostics import OpError
from transom.dialects.parser import parse_ir
from transom.dialects.target import refusals_of
from transom.dialects.verifier import verify_module
from transom.lowering.conversion import Refusal
from transom.passes.graph_patterns import Match, Pattern, constant, op, optional, value
from transom.targets.claim_ops import TargetClaimOpsPass
from transom.targets.hooks import Accepted, AnyClaim, PatternClaim
from transom.testing import check_phases

SHARED = """
  target.device @d {targets = [TARGETS]}
  func.func @main(%x: tensor<4xi8>) -> (tensor<4xi8>, tensor<4xi8>) {
    %s = graph.constant dense<0.5> : tensor<f32>
    %z = graph.constant dense<0> : tensor<i8>
    %d = graph.dequantize %x, %s, %z : tensor<4xi8>, tensor<f32>, tensor<i8> -> tensor<4xf32>
    %r = graph.relu %d : tensor<4xf32>
    %n = graph.neg %d : tensor<4xf32>
    %p = graph.quantize %r, %s, %z : tensor<4xf32>, tensor<f32>, tensor<i8> -> tensor<4xi8>
    %q = graph.quantize %n, %s, %z : tensor<4xf32>, tensor<f32>, tensor<i8> -> tensor<4xi8>
    func.return %p, %q : tensor<4xi8>, tensor<4xi8>
  }
"""  # noqa: E501

CPU = '#llvm_cpu.target<cpu = "cortex-a53">'
BOTH = SHARED.replace("TARGETS", f"#cases.target, {CPU}")
ALONE = SHARED.replace("TARGETS", "#cases.target")


def accept(match: Match) -> Accepted | Refusal:
    return Accepted()


def refuse_neg(match: Match) -> Accepted | Refusal:
    if isinstance(match.op("work"), graph.NegOp):
        return Refusal("expected no negation")
    return Accepted()


def quantized(copied: bool = True) -> Pattern:
    dequantized = op(
        graph.DequantizeOp,
        value("x"),
        constant("s"),
        constant("z"),
        name="in",
        copied=copied,
    )
    work = op(graph.UnaryOp, dequantized, name="work")
    return Pattern(op(graph.QuantizeOp, work, constant("os"), constant("oz")))


def claimed(*claims: AnyClaim, text: str = BOTH) -> ModuleOp:
    class Claims(CasesTarget):
        def claims(self, target: CasesAttr) -> Sequence[AnyClaim]:
            return claims

    with cases_target(Claims) as ctx:
        module = parse_ir(ctx, text, "claims.mlir")
        TargetClaimOpsPass(explain=True).apply(ctx, module)
        verify_module(module)
        return module


def names_in(module: ModuleOp, kind: type[Operation]) -> list[list[str]]:
    """The names of ops in each op of a kind."""
    return [
        [inner.name.partition(".")[2] for inner in op.regions[0].block.ops]
        for op in module.walk()
        if isinstance(op, kind)
    ]


@pytest.mark.parametrize("text", [BOTH, ALONE])
def test_what_is_copied_belongs_to_each_match_and_then_to_nobody(text: str):
    module = claimed(PatternClaim(quantized(), accept, "q"), text=text)
    assert [sorted(names) for names in names_in(module, graph.CompositeOp)] == [
        ["constant", "constant", "dequantize", "quantize", "relu", "yield"],
        ["constant", "constant", "dequantize", "neg", "quantize", "yield"],
    ]
    total = sum(isinstance(o, graph.DequantizeOp) for o in module.walk())
    assert total == 2


def test_what_is_copied_stays_for_others():
    module = claimed(PatternClaim(quantized(), refuse_neg, "q"))
    assert len(names_in(module, graph.CompositeOp)) == 1
    (main,) = (o for o in module.ops if o.regions and o.name == "func.func")
    names = [o.name for o in main.regions[0].block.ops]
    assert names.count("graph.dequantize") == 1
    reasons = {
        op.name: [r.reason.data for r in refusals_of(op)] for op in module.walk()
    }
    assert reasons["graph.neg"] == ["as part of 'q': expected no negation"]


def test_what_is_not_copied_goes_to_one_match():
    module = claimed(PatternClaim(quantized(copied=False), accept, "q", taps=True))
    assert len(names_in(module, graph.CompositeOp)) == 1


def test_a_value_that_others_read_is_refused_unless_the_claim_takes_it():
    claim = PatternClaim(quantized(copied=False), accept, "q")
    with pytest.raises(OpError) as error:
        claimed(claim, text=ALONE)
    assert (
        "no target takes 'graph.quantize' x2 ('#cases.target': 'graph.dequantize' in "
        "it is read by others as well)"
    ) in str(error.value)


def test_a_pattern_that_nearly_fits_tells_what_is_wrong():
    relu = optional(lambda t: op(graph.ReluOp, t), op(graph.MatmulOp, value(), value()))
    pattern = Pattern(op(graph.QuantizeOp, relu, constant(), constant()))
    with pytest.raises(OpError) as error:
        claimed(PatternClaim(pattern, accept, "q"), text=ALONE)
    message = (
        "('#cases.target': no 'q': expected 'graph.matmul', but got 'graph.dequantize')"
    )
    assert message in str(error.value)


def test_of_matches_on_the_same_ops_the_first_that_is_accepted_counts():
    text = """
  target.device @d {targets = [#cases.target]}
  func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
    %s = graph.add %x, %y : tensor<4xf32>
    func.return %s : tensor<4xf32>
  }
"""
    asked: list[str | None] = []

    def only_y(match: Match) -> Accepted | Refusal:
        asked.append(match.value("a").name_hint)
        return Accepted() if asked[-1] == "y" else Refusal("expected y")

    first = value("a", rank=1)
    claim = PatternClaim(Pattern(op(graph.AddOp, first, value("b"))), only_y, "sum")
    assert len(names_in(claimed(claim, text=text), graph.CompositeOp)) == 1
    assert asked == ["x", "y"]


def wrong(match: Match) -> Accepted | Refusal:
    return "yes"  # pyright: ignore[reportReturnType]


def broken(match: Match) -> Accepted | Refusal:
    return Refusal(match.value("nothing").name_hint or "")


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (
            wrong,
            "breaks rule 'claims': expected 'Accepted' or 'Refusal', but got 'yes'",
        ),
        (broken, "breaks rule 'answers': it raised KeyError: "),
    ],
)
def test_answers_that_are_none_name_the_hook(
    answer: Callable[[Match], Accepted | Refusal], problem: str
):
    with pytest.raises(OpError) as error:
        claimed(PatternClaim(quantized(), answer, "q"))
    assert f"hook 'claims' of '#cases.target' {problem}" in error.value.message


def test_numbers_are_kept_at_every_phase():
    class Claims(CasesTarget):
        def claims(self, target: CasesAttr) -> Sequence[AnyClaim]:
            return (PatternClaim(quantized(), accept, "q"),)

    with cases_target(Claims) as ctx:
        module = parse_ir(ctx, BOTH.replace("cortex-a53", "x86-64-v3"), "claims.mlir")
        assert check_phases(module, ctx=ctx)
