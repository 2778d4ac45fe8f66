"""A function is verified once, and again after each change of it."""

import gc
import weakref
from collections.abc import Callable

import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, UnitAttr, i32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from transom.dialects import tir, verifier
from transom.dialects.diagnostics import OpError
from transom.dialects.parser import parse_ir
from transom.dialects.verified_functions import content_of, mark_verified
from transom.dialects.verifier import verify_module
from transom.registry import new_context

TEXT = """
tir.func @k(read %x: memref<4xi32>, write %y: memref<4xi32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = memref.load %x[%zero] : memref<4xi32>
  %b = memref.load %x[%one] : memref<4xi32>
  %c = arith.addi %a, %b : i32
  memref.store %c, %y[%zero] : memref<4xi32>
  tir.return
}
func.func @plain(%x: i32) -> i32 {
  func.return %x : i32
}
func.func @caller(%x: i32) -> i32 {
  %y = func.call @plain(%x) : (i32) -> i32
  func.return %y : i32
}
"""


def module() -> ModuleOp:
    return parse_ir(new_context(), TEXT, "a.mlir")


def op_of(module: ModuleOp, name: str, number: int = 0) -> Operation:
    return [op for op in module.walk() if op.name == name][number]


@pytest.fixture
def verified(monkeypatch: pytest.MonkeyPatch) -> list[Operation]:
    """The ops that the verifier asked, in order."""
    asked: list[Operation] = []
    verify_op = verifier.verify_op

    def verify(op: Operation) -> None:
        asked.append(op)
        verify_op(op)

    monkeypatch.setattr(verifier, "verify_op", verify)
    return asked


def names(ops: list[Operation]) -> list[str]:
    return [op.sym_name.data for op in ops if isinstance(op, FuncOp | tir.FuncOp)]


def test_what_did_not_change_is_not_verified_again(verified: list[Operation]) -> None:
    ir = module()
    verify_module(ir)
    assert names(verified) == ["k", "plain", "caller"]
    verified.clear()
    verify_module(ir)
    # What calls others is verified by what it calls.
    assert names(verified) == ["caller"]
    assert verified[-1] is ir
    verified.clear()
    op_of(ir, "arith.addi").attributes["test.a"] = UnitAttr()
    verify_module(ir)
    assert names(verified) == ["k", "caller"]


def swap_operands(ir: ModuleOp) -> None:
    add = op_of(ir, "arith.addi")
    add.operands = tuple(reversed(add.operands))


def use_another_value(ir: ModuleOp) -> None:
    add = op_of(ir, "arith.addi")
    add.operands = (add.operands[0], add.operands[0])


def replace_attribute(ir: ModuleOp) -> None:
    op = op_of(ir, "arith.constant", 1)
    op.properties["value"] = IntegerAttr.from_index_int_value(2)


def rename_attribute(ir: ModuleOp) -> None:
    op = op_of(ir, "memref.load")
    op.attributes["test.b"] = op.attributes.pop("test.a")


def move_op(ir: ModuleOp) -> None:
    op = op_of(ir, "memref.load")
    op.detach()
    block = op_of(ir, "tir.func").regions[0].block
    block.insert_op_after(op, op_of(ir, "memref.load"))


def replace_op(ir: ModuleOp) -> None:
    old = op_of(ir, "arith.addi")
    new = arith.MuliOp(old.operands[0], old.operands[1])
    assert old.parent is not None
    old.parent.insert_op_before(new, old)
    old.results[0].replace_all_uses_with(new.results[0])
    old.detach()
    old.erase()


def replace_by_the_same(ir: ModuleOp) -> None:
    """An equal op is another one."""
    old = op_of(ir, "arith.addi")
    new = old.clone()
    assert old.parent is not None
    old.parent.insert_op_before(new, old)
    old.results[0].replace_all_uses_with(new.results[0])
    old.detach()
    old.erase()


CHANGES: list[Callable[[ModuleOp], None]] = [
    swap_operands,
    use_another_value,
    replace_attribute,
    rename_attribute,
    move_op,
    replace_op,
    replace_by_the_same,
]


@pytest.mark.parametrize("change", CHANGES)
def test_what_changed_is_verified(
    change: Callable[[ModuleOp], None], verified: list[Operation]
) -> None:
    ir = module()
    op_of(ir, "memref.load").attributes["test.a"] = UnitAttr()
    verify_module(ir)
    verified.clear()
    change(ir)
    verify_module(ir)
    assert names(verified) == ["k", "caller"]


def test_a_mistake_after_a_good_verification_is_found() -> None:
    ir = module()
    verify_module(ir)
    load = op_of(ir, "memref.load")
    add = op_of(ir, "arith.addi")
    add.operands = (load.operands[0], load.operands[0])
    with pytest.raises(OpError):
        verify_module(ir)
    with pytest.raises(OpError):  # and is not forgotten
        verify_module(ir)


def test_a_function_can_be_moved_and_is_freed() -> None:
    ir = module()
    verify_module(ir)
    func = op_of(ir, "tir.func")
    first = content_of(func)
    other = ModuleOp([])
    func.detach()
    other.body.block.add_op(func)
    second = content_of(func)
    assert first is not None and second is not None and first.is_that_of(second)
    reference = weakref.ref(func)
    verify_module(other)
    del func, other, ir
    gc.collect()
    assert reference() is None


def test_ops_that_look_around_have_no_content() -> None:
    ir = module()
    assert content_of(op_of(ir, "func.func", 1)) is None
    assert content_of(op_of(ir, "func.func", 0)) is not None
    constant = arith.ConstantOp(IntegerAttr(1, i32))
    assert content_of(constant) is not None


def test_what_is_not_right_is_not_remembered() -> None:
    """Not even what was looked at before the mistake was found."""
    ir = module()
    ret = op_of(ir, "tir.return")
    late = op_of(ir, "arith.constant")
    late.detach()
    assert ret.parent is not None
    ret.parent.insert_op_before(late, ret)
    for _ in range(2):
        with pytest.raises(OpError, match="to be defined before it"):
            verify_module(ir)


def test_a_function_is_marked_where_its_copy_was_verified(
    verified: list[Operation],
) -> None:
    ir = module()
    mark_verified(op_of(ir, "tir.func"))
    verify_module(ir)
    assert names(verified) == ["plain", "caller"]
