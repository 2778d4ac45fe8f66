"""
The terms of which patterns over graph ops are made.

A term stands for a value; that of an op for its first result, unless `.result(i)` says
another. A term that is used twice stands for the same value twice, so that patterns are
graphs as what they match. What a term demands is said with words, so that a pattern
that does not match can say why.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.ir import Attribute, Operation

from transom.dialects import graph
from transom.dialects.graph.folding import splat_of

COMMUTATIVE = (
    graph.AddOp,
    graph.AndOp,
    graph.MaximumOp,
    graph.MinimumOp,
    graph.MulOp,
    graph.OrOp,
    graph.XorOp,
)
"""Ops whose two operands a pattern takes in either order, unless it says otherwise."""

MAX_REPEATS = 64
"""How many copies of a part `repeated` allows: each is a part of the pattern."""


_OP_CLASS = type
"""The class of op classes, where `type` is an argument."""


class PatternError(ValueError):
    """A pattern that means nothing: a bug where it is written."""


@dataclass(frozen=True)
class Where:
    """A demand in words, and its test. See `where`."""

    text: str
    holds: Callable[[Any], bool]


def where(text: str, holds: Callable[[Any], bool]) -> Where:
    """
    A demand on an attribute, a value or an op, by what it is asked of.

    `text` reads as what was expected, such as `a multiple of 4`. Properties come as
    Python numbers, strings and tuples where there are such, values as `SSAValue`.
    """
    return Where(text, holds)


@dataclass(frozen=True, eq=False)
class Term:
    """Stands for a value; terms are told apart by identity."""

    name: str | None = field(default=None, kw_only=True)
    """What the match calls what was found here."""


@dataclass(frozen=True, eq=False)
class ValueTerm(Term):
    """Any value, also one that is no result of an op."""

    demands: tuple[Where, ...] = ()


@dataclass(frozen=True, eq=False)
class OpTerm(Term):
    """A result of an op of some kinds, with operands that match."""

    kinds: tuple[type[Operation] | str, ...]
    operands: tuple[Term, ...]
    attributes: Mapping[str, object]
    demands: tuple[Where, ...]
    """Demands on the op."""
    value_demands: tuple[Where, ...]
    """Demands on its first result."""
    commutative: bool
    copied: bool

    def result(self, index: int, name: str | None = None) -> "ResultTerm":
        """The term for another result of the op."""
        return ResultTerm(self, index, name=name)


@dataclass(frozen=True, eq=False)
class ResultTerm(Term):
    """A result of an op by its number."""

    op: OpTerm
    index: int


@dataclass(frozen=True, eq=False)
class EitherTerm(Term):
    """What matches one of several terms; the first that does is preferred."""

    alternatives: tuple[Term, ...]


@dataclass(frozen=True, eq=False)
class EachTerm(Term):
    """All operands that are left, each of which matches a term on its own."""

    term: Term
    at_least: int


Demand = Where | Sequence[Where]


def value(
    name: str | None = None,
    *,
    type: Attribute | None = None,
    dtype: Attribute | Sequence[Attribute] | None = None,
    rank: int | None = None,
    shape: Sequence[int | None] | None = None,
    where: Demand = (),
) -> ValueTerm:
    """
    Any value of a type, or of element types, a rank and a shape, in which None is any
    size.
    """
    demands = (*of_type(type, dtype, rank, shape), *_demands(where))
    return ValueTerm(demands, name=name)


def op(
    kinds: type[Operation] | str | Sequence[type[Operation] | str],
    *operands: Term,
    name: str | None = None,
    attributes: Mapping[str, object] | None = None,
    commutative: bool | None = None,
    copied: bool = False,
    type: Attribute | None = None,
    dtype: Attribute | Sequence[Attribute] | None = None,
    rank: int | None = None,
    shape: Sequence[int | None] | None = None,
    where: Demand = (),
) -> OpTerm:
    """
    A result of an op of a class, also an abstract one, of a name, or of one of several.

    There are as many operands as terms, unless the last is `rest()` or `each(…)`.
    `attributes` says what properties and attributes are: a number, a string, a tuple,
    an xDSL attribute, or a demand. Where two operands may be swapped, either order
    matches. An op that is `copied` may have other readers: what is matched gets a copy,
    and the op is left to others, unless nobody else reads it. `type`, `dtype`, `rank`
    and `shape` are of the first result, `where` of the op.

    Raises `PatternError`.
    """
    listed = (kinds,) if isinstance(kinds, (str, _OP_CLASS)) else tuple(kinds)
    if not listed:
        raise PatternError("expected one kind of op or more")
    if any(isinstance(term, EachTerm) for term in operands[:-1]):
        raise PatternError("expected 'rest' and 'each' as the last operand only")
    if commutative is None:
        commutative = len(operands) == 2 and all(
            isinstance(kind, _OP_CLASS) and issubclass(kind, COMMUTATIVE)
            for kind in listed
        )
    if commutative and (len(operands) != 2 or isinstance(operands[-1], EachTerm)):
        raise PatternError("expected two operands of what is commutative")
    return OpTerm(
        listed,
        operands,
        dict(attributes or {}),
        _demands(where),
        of_type(type, dtype, rank, shape),
        commutative,
        copied,
        name=name,
    )


def constant(
    name: str | None = None,
    *,
    equal_to: float | None = None,
    dtype: Attribute | Sequence[Attribute] | None = None,
    rank: int | None = None,
    shape: Sequence[int | None] | None = None,
    where: Demand = (),
) -> OpTerm:
    """
    A `graph.constant`; `equal_to` is what all its elements are. It belongs to the
    match, which gets a copy of its own.
    """
    demands = of_type(None, dtype, rank, shape)
    if equal_to is not None:
        demands = (*demands, Where(f"elements of {equal_to:g}", _all_are(equal_to)))
    return OpTerm(
        (graph.ConstantOp,), (), {}, _demands(where), demands, False, True, name=name
    )


def weight(
    name: str | None = None,
    *,
    dtype: Attribute | Sequence[Attribute] | None = None,
    rank: int | None = None,
    shape: Sequence[int | None] | None = None,
    where: Demand = (),
) -> OpTerm:
    """What is known at compile time: a weight, or a `graph.constant`."""
    kinds = (graph.WeightRefOp, graph.ConstantOp)
    demands = of_type(None, dtype, rank, shape)
    return OpTerm(kinds, (), {}, _demands(where), demands, False, True, name=name)


def either(first: Term, *others: Term, name: str | None = None) -> EitherTerm:
    """
    One of several terms, the first preferred.

    Raises `PatternError` for alternatives that stand for several operands.
    """
    if any(isinstance(term, EachTerm) for term in (first, *others)):
        raise PatternError("expected alternatives that are one value each")
    return EitherTerm((first, *others), name=name)


def optional(wrap: Callable[[Term], Term], inner: Term) -> EitherTerm:
    """A part around a term, if it is there: `optional(lambda x: op(…, x), inner)`."""
    return EitherTerm((wrap(inner), inner))


def repeated(
    wrap: Callable[[Term], Term],
    inner: Term,
    *,
    at_least: int = 0,
    at_most: int = 8,
) -> Term:
    """
    A part around a term several times, as often as it is there.

    Names in the part are given to each of them, the innermost first. Raises
    `PatternError` unless `0 <= at_least <= at_most <= 64`.
    """
    if not 0 <= at_least <= at_most <= MAX_REPEATS:
        raise PatternError(
            f"expected 0 <= at_least <= at_most <= {MAX_REPEATS}, "
            f"but got {at_least} and {at_most}"
        )
    term = inner
    for count in range(1, at_most + 1):
        wrapped = wrap(term)
        term = wrapped if count <= at_least else EitherTerm((wrapped, term))
    return term


def each(term: Term, *, at_least: int = 0) -> EachTerm:
    """
    The operands that are left: each matches the term on its own.

    Parts of the term that are used outside of it stand for one value there and in all.
    """
    if isinstance(term, EachTerm):
        raise PatternError("expected a term that is one value")
    return EachTerm(term, at_least)


def rest(name: str | None = None) -> EachTerm:
    """The operands that are left, whatever they are."""
    return EachTerm(ValueTerm(name=name), 0)


def is_kind(op: Operation, kind: type[Operation] | str) -> bool:
    """Whether an op is of a class, or has a name."""
    return op.name == kind if isinstance(kind, str) else isinstance(op, kind)


def kind_name(kind: type[Operation] | str) -> str:
    """The name of an op class, or that of a class of several ops."""
    return kind if isinstance(kind, str) else getattr(kind, "name", kind.__name__)


def _demands(where: Demand) -> tuple[Where, ...]:
    return (where,) if isinstance(where, Where) else tuple(where)


def of_type(
    type: Attribute | None,
    dtype: Attribute | Sequence[Attribute] | None,
    rank: int | None,
    shape: Sequence[int | None] | None,
) -> tuple[Where, ...]:
    """The demands on a value that say of what type it is."""
    demands: list[Where] = []
    if type is not None:
        demands.append(Where(f"type '{type}'", lambda v: v.type == type))
    if dtype is not None:
        dtypes = (dtype,) if isinstance(dtype, Attribute) else tuple(dtype)
        names = " or ".join(map(str, dtypes))
        demands.append(
            Where(
                f"elements of {names}",
                lambda v: getattr(v.type, "element_type", None) in dtypes,
            )
        )
    if rank is not None:
        demands.append(Where(f"rank {rank}", lambda v: _sizes(v, rank) is not None))
    if shape is not None:
        sizes = tuple(shape)
        text = "x".join("?" if size is None else str(size) for size in sizes)
        demands.append(Where(f"shape {text}", lambda v: _has_shape(v, sizes)))
    return tuple(demands)


def _sizes(value: Any, rank: int) -> tuple[int, ...] | None:
    """The sizes of a value of this rank, None for others."""
    get_shape = getattr(value.type, "get_shape", None)
    sizes = None if get_shape is None else get_shape()
    return sizes if sizes is not None and len(sizes) == rank else None


def _has_shape(value: Any, wanted: tuple[int | None, ...]) -> bool:
    sizes = _sizes(value, len(wanted))
    return sizes is not None and all(
        size in (None, found) for size, found in zip(wanted, sizes, strict=True)
    )


def _all_are(number: float) -> Callable[[Any], bool]:
    return lambda value: splat_of(value) == number
