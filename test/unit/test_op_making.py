"""Ops that are made past the constructors of xDSL are what these would have made."""

from xdsl.dialects import arith, cf, func
from xdsl.dialects.builtin import UNKNOWN_LOC, DenseArrayBase, f32, i1, i32
from xdsl.ir import Block, Region
from xdsl.utils.test_value import create_ssa_value

from transom.dialects.op_making import make_op

A, B, C = create_ssa_value(f32), create_ssa_value(f32), create_ssa_value(i1)


def test_as_the_constructor_makes_it():
    made, given = make_op(arith.AddfOp, (A, B), (f32,)), arith.AddfOp(A, B)
    assert made.is_structurally_equivalent(given)
    assert made.properties == {"fastmath": arith.FastMathFlagsAttr("none")}
    assert made.attributes == {} and made.location is UNKNOWN_LOC
    assert made.parent is None and made.next_op is None and made.prev_op is None
    made.verify()


def test_what_is_given_goes_before_defaults():
    fast = {"fastmath": arith.FastMathFlagsAttr("fast")}
    made = make_op(arith.AddfOp, (A, B), (f32,), fast)
    assert made.properties == fast
    made.properties["fastmath"] = arith.FastMathFlagsAttr("none")
    assert fast == {"fastmath": arith.FastMathFlagsAttr("fast")}


def test_uses_are_known_and_end():
    value = create_ssa_value(f32)
    made = make_op(arith.MulfOp, (value, value), (f32,))
    assert {(use.operation, use.index) for use in value.uses} == {(made, 0), (made, 1)}
    made.operands[0] = A
    made.drop_all_references()
    assert not value.uses


def test_successors_know_their_users():
    yes, no = Block(arg_types=[f32]), Block([func.ReturnOp()])
    sizes = DenseArrayBase.from_list(i32, [1, 1, 0])
    made = make_op(
        cf.ConditionalBranchOp,
        (C, A),
        (),
        {"operandSegmentSizes": sizes},
        successors=(yes, no),
    )
    given = cf.ConditionalBranchOp(C, yes, [A], no, [])
    assert made.is_structurally_equivalent(given)
    assert [use.operation for use in no.uses] == [given, made]
    given.drop_all_references()
    yes.add_op(func.ReturnOp())
    Region([Block([made]), yes, no])
    made.verify()
