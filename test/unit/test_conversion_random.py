"""
Random modules and random patterns: a conversion succeeds, and the module verifies, or
fails, and nothing has changed.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from conversion_cases import fingerprint, pattern, unregistered, values_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from xdsl.dialects import cf, func, test
from xdsl.dialects.builtin import FunctionType, IndexType, ModuleOp, f32, i1, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from transom.dialects.verifier import verify_module
from transom.lowering.conversion import (
    BudgetError,
    ConversionError,
    ConversionPattern,
    ConversionRewriter,
    ConversionTarget,
    Operands,
    Refusal,
    TypeConverter,
    analyze_conversion,
    apply_full_conversion,
    apply_partial_conversion,
    name_of_op,
)
from transom.lowering.conversion_patterns import add_structural_conversions

INDEX = IndexType()
TYPES = (f32, INDEX)
NAMES = ("g.a", "g.b", "g.c", "g.d")


@dataclass
class Builder:
    """Random ops; `visible` are the values that they may use."""

    draw: Callable[[st.SearchStrategy[int]], int]
    visible: list[SSAValue] = field(default_factory=list[SSAValue])

    def below(self, bound: int) -> int:
        return self.draw(st.integers(0, bound - 1))

    def types(self) -> list[Attribute]:
        return [TYPES[self.below(2)] for _ in range(self.below(3))]

    def operands(self, count: int) -> list[SSAValue]:
        if not self.visible:
            return []
        return [self.visible[self.below(len(self.visible))] for _ in range(count)]

    def of_type(self, type: Attribute, block: Block) -> SSAValue:
        """A visible value of a type, or one that a legal op makes."""
        values = [v for v in self.visible if v.type == type]
        if values and self.below(4):
            return values[self.below(len(values))]
        op = test.TestOp(result_types=[type])
        block.add_op(op)
        return op.results[0]

    def fill(self, block: Block, depth: int) -> None:
        """Put some ops into a block."""
        for _ in range(self.below(5)):
            block.add_op(op := self.op(depth))
            self.visible.extend(op.results)

    def op(self, depth: int) -> Operation:
        operands, types = self.operands(self.below(3)), self.types()
        kind = self.below(8)
        if kind < 2:
            make = test.TestOp if kind else test.TestPureOp
            return make(operands, types)
        regions: list[Region] = []
        if depth and not self.below(3):
            regions.append(self.region(depth - 1))
        name = NAMES[self.below(len(NAMES))]
        op = unregistered(name, operands, types, regions=regions)
        if not self.below(4):
            op.attributes["t.hint"] = f32
        return op

    def region(self, depth: int) -> Region:
        """One block, with captured values, that ends in a terminator."""
        outside = len(self.visible)
        block = Block(arg_types=self.types())
        self.visible.extend(block.args)
        self.fill(block, depth)
        end = test.TestTermOp(self.operands(self.below(2)))
        block.add_op(end)
        del self.visible[outside:]
        return Region(block)

    def function(self, name: str) -> func.FuncOp:
        """A function of some blocks, each of which branches to any later or itself."""
        blocks = [Block(arg_types=self.types()) for _ in range(1 + self.below(3))]
        entry = blocks[0]
        self.visible.extend(entry.args)
        condition = test.TestOp(result_types=[i1])
        entry.add_op(condition)
        for block in blocks:
            shared = len(self.visible)
            if block is not entry:
                self.visible.extend(block.args)
            self.fill(block, 2)
            self.end(block, blocks[1:], condition.results[0])
            if block is not entry:
                del self.visible[shared:]
        self.visible.clear()
        types = FunctionType.from_lists(entry.arg_types, ())
        return func.FuncOp(name, types, Region(blocks))

    def end(self, block: Block, targets: list[Block], condition: SSAValue) -> None:
        if not targets or not self.below(3):
            block.add_op(func.ReturnOp())
            return
        goals = [targets[self.below(len(targets))] for _ in range(1 + self.below(2))]
        passed = [[self.of_type(t, block) for t in goal.arg_types] for goal in goals]
        if len(goals) == 1:
            block.add_op(cf.BranchOp(goals[0], *passed[0]))
        else:
            block.add_op(
                cf.ConditionalBranchOp(
                    condition, goals[0], passed[0], goals[1], passed[1]
                )
            )


def converted_results(
    op: Operation, rewriter: ConversionRewriter
) -> list[tuple[Attribute, ...]]:
    """The types that each result becomes."""
    return [
        (t,) if rewriter.converter is None else tuple(rewriter.converter.convert(t))
        for t in op.result_types
    ]


def rename_to(name: str, convert: bool):
    def rewrite(op: Operation, operands: Operands, rewriter: ConversionRewriter):
        groups = converted_results(op, rewriter)
        regions = [
            rewriter.convert_region(region)
            if convert
            else Region(Block([unregistered("h.inner"), test.TestTermOp()]))
            for region in op.regions
        ]
        new = unregistered(
            name, operands.flat, [t for group in groups for t in group], regions=regions
        )
        rewriter.insert(new)
        values = iter(new.results)
        rewriter.replace(op, (), [[next(values) for _ in g] for g in groups])

    return rewrite


def expand(op: Operation, operands: Operands, rewriter: ConversionRewriter):
    """Several ops, one of which may be illegal itself, in old types."""
    for value in op.operands:
        rewriter.insert(unregistered("h.use", (value,)))
    made = rewriter.insert(unregistered("g.d", operands.flat, op.result_types))
    rewriter.replace(op, unregistered("h.after", made.results), list(made.results))


def fold(op: Operation, operands: Operands, rewriter: ConversionRewriter):
    """Operands take the place of results."""
    if not operands.flat:
        return Refusal("nothing to fold to")
    rewriter.replace(op, (), [operands.groups[0]] * len(op.results))


def erase(op: Operation, operands: Operands, rewriter: ConversionRewriter):
    rewriter.erase(op)


def inline(op: Operation, operands: Operands, rewriter: ConversionRewriter):
    """The contents of a region, twice, in place of the op."""
    for region in op.regions * 2:
        types = [arg.type for arg in region.block.args]
        made = rewriter.insert(unregistered("h.args", (), types))
        rewriter.inline_block(region.block, made.results)
    made = rewriter.insert(unregistered("h.results", (), op.result_types))
    rewriter.replace(op, (), made.results)


def split(op: Operation, operands: Operands, rewriter: ConversionRewriter):
    """The block ends here, and what follows goes into another."""
    if op.parent is None or not isinstance(op.parent.parent_op(), func.FuncOp):
        return Refusal("not in a function")
    # A pattern that makes a block gives it arguments of converted types.
    groups = converted_results(op, rewriter)
    types = [t for group in groups for t in group]
    after = rewriter.new_block(types)
    made = rewriter.insert(unregistered("h.made", operands.flat, types))
    rewriter.insert(cf.BranchOp(after, *made.results))
    rewriter.continue_in(after)
    values = iter(after.args)
    rewriter.replace(op, (), [[next(values) for _ in group] for group in groups])


def refuse_late(op: Operation, operands: Operands, rewriter: ConversionRewriter):
    for region in op.regions:
        rewriter.convert_region(region)
    with rewriter.at_start(rewriter.block):
        rewriter.insert(unregistered("h.first"))
    rewriter.insert(unregistered("h.some", operands.flat))
    unregistered("h.never", op.operands)
    return Refusal("changed its mind")


def refuse(op: Operation, operands: Operands, rewriter: ConversionRewriter):
    return Refusal("no")


REWRITES = (
    rename_to("h.a", True),
    rename_to("h.b", False),
    rename_to("g.b", True),
    rename_to("g.c", True),
    expand,
    fold,
    erase,
    inline,
    split,
    refuse_late,
    refuse,
)


class Shown:
    """A module that is shown as text."""

    def __init__(self, module: ModuleOp) -> None:
        self.module = module

    def __repr__(self) -> str:
        return f"\n{self.module}\n"


@st.composite
def modules(draw: Callable[[st.SearchStrategy[int]], int]) -> Shown:
    builder = Builder(draw)
    module = ModuleOp([builder.function(f"f{i}") for i in range(1 + builder.below(2))])
    verify_module(module)
    return Shown(module)


Patterns = tuple[ConversionPattern[Operation], ...]
pattern_sets = st.lists(
    st.tuples(
        st.sampled_from(NAMES), st.integers(0, len(REWRITES) - 1), st.integers(0, 3)
    ),
    max_size=8,
).map(
    lambda choices: tuple(
        pattern(name, REWRITES[which], name=f"{name}-{which}", benefit=benefit)
        for name, which, benefit in choices
    )
)


def converter(kind: int) -> TypeConverter | None:
    """None, `index` to i64 or to two values, with casts or without."""
    if kind == 0:
        return None
    becomes = i64 if kind < 3 else (i64, f32)
    made = TypeConverter(lambda t: becomes if t == INDEX else None)
    if kind != 2:
        made.use_casts()
    return made


def target_of(converter: TypeConverter | None) -> tuple[ConversionTarget, Patterns]:
    target = ConversionTarget()
    target.add_illegal_dialect("g")
    if converter is None:
        return target, ()
    return target, add_structural_conversions(target, converter)


SLOW = (
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.large_base_example,
)


@settings(deadline=None, suppress_health_check=SLOW, max_examples=100)
@given(modules(), pattern_sets, st.integers(0, 3), st.booleans(), st.booleans())
def test_all_or_nothing(
    shown: Shown, patterns: Patterns, kind: int, full: bool, complete: bool
):
    module = shown.module
    if complete:
        patterns += tuple(
            pattern(name, rename_to("h.last", True), name="last", benefit=-1)
            for name in NAMES
        )
    types = converter(kind)
    target, structural = target_of(types)
    every = (*patterns, *structural)
    before = fingerprint(module)
    apply = apply_full_conversion if full else apply_partial_conversion
    try:
        ok = analyze_conversion(module, target, every, types, budget=1000).ok
        assert fingerprint(module) == before
        apply(module, target, every, types, budget=1000)
    except (ConversionError, BudgetError) as e:
        assert isinstance(e, BudgetError) or not ok  # pyright: ignore[reportPossiblyUnboundVariable] # only a budget ends the analysis
        assert fingerprint(module) == before
    else:
        assert ok
        verify_module(module)
        assert not any(name_of_op(op).startswith("g.") for op in module.walk())
        for op in module.walk():
            for value in values_of(op):
                for use in value.uses:
                    assert use.operation.get_toplevel_object() is module
