"""
The ops of random graph programs that move elements.
"""

from graph_program_builder import EXACT_BITS, Builder, Known, Mismatch
from graph_program_ops import keep
from xdsl.dialects.builtin import i1, i32, i64

from transom.dialects import graph


def reshape(b: Builder) -> None:
    x = b.any()
    kind = b.choices.number(0, 3)
    shape: list[int | graph.InputDim]
    if kind == 0:
        shape = [-1]
    elif kind == 1:
        shape = [graph.InputDim(axis) for axis in range(x.rank)]
        shape.insert(b.choices.number(0, x.rank), 1)
    elif kind == 2 and x.rank:
        if 0 in x.sizes:
            raise Mismatch
        shape = [graph.InputDim(0), -1]
    else:
        ones = [axis for axis, size in enumerate(x.shape) if size == 1]
        shape = [graph.InputDim(a) for a in range(x.rank) if a not in ones]
    if len(shape) > 5:
        raise Mismatch
    keep(b, graph.ReshapeOp(x.value, shape), x)


def transpose(b: Builder) -> None:
    x = b.any(lambda k: k.rank > 1)
    order = list(range(x.rank))
    for position in range(x.rank - 1):
        other = b.choices.number(position, x.rank - 1)
        order[position], order[other] = order[other], order[position]
    keep(b, graph.TransposeOp(x.value, order), x)


def broadcast(b: Builder) -> None:
    x = b.any(lambda k: k.rank < 4)
    sizes: list[int | str | graph.Symbol | None] = [
        b.choices.number(2, 3)
        if declared == 1 and b.choices.number(0, 1)
        else (symbol if declared == graph.DYNAMIC else declared)
        for declared, symbol in zip(
            x.shape,
            graph.dim_symbols(x.type),
            strict=True,
        )
    ]
    if b.choices.number(0, 1):
        sizes.insert(0, b.choices.number(1, 3))
    keep(b, graph.BroadcastOp(x.value, sizes), x)


def concat(b: Builder) -> None:
    x = b.any(lambda k: k.rank > 0)
    axis = b.choices.number(0, x.rank - 1)

    def fits(k: Known) -> bool:
        return (
            k.element == x.element
            and k.rank == x.rank
            and all(
                a == c
                for i, (a, c) in enumerate(zip(k.sizes, x.sizes, strict=True))
                if i != axis
            )
        )

    parts = [x, *(b.any(fits) for _ in range(b.choices.number(0, 2)))]
    op = graph.ConcatOp([part.value for part in parts], axis)
    limit = max(part.limit for part in parts)
    b.add(op, None, limit, all(part.exact for part in parts))


def slice_(b: Builder) -> None:
    x = b.any(lambda k: k.rank > 0 and 0 not in k.sizes)
    starts: list[int] = []
    sizes: list[int] = []
    steps: list[int] = []
    for declared, actual in zip(x.shape, x.sizes, strict=True):
        kind = b.choices.number(0, 4)
        if kind == 0:
            start, size, step = 0, -1, 1
        elif kind == 1:
            start, size, step = -1, -1, -b.choices.number(1, 2)
        elif kind == 2:
            start, size, step = 0, -1, 2
        elif kind == 3 and actual > 1:
            start, size, step = 1, -1, 1
        else:
            start, size, step = b.choices.number(0, actual - 1), 1, 1
        if declared == 1 and kind == 2:
            step = 1
        starts.append(start)
        sizes.append(size)
        steps.append(step)
    keep(b, graph.SliceOp(x.value, starts, sizes, steps), x)


def pad(b: Builder) -> None:
    x = b.any(lambda k: k.rank > 0)
    low, high = (
        [b.choices.pick((0, 1, 0, 2)) for _ in range(x.rank)] for _ in range(2)
    )
    value = True if x.element == i1 else b.choices.pick((0, 1))
    b.add(graph.PadOp(x.value, low, high, value), None, max(x.limit, 1), x.exact)


def gather(b: Builder) -> None:
    x = b.any(lambda k: k.rank > 0 and 0 not in k.sizes)
    axis = b.choices.number(0, x.rank - 1)
    if b.choices.number(0, 1):
        sizes = b.choices.pick(((), (2,), (2, 3), (1,)))
        places = b.constant(sizes, b.choices.pick((i64, i32)))
    else:
        places = b.any(lambda k: k.element in (i32, i64) and k.exact and k.rank < 3)
    if x.rank + places.rank > 5:
        raise Mismatch
    keep(b, graph.GatherOp(x.value, places.value, axis), x)


def gather_elements(b: Builder) -> None:
    x = b.any(lambda k: k.rank > 0 and 0 not in k.sizes and k.is_static)
    axis = b.choices.number(0, x.rank - 1)
    sizes = [b.choices.number(1, size) for size in x.sizes]
    sizes[axis] = b.choices.number(1, 4)
    places = b.constant(sizes, b.choices.pick((i64, i32)))
    keep(b, graph.GatherElementsOp(x.value, places.value, axis), x)


def scatter(b: Builder) -> None:
    x = b.any(lambda k: k.rank > 0 and 0 not in k.sizes)
    axis = b.choices.number(0, x.rank - 1)
    combine = "none"
    if x.element != i1:
        combine = b.choices.pick(("none", "add", "max", "min"))
    exact = x.exact
    if x.is_static and b.choices.number(0, 1):
        sizes = [b.choices.number(1, size) for size in x.sizes]
        sizes[axis] = b.choices.number(1, 4)
        places, updates = b.constant(sizes, i64), b.constant(sizes, x.element)
    else:
        if not x.exact:
            raise Mismatch
        updates = x
        places = b.add(graph.CastOp(x.value, i32), None, x.limit)
    if combine == "add":
        x, updates = b.bounded(x, 8), b.bounded(updates, 8)
        exact = exact and x.element not in EXACT_BITS
    op = graph.ScatterOp(x.value, places.value, updates.value, axis, combine)
    b.add(op, None, x.limit + 5 * updates.limit, exact)


def use_constant(b: Builder) -> None:
    sizes = b.choices.pick(((), (3,), (2, 3), (1, 1), (0, 2)))
    b.constant(sizes, b.element())
