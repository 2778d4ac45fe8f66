"""
Random graph programs with inputs, for property tests of what passes compute.

Every choice is drawn, so that hypothesis can shrink a failure. Programs are numerically
tame: magnitudes are tracked and clamped, and what is not continuous (comparisons, casts
to integers, the place of a maximum) is only asked of values that every order of
evaluation gives exactly.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol, TypeVar

import numpy as np
from hypothesis import strategies as st
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    IntegerType,
    ModuleOp,
    Signedness,
    StringAttr,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from transom.dialects import graph
from transom.dialects.dtypes import numpy_dtype
from transom.dialects.graph.weights import Dense
from transom.dialects.target import PlaceAttr, set_place

Array = np.ndarray[Any, np.dtype[Any]]
T = TypeVar("T")

ui8 = IntegerType(8, Signedness.UNSIGNED)
ELEMENTS: tuple[Attribute, ...] = (f32,) * 6 + (
    i32,
    i32,
    i1,
    i64,
    i8,
    ui8,
    f16,
    bf16,
    f64,
)
LARGEST = 60.0
"""Values are clamped above this magnitude, which i8 holds."""
EXACT_BITS: dict[Attribute, float] = {f16: 2.0**8, bf16: 2.0**5}
"""Up to which magnitude multiples of 1/4 are exact, where that is not far away."""
PLACE = PlaceAttr.get("cpu")


class Choices(Protocol):
    """Where the choices come from."""

    def pick(self, options: Sequence[T]) -> T:
        """One of some options."""
        ...

    def number(self, low: int, high: int) -> int:
        """A number, both ends included."""
        ...


class Drawn:
    """Choices that hypothesis makes, and shrinks."""

    def __init__(self, data: st.DataObject) -> None:
        self._data = data

    def pick(self, options: Sequence[T]) -> T:
        return options[self.number(0, len(options) - 1)]

    def number(self, low: int, high: int) -> int:
        return self._data.draw(st.integers(low, high))


class Seeded:
    """Choices from a seed, for many programs in little time."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def pick(self, options: Sequence[T]) -> T:
        return self._random.choice(options)

    def number(self, low: int, high: int) -> int:
        return self._random.randint(low, high)


@dataclass(frozen=True)
class Known:
    """A value of a program and what is known of what it holds."""

    value: SSAValue
    sizes: tuple[int, ...]
    """The sizes at run time."""
    limit: float
    """No element is larger."""
    exact: bool = True
    """Whether every order of evaluation gives the same bits."""

    @property
    def element(self) -> Attribute:
        return self.value.type.element_type  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType] # a tensor

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes that the type says."""
        return self.value.type.get_shape()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType] # a tensor

    @property
    def rank(self) -> int:
        return len(self.sizes)

    @property
    def is_float(self) -> bool:
        return isinstance(self.element, AnyFloat)

    @property
    def is_static(self) -> bool:
        return graph.DYNAMIC not in self.shape


class Mismatch(Exception):
    """An op can not be built on some values; another one is taken."""


@dataclass
class Program:
    """A module whose `main` is at phase `placed`, and inputs for it by name."""

    module: ModuleOp
    inputs: dict[str, Array]


@dataclass
class Builder:
    """A program that is being put together."""

    choices: Choices
    small: bool = False
    """Whether f16 and bf16 may be used."""
    module: ModuleOp = field(default_factory=lambda: ModuleOp([]))
    block: Block = field(default_factory=Block)
    values: list[Known] = field(default_factory=list[Known])
    inputs: dict[str, Array] = field(default_factory=dict[str, Array])
    symbols: dict[str, int] = field(default_factory=dict[str, int])
    weights: int = 0

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.choices.number(0, 99))

    # Values.

    def array(self, sizes: Sequence[int], element: Attribute) -> Array:
        """Elements that are small multiples of 1/2."""
        dtype = numpy_dtype(element)
        if element == i1:
            return self.rng.integers(0, 2, sizes).astype(dtype)
        if isinstance(element, AnyFloat):
            return (self.rng.integers(-6, 7, sizes) / 2).astype(dtype)
        low = 0 if element == ui8 else -3
        return self.rng.integers(low, 4, sizes).astype(dtype)

    def element(self) -> Attribute:
        return self.choices.pick(ELEMENTS)

    def dim(self) -> tuple[int | str | graph.Symbol | None, int]:
        """A dimension of an input, as its type says it and as it is."""
        kind = self.choices.number(0, 11)
        if kind < 7:
            size = self.choices.pick((3, 2, 4, 1, 5, 3, 2))
            return size, size
        if kind == 7:
            return None, self.choices.pick((2, 3, 1))
        if kind == 8 and self.choices.number(0, 9) == 9:
            return 0, 0
        name = self.choices.pick(("N", "M", "K"))
        size = self.symbols.setdefault(name, self.choices.pick((3, 2, 1, 4, 0)))
        return (name if name != "K" else graph.Symbol("K", 0, 8)), size

    def add_input(self) -> None:
        rank = self.choices.pick((2, 1, 3, 4, 2, 0))
        dims = [self.dim() for _ in range(rank)]
        element = self.element()
        type = graph.tensor([d for d, _ in dims], element)
        value = self.block.insert_arg(type, len(self.block.args))
        sizes = tuple(size for _, size in dims)
        self.inputs[f"x{len(self.inputs)}"] = self.array(sizes, element)
        self.values.append(Known(value, sizes, 3.0))

    def constant(self, sizes: Sequence[int], element: Attribute) -> Known:
        """A constant or a weight of these sizes."""
        type = graph.tensor(sizes, element)
        kind = self.choices.number(0, 3)
        data = self.array(sizes, element)
        if kind == 0 and data.size:
            data = np.broadcast_to(data.reshape(-1)[0], sizes)
        dense: Any = DenseIntOrFPElementsAttr.from_list(
            type, [v.item() if element != i1 else int(v) for v in data.reshape(-1)]
        )
        if kind == 1:
            self.weights += 1
            weight = graph.WeightOp(f"w{self.weights}", type, dense)
            self.module.body.block.add_op(weight)
            return self.add(graph.WeightRefOp(weight), sizes, 3.0)
        return self.add(graph.ConstantOp(dense), sizes, 3.0)

    def scalar(self, number: float, element: Attribute) -> Known:
        """A constant of rank 0."""
        op = graph.ConstantOp.splat(graph.tensor((), element), number)
        return self.add(op, (), abs(number))

    def any(
        self,
        fits: Callable[[Known], bool] = lambda _: True,
    ) -> Known:
        """A value that fits, the latest ones more often."""
        found = [known for known in self.values if fits(known)]
        if not found:
            raise Mismatch
        if self.choices.number(0, 2):
            found = found[-3:]
        return self.choices.pick(found)

    def add(
        self,
        op: Operation,
        sizes: Sequence[int] | None = None,
        limit: float = 1.0,
        exact: bool = True,
        result: int = 0,
    ) -> Known:
        """Add an op; what its result holds is kept below the largest magnitude."""
        self.block.add_op(op)
        if sizes is None:
            assert isinstance(op, graph.GraphOp)
            sizes = self.sizes_of(op, result)
        value = op.results[result]
        known = Known(value, tuple(sizes), limit, exact)
        if known.element in EXACT_BITS and limit > EXACT_BITS[known.element]:
            known = Known(value, tuple(sizes), limit, False)
        if limit > LARGEST and known.element != i1:
            bound = 2 if known.is_float else 3
            clamp = graph.ClampOp(value, 0 if known.element == ui8 else -bound, bound)
            self.block.add_op(clamp)
            known = Known(clamp.results[0], known.sizes, float(bound), known.exact)
        self.values.append(known)
        return known

    def sizes_of(self, op: graph.GraphOp, result: int = 0) -> tuple[int, ...]:
        """The sizes of a result at run time."""
        known = {k.value: k.sizes for k in self.values}

        def size_of(operand: int, axis: int) -> int:
            return known[op.operands[operand]][axis]

        return tuple(graph.evaluate(d, size_of) for d in op.result_dims()[result])

    def bounded(self, known: Known, limit: float) -> Known:
        """A value of at most this magnitude."""
        if known.limit <= limit:
            return known
        low = 0 if known.element == ui8 else -limit
        return self.add(
            graph.ClampOp(known.value, low, limit), known.sizes, limit, known.exact
        )

    def positive(self, known: Known) -> Known:
        """`abs(x) + 1`, or `x + 1` if no element is negative."""
        known = self.bounded(known, 20)
        if known.element != ui8:
            known = self.add(
                graph.AbsOp(known.value), known.sizes, known.limit, known.exact
            )
        one = self.scalar(1, known.element)
        op = graph.AddOp(known.value, one.value)
        return self.add(op, known.sizes, known.limit + 1, known.exact)

    def partner(self, known: Known) -> Known:
        """A value that broadcasts with this one."""

        def fits(other: Known) -> bool:
            if other.element != known.element:
                return False
            return broadcasts(known, other)

        kind = self.choices.number(0, 5)
        if kind == 0:
            return self.scalar(self.choices.pick((2, 1, 3)), known.element)
        if kind == 1:
            sizes = [
                size if size != graph.DYNAMIC and self.choices.number(0, 2) else 1
                for size in known.shape
            ]
            return self.constant(
                sizes[self.choices.number(0, known.rank) :], known.element
            )
        return self.any(fits)

    # The program.

    def step(self) -> None:
        """Add one op of some kind."""
        make = self.choices.pick(OPS)
        try:
            make(self)
        except (Mismatch, VerifyException):
            return

    def finish(self) -> Program:
        """The program; values that nothing reads are results, and some others."""
        block, choices = self.block, self.choices
        count = choices.number(0, 2)
        results = [choices.pick(self.values).value for _ in range(count)]
        results += [
            known.value
            for known in self.values
            if not known.value.uses
            and known.value not in results
            and not isinstance(known.value.owner, Block)
        ]
        if not results:
            results = [self.values[-1].value]
        for _ in range(choices.pick((0, 0, 0, 1, 2))):
            self.group_some()
        results = [self.moved.get(value, value) for value in results]
        block.add_op(ReturnOp(*results))
        func = FuncOp(
            "main",
            ([arg.type for arg in block.args], [value.type for value in results]),
            Region(block),
            arg_attrs=ArrayAttr(
                DictionaryAttr({"graph.name": StringAttr(name)}) for name in self.inputs
            ),
            res_attrs=ArrayAttr(
                DictionaryAttr({"graph.name": StringAttr(f"y{i}")})
                for i in range(len(results))
            ),
        )
        set_place(func, PLACE)
        self.module.body.block.add_op(func)
        return Program(self.module, self.inputs)

    moved: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    def group_some(self) -> None:
        """Put some neighbouring ops into a group."""
        ops = [op for op in self.block.ops if isinstance(op, graph.GraphOp)]
        ops = [op for op in ops if not isinstance(op, graph.WeightRefOp)]
        if not ops:
            return
        start = self.choices.number(0, len(ops) - 1)
        chosen = ops[start : start + self.choices.number(1, 4)]
        everything = list(self.block.ops)
        first, last = everything.index(chosen[0]), everything.index(chosen[-1])
        inside = everything[first : last + 1]
        if any(not isinstance(op, graph.GraphOp) for op in inside):
            return
        self.moved |= group(inside, self.choices)


def broadcasts(a: Known, b: Known) -> bool:
    """Whether two values broadcast, and their types do not deny it."""
    try:
        np.broadcast_shapes(a.sizes, b.sizes)
    except ValueError:
        return False
    pairs = zip(
        zip(a.shape[::-1], a.sizes[::-1], strict=True),
        zip(b.shape[::-1], b.sizes[::-1], strict=True),
        strict=False,
    )
    for (declared, size), (other, other_size) in pairs:
        # A size that is not known broadcasts to the known one, never the other way.
        if declared != graph.DYNAMIC and declared != 1 and size != other_size != 1:
            return False
        if other != graph.DYNAMIC and other != 1 and other_size != size != 1:
            return False
    return True


def group(ops: Sequence[Operation], choices: Choices) -> dict[SSAValue, SSAValue]:
    """Put neighbouring ops into a group; all their results become its results."""
    members = set(ops)
    inputs = list(
        dict.fromkeys(v for op in ops for v in op.operands if v.owner not in members)
    )
    if inputs and choices.number(0, 3) == 0:
        inputs.append(inputs[0])  # the same operand twice
    outputs = [result for op in ops for result in op.results]
    body = Block(arg_types=[value.type for value in inputs])
    inner = dict(zip(inputs, body.args, strict=True))
    types = [value.type for value in outputs]
    kind = choices.number(0, 2)
    if kind == 0:
        made: graph.GroupOp = graph.FusedOp(inputs, types, Region(body))
    elif kind == 1:
        made = graph.CompositeOp("test.some", inputs, types, Region(body))
    else:
        made = graph.RegionOp(PLACE, inputs, types, Region(body))
    block = ops[0].parent
    assert block is not None
    block.insert_op_before(made, ops[0])
    moved = dict(zip(outputs, made.results, strict=True))
    for old, new in moved.items():
        old.replace_uses_with_if(new, lambda use: use.operation not in members)
    for op in ops:
        op.detach()
        op.operands = [inner.get(v, v) for v in op.operands]
        body.add_op(op)
    body.add_op(graph.YieldOp(*outputs))
    return dict(moved)


# Ops.


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


def cast(b: Builder) -> None:
    known = b.any()
    target = b.element()
    if not isinstance(target, AnyFloat) and not known.exact:
        target = f32
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


def cumsum(b: Builder) -> None:
    known = b.any(lambda k: k.element != i1 and k.rank > 0)
    axis = b.choices.number(0, known.rank - 1)
    limit = known.limit * max(known.sizes[axis], 1)
    if known.element in (i8, ui8) and limit > 100:
        raise Mismatch
    op = graph.CumsumOp(
        known.value,
        axis,
        exclusive=bool(b.choices.number(0, 1)),
        reverse=bool(b.choices.number(0, 1)),
    )
    exact = known.exact and known.element not in EXACT_BITS
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
            graph.dim_symbols(x.value.type),  # pyright: ignore[reportArgumentType] # a tensor
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


OPS: tuple[Callable[[Builder], None], ...] = (
    *(binary,) * 5,
    *(unary, smooth) * 3,
    *(reduce, softmax, layer_norm, matmul, conv2d) * 2,
    *(cast, compare, select, clamp, reshape, transpose, broadcast, concat) * 2,
    *(arg_reduce, batch_norm, bitwise, cumsum, gather, invert, leaky, pad, pool),
    *(power, quotient, scatter, slice_, use_constant),
)


def build(choices: Choices, steps: int = 10) -> Program:
    """A program of about so many ops."""
    b = Builder(choices)
    for _ in range(choices.number(1, 3)):
        b.add_input()
    for _ in range(choices.number(1, steps)):
        b.step()
    return b.finish()


@st.composite
def programs(draw: st.DrawFn, steps: int = 10) -> Program:
    """Random programs."""
    return build(Drawn(draw(st.data())), steps)
