"""
Weights that are derived from others: values that a function knows before it runs,
computed once, by an expression in the module.
"""

from collections.abc import Callable
from typing import cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue

from transom.dialects import graph
from transom.dialects.graph.desc import AnyTensor
from transom.dialects.symbols import fresh_symbol

MOVES = (graph.ReshapeOp, graph.TransposeOp)
"""Ops that bring what is known into another form."""

PURE = (*MOVES, graph.DequantizeOp, graph.QuantizeOp)
"""Ops on what is known whose results are as good as known."""


def is_known(value: SSAValue) -> bool:
    """Whether a value is a weight or a constant, perhaps in another form."""
    owner = value.owner
    if isinstance(owner, PURE):
        return all(map(is_known, owner.operands))
    return isinstance(owner, graph.WeightRefOp | graph.ConstantOp)


def stem_of_known(value: SSAValue) -> str:
    """What a known value is called, if it is a weight."""
    owner = value.owner
    while isinstance(owner, PURE):
        owner = owner.operands[0].owner
    return owner.weight.string_value() if isinstance(owner, graph.WeightRefOp) else "w"


class Expression:
    """The body of a derived weight that is being written."""

    def __init__(self) -> None:
        self.block = Block()
        self._values: dict[SSAValue, SSAValue] = {}

    def __call__(self, op: Operation) -> SSAValue:
        """Add an op and give its result."""
        self.block.add_op(op)
        return op.results[0]

    def known(self, value: SSAValue) -> SSAValue:
        """A known value of a function, in the expression."""
        if value not in self._values:
            owner = value.owner
            assert isinstance(owner, Operation), "arguments are not known"
            for operand in owner.operands:
                self.known(operand)
            copy = owner.clone(self._values)
            copy.attributes.clear()
            self._values[value] = self(copy)
        return self._values[value]


def derive_weight(
    module: ModuleOp,
    stem: str,
    build: Callable[[Expression], SSAValue],
    origin: Operation,
) -> graph.WeightRefOp:
    """A reference to a new weight; see `derived_weight`."""
    reference = graph.WeightRefOp(derived_weight(module, stem, build, origin))
    reference.location = origin.location
    return reference


def derived_weight(
    module: ModuleOp,
    stem: str,
    build: Callable[[Expression], SSAValue],
    origin: Operation,
) -> graph.WeightOp:
    """
    A new weight, which is what `build` computes; ops that it added in vain are left
    out. `origin` is the op that the weight is for.
    """
    expression = Expression()
    result = build(expression)
    end = graph.YieldOp(result)
    expression.block.add_op(end)
    for op in reversed(tuple(expression.block.ops)):
        if op is not end and not op.results[0].uses:
            op.detach()
            op.erase()
    for op in expression.block.ops:
        op.location = origin.location
    name = fresh_symbol(module, stem)
    weight = graph.WeightOp(
        name, cast(AnyTensor, result.type), body=Region(expression.block)
    )
    weight.location = origin.location
    _insert(module, weight)
    return weight


def _insert(module: ModuleOp, weight: graph.WeightOp) -> None:
    """Put a weight behind the weights of a module."""
    last = None
    for op in module.body.ops:
        if isinstance(op, graph.WeightOp):
            last = op
    if last is not None:
        module.body.block.insert_op_after(weight, last)
    elif module.body.block.first_op is not None:
        module.body.block.insert_op_before(weight, module.body.block.first_op)
