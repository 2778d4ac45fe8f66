"""
Target attributes, places and sets of places.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, SymbolRefAttr, UnitAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import base, irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from transom.dialects.keyed_syntax import KeyedAttr

UNKNOWN = UnitAttr()
"""Stands for a field of a place that is not known; written `?`."""


class TargetAttr(KeyedAttr):
    """
    Base of target attributes: what can compile for a device, `#t.target<key = value>`.

    A subclass declares typed parameters, `DEFAULTS` for those that may be left out,
    `PRESETS` for sets of values with a name, and `verify` for what values must be, with
    the help of `Range` and `verify_names`.
    """

    def subsumes(self, other: "TargetAttr") -> bool:
        """
        Whether this target is `other` or more generic: code for it runs on `other`.

        By default, every parameter is equal or left at its default here. A target with
        an order on its values (features, architecture levels) refines this.
        """
        return type(self) is type(other) and all(
            mine in (self.DEFAULTS.get(key), theirs)
            for (key, mine), theirs in zip(
                self.keys().items(), other.parameters, strict=True
            )
        )


@irdl_attr_definition
class PlaceAttr(ParametrizedAttribute):
    """
    A placement: a device, a target that compiles for it, a memory; `?` for unknown.

    ```mlir
    #target.place<@cpu, ?, @dram>
    ```
    """

    name = "target.place"

    device_attr: Attribute = param_def(base(SymbolRefAttr) | base(UnitAttr))
    target_attr: Attribute = param_def(base(TargetAttr) | base(UnitAttr))
    memory_attr: Attribute = param_def(base(SymbolRefAttr) | base(UnitAttr))

    @classmethod
    def get(
        cls,
        device: str | None = None,
        target: TargetAttr | None = None,
        memory: str | None = None,
    ) -> "PlaceAttr":
        """The place with these fields; None for unknown."""
        return PlaceAttr(
            UNKNOWN if device is None else SymbolRefAttr(device),
            UNKNOWN if target is None else target,
            UNKNOWN if memory is None else SymbolRefAttr(memory),
        )

    @property
    def device_name(self) -> str | None:
        """The device's symbol, or None if it is not known."""
        return _symbol_name(self.device_attr)

    @property
    def target(self) -> TargetAttr | None:
        """The target, or None if it is not known."""
        field = self.target_attr
        return field if isinstance(field, TargetAttr) else None

    @property
    def memory_name(self) -> str | None:
        """The memory's symbol, or None if it is not known."""
        return _symbol_name(self.memory_attr)

    @property
    def is_known(self) -> bool:
        """Whether no field is `?`."""
        return UNKNOWN not in self.parameters

    def join(self, other: "PlaceAttr") -> "PlaceAttr | None":
        """Both places at once, or None if a field is known to differ."""
        fields: list[Attribute] = []
        for mine, theirs in zip(self.parameters, other.parameters, strict=True):
            if UNKNOWN not in (mine, theirs) and mine != theirs:
                return None
            fields.append(theirs if mine == UNKNOWN else mine)
        return PlaceAttr(*fields)

    def verify(self) -> None:
        for field in (self.device_attr, self.memory_attr):
            if isinstance(field, SymbolRefAttr):
                verify_flat(field, self.name)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            device = _parse_field(parser, "a device")
            parser.parse_punctuation(",")
            target = _parse_field(parser, "a target")
            parser.parse_punctuation(",")
            memory = _parse_field(parser, "a memory")
        return (device, target, memory)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_list(self.parameters, lambda f: _print_field(printer, f))


@irdl_attr_definition
class AnyOfAttr(ParametrizedAttribute):
    """
    A set of allowed places, in order of preference.

    ```mlir
    #target.any_of<[#target.place<@npu, ?, ?>, #target.place<@cpu, ?, ?>]>
    ```
    """

    name = "target.any_of"

    places: ArrayAttr[PlaceAttr]

    @classmethod
    def get(cls, places: Sequence[PlaceAttr]) -> "AnyOfAttr":
        """The set of these places."""
        return AnyOfAttr(ArrayAttr(places))

    def verify(self) -> None:
        if not self.places.data:
            raise VerifyException(f"expected at least one place in '#{self.name}'")
        for i, place in enumerate(self.places.data):
            if place in self.places.data[:i]:
                raise VerifyException(f"place '{place}' is listed twice")


def verify_flat(symbol: SymbolRefAttr, owner: str) -> None:
    """Raise `VerifyException` if a symbol is nested."""
    if symbol.nested_references.data:
        raise VerifyException(
            f"expected a flat symbol in '#{owner}', but got '{symbol}'"
        )


def memory_space_name(memory_space: Attribute) -> str | None:
    """The memory that the memory space of a memref names: a symbol or a place."""
    if isinstance(memory_space, PlaceAttr):
        return memory_space.memory_name
    return _symbol_name(memory_space)


def _symbol_name(field: Attribute) -> str | None:
    return field.root_reference.data if isinstance(field, SymbolRefAttr) else None


def _parse_field(parser: AttrParser, what: str) -> Attribute:
    """One field of a place: `?`, or of the kind that `what` says."""
    if parser.parse_optional_punctuation("?") is not None:
        return UNKNOWN
    start = parser.pos
    field = parser.parse_optional_attribute()
    if not isinstance(field, TargetAttr if what == "a target" else SymbolRefAttr):
        found = "" if field is None else f", but got '{field}'"
        parser.raise_error(f"expected {what} or '?' in a place{found}", start)
    return field


def _print_field(printer: Printer, field: Attribute) -> None:
    if field == UNKNOWN:
        printer.print_string("?")
    else:
        printer.print_attribute(field)
