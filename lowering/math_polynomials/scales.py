"""
Constant factors of an argument and of a result: they become part of coefficients.

```mlir
%s = arith.mulf %x, %c : f32
%e = math.erf %s : f32          ==>     a polynomial of %x
%y = arith.mulf %e, %h : f32
```
"""

from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import Float32Type
from xdsl.ir import Operation, OpResult, SSAValue

from transom.dialects import llvm
from transom.lowering.math_polynomials.power import constant_of

LARGEST = 2.0
"""The largest factor; the smallest is its inverse. No product is below the result."""


@dataclass(frozen=True)
class Scales:
    """`result * f(argument * x)` is what is computed."""

    argument: float = 1.0
    result: float = 1.0


UNSCALED = Scales()


@dataclass(frozen=True)
class Call:
    """A function and the factors around it."""

    op: Operation
    operands: tuple[SSAValue, ...]
    """What is not scaled yet."""
    result: OpResult
    """What is scaled."""
    scales: Scales = UNSCALED

    def replace_by(self, value: SSAValue) -> None:
        """Let a value take the place of all."""
        scaled, last = [v.owner for v in self.op.operands], self.result.op
        if isinstance(value.owner, Operation):
            value.owner.attributes |= self.op.attributes | last.attributes
        value.name_hint = self.result.name_hint
        self.result.replace_all_uses_with(value)
        unused = [self.op] if last is self.op else [last, self.op]
        for op in unused:
            op.detach()
            op.erase()
        for op, operand in zip(scaled, self.operands, strict=True):
            if not isinstance(op, Operation) or operand in op.results:
                continue
            if not op.results[0].uses:
                op.detach()
                op.erase()


def plain_call(op: Operation) -> Call:
    """A function alone."""
    return Call(op, tuple(op.operands), op.results[0])


def scaled_call(op: Operation) -> Call:
    """A function of one number, with the products by constants that belong to it."""
    argument, result = op.operands[0], op.results[0]
    inner, outer = 1.0, 1.0
    if not isinstance(llvm.element_of(result.type), Float32Type):
        return plain_call(op)
    if isinstance(argument.owner, Operation):
        for value in argument.owner.operands:
            factor = _factor(argument.owner, value)
            if factor is not None:
                argument, inner = value, factor
                break
    user = result.get_user_of_unique_use()
    if user is not None and (factor := _factor(user, result)) is not None:
        result, outer = user.results[0], factor
    return Call(op, (argument,), result, Scales(inner, outer))


def _factor(op: Operation, value: SSAValue) -> float | None:
    """The constant by which an op multiplies a value."""
    if isinstance(op, arith.MulfOp):
        factor = constant_of(op.rhs if value is op.lhs else op.lhs)
    elif isinstance(op, arith.DivfOp) and value is op.lhs:
        divisor = constant_of(op.rhs)
        factor = 1 / divisor if divisor else None
    else:
        return None
    is_usual = factor is not None and 1 / LARGEST <= abs(factor) <= LARGEST
    return factor if is_usual else None
