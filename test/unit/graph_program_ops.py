"""
The ops of random graph programs that compute: element-wise ops, reductions, products.
"""

from typing import Any

import numpy as np
from graph_program_builder import (
    EXACT_BITS,
    Builder,
    Known,
    Mismatch,
    broadcasts,
    ui8,
)
from xdsl.dialects.builtin import bf16, f16, f32, f64, i1, i8, i16, i32
from xdsl.ir import Operation

from transom.dialects import graph


def float_value(b: Builder) -> Known:
    return b.any(lambda k: k.is_float)


def number_value(b: Builder) -> Known:
    return b.any(lambda k: k.element != i1)


def keep(b: Builder, op: Operation, known: Known, exact: bool | None = None) -> None:
    """Add an op whose result is within the limit of an operand."""
    b.add(op, None, known.limit, known.exact if exact is None else exact)


def unary(b: Builder) -> None:
    known = number_value(b)
    kinds: list[type[Any]] = [graph.ReluOp, graph.NegOp, graph.AbsOp]
    if known.exact:
        kinds.append(graph.SignOp)
    if known.is_float and known.exact:
        kinds += [graph.FloorOp, graph.CeilOp, graph.RoundOp]
    kind = b.choices.pick(kinds)
    if kind is not graph.ReluOp and known.element == ui8:
        kind = graph.ReluOp
    b.add(kind(known.value), None, known.limit + 1, known.exact)


def smooth(b: Builder) -> None:
    known = float_value(b)
    kinds: list[type[Any]] = [
        *(graph.TanhOp, graph.SigmoidOp, graph.ErfOp, graph.SinOp, graph.CosOp),
        *(graph.GeluOp, graph.ExpOp),
        *(graph.LogOp, graph.SqrtOp, graph.RsqrtOp, graph.ReciprocalOp),
    ]
    kind = b.choices.pick(kinds)
    limit = 1.0
    if kinds.index(kind) >= 7:
        known = b.positive(known)
        limit = known.limit
    elif kind is graph.ExpOp:
        known, limit = b.bounded(known, 2), 8.0
    elif kind is graph.GeluOp:
        limit = known.limit
    b.add(kind(known.value), None, limit, False)


def angle(b: Builder) -> None:
    """Functions of angles and hyperbolas, each where it is defined and smooth."""
    known = b.bounded(float_value(b), 1)
    limits: dict[type[Any], float] = {
        graph.AcosOp: 3.2,
        graph.AsinOp: 1.6,
        graph.AtanOp: 1.6,
        graph.AsinhOp: 1.0,
        graph.CoshOp: 1.6,
        graph.SinhOp: 1.2,
        graph.TanOp: 1.6,
    }
    kind = b.choices.pick((*limits, graph.AcoshOp, graph.AtanhOp))
    if kind is graph.AcoshOp:
        known = b.positive(known)
    if kind in (graph.AcosOp, graph.AsinOp, graph.AtanhOp):
        half = b.scalar(2, known.element)
        op = graph.DivOp(known.value, half.value)
        known = b.add(op, known.sizes, 0.5, False)
    b.add(kind(known.value), None, limits.get(kind, 4.0), False)


def shift(b: Builder) -> None:
    """By few places, so that numbers stay within what others expect."""
    x = b.bounded(b.any(lambda k: not k.is_float and k.element != i1), 8)
    places = b.bounded(b.positive(b.partner(x)), 2)
    if x.element == ui8 or b.choices.number(0, 1):
        b.add(graph.ShiftRightOp(x.value, places.value), None, x.limit)
    else:
        b.add(graph.ShiftLeftOp(x.value, places.value), None, 4 * x.limit)


def iota(b: Builder) -> None:
    x = b.any(lambda k: k.rank > 0)
    op = graph.IotaOp(x.value, b.choices.number(0, x.rank - 1))
    b.add(op, None, 20.0)


def leaky(b: Builder) -> None:
    known = float_value(b)
    keep(b, graph.LeakyReluOp(known.value, 0.25), known, False)


def clamp(b: Builder) -> None:
    known = number_value(b)
    low, high = b.choices.pick(((0, 2), (None, 1), (1, None), (0, 0)))
    b.add(graph.ClampOp(known.value, low, high), None, max(known.limit, 2), known.exact)


def binary(b: Builder) -> None:
    x = b.any()
    y = b.partner(x)
    if b.choices.number(0, 1):
        x, y = y, x
    exact = x.exact and y.exact
    if x.element == i1:
        kinds: tuple[type[Any], ...] = (graph.AndOp, graph.OrOp, graph.XorOp)
        b.add(b.choices.pick(kinds)(x.value, y.value), None, 1.0)
        return
    kind: type[Any] = b.choices.pick(
        (graph.AddOp, graph.MulOp, graph.SubOp, graph.MinimumOp, graph.MaximumOp)
    )
    if kind is graph.SubOp and x.element == ui8:
        kind = graph.AddOp
    limit = max(x.limit, y.limit)
    if kind in (graph.AddOp, graph.SubOp):
        limit = x.limit + y.limit
    elif kind is graph.MulOp:
        x, y = b.bounded(x, 9), b.bounded(y, 9)
        limit = x.limit * y.limit
        exact = exact and x.element not in EXACT_BITS and max(x.limit, y.limit) < 4
    b.add(kind(x.value, y.value), None, limit, exact)


def bitwise(b: Builder) -> None:
    x = b.any(lambda k: not k.is_float and k.element != i1)
    y = b.partner(x)
    kind = b.choices.pick((graph.AndOp, graph.OrOp, graph.XorOp))
    b.add(kind(x.value, y.value), None, 2 * max(x.limit, y.limit) + 1)


def quotient(b: Builder) -> None:
    x = number_value(b)
    y = b.positive(b.partner(x))
    kind = b.choices.pick((graph.DivOp, graph.ModOp))
    if x.is_float and (kind is graph.DivOp or not (x.exact and y.exact)):
        b.add(graph.DivOp(x.value, y.value), None, x.limit, False)
        return
    if x.element == f64 and kind is graph.ModOp:
        kind = graph.AddOp
    b.add(kind(x.value, y.value), None, x.limit + y.limit, x.exact and y.exact)


def power(b: Builder) -> None:
    x = b.any(lambda k: k.is_float or k.element == i32)
    y = b.partner(x)
    if x.is_float:
        x, y = b.positive(b.bounded(x, 2)), b.bounded(y, 2)
        b.add(graph.PowOp(x.value, y.value), None, 9.0, False)
    else:
        x = b.bounded(x, 3)
        y = b.add(graph.AbsOp(b.bounded(y, 3).value), y.sizes, 3.0)
        b.add(graph.PowOp(x.value, y.value), None, 27.0)


def compare(b: Builder) -> None:
    x = b.any(lambda k: k.exact)
    y = b.partner(x)
    if not y.exact:
        raise Mismatch
    predicates = ["eq", "ne"]
    if x.element != i1:
        predicates += ["lt", "le", "gt", "ge"]
    b.add(graph.CompareOp(b.choices.pick(predicates), x.value, y.value))


def invert(b: Builder) -> None:
    known = b.any(lambda k: not k.is_float and k.element != ui8)
    b.add(graph.NotOp(known.value), None, known.limit + 1)


def select(b: Builder) -> None:
    x = b.any()
    y = b.partner(x)

    def fits(known: Known) -> bool:
        return known.element == i1 and broadcasts(known, x) and broadcasts(known, y)

    condition = b.any(fits)
    exact = x.exact and y.exact
    op = graph.SelectOp(condition.value, x.value, y.value)
    b.add(op, None, max(x.limit, y.limit), exact)


def quantize(b: Builder) -> None:
    """In steps of a quarter, which is exact, and back."""
    x = b.any(lambda known: known.element == f32 and known.exact)
    scale, zero = b.scalar(0.25, f32), b.scalar(3, i16)
    op = graph.QuantizeOp(x.value, scale.value, zero.value)
    quantized = b.add(op, None, 4 * x.limit + 3)
    back = graph.DequantizeOp(quantized.value, scale.value, zero.value)
    b.add(back, None, (quantized.limit + 3) / 4)


def cast(b: Builder) -> None:
    known = b.any()
    target = b.element()
    if not known.exact and not known.is_float:
        target = known.element
    elif not known.exact:
        # Errors of the source would be large ones of a more precise type.
        order = (f64, f32, f16, bf16)
        less = order[order.index(known.element) :]
        target = target if target in less else known.element
    exact = known.exact and target not in EXACT_BITS
    b.add(graph.CastOp(known.value, target), None, known.limit, exact)


def reduce(b: Builder) -> None:
    known = number_value(b)
    axes = [axis for axis in range(known.rank) if b.choices.number(0, 1)]
    kinds = ["sum", "max", "min"]
    if known.is_float:
        kinds.append("mean")
    kind = b.choices.pick(kinds)
    count = int(np.prod([known.sizes[axis] for axis in axes]))
    if count == 0 and kind != "sum":
        raise Mismatch
    limit, exact = known.limit, known.exact
    if kind == "sum":
        limit *= count
        if known.element in (i8, ui8) and limit > 100:
            raise Mismatch
        exact = exact and known.element not in EXACT_BITS
    elif kind == "mean":
        exact = False
    op = graph.ReduceOp(kind, known.value, axes, bool(b.choices.number(0, 2)))
    b.add(op, None, limit, exact)


def layer_norm(b: Builder) -> None:
    """What exporters write for it: several ops on the same rows."""
    x = b.any(lambda k: k.is_float and k.rank > 0 and 0 not in k.sizes)
    axis = x.rank - 1 if b.choices.number(0, 3) else 0
    mean = b.add(graph.ReduceOp("mean", x.value, [axis], True), None, x.limit, False)
    centred = b.add(graph.SubOp(x.value, mean.value), None, 30.0, False)
    square = b.add(graph.MulOp(centred.value, centred.value), None, 50.0, False)
    variance = b.add(graph.ReduceOp("mean", square.value, [axis], True), None, 9, False)
    epsilon = b.scalar(1, x.element)
    shifted = b.add(graph.AddOp(variance.value, epsilon.value), None, 10, False)
    factor = b.add(graph.RsqrtOp(shifted.value), None, 1.0, False)
    b.add(graph.MulOp(centred.value, factor.value), None, 30.0, False)


def softmax(b: Builder) -> None:
    known = b.any(lambda k: k.is_float and k.rank > 0 and 0 not in k.sizes)
    kind = b.choices.pick((graph.SoftmaxOp, graph.LogSoftmaxOp))
    op = kind(known.value, b.choices.number(0, known.rank - 1))
    b.add(op, None, 2 * known.limit + 5, False)


def arg_reduce(b: Builder) -> None:
    known = b.any(
        lambda k: k.exact and k.element != i1 and k.rank > 0 and 0 not in k.sizes
    )
    axis = b.choices.number(0, known.rank - 1)
    kind = b.choices.pick(("argmax", "argmin"))
    op = graph.ArgReduceOp(kind, known.value, axis, bool(b.choices.number(0, 1)))
    b.add(op, None, 5.0)


def argsort(b: Builder) -> None:
    known = b.any(lambda k: k.exact and k.element != i1 and k.rank > 0)
    axis = b.choices.number(0, known.rank - 1)
    descending = bool(b.choices.number(0, 1))
    first = None
    if known.shape[axis] >= 0 and b.choices.number(0, 1):
        first = b.choices.number(0, known.shape[axis])
    op = graph.ArgsortOp(known.value, axis, first=first, descending=descending)
    b.add(op, None, float(max(known.sizes[axis], 1)))


def bitcast(b: Builder) -> None:
    """Integers as others of their width: both kinds are small and not negative."""
    known = b.any(lambda k: k.element in (i8, ui8))
    known = b.positive(known)
    target = ui8 if known.element == i8 else i8
    b.add(graph.BitcastOp(known.value, target), None, known.limit)


def cumulate(b: Builder) -> None:
    known = b.any(lambda k: k.element != i1 and k.rank > 0)
    axis = b.choices.number(0, known.rank - 1)
    kind = b.choices.pick(("sum", "max", "min", "prod"))
    limit, count = known.limit, max(known.sizes[axis], 1)
    if kind == "sum":
        limit *= count
    elif kind == "prod":
        known = b.bounded(known, 2)
        limit = 2.0**count
    if known.element in (i8, ui8) and limit > 100:
        raise Mismatch
    extreme = kind in ("max", "min")
    op = graph.CumulateOp(
        kind,
        known.value,
        axis,
        # The extremes of nothing are no numbers of the usual size.
        exclusive=not extreme and bool(b.choices.number(0, 1)),
        reverse=bool(b.choices.number(0, 1)),
    )
    exact = known.exact and (extreme or known.element not in EXACT_BITS)
    b.add(op, None, limit, exact)


def matmul(b: Builder) -> None:
    x = b.any(lambda k: k.rank >= 2 and k.element != i1)
    if x.element in (i8, ui8):
        raise Mismatch
    kind = b.choices.number(0, 2)
    if kind == 0:
        order = [*range(x.rank - 2), x.rank - 1, x.rank - 2]
        y = b.add(graph.TransposeOp(x.value, order), None, x.limit, x.exact)
    elif kind == 1 and x.shape[-1] != graph.DYNAMIC:
        y = b.constant((x.shape[-1], b.choices.number(1, 5)), x.element)
    else:
        y = b.any(
            lambda k: (
                k.element == x.element
                and k.rank >= 2
                and k.sizes[-2] == x.sizes[-1]
                and _batches(k, x)
            )
        )
    x, y = b.bounded(x, 4), b.bounded(y, 4)
    exact = x.exact and y.exact and x.element not in EXACT_BITS
    op = graph.MatmulOp(x.value, y.value)
    b.add(op, None, x.limit * y.limit * max(x.sizes[-1], 1), exact)


def _batches(a: Known, b: Known) -> bool:
    try:
        np.broadcast_shapes(a.sizes[:-2], b.sizes[:-2])
    except ValueError:
        return False
    return True


def image(b: Builder) -> Known:
    """A value of rank 4 and floats, made from another one if there is none."""
    found = [k for k in b.values if k.is_float and k.rank == 4 and 0 not in k.sizes]
    if found:
        return b.choices.pick(found[-3:])
    known = b.any(lambda k: k.is_float and 2 <= k.rank < 4 and 0 not in k.sizes)
    dims = [graph.InputDim(axis) for axis in range(known.rank)]
    op = graph.ReshapeOp(known.value, [*[1] * (4 - known.rank), *dims])
    return b.add(op, None, known.limit, known.exact)


def window(b: Builder, known: Known) -> tuple[tuple[int, int], tuple[int, ...]]:
    """A kernel and a padding, so that each window has an element."""
    kernel = tuple(min(b.choices.number(1, 3), size) for size in known.sizes[2:])
    pads = tuple(
        b.choices.number(0, (kernel[i % 2] - 1) if kernel[i % 2] > 1 else 0)
        for i in range(4)
    )
    return (kernel[0], kernel[1]), pads


def conv2d(b: Builder) -> None:
    x = b.bounded(image(b), 4)
    channels = x.shape[1]
    if channels == graph.DYNAMIC:
        raise Mismatch
    kernel, padding = window(b, x)
    groups = b.choices.pick([g for g in (1, 1, channels) if channels % g == 0])
    filters = groups * b.choices.number(1, 2)
    w = b.constant((filters, channels // groups, *kernel), x.element)
    op = graph.Conv2dOp(
        x.value,
        w.value,
        strides=(b.choices.number(1, 2), b.choices.number(1, 2)),
        padding=padding,
        groups=groups,
    )
    limit = x.limit * 3 * channels * kernel[0] * kernel[1]
    y = b.add(op, None, limit, x.exact and x.element not in EXACT_BITS)
    if b.choices.number(0, 1):
        bias = b.constant((filters, 1, 1), x.element)
        y = b.add(graph.AddOp(y.value, bias.value), None, y.limit + 3, y.exact)
        b.add(graph.ReluOp(y.value), None, y.limit, y.exact)


def pool(b: Builder) -> None:
    x = image(b)
    kernel, padding = window(b, x)
    strides = (b.choices.number(1, 2), b.choices.number(1, 2))
    ceil = bool(b.choices.number(0, 1))
    if b.choices.number(0, 1):
        op: graph.GraphOp = graph.AvgPool2dOp(
            x.value,
            kernel,
            strides=strides,
            padding=padding,
            ceil_mode=ceil,
            count_include_pad=bool(b.choices.number(0, 1)),
        )
        keep(b, op, x, False)
        return
    indices = bool(b.choices.number(0, 1)) and x.exact
    op = graph.MaxPool2dOp(
        x.value,
        kernel,
        strides=strides,
        padding=padding,
        ceil_mode=ceil,
        indices=indices,
    )
    keep(b, op, x)
    if indices:
        sizes = b.sizes_of(op, 1)
        b.values.append(Known(op.results[1], sizes, 1000.0))


def batch_norm(b: Builder) -> None:
    x = b.any(lambda k: k.is_float and k.rank >= 2 and k.shape[1] != graph.DYNAMIC)
    scale, bias, mean = (b.constant((x.shape[1],), x.element) for _ in range(3))
    variance = b.positive(b.constant((x.shape[1],), x.element))
    op = graph.BatchNormOp(x.value, scale.value, bias.value, mean.value, variance.value)
    b.add(op, None, 3 * (x.limit + 3) + 3, False)
