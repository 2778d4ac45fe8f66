"""Rewrites that are counted and stopped: greedy patterns, conversions, others."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    IntegerType,
    MemRefType,
    ModuleOp,
    TensorType,
    UnrealizedConversionCastOp,
)
from xdsl.ir import Attribute, Operation
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.transforms.canonicalize import CanonicalizationRewritePattern
from xdsl.utils.hints import isa

from transom import cache
from transom.dialects.parser import parse_ir
from transom.driver import lower_in_place
from transom.lowering.conversion import (
    ConversionError,
    ConversionPattern,
    ConversionRewriter,
    ConversionTarget,
    Operands,
    Refusal,
    TypeConverter,
    apply_full_conversion,
)
from transom.lowering.conversion_patterns import add_structural_conversions
from transom.passes.pipeline import parse_pipeline
from transom.passes.rewrite_steps import (
    FOLD,
    counting_steps,
    current_steps,
    may_rewrite,
)
from transom.registry import new_context, registry

TEXT = """\
func.func @f(%x: i32) -> i32 {
  %a = arith.addi %x, %x : i32
  %b = arith.addi %a, %x : i32
  %c = arith.addi %b, %x : i32
  func.return %c : i32
}
"""


def parsed(text: str = TEXT) -> ModuleOp:
    return parse_ir(new_context(allow_unregistered=True), text, "a.mlir")


def count(module: ModuleOp, name: str) -> int:
    return sum(op.name == name for op in module.walk())


class AddToMul(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.AddiOp, rewriter: PatternRewriter, /) -> None:
        rewriter.replace(op, arith.MuliOp(op.lhs, op.rhs))


class Marks(RewritePattern):
    """Changes an op in place."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if isinstance(op, arith.AddiOp) and "done" not in op.attributes:
            op.attributes["done"] = IntegerType(1)
            rewriter.notify_op_modified(op)


class Calls(RewritePattern):
    """A pattern that leaves the work to another."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        AddToMul().match_and_rewrite(op, rewriter)


# Greedy patterns.


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 4])
def test_a_walker_stops_after_so_many(limit: int) -> None:
    module = parsed()
    with counting_steps(limit) as steps:
        PatternRewriteWalker(AddToMul()).rewrite_module(module)
    done = min(limit, 3)
    assert count(module, "arith.muli") == done
    assert count(module, "arith.addi") == 3 - done
    assert steps.are_used_up == (limit <= 3)
    assert [str(step) for step in steps.taken] == [
        f"'AddToMul' on 'arith.addi' at a.mlir:{line}:3" for line in (2, 3, 4)
    ][:limit]


def test_a_walker_is_not_stopped_without_a_limit() -> None:
    module = parsed()
    with counting_steps() as steps:
        assert PatternRewriteWalker(AddToMul()).rewrite_module(module)
    assert len(steps.taken) == 3
    assert not steps.are_used_up


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        (Marks(), "Marks"),
        (Calls(), "AddToMul"),
        (GreedyRewritePatternApplier([Marks(), AddToMul()]), "Marks"),
        (GreedyRewritePatternApplier([AddToMul(), Marks()]), "AddToMul"),
    ],
)
def test_the_pattern_that_did_it_is_named(pattern: RewritePattern, name: str) -> None:
    with counting_steps(1) as steps:
        PatternRewriteWalker(pattern).rewrite_module(parsed())
    assert [step.pattern for step in steps.taken] == [name]


def test_folds_and_canonicalization_patterns() -> None:
    text = """
        func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
          %r = graph.reshape %x to [2, 2] : tensor<4xf32> -> tensor<2x2xf32>
          %s = graph.reshape %r to [4] : tensor<2x2xf32> -> tensor<4xf32>
          func.return %s : tensor<4xf32>
        }
    """
    module = parsed(text)
    applier = GreedyRewritePatternApplier(
        [CanonicalizationRewritePattern()], ctx=new_context(), folding_enabled=True
    )
    with counting_steps() as steps:
        PatternRewriteWalker(applier).rewrite_module(module)
    names = {step.pattern for step in steps.taken}
    assert names == {"MergeReshapes", FOLD}


def test_an_error_of_a_pattern_goes_on() -> None:
    class Raises(RewritePattern):
        def match_and_rewrite(
            self, op: Operation, rewriter: PatternRewriter, /
        ) -> None:
            raise ValueError("x")

    with pytest.raises(Exception, match="x"), counting_steps():
        PatternRewriteWalker(Raises()).rewrite_module(parsed())
    assert current_steps() is None


def test_nothing_is_counted_outside() -> None:
    original = PatternRewriteWalker.rewrite_region
    with counting_steps(0) as outer:
        with counting_steps(1) as inner:
            PatternRewriteWalker(AddToMul()).rewrite_module(parsed())
        assert len(inner.taken) == 1
        assert PatternRewriteWalker.rewrite_region is not original
        module = parsed()
        PatternRewriteWalker(AddToMul()).rewrite_module(module)
        assert count(module, "arith.muli") == 0
        assert outer.taken == []
    assert PatternRewriteWalker.rewrite_region is original
    module = parsed()
    PatternRewriteWalker(AddToMul()).rewrite_module(module)
    assert count(module, "arith.muli") == 3


def test_other_threads_are_not_counted() -> None:
    def run() -> int:
        module = parsed()
        PatternRewriteWalker(AddToMul()).rewrite_module(module)
        return count(module, "arith.muli")

    with ThreadPoolExecutor(1) as pool, counting_steps(0) as steps:
        assert pool.submit(run).result() == 3
    assert steps.taken == []


def test_a_cache_is_not_used() -> None:
    cache.store().put("test", "key", b"x")
    with counting_steps():
        assert cache.store().get("test", "key") is None
        cache.store().put("test", "other", b"x")
        assert cache.store().get("test", "other") is None
    assert cache.store().get("test", "other") is None


# What asks for itself.


def test_what_may_be_left_out_asks() -> None:
    module = parsed()
    assert may_rewrite("anything", module)
    with counting_steps(1) as steps:
        assert may_rewrite("first", module)
        assert not may_rewrite("second", module)
    assert [step.pattern for step in steps.taken] == ["first"]


# Conversions.


class ConvertAdd(ConversionPattern[arith.AddfOp]):
    root = arith.AddfOp

    def match_and_rewrite(
        self, op: arith.AddfOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        if "refuse" in op.attributes:
            return Refusal("marked")
        # Illegal as well, and converted along with the op.
        product = rewriter.insert(arith.MulfOp(op.lhs, op.rhs))
        rewriter.replace(op, (), (product,))


class ConvertAddElse(ConvertAdd):
    def match_and_rewrite(
        self, op: arith.AddfOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        rewriter.replace(op, arith.SubfOp(op.lhs, op.rhs))


class ConvertMul(ConversionPattern[arith.MulfOp]):
    root = arith.MulfOp

    def match_and_rewrite(
        self, op: arith.MulfOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        rewriter.replace(op, arith.DivfOp(op.lhs, op.rhs))


FLOATS = """\
func.func @f(%x: f32) -> f32 {
  %a = arith.addf %x, %x : f32
  %b = arith.addf %a, %x : f32
  func.return %b : f32
}
"""


def convert(module: ModuleOp, *patterns: ConversionPattern[arith.AddfOp]) -> None:
    target = ConversionTarget()
    target.add_illegal_op(arith.AddfOp, arith.MulfOp)
    apply_full_conversion(module, target, (*patterns, ConvertMul()))


@pytest.mark.parametrize("limit", [0, 1, 2])
def test_a_conversion_stops_after_so_many(limit: int) -> None:
    module = parsed(FLOATS)
    with counting_steps(limit) as steps:
        convert(module, ConvertAdd())
    module.verify()
    assert count(module, "arith.addf") == 2 - limit
    assert count(module, "arith.divf") == limit
    assert [step.pattern for step in steps.taken] == ["ConvertAdd"] * limit


def test_refusals_are_not_counted() -> None:
    text = FLOATS.replace("%x, %x : f32", "%x, %x {refuse} : f32")
    module = parsed(text)
    with counting_steps() as steps:
        convert(module, ConvertAdd(), ConvertAddElse())
    assert [step.pattern for step in steps.taken] == ["ConvertAddElse", "ConvertAdd"]


def test_a_conversion_that_fails_before_fails() -> None:
    module = parsed(FLOATS.replace("%x, %x : f32", "%x, %x {refuse} : f32"))
    with counting_steps(2), pytest.raises(ConversionError):
        convert(module, ConvertAdd())


def test_types_between_what_is_converted_and_what_is_not() -> None:
    def to_memref(type: Attribute) -> MemRefType[Attribute]:
        assert isa(type, TensorType[Attribute])
        return MemRefType(type.element_type, type.get_shape())

    converter = TypeConverter()
    converter.add_conversion(to_memref, of=TensorType)

    @dataclass
    class ConvertOp(ConversionPattern[Operation]):
        root = "a.b"

        def match_and_rewrite(
            self, op: Operation, operands: Operands, rewriter: ConversionRewriter
        ) -> Refusal | None:
            types = [to_memref(t) for t in op.result_types]
            new = UnrealizedConversionCastOp.get(operands.flat, types)
            new.attributes["converted"] = IntegerType(1)
            rewriter.replace(op, new)

    text = """
        func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
          %a = "a.b"(%x) : (tensor<4xf32>) -> tensor<4xf32>
          %b = "a.b"(%a) : (tensor<4xf32>) -> tensor<4xf32>
          %c = "a.b"(%b) : (tensor<4xf32>) -> tensor<4xf32>
          func.return %c : tensor<4xf32>
        }
    """
    for limit in range(4):
        module = parsed(text)
        target = ConversionTarget()
        target.add_illegal_op("a.b")
        structural = add_structural_conversions(target, converter)
        with counting_steps(limit) as steps:
            patterns = (ConvertOp(), *structural)
            apply_full_conversion(module, target, patterns, converter)
        module.verify()
        assert len(steps.taken) == limit
        text_now = str(module)
        # Functions and returns are converted in any case.
        assert "func.func @f(%x: memref<4xf32>) -> memref<4xf32>" in text_now
        assert text_now.count("converted") == limit
        assert text_now.count('"a.b"') == 3 - limit


# Passes whose rewrites are no patterns.

GRAPH = """\
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %one = graph.constant dense<1.0> : tensor<8xf32>
  %two = graph.add %one, %one : tensor<8xf32>
  %s = graph.add %x, %two : tensor<4x8xf32>, tensor<8xf32> -> tensor<4x8xf32>
  %e = graph.exp %s : tensor<4x8xf32>
  %y = graph.softmax %e axis 1 : tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
"""


@pytest.mark.parametrize(
    ("phase", "name", "what"),
    [
        (None, "graph-fold-constants", {"fold a constant"}),
        ("placed", "graph-fuse", {"fuse a group"}),
        ("partitioned", "tir-fuse-nests", {"fuse nests", "group rows"}),
        ("partitioned", "tir-choose-schedule", {"choose a schedule"}),
    ],
)
def test_passes_that_ask(phase: str | None, name: str, what: set[str]) -> None:
    ctx = new_context()
    module = parse_ir(ctx, GRAPH, "a.mlir")
    if phase is not None:
        lower_in_place(module, phase, ctx=ctx)
    if name.startswith("tir"):
        parse_pipeline("convert-graph-to-tir", registry().passes, ctx).apply(
            ctx, module
        )
    pipeline = parse_pipeline(name, registry().passes, ctx)
    before, texts = str(module), list[str]()
    with counting_steps() as all_steps:
        pipeline.apply(ctx, module.clone())
    assert {step.pattern for step in all_steps.taken} == what
    for limit in range(len(all_steps.taken) + 1):
        copy = module.clone()
        with counting_steps(limit):
            pipeline.apply(ctx, copy)
        copy.verify()
        texts.append(str(copy))
    assert texts[0] == before
    assert len(set(texts)) > 1
