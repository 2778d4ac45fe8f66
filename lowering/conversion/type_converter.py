"""
How types change in a conversion: `TypeConverter`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

from xdsl.dialects.builtin import FunctionType, UnrealizedConversionCastOp
from xdsl.ir import Attribute, Operation, SSAValue

from transom.lowering.conversion.pattern import Refusal, RefusalError

if TYPE_CHECKING:
    from transom.lowering.conversion.rewriter import ConversionRewriter

MAX_KNOWN_OBJECTS = 100_000
"""How many type objects are known by identity."""

Converted: TypeAlias = "Attribute | Sequence[Attribute] | Refusal | None"
"""One type, several (or none) in its place, a reason why not, or `not mine`."""

Conversion: TypeAlias = Callable[[Attribute], Converted]

SourceMaterialization: TypeAlias = Callable[
    ["ConversionRewriter", Attribute, "tuple[SSAValue, ...]"], SSAValue | None
]
"""(rewriter, original type, converted values) -> a value of the original type."""

TargetMaterialization: TypeAlias = Callable[
    ["ConversionRewriter", "tuple[Attribute, ...]", "tuple[SSAValue, ...]", Attribute],
    "SSAValue | Sequence[SSAValue] | None",
]
"""(rewriter, wanted types, values, original type) -> values of the wanted types."""


@dataclass(frozen=True)
class Signature:
    """For each original type, the types that it becomes."""

    groups: tuple[tuple[Attribute, ...], ...]

    @property
    def types(self) -> tuple[Attribute, ...]:
        """All new types in order."""
        return tuple(t for group in self.groups for t in group)


class TypeConverter:
    """
    Maps each type to one type, to several or to none.

    Conversions are asked from the last added to the first; one that answers None leaves
    the type to the others. A type that none of them knows stays as it is.

    Materialisations are asked when a value is needed in a type that it does not have:
    *source* ones to give an op that stays the type that it had, *target* ones to give a
    pattern the type that it expects. Where none helps, the conversion fails with a
    message that names the hook and the types.
    """

    def __init__(self, *conversions: Conversion) -> None:
        self._conversions: list[Conversion] = []
        self._by_class: dict[type[Attribute], list[Conversion]] = {}
        self._cache: dict[Attribute, tuple[Attribute, ...] | Refusal] = {}
        self._by_object: dict[int, tuple[Attribute, tuple[Attribute, ...]]] = {}
        self._sources: list[SourceMaterialization] = []
        self._targets: list[TargetMaterialization] = []
        for conversion in conversions:
            self.add_conversion(conversion)

    def add_conversion(
        self, conversion: Conversion, *, of: type[Attribute] | None = None
    ) -> None:
        """
        Add a conversion, tried before those added so far; with `of`, it is only asked
        for types of this class, and before the general ones.
        """
        if of is None:
            self._conversions.insert(0, conversion)
        else:
            self._by_class.setdefault(of, []).insert(0, conversion)
        self._cache.clear()
        self._by_object.clear()

    def add_source_materialization(self, hook: SourceMaterialization) -> None:
        """Add a way back from converted values to the original type."""
        self._sources.insert(0, hook)

    def add_target_materialization(self, hook: TargetMaterialization) -> None:
        """Add a way from a value that kept its type to the converted types."""
        self._targets.insert(0, hook)

    def use_casts(self) -> None:
        """Materialise with `builtin.unrealized_conversion_cast` what no hook does."""
        self._sources.append(_cast_to_source)
        self._targets.append(_cast_to_target)

    def lookup(self, type: Attribute) -> tuple[Attribute, ...] | Refusal:
        """The types that a type becomes, or why there are none."""
        found = self._cache.get(type)
        if found is None:
            self._cache[type] = found = self._convert(type)
        return found

    def convert(self, type: Attribute) -> tuple[Attribute, ...]:
        """The types that a type becomes; in a pattern, a refusal refuses the op."""
        # Hashing a rich type costs more than the rest of a simple pattern.
        known = self._by_object.get(id(type))
        if known is not None:
            return known[1]
        found = self.lookup(type)
        if isinstance(found, Refusal):
            raise RefusalError(found)
        if len(self._by_object) >= MAX_KNOWN_OBJECTS:
            self._by_object.clear()
        self._by_object[id(type)] = (type, found)  # it must outlive its key
        return found

    def convert_one(self, type: Attribute) -> Attribute:
        """The one type that a type becomes; in a pattern, others refuse the op."""
        found = self.convert(type)
        if len(found) != 1:
            raise RefusalError(
                Refusal(
                    f"expected '{type}' to convert to one type, but got "
                    f"{types_text(found)}"
                )
            )
        return found[0]

    def convert_signature(self, types: Iterable[Attribute]) -> Signature:
        """The types that each of some types becomes."""
        return Signature(tuple(self.convert(t) for t in types))

    def is_legal(self, type: Attribute) -> bool:
        """Whether a type stays as it is."""
        return self.lookup(type) == (type,)

    def is_legal_signature(self, function: FunctionType) -> bool:
        """Whether all inputs and outputs of a function stay as they are."""
        return all(map(self.is_legal, (*function.inputs, *function.outputs)))

    def is_legal_op(self, op: Operation) -> bool | Refusal:
        """
        Whether operands, results and block arguments of an op keep their types, and
        those of its function type if it has one: a predicate for `ConversionTarget`,
        with a reason.
        """
        parts: list[tuple[str, Iterable[Attribute]]] = [
            ("operand", op.operand_types),
            ("result", op.result_types),
        ]
        function_type = op.properties.get("function_type")
        if isinstance(function_type, FunctionType):
            parts.append(("argument", function_type.inputs))
            parts.append(("result", function_type.outputs))
        for region in op.regions:
            parts.extend(("block argument", b.arg_types) for b in region.blocks)
        for kind, types in parts:
            for index, type in enumerate(types):
                if not self.is_legal(type):
                    return Refusal(f"{kind} {index} has type '{type}'")
        return True

    def to_source(
        self,
        rewriter: ConversionRewriter,
        type: Attribute,
        values: tuple[SSAValue, ...],
    ) -> SSAValue | None:
        """A value of the original type made of converted values."""
        for hook in self._sources:
            if (value := hook(rewriter, type, values)) is not None:
                return value
        return None

    def to_target(
        self,
        rewriter: ConversionRewriter,
        types: tuple[Attribute, ...],
        values: tuple[SSAValue, ...],
        original: Attribute,
    ) -> tuple[SSAValue, ...] | None:
        """Values of the converted types made of values of others."""
        for hook in self._targets:
            made = hook(rewriter, types, values, original)
            if made is not None:
                return (made,) if isinstance(made, SSAValue) else tuple(made)
        return None

    def _convert(self, type: Attribute) -> tuple[Attribute, ...] | Refusal:
        for kind in type.__class__.__mro__:
            for conversion in self._by_class.get(cast("type[Attribute]", kind), ()):
                if (made := conversion(type)) is not None:
                    return _as_tuple(made)
        for conversion in self._conversions:
            if (made := conversion(type)) is not None:
                return _as_tuple(made)
        return (type,)


def types_text(types: Iterable[Attribute]) -> str:
    """Types as messages show them: one in quotes, several in parentheses."""
    all_types = tuple(types)
    if len(all_types) == 1:
        return f"'{all_types[0]}'"
    return f"'({', '.join(map(str, all_types))})'"


def _as_tuple(
    made: Attribute | Sequence[Attribute] | Refusal,
) -> tuple[Attribute, ...] | Refusal:
    if isinstance(made, Refusal):
        return made
    return (made,) if isinstance(made, Attribute) else tuple(made)


def _cast_to_source(
    rewriter: ConversionRewriter, type: Attribute, values: tuple[SSAValue, ...]
) -> SSAValue:
    cast_op = UnrealizedConversionCastOp.get(values, (type,))
    return rewriter.insert(cast_op).results[0]


def _cast_to_target(
    rewriter: ConversionRewriter,
    types: tuple[Attribute, ...],
    values: tuple[SSAValue, ...],
    original: Attribute,
) -> Sequence[SSAValue]:
    return rewriter.insert(UnrealizedConversionCastOp.get(values, types)).results
