"""
Fold batch normalisation, and scales and shifts by weights, into the weights of the
convolution in front of them.

With given statistics, a batch normalisation multiplies each channel by a number and
adds another one, and so do multiplications and additions of one weight per channel. A
chain of them is one shift of a convolution by scaled weights; behind anything else it
is one product and one sum. The new weights are expressions over the old ones, which are
evaluated once.

```mlir
%c = graph.conv2d %x, %w …               %c = graph.conv2d %x, %w_scaled …
%y = graph.batch_norm %c, %s, %b, …  ==> %y = graph.add %c, %b_shift …
```

All values of a chain but the last one have one reader, and all weights are of the type
of the tensor, f32 or f64: narrower ones would be rounded another time. Chains that hold
no batch normalisation, and nothing that a convolution could take in, stay as they are.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import ClassVar, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32, f64
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from transom.dialects import graph
from transom.dialects.graph.desc import AnyTensor, tensor
from transom.dialects.graph.shapes import DYNAMIC
from transom.passes.function_pass import functions_of
from transom.passes.rewrite_steps import may_rewrite
from transom.passes.statistics import Statistic
from transom.passes.weight_expressions import (
    Expression,
    derive_weight,
    is_known,
    stem_of_known,
)

FOLDED = Statistic("folded", "ops folded into weights")

Build = Callable[[Expression], SSAValue]
"""Adds the ops of a value, one element per channel, to an expression."""


@dataclass(frozen=True)
class GraphFoldBatchNormPass(ModulePass):
    name = "graph-fold-batch-norm"
    statistics: ClassVar[tuple[Statistic, ...]] = (FOLDED,)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in functions_of(op):
            for inner in tuple(func.walk()):
                chain = chain_from(inner) if inner.parent is not None else None
                if chain is not None and may_rewrite("fold a batch norm", inner):
                    chain.fold(module_of(func))


def module_of(op: Operation) -> ModuleOp:
    """The module that an op is in."""
    parent = op.parent_op()
    while not isinstance(parent, ModuleOp):
        assert parent is not None, "functions are in modules"
        parent = parent.parent_op()
    return parent


def type_of(value: SSAValue) -> AnyTensor:
    """The type of a value that is known to be a tensor."""
    return cast(AnyTensor, value.type)


@dataclass
class Chain:
    """
    Ops that scale and shift the channels of a value, one after the other.
    """

    source: SSAValue
    channels: int
    ops: list[Operation] = field(default_factory=list[Operation])

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one element per channel, which broadcasts to the source's."""
        return (self.channels, *(1,) * (type_of(self.source).get_num_dims() - 2))

    @property
    def convolution(self) -> graph.Conv2dOp | None:
        """The convolution in front of the chain, if it can take scales in."""
        owner = self.source.owner
        if isinstance(owner, graph.Conv2dOp) and has_one_use(self.source):
            element = type_of(self.source).element_type
            weight = owner.weight
            if is_known(weight) and type_of(weight).element_type == element:
                return owner
        return None

    def is_worthwhile(self) -> bool:
        """Whether less is left to do when the chain is folded."""
        if any(isinstance(op, graph.BatchNormOp) for op in self.ops):
            return True
        scales = any(isinstance(op, graph.MulOp) for op in self.ops)
        return scales and self.convolution is not None

    # The factor and the shift, in an expression.

    def _constant(self, e: Expression, value: float) -> SSAValue:
        type = tensor((), type_of(self.source).element_type)
        return e(graph.ConstantOp.splat(type, value))

    def _factor_of(self, e: Expression, op: Operation) -> SSAValue | None:
        match op:
            case graph.BatchNormOp():
                small = self._constant(e, op.epsilon.value.data)
                variance = e(graph.AddOp(e.known(op.variance), small))
                deviation = e(graph.SqrtOp(variance))
                factor = e(graph.DivOp(e.known(op.scale), deviation))
                return e(graph.ReshapeOp(factor, self.shape))
            case graph.MulOp():
                return e.known(known_operand(op))
            case _:
                return None

    def _shift_of(
        self, e: Expression, op: Operation, factor: SSAValue | None
    ) -> SSAValue | None:
        match op:
            case graph.BatchNormOp():
                assert factor is not None, "a batch norm scales"
                mean, bias = (
                    e(graph.ReshapeOp(e.known(value), self.shape))
                    for value in (op.mean, op.bias)
                )
                return e(graph.SubOp(bias, e(graph.MulOp(mean, factor))))
            case graph.AddOp():
                return e.known(known_operand(op))
            case _:
                return None

    def _combined(self, e: Expression) -> tuple[SSAValue | None, SSAValue | None]:
        """The factor of the whole chain, and its shift; None for 1 and 0."""
        factor: SSAValue | None = None
        shift: SSAValue | None = None
        for op in self.ops:
            scale = self._factor_of(e, op)
            added = self._shift_of(e, op, scale)
            if scale is not None:
                factor = scale if factor is None else e(graph.MulOp(factor, scale))
                if shift is not None:
                    shift = e(graph.MulOp(shift, scale))
            if added is not None:
                shift = added if shift is None else e(graph.AddOp(shift, added))
        return factor, shift

    def _whole(self, e: Expression, value: SSAValue | None) -> SSAValue:
        """A value in the shape that has one element per channel."""
        assert value is not None, "asked where there is one"
        shape = type_of(value).get_shape()
        if shape == self.shape:
            return value
        if prod(shape) == self.channels:
            return e(graph.ReshapeOp(value, self.shape))
        if shape:
            value = e(graph.ReshapeOp(value, ()))
        return e(graph.BroadcastOp(value, self.shape))

    # Folding.

    def fold(self, module: ModuleOp) -> None:
        """Replace the chain."""
        last = self.ops[-1]
        made: list[Operation] = []
        value = self.source
        probe = Expression()
        scales, shifts = (part is not None for part in self._combined(probe))
        convolution = self.convolution
        if scales and convolution is not None:
            self._scale(module, convolution)
        elif scales:
            factor = self._derived(module, "scale", 0)
            value = self._apply(graph.MulOp, value, factor, made)
        if shifts:
            shift = self._derived(module, "shift", 1)
            value = self._apply(graph.AddOp, value, shift, made)
        FOLDED.add(len(self.ops))
        if made:
            final = made[-1]
            final.location = last.location
            for op in self.ops:
                for name, attribute in op.attributes.items():
                    final.attributes.setdefault(name, attribute)
        Rewriter.replace_op(last, made, [value])
        for op in reversed(self.ops[:-1]):
            Rewriter.erase_op(op)

    def _derived(self, module: ModuleOp, what: str, part: int) -> graph.WeightRefOp:
        stem = stem_of_known(known_operand(self.ops[0]))
        return derive_weight(
            module,
            f"{stem}.{what}",
            lambda e: self._whole(e, self._combined(e)[part]),
            self.ops[-1],
        )

    def _apply(
        self,
        kind: type[graph.MulOp | graph.AddOp],
        value: SSAValue,
        weight: graph.WeightRefOp,
        made: list[Operation],
    ) -> SSAValue:
        op = kind(value, weight.result)
        op.retype(self.ops[-1].results[0].type)
        op.location = self.ops[-1].location
        made += [weight, op]
        return op.result

    def _scale(self, module: ModuleOp, convolution: graph.Conv2dOp) -> None:
        """Let the convolution have scaled weights, each filter by its factor."""
        weight = convolution.weight
        rank = type_of(weight).get_num_dims()

        def build(e: Expression) -> SSAValue:
            factor = self._whole(e, self._combined(e)[0])
            per_filter = e(graph.ReshapeOp(factor, (self.channels, *(1,) * (rank - 1))))
            return e(graph.MulOp(e.known(weight), per_filter))

        reference = derive_weight(
            module, f"{stem_of_known(weight)}.scaled", build, convolution
        )
        block = convolution.parent
        assert block is not None, "the op is in a function"
        block.insert_op_before(reference, convolution)
        convolution.operands[1] = reference.result


def known_operand(op: Operation) -> SSAValue:
    """The weight of an op of a chain, that of the scale for a batch normalisation."""
    if isinstance(op, graph.BatchNormOp):
        return op.scale
    return next(value for value in op.operands if is_known(value))


def has_one_use(value: SSAValue) -> bool:
    """Whether one op reads a value, once."""
    return value.uses.get_length() == 1


def chain_from(op: Operation) -> Chain | None:
    """The chain that starts with an op, if it is one that is worth folding."""
    source = scaled_by(op)
    if source is None or (
        isinstance(source, OpResult)
        and scaled_by(source.op) is not None
        and has_one_use(source)
        and source.op.parent is op.parent
    ):
        return None  # or it has started before
    chain = Chain(source, type_of(source).get_shape()[1], list(_members(op)))
    return chain if chain.is_worthwhile() else None


def _members(op: Operation) -> Iterator[Operation]:
    """An op, and those that follow it in a chain."""
    while True:
        yield op
        (result,) = op.results
        if not has_one_use(result):
            return
        (use,) = result.uses
        if use.operation.parent is not op.parent:
            return
        if scaled_by(use.operation) is not result:
            return
        op = use.operation


def scaled_by(op: Operation) -> SSAValue | None:
    """
    What an op scales or shifts, channel by channel and by known numbers of its type;
    None if it is another op.
    """
    match op:
        case graph.BatchNormOp():
            others = [op.input]
            known = list(op.operands[1:])
        case graph.MulOp() | graph.AddOp():
            others = [value for value in op.operands if not is_known(value)]
            known = [value for value in op.operands if is_known(value)]
        case _:
            return None
    if len(others) != 1 or not known or not all(map(is_known, known)):
        return None
    (source,) = others
    type = type_of(source)
    shape = type.get_shape()
    if (
        len(shape) < 2
        or shape[1] == DYNAMIC
        or type.element_type not in (f32, f64)
        or any(type_of(value).element_type != type.element_type for value in known)
        or type_of(op.results[0]).get_shape() != shape
    ):
        return None
    if isinstance(op, graph.BatchNormOp) or _is_per_channel(known[0], shape):
        return source
    return None


def _is_per_channel(value: SSAValue, shape: Sequence[int]) -> bool:
    """Whether a value that broadcasts to a shape has one number per channel, or one."""
    own = type_of(value).get_shape()
    full = (1,) * (len(shape) - len(own)) + own
    return all(size == 1 for axis, size in enumerate(full) if axis != 1)
