"""
Compute products and convolutions of dequantised bytes in integers.

Models are quantised by `graph.quantize` and `graph.dequantize` around ops on floats.
The sum of products of `(q - z) * s` and `(w - v) * t` is `s * t` times a sum of products
of integers, which is exact in i32; what the zero points add to it is known with the
weights. Nothing is rounded but the scaled sum, so results differ from those of sums of
floats by the order of roundings, and are nearer to what the model says.

```mlir
%x = graph.dequantize %q, %s, %z …             %a = graph.conv2d %q, %w … fill -3 : … -> tensor<…xi32>
%v = graph.dequantize %w, %t, %zero …     ==>  %b = graph.add %a, %moved …
%y = graph.conv2d %x, %v padding [1, …] …      %c = graph.cast %b : … -> tensor<…xf32>
                                               %y = graph.mul %c, %factor …
```

One side is a weight, with one scale or one per result channel, and one zero point: where
that is not 0, its difference from the weight becomes a weight, of i8 or i16. The other
side has one scale and one zero point, which are constants. A sum that might leave i32
stays one of floats.

Bytes that only live between a quantisation and dequantisations may be of either sign, as
long as their zero point moves with them: `activations` says which sign the machine
multiplies faster by a signed weight.

Other dequantised weights, such as biases, become weights of floats. A dequantisation
that several ops read is repeated in front of each: bytes are what lies in memory.
"""  # noqa: E501

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar, Literal, cast

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerType, ModuleOp, f32, i8, i16, i32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from transom.dialects import graph
from transom.dialects.graph.desc import AnyTensor, tensor
from transom.dialects.graph.elements import integer_range, ui8
from transom.dialects.graph.shapes import DYNAMIC
from transom.passes.function_pass import functions_of
from transom.passes.graph_fold_batch_norm import module_of
from transom.passes.graph_fuse import blocks_outside_kernels
from transom.passes.rewrite_steps import may_rewrite
from transom.passes.statistics import Statistic
from transom.passes.weight_expressions import (
    MOVES,
    PURE,
    Expression,
    derive_weight,
    is_known,
    stem_of_known,
)

BYTES = (i8, ui8)
UNCHANGING = (*PURE, graph.WeightRefOp, graph.ConstantOp)
MAX_SUM = 2**31
"""What a sum in i32 stays below."""

PRODUCTS = Statistic("products", "products and convolutions computed in integers")
WEIGHTS = Statistic("weights", "dequantised weights evaluated once")


@dataclass(frozen=True)
class GraphFoldDequantizePass(ModulePass):
    name = "graph-fold-dequantize"
    statistics: ClassVar[tuple[Statistic, ...]] = (PRODUCTS, WEIGHTS)

    activations: Literal["any", "signed", "unsigned"] = "any"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        wanted = {"any": None, "signed": i8, "unsigned": ui8}[self.activations]
        for func in functions_of(op):
            for block in blocks_outside_kernels(func):
                for inner in tuple(block.ops):
                    if wanted is not None and isinstance(inner, graph.QuantizeOp):
                        change_sign(inner, wanted)
                fold_block(func, block)


def change_sign(op: graph.QuantizeOp, wanted: IntegerType) -> None:
    """Let an op quantise to bytes of another sign, if nothing but numbers can tell."""
    element_type, zero_point = type_of(op.result).element_type, constant(op.zero_point)
    if element_type not in BYTES or element_type == wanted or zero_point is None:
        return
    readers = [use.operation for use in op.result.uses]
    if not all(isinstance(reader, graph.DequantizeOp) for reader in readers):
        return
    if not may_rewrite("change the sign of bytes", op):
        return
    moved = int(zero_point) + (128 if wanted == ui8 else -128)
    zero = graph.ConstantOp.splat(tensor((), wanted), moved)
    zero.location = op.location
    quantize = graph.QuantizeOp(op.input, op.scale, zero.result)
    new_ops: list[Operation] = [zero, quantize]
    quantize.location = op.location
    quantize.attributes.update(op.attributes)
    Rewriter.replace_op(op, new_ops, [quantize.result])
    for reader in dict.fromkeys(readers):
        reader.operands[2] = zero.result


def fold_block(func: FuncOp, block: Block) -> None:
    """All that can be done in a block."""
    module = module_of(func)
    for op in tuple(block.ops):
        if isinstance(op, graph.Conv2dOp | graph.MatmulOp):
            product = product_of(op)
            if product is not None and may_rewrite("compute in integers", op):
                product.fold(module)
    erase_unused(block)
    for op in tuple(block.ops):
        if is_computed(op) and may_rewrite("evaluate a weight", op):
            evaluate_once(module, op)
    erase_unused(block)
    for op in reversed(tuple(block.ops)):
        for value in dict.fromkeys(op.operands):
            owner = value.owner
            if isinstance(owner, graph.DequantizeOp) and owner.parent is block:
                repeat(owner, op)


def erase_unused(block: Block) -> None:
    """Erase what is known and no longer read."""
    for op in reversed(tuple(block.ops)):
        if isinstance(op, UNCHANGING) and not op.results[0].uses:
            Rewriter.erase_op(op)


def type_of(value: SSAValue) -> AnyTensor:
    """The type of a value that is known to be a tensor."""
    return cast(AnyTensor, value.type)


# Products.


@dataclass(frozen=True)
class Activation:
    """Bytes that one scale and one zero point make numbers of."""

    bytes: SSAValue
    scale: float
    zero_point: int

    @property
    def largest(self) -> int:
        """Of the differences from the zero point."""
        low, high = range_of(self.bytes)
        return max(self.zero_point - low, high - self.zero_point)


@dataclass(frozen=True)
class Weight:
    """Dequantised bytes that are known, perhaps transposed."""

    source: graph.DequantizeOp
    moves: tuple[graph.TransposeOp, ...]
    zero_point: int

    @property
    def largest(self) -> int:
        """Of the differences from the zero point."""
        low, high = range_of(self.source.input)
        return max(self.zero_point - low, high - self.zero_point)

    def bytes(self, e: Expression) -> SSAValue:
        """The differences from the zero point."""
        value = self._moved(e, e.known(self.source.input))
        if self.zero_point == 0:
            return value
        zero = e(graph.ConstantOp.splat(tensor((), i32), self.zero_point))
        moved = e(graph.SubOp(e(graph.CastOp(value, i32)), zero))
        low, high = range_of(self.source.input)
        fits = low - self.zero_point >= -128 and high - self.zero_point <= 127
        return e(graph.CastOp(moved, i8 if fits else i16))

    def scale(self, e: Expression) -> SSAValue:
        """The scale, with as many dimensions as the weight."""
        value = e.known(self.source.scale)
        own, rank = type_of(value).get_shape(), len(self.source.result.type.get_shape())
        value = e(graph.ReshapeOp(value, (*(1,) * (rank - len(own)), *own)))
        return self._moved(e, value)

    def _moved(self, e: Expression, value: SSAValue) -> SSAValue:
        for move in reversed(self.moves):
            value = e(graph.TransposeOp(value, move.permutation))
        return value


@dataclass(frozen=True)
class Product:
    """A product or convolution that integers can compute."""

    op: graph.Conv2dOp | graph.MatmulOp
    activation: Activation
    weight: Weight

    @property
    def channel_axis(self) -> int:
        """Which dimension of the weight is that of the result's channels."""
        rank = len(type_of(self.op.operands[1]).get_shape())
        return 0 if isinstance(self.op, graph.Conv2dOp) else rank - 1

    @property
    def summed_axes(self) -> list[int]:
        """The dimensions of the weight that sums run along."""
        rank = len(type_of(self.op.operands[1]).get_shape())
        return [1, 2, 3] if isinstance(self.op, graph.Conv2dOp) else [rank - 2]

    def is_possible(self) -> bool:
        """Whether a scale belongs to each channel, and no sum overflows."""
        shape = type_of(self.op.operands[1]).get_shape()
        scales = type_of(self.weight.scale(Expression())).get_shape()
        terms = [shape[axis] for axis in self.summed_axes]
        return (
            all(n == 1 for i, n in enumerate(scales) if i != self.channel_axis)
            and DYNAMIC not in terms
            and prod(terms) * self.activation.largest * self.weight.largest < MAX_SUM
        )

    def _per_channel(self, e: Expression, value: SSAValue) -> SSAValue:
        """A value whose other dimensions have gone, as the result broadcasts it."""
        shape = type_of(value).get_shape()
        count = shape[self.channel_axis]
        if isinstance(self.op, graph.Conv2dOp):
            return e(graph.ReshapeOp(value, (count, 1, 1)))
        return value if len(shape) > 2 else e(graph.ReshapeOp(value, (count,)))

    def _factor(self, e: Expression) -> SSAValue:
        scale = e(graph.ConstantOp.splat(tensor((), f32), self.activation.scale))
        return self._per_channel(e, e(graph.MulOp(self.weight.scale(e), scale)))

    def _shift(self, e: Expression) -> SSAValue:
        """What the zero point of the activation adds to sums, to be taken away."""
        wide = e(graph.CastOp(self.weight.bytes(e), i32))
        sums = e(graph.ReduceOp("sum", wide, axes=self.summed_axes, keepdims=True))
        zero = graph.ConstantOp.splat(tensor((), i32), -self.activation.zero_point)
        return self._per_channel(e, e(graph.MulOp(sums, e(zero))))

    def fold(self, module: ModuleOp) -> None:
        """Replace the op."""
        op, activation = self.op, self.activation
        stem = stem_of_known(self.weight.source.input)
        made: list[Operation] = []

        def add(new: Operation) -> SSAValue:
            new.location = op.location
            made.append(new)
            return new.results[0]

        weight: SSAValue = self.weight.source.input
        if self.weight.moves or self.weight.zero_point:
            weight = add(derive_weight(module, f"{stem}.moved", self.weight.bytes, op))
        total = add(self._in_integers(weight))
        if activation.zero_point:
            shift = derive_weight(module, f"{stem}.shift", self._shift, op)
            total = add(graph.AddOp(total, add(shift)))
        factor = derive_weight(module, f"{stem}.factor", self._factor, op)
        scaled = add(graph.MulOp(add(graph.CastOp(total, f32)), add(factor)))
        made[-1].attributes.update(op.attributes)
        Rewriter.replace_op(op, made, [scaled])
        PRODUCTS.add()

    def _in_integers(self, weight: SSAValue) -> graph.GraphOp:
        op, activation = self.op, self.activation
        if isinstance(op, graph.MatmulOp):
            return graph.MatmulOp(activation.bytes, weight, i32)
        is_padded = any(op.padding.get_values())
        return graph.Conv2dOp(
            activation.bytes,
            weight,
            strides=op.strides,
            padding=op.padding,
            dilations=op.dilations,
            groups=op.groups,
            fill=activation.zero_point if is_padded else 0,
            element_type=i32,
        )


def product_of(op: graph.Conv2dOp | graph.MatmulOp) -> Product | None:
    """An op on dequantised numbers, if integers can compute it."""
    if type_of(op.results[0]).element_type != f32:
        return None
    if isinstance(op, graph.Conv2dOp) and op.fill.value.data:
        return None
    activation, weight = activation_of(op.operands[0]), weight_of(op.operands[1])
    if activation is None or weight is None:
        return None
    product = Product(op, activation, weight)
    return product if product.is_possible() else None


def activation_of(value: SSAValue) -> Activation | None:
    """Bytes with a constant scale and zero point, of which a value is made."""
    op = value.owner
    if not isinstance(op, graph.DequantizeOp) or is_known(op.input):
        return None
    scale, zero_point = constant(op.scale), constant(op.zero_point)
    if scale is None or zero_point is None or not keeps_shape(op):
        return None
    if type_of(op.input).element_type not in BYTES:
        return None
    return Activation(op.input, float(scale), int(zero_point))


def weight_of(value: SSAValue) -> Weight | None:
    """Known bytes of which a value is made."""
    moves: list[graph.TransposeOp] = []
    while isinstance(value.owner, graph.TransposeOp):
        moves.append(value.owner)
        value = value.owner.input
    op = value.owner
    if not isinstance(op, graph.DequantizeOp) or not keeps_shape(op):
        return None
    if not is_known(op.input) or not is_known(op.scale):
        return None
    zero_point = constant(op.zero_point)
    if zero_point is None or type_of(op.input).element_type not in BYTES:
        return None
    return Weight(op, tuple(moves), int(zero_point))


def constant(value: SSAValue) -> float | int | None:
    """The one number that all elements of a constant are."""
    op = value.owner
    if not isinstance(op, graph.ConstantOp) or not op.is_splat:
        return None
    return op.value.get_values()[0]


def keeps_shape(op: graph.DequantizeOp) -> bool:
    """Whether there is one scale for each number, and not several."""
    return type_of(op.input).get_shape() == type_of(op.result).get_shape()


def range_of(value: SSAValue) -> tuple[int, int]:
    """The smallest and the largest integer of a tensor's elements."""
    return integer_range(cast(IntegerType, type_of(value).element_type))


# Weights.


def is_quantization(value: SSAValue) -> bool:
    """Whether a known value takes computing, not only another form."""
    op = value.owner
    if isinstance(op, MOVES):
        return is_quantization(op.operands[0])
    return isinstance(op, graph.DequantizeOp | graph.QuantizeOp)


def is_computed(op: Operation) -> bool:
    """Whether an op is the last one of a known value that takes computing."""
    if not isinstance(op, PURE):
        return False
    (result,) = op.results
    if not is_known(result) or not is_quantization(result):
        return False
    if not type_of(result).has_static_shape():
        return False  # weights are of known sizes
    return any(not isinstance(use.operation, PURE) for use in result.uses)


def evaluate_once(module: ModuleOp, op: Operation) -> None:
    """Let a known value be a weight of its own."""
    (result,) = op.results
    is_float = type_of(result).element_type not in BYTES
    what = "dequantized" if is_float else "quantized"
    stem = f"{stem_of_known(result)}.{what}"
    reference = derive_weight(module, stem, lambda e: e.known(result), op)
    reference.attributes.update(op.attributes)
    Rewriter.replace_op(op, reference)
    WEIGHTS.add()


def repeat(op: graph.DequantizeOp, reader: Operation) -> None:
    """Give an op its own dequantisation of what others read as well."""
    others = any(use.operation is not reader for use in op.result.uses)
    if not others or not may_rewrite("repeat a dequantisation", reader):
        return
    copy = op.clone()
    assert reader.parent is not None, "readers are in a block"
    reader.parent.insert_op_before(copy, reader)
    for index, value in enumerate(reader.operands):
        if value is op.result:
            reader.operands[index] = copy.result
