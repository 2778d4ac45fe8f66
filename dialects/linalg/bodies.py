"""
The bodies of named ops: what they compute of one element of each operand.
"""

from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    i1,
)
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue


class Body:
    """Adds ops to the body of a named op; `type` is that of the output's elements."""

    def __init__(self, types: Sequence[Attribute]) -> None:
        self.block = Block(arg_types=types)
        self.type = types[-1]

    def __call__(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def wide(self, number: int, *, unsigned: bool = False) -> SSAValue:
        """An argument in the type of the output, as MLIR casts it."""
        return self.cast(self.block.args[number], unsigned=unsigned)

    def cast(self, value: SSAValue, *, unsigned: bool = False) -> SSAValue:
        source, result = value.type, self.type
        if source == result:
            return value
        if isinstance(source, AnyFloat) and isinstance(result, AnyFloat):
            wider = result.bitwidth > source.bitwidth
            return self(
                arith.ExtFOp(value, result) if wider else arith.TruncFOp(value, result)
            )
        if isinstance(source, AnyFloat):
            to_integer = arith.FPToUIOp if unsigned else arith.FPToSIOp
            return self(to_integer(value, cast(IntegerType, result)))
        if isinstance(result, AnyFloat):
            to_float = arith.UIToFPOp if unsigned else arith.SIToFPOp
            return self(to_float(value, result))
        old, new = cast(IntegerType, source), cast(IntegerType, result)
        if old.width.data > new.width.data:
            return self(arith.TruncIOp(value, new))
        return self((arith.ExtUIOp if unsigned else arith.ExtSIOp)(value, new))

    def one(self) -> SSAValue:
        if isinstance(self.type, AnyFloat):
            return self(arith.ConstantOp(FloatAttr(1.0, self.type)))
        return self(arith.ConstantOp(IntegerAttr(1, cast(IntegerType, self.type))))

    def add(self, a: SSAValue, b: SSAValue) -> SSAValue:
        if self.type == i1:
            return self(arith.OrIOp(a, b))
        return self(self.pick(arith.AddfOp, arith.AddiOp)(a, b))

    def multiply(self, a: SSAValue, b: SSAValue) -> SSAValue:
        if self.type == i1:
            return self(arith.AndIOp(a, b))
        return self(self.pick(arith.MulfOp, arith.MuliOp)(a, b))

    def pick(
        self, floating: Callable[..., Operation], integer: Callable[..., Operation]
    ) -> Callable[..., Operation]:
        return floating if isinstance(self.type, AnyFloat) else integer

    def ends_with(self, value: SSAValue) -> Region:
        self.block.add_op(YieldOp(value))
        return Region(self.block)


Point = Callable[[Body], SSAValue]


def multiply_add(b: Body) -> SSAValue:
    """The output plus the product of the inputs."""
    return b.add(b.block.args[2], b.multiply(b.wide(0), b.wide(1)))


def sum_up(b: Body) -> SSAValue:
    """The output plus the first input."""
    return b.add(b.block.args[-1], b.wide(0))


def fold(
    floating: Callable[..., Operation],
    integer: Callable[..., Operation],
    unsigned: bool = False,
) -> Point:
    """The output folded with the first input."""
    return lambda b: b(
        b.pick(floating, integer)(b.block.args[-1], b.wide(0, unsigned=unsigned))
    )


def unary(floating: Callable[..., Operation]) -> Point:
    """A function of the input."""
    return lambda b: b(floating(b.wide(0)))


def binary(
    floating: Callable[..., Operation],
    integer: Callable[..., Operation],
    unsigned: bool = False,
) -> Point:
    """A function of both inputs."""
    return lambda b: b(
        b.pick(floating, integer)(
            b.wide(0, unsigned=unsigned), b.wide(1, unsigned=unsigned)
        )
    )


def absolute(b: Body) -> SSAValue:
    return b(b.pick(math.AbsFOp, math.AbsIOp)(b.wide(0)))


def reciprocal(b: Body) -> SSAValue:
    x = b.wide(0)
    return b(arith.DivfOp(b.one(), x))


def square(b: Body) -> SSAValue:
    x = b.wide(0)
    return b.multiply(x, x)
