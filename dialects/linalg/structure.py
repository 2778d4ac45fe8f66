"""
What the structured ops of `linalg` have in common: operands, maps, loops, a body.
"""

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import MemRefType, ShapedType, TensorType
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind, OpTrait
from xdsl.utils.exceptions import VerifyException

PARALLEL, REDUCTION = IteratorType.PARALLEL, IteratorType.REDUCTION


@dataclass(frozen=True)
class Structure:
    """
    A structured op: at each point of its loops `body` gets an element of each operand,
    as the maps say, and gives the new elements of the outputs.
    """

    op: Operation
    inputs: tuple[SSAValue, ...]
    outputs: tuple[SSAValue, ...]
    maps: tuple[AffineMap, ...]
    """One for each input, then one for each output."""
    kinds: tuple[IteratorType, ...]
    body: Block
    """It takes an element of each input, then, if it wants them, of the outputs."""

    @property
    def operands(self) -> tuple[SSAValue, ...]:
        return (*self.inputs, *self.outputs)

    @property
    def rank(self) -> int:
        """How many loops there are."""
        return len(self.kinds)

    @property
    def on_tensors(self) -> bool:
        return isinstance(self.outputs[0].type, TensorType)

    @property
    def out_maps(self) -> tuple[AffineMap, ...]:
        return self.maps[len(self.inputs) :]

    def loops(self, kind: IteratorType) -> tuple[int, ...]:
        """The loops of a kind."""
        return tuple(i for i, own in enumerate(self.kinds) if own is kind)

    def argument(self, operand: int) -> BlockArgument | None:
        """What the body calls an element of an operand, if it has a name for it."""
        args = self.body.args
        return args[operand] if operand < len(args) else None

    def reads(self, operand: int) -> bool:
        """Whether the body reads an operand."""
        argument = self.argument(operand)
        return argument is not None and bool(argument.uses)

    def reads_output(self, number: int) -> bool:
        """Whether the body reads what an output holds."""
        return self.reads(len(self.inputs) + number)

    @property
    def yielded(self) -> tuple[SSAValue, ...]:
        last = self.body.last_op
        assert last is not None, "bodies end with 'linalg.yield'"
        return tuple(last.operands)

    def extents(self) -> Iterator[tuple[int, int, int]]:
        """
        Each `(loop, operand, axis)` where a loop runs along a whole axis of an operand.
        """
        for operand, (value, map) in enumerate(
            zip(self.operands, self.maps, strict=True)
        ):
            if not isinstance(value.type, ShapedType):
                continue
            for axis, expr in enumerate(map.results):
                if isinstance(expr, AffineDimExpr):
                    yield expr.position, operand, axis


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The shape of an operand; a number has none."""
    type = value.type
    return type.get_shape() if isinstance(type, ShapedType) else ()


def element_of(type: Attribute) -> Attribute:
    """What the body sees of an operand of a type."""
    if isinstance(type, MemRefType | TensorType):
        return cast("MemRefType[Attribute] | TensorType[Attribute]", type).element_type
    return type


def outputs_of(op: LinalgStructuredOperation) -> tuple[SSAValue, ...]:
    """The outputs; `linalg.map` has one, which is no list."""
    outputs: object = op.outputs
    return (outputs,) if isinstance(outputs, SSAValue) else tuple(op.outputs)


def structure_of(op: Operation) -> Structure | None:
    """The structure of an op, None for one that has none."""
    if not isinstance(op, LinalgStructuredOperation):
        return None
    return Structure(
        op,
        tuple(op.inputs),
        outputs_of(op),
        tuple(attr.data for attr in op.get_indexing_maps()),
        tuple(attr.data for attr in op.get_iterator_types()),
        op.body.block,
    )


def is_on_tensors(op: Operation) -> bool:
    """Whether an op is a structured one whose results are tensors."""
    return isinstance(op, LinalgStructuredOperation) and bool(op.results)


class StructureMemoryEffect(MemoryEffect):
    """None on tensors; inputs that are memrefs are read, outputs written or both."""

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance]:
        structure = structure_of(op)
        assert structure is not None, "structured ops have the trait"
        effects: set[EffectInstance] = set()
        for number, value in enumerate(structure.operands):
            if not isinstance(value.type, MemRefType):
                continue
            if number >= len(structure.inputs):
                effects.add(EffectInstance(MemoryEffectKind.WRITE, value))
            if structure.reads(number):
                effects.add(EffectInstance(MemoryEffectKind.READ, value))
        return effects


def tensor_types(values: Iterable[SSAValue]) -> tuple[Attribute, ...]:
    """The types of those that are tensors: what an op with these outputs gives."""
    types = [value.type for value in values]
    return tuple(type for type in types if is_tensor(type))


def is_tensor(type: Attribute) -> bool:
    return isinstance(type, TensorType)


def verify_results(op: LinalgStructuredOperation) -> None:
    """There is a result for each output that is a tensor, of its type."""
    tensors = tensor_types(outputs_of(op))
    if tuple(op.result_types) != tensors:
        listed = ", ".join(f"'{type}'" for type in tensors) or "none"
        raise VerifyException(f"expected results of the types of the outputs: {listed}")


def verify_same_shapes(op: LinalgStructuredOperation) -> None:
    """Every operand is of the shape of the output."""
    (output,) = outputs_of(op)
    for number, value in enumerate(op.operands):
        if shape_of(value) != shape_of(output):
            raise VerifyException(
                f"expected operand {number} to have the shape of the output, "
                f"'{output.type}', but got '{value.type}'"
            )


def verify_body(op: LinalgStructuredOperation, *, may_lack_outputs: bool) -> None:
    """The body takes an element of each operand, or of each input only."""
    expected = [element_of(value.type) for value in (*op.inputs, *outputs_of(op))]
    got = [arg.type for arg in op.body.block.args]
    if got == expected or (may_lack_outputs and got == expected[: len(op.inputs)]):
        return
    raise VerifyException(
        f"expected a body of arguments ({_listed(expected)}), but got ({_listed(got)})"
    )


def _listed(types: Iterable[Attribute]) -> str:
    return ", ".join(map(str, types))


class YieldsElements(OpTrait):
    """What ends the body of a structured op yields an element of each output."""

    def verify(self, op: Operation) -> None:
        parent = op.parent_op()
        if not isinstance(parent, LinalgStructuredOperation):
            raise VerifyException("expected to be in the body of a structured op")
        expected = [element_of(value.type) for value in outputs_of(parent)]
        got = [value.type for value in op.operands]
        if got != expected:
            raise VerifyException(
                f"expected to yield ({_listed(expected)}), but got ({_listed(got)})"
            )


class BodyYields(OpTrait):
    """The body of a structured op ends with `linalg.yield`."""

    def verify(self, op: Operation) -> None:
        assert isinstance(op, LinalgStructuredOperation), "these have the trait"
        last = op.body.block.last_op
        if not isinstance(last, YieldOp):
            got = "nothing" if last is None else f"'{last.name}'"
            raise VerifyException(
                f"expected a body that ends with 'linalg.yield', but got {got}"
            )
