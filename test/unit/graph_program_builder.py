"""
Values of random graph programs, and how they are put together.

Programs are numerically tame: magnitudes are tracked and clamped, and what is not
continuous (comparisons, casts to integers, the place of a maximum) is only asked of
values that every order of evaluation gives exactly.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol, TypeAlias, TypeVar, cast

import numpy as np
from hypothesis import strategies as st
from xdsl.dialects.builtin import (
    AnyFloat,
    IntegerType,
    ModuleOp,
    Signedness,
    TensorType,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from transom.dialects import graph
from transom.dialects.dtypes import numpy_dtype
from transom.dialects.target import PlaceAttr

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
AnyTensor: TypeAlias = "TensorType[Attribute]"
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
    def type(self) -> AnyTensor:
        return cast("AnyTensor", self.value.type)

    @property
    def element(self) -> Attribute:
        return self.type.element_type

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes that the type says."""
        return self.type.get_shape()

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
class Builder:
    """A program that is being put together."""

    choices: Choices
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
        if element == i1:  # as it is parsed
            data = data.astype(np.uint8) * 255
        dense = graph.ConstantOp.from_bytes(type, data.tobytes()).value
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
            if self.choices.number(0, 7) == 0:
                self.redeclare(op, sizes)
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

    def redeclare(self, op: graph.GraphOp, sizes: Sequence[int]) -> None:
        """Let the type of a result say more or less of a size than can be inferred."""
        type = cast("AnyTensor", op.results[0].type)
        shape, symbols = list(type.get_shape()), list(graph.dim_symbols(type))
        if not shape or isinstance(op, graph.BroadcastOp | graph.ConstantOp):
            return
        axis = self.choices.number(0, len(shape) - 1)
        if shape[axis] == graph.DYNAMIC:
            shape[axis] = sizes[axis]
        else:
            shape[axis] = graph.DYNAMIC
        dims = [
            (symbols[a] if a != axis else None) if n == graph.DYNAMIC else n
            for a, n in enumerate(shape)
        ]
        others = [result.type for result in op.results[1:]]
        op.retype(graph.tensor(dims, type.element_type), *others)

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
