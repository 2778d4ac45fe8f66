"""
The transforms of F(4x4, 3x3), with the points 0, 1, -1, 2, -2 and infinity.

A tile of 4 by 4 results is `A^T ((G g G^T) * (B^T d B)) A` of 6 by 6 pixels `d` and a
filter `g` of 3 by 3. The rows of the points 1 and -1, and of 2 and -2, differ in signs
only, so that what they share is computed once.

    B^T = 4  0 -5  0  1  0        A^T = 1  1  1  1  1  0
          0 -4 -4  1  1  0              0  1 -1  2 -2  0
          0  4 -4 -1  1  0              0  1  1  4  4  0
          0 -2 -1  2  1  0              0  1 -1  8 -8  1
          0  2 -1 -2  1  0
          0  4  0 -5  0  1
"""

from collections.abc import Callable, Sequence
from struct import pack
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import f32, f64
from xdsl.ir import Operation, SSAValue

from transom.dialects import graph, tir
from transom.dialects.graph.desc import AnyTensor, tensor
from transom.passes.weight_expressions import Expression

OUTPUTS = 4
"""Rows, and columns, of results of a tile."""
WINDOW = 3
"""Rows, and columns, of a filter."""
PATCH = OUTPUTS + WINDOW - 1
"""Rows, and columns, of pixels that a tile depends on, and of its products."""

FILTER_MATRIX = (
    (1 / 4, 0.0, 0.0),
    (-1 / 6, -1 / 6, -1 / 6),
    (-1 / 6, 1 / 6, -1 / 6),
    (1 / 24, 1 / 12, 1 / 6),
    (1 / 24, -1 / 12, 1 / 6),
    (0.0, 0.0, 1.0),
)
"""G, by rows."""

Values = Sequence[SSAValue]
Squares = Sequence[Values]


class Arithmetic:
    """Sums of values, in a region of a nest."""

    def __init__(
        self, builder: tir.RegionBuilder, flags: arith.FastMathFlagsAttr
    ) -> None:
        self.builder = builder
        self.flags = flags

    def _made(self, kind: type[Operation], a: SSAValue, b: SSAValue) -> SSAValue:
        return self.builder(
            kind.create(
                operands=[a, b],
                result_types=[a.type],
                properties={"fastmath": self.flags},
            )
        )

    def add(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self._made(arith.AddfOp, a, b)

    def subtract(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self._made(arith.SubfOp, a, b)

    def scaled(self, factor: float, a: SSAValue) -> SSAValue:
        """`factor * a`."""
        constant = self.builder.constant(factor, a.type)
        return self._made(arith.MulfOp, constant, a)

    def pixels(self, d: Values) -> list[SSAValue]:
        """`B^T d`: six numbers of six."""
        fours = self.subtract(d[4], self.scaled(4, d[2]))
        thirds = self.subtract(d[3], self.scaled(4, d[1]))
        evens = self.subtract(d[4], d[2])
        outer = self.subtract(d[3], d[1])
        odds = self.scaled(2, outer)
        first = self.subtract(d[0], d[2])
        last = self.subtract(d[5], d[3])
        return [
            self.add(self.scaled(4, first), evens),
            self.add(fours, thirds),
            self.subtract(fours, thirds),
            self.add(evens, odds),
            self.subtract(evens, odds),
            self.subtract(last, self.scaled(4, outer)),
        ]

    def results(self, m: Values) -> list[SSAValue]:
        """`A^T m`: four numbers of six."""
        ones, twos = self.add(m[1], m[2]), self.add(m[3], m[4])
        one, two = self.subtract(m[1], m[2]), self.subtract(m[3], m[4])
        return [
            self.add(self.add(m[0], ones), twos),
            self.add(one, self.scaled(2, two)),
            self.add(ones, self.scaled(4, twos)),
            self.add(self.add(one, self.scaled(8, two)), m[5]),
        ]


def both_ways(
    transform: Callable[[Values], list[SSAValue]], square: Squares
) -> Squares:
    """`T square T^T`, where `transform` multiplies by `T`: columns first, then rows."""
    columns = [transform(column) for column in zip(*square, strict=True)]
    return [transform(row) for row in zip(*columns, strict=True)]


def transformed_filters(e: Expression, weight: SSAValue) -> SSAValue:
    """
    `G g G^T` of a weight `[filters, channels, 3, 3]` of f32, computed in f64, as
    `[filters, channels, 6, 6]` of f32, **columns before rows**.
    """
    filters, channels = cast(AnyTensor, weight.type).get_shape()[:2]
    count = filters * channels
    numbers = [x for row in zip(*FILTER_MATRIX, strict=True) for x in row]
    matrix = e(
        graph.ConstantOp.from_bytes(
            tensor((WINDOW, PATCH), f64), pack(f"<{len(numbers)}d", *numbers)
        )
    )

    def multiplied(value: SSAValue, rows: int) -> SSAValue:
        flat = e(graph.ReshapeOp(value, (count * rows, WINDOW)))
        return e(graph.MatmulOp(flat, matrix))

    wide = e(graph.CastOp(weight, f64))
    columns = e(graph.ReshapeOp(multiplied(wide, WINDOW), (count, WINDOW, PATCH)))
    across = e(graph.TransposeOp(columns, (0, 2, 1)))
    narrow = e(graph.CastOp(multiplied(across, PATCH), f32))
    return e(graph.ReshapeOp(narrow, (filters, channels, PATCH, PATCH)))
