"""Ops of a kind that was accepted are checked again only for what is around them."""

from collections.abc import Callable

import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    FileLineColLoc,
    IndexType,
    IntAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
    f32,
    i32,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.test import TestOp as AnyOp
from xdsl.ir import Block, Operation, Region
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    region_def,
    traits_def,
)
from xdsl.traits import OpTrait
from xdsl.utils.exceptions import VerifyException

from transom.dialects.definition_checks import (
    LOOK_AT_TYPES_ALONE,
    checks_of,
    verify_isolation,
    verify_op,
)
from transom.dialects.diagnostics import OpError
from transom.dialects.verifier import verify_module
from transom.registry import new_context

Change = Callable[["GuardedOp"], object]

REFUSED: set[int] = set()


class NotAlone(OpTrait):
    """The op has company."""

    def verify(self, op: Operation) -> None:
        if op.next_op is None and op.prev_op is None:
            raise VerifyException("expected an op beside it")


@irdl_op_definition
class GuardedOp(IRDLOperation):
    name = "test.guarded"

    value = operand_def(i32)
    note = opt_prop_def(StringAttr)
    body = region_def("single_block")

    traits = traits_def(NotAlone())

    def verify_(self) -> None:
        if id(self) in REFUSED:
            raise VerifyException("expected to be liked")


def guarded() -> GuardedOp:
    """One in a module, with company."""
    source = AnyOp(result_types=[i32])
    op = GuardedOp.create(operands=[source.results[0]], regions=[Region(Block())])
    ModuleOp([source, op])
    return op


def retyped(op: GuardedOp) -> None:
    other = AnyOp(result_types=[i64])
    assert op.parent is not None
    op.parent.insert_op_before(other, op)
    op.operands = [other.results[0]]


def alone(op: GuardedOp) -> None:
    op.detach()
    Region(Block([op]))


CHANGES: list[tuple[Change, str]] = [
    (retyped, "operand 'value' at position 0 does not verify"),
    (
        lambda op: op.properties.update(note=UnitAttr()),
        "should be of base attribute string",
    ),
    (lambda op: op.properties.update(more=UnitAttr()), "property 'more' is not"),
    (lambda op: op.body.add_block(Block()), "expected a single block"),
    (lambda op: op.detach_region(0), "Expected 1 region, but got 0"),
    (lambda op: setattr(op, "operands", []), "Expected 1 operand, but got 0"),
    (alone, "expected an op beside it"),
    (lambda op: REFUSED.add(id(op)), "expected to be liked"),
    (lambda op: op.operands[0].erase(safe_erase=False), "Erased SSA value"),
]


@pytest.mark.parametrize("change, message", CHANGES)
def test_what_is_wrong_is_found_after_one_like_it_was_right(
    change: Change, message: str
) -> None:
    verify_op(guarded())
    op = guarded()
    change(op)
    with pytest.raises(Exception, match=message) as found:
        verify_op(op)
    with pytest.raises(Exception, match=message) as expected:
        op.verify(verify_nested_ops=False)
    assert str(found.value) == str(expected.value)


def test_an_op_at_the_end_of_a_block_must_end_it() -> None:
    for terminates in (False, True):
        zero = arith.ConstantOp(IntegerAttr(0, IndexType()))
        after = () if not terminates else (AnyOp(),)
        ModuleOp([AnyOp(regions=[Region(Block([zero, *after]))])])
        if terminates:
            verify_op(zero)
        else:
            with pytest.raises(VerifyException, match="is not a terminator"):
                verify_op(zero)


def test_a_trait_that_is_added_later_is_asked() -> None:
    @irdl_op_definition
    class LateOp(IRDLOperation):
        name = "test.late"
        traits = traits_def()

    verify_op(LateOp.create())
    verify_op(LateOp.create())
    LateOp.traits.add_trait(NotAlone())
    with pytest.raises(VerifyException, match="expected an op beside it"):
        verify_op(Block([LateOp.create()]).first_op or AnyOp())


def test_most_ops_are_of_kinds_that_were_accepted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Operation] = []
    slowly = Operation.verify

    def verify(op: Operation, verify_nested_ops: bool = True) -> None:
        asked.append(op)
        slowly(op, verify_nested_ops)

    module = ModuleOp([arith.ConstantOp(IntegerAttr(77, i32)) for _ in range(10)])
    monkeypatch.setattr(Operation, "verify", verify)
    verify_module(module)
    assert len([op for op in asked if isinstance(op, arith.ConstantOp)]) == 1


def test_the_parts_of_all_verifiers_are_known() -> None:
    """Where a new xDSL has another form of them, modules are verified slowly."""
    ctx = new_context()
    for name in ("arith", "builtin", "cf", "executor", "func", "graph", "llvm"):
        ctx.load_registered_dialect(name)
    for name in ("math", "memref", "scf", "target", "tensor", "tir", "vector"):
        ctx.load_registered_dialect(name)
    unknown = [op.name for op in ctx.loaded_ops if checks_of(op) is None]
    assert unknown == ["builtin.unregistered"]


AROUND = {"owner", "parent", "parent_op", "parent_region", "uses", "regions", "walk"}


@pytest.mark.parametrize("dialect", ["arith", "vector"])
def test_verifiers_that_look_at_types_alone(dialect: str) -> None:
    """They are not asked again, so they must not look at what is around an op."""
    ctx = new_context()
    ctx.load_registered_dialect(dialect)
    verifiers = {
        vars(cls)["verify_"]
        for op in ctx.loaded_ops
        for cls in op.__mro__
        if cls.__module__ in LOOK_AT_TYPES_ALONE and "verify_" in vars(cls)
    }
    written = [cell.cell_contents for v in verifiers for cell in v.__closure__ or ()]
    codes = [v.__code__ for v in (*verifiers, *written) if hasattr(v, "__code__")]
    assert len(codes) > len(verifiers), "some were written by hand"
    for code in codes:
        assert AROUND.isdisjoint(code.co_names), code


def test_an_op_with_other_operands_is_of_another_kind() -> None:
    """Also where it has as many types as one that was accepted."""
    source = AnyOp(result_types=[f32, f32])
    right = arith.AddfOp(source.results[0], source.results[1])
    wrong = arith.AddfOp.create(operands=source.results[:1], result_types=[f32, f32])
    ModuleOp([source, right, wrong])
    verify_op(right)
    verify_op(right)
    with pytest.raises(VerifyException, match="Expected 2 operands, but got 1"):
        verify_op(wrong)


def test_isolation_from_above() -> None:
    outer = AnyOp(result_types=[i32])
    function = FuncOp("f", ((), ()))
    inner = AnyOp(operands=outer.results, regions=[Region(Block())])
    around = AnyOp(regions=[Region(Block([inner]))])
    function.body.block.add_op(around)
    ModuleOp([outer, function])
    for _ in range(2):
        with pytest.raises(VerifyException, match="defined out of its IsolatedFrom"):
            verify_isolation(function)
        with pytest.raises(VerifyException, match="defined out of its IsolatedFrom"):
            verify_op(function)
    inner.operands = ()
    verify_isolation(function)


def test_a_wrong_op_among_many_like_it_is_named() -> None:
    ops = [arith.ConstantOp(IntegerAttr(5, i32)) for _ in range(3)]
    wrong = {"value": IntegerAttr(5, i32)}
    ops.append(arith.ConstantOp.create(properties=wrong, result_types=[f32]))
    for line, op in enumerate(ops):
        op.location = FileLineColLoc(StringAttr("a"), IntAttr(line), IntAttr(1))
    with pytest.raises(OpError) as caught:
        verify_module(ModuleOp(ops))
    assert caught.value.location == ops[-1].location
