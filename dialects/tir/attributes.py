"""
Attributes and types of the `tir` dialect: dims and accesses of nests, effects of
kernel arguments, C structs, tokens of asynchronous copies. Schedules: `schedule.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import auto

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    FloatAttr,
    IntAttr,
    IntegerAttr,
    MemRefType,
    StringAttr,
    UnitAttr,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import (
    Attribute,
    ParametrizedAttribute,
    SpacedOpaqueSyntaxAttribute,
    TypeAttribute,
)
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from transom.dialects.tir import affine
from transom.dialects.tir.c_names import is_c_name
from transom.dialects.tir.types import is_number


class DimKind(StrEnum):
    PARALLEL = auto()
    REDUCTION = auto()
    SEQUENTIAL = auto()


class CombineKind(StrEnum):
    """How a value is folded into what the output holds; `max`, `min` are signed."""

    ADD = auto()
    MUL = auto()
    MAX = auto()
    MIN = auto()
    UMAX = auto()
    UMIN = auto()
    AND = auto()
    OR = auto()


class Effect(StrEnum):
    READ = auto()
    WRITE = auto()
    READ_WRITE = auto()
    SCRATCH = auto()

    @property
    def reads(self) -> bool:
        return self is not Effect.WRITE

    @property
    def writes(self) -> bool:
        return self is not Effect.READ


@irdl_attr_definition
class EffectAttr(EnumAttribute[Effect], SpacedOpaqueSyntaxAttribute):
    """
    What a kernel does with an argument; `scratch` has no content before or after.

    ```mlir
    #tir<effect read_write>
    ```
    """

    name = "tir.effect"


@irdl_attr_definition
class CombineAttr(EnumAttribute[CombineKind], SpacedOpaqueSyntaxAttribute):
    """
    How an output folds a value into what it holds.

    ```mlir
    #tir<combine add>
    ```
    """

    name = "tir.combine"


@irdl_attr_definition
class DimAttr(ParametrizedAttribute):
    """
    One dim of a nest or block; `?` is a bound given by an operand.

    ```mlir
    #tir.dim<reduction 128>
    ```
    """

    name = "tir.dim"

    kind_name: StringAttr = param_def()
    bound: IntAttr | UnitAttr = param_def()

    def __init__(self, kind: DimKind | str, bound: int | None):
        bound_attr = UnitAttr() if bound is None else IntAttr(bound)
        super().__init__(StringAttr(str(kind)), bound_attr)

    @property
    def kind(self) -> DimKind:
        return DimKind(self.kind_name.data)

    @property
    def static_bound(self) -> int | None:
        return self.bound.data if isinstance(self.bound, IntAttr) else None

    def verify(self) -> None:
        if self.kind_name.data not in tuple(DimKind):
            raise VerifyException(
                "expected a dim that is parallel, reduction or sequential, but got "
                f"'{self.kind_name.data}'"
            )
        if (bound := self.static_bound) is not None and bound < 0:
            raise VerifyException(f"expected a bound of at least 0, but got {bound}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            kind = parser.parse_str_enum(DimKind)
            if parser.parse_optional_punctuation("?"):
                return (StringAttr(kind), UnitAttr())
            bound = parser.parse_integer(allow_boolean=False)
            return (StringAttr(kind), IntAttr(bound))

    def print_parameters(self, printer: Printer) -> None:
        bound = self.static_bound
        with printer.in_angle_brackets():
            printer.print_string(f"{self.kind} {'?' if bound is None else bound}")


MapLike = AffineMap | Callable[..., Iterable[AffineExpr | int]]


@irdl_attr_definition
class AccessAttr(ParametrizedAttribute):
    """
    How a nest reads an input or writes an output.

    A map from dims and symbols to indices, or `*`: the indices are computed in the
    regions. `pad` is what an input gives outside the extent, `combine` how an output
    is folded into the existing content.

    ```mlir
    #tir.access<(d0, d1)[s0] -> (d0 * s0 + d1 - 1), pad 0.000000e+00 : f32>
    ```
    """

    name = "tir.access"

    map_attr: AffineMapAttr | UnitAttr = param_def()
    pad_attr: Attribute = param_def()
    combine_attr: CombineAttr | UnitAttr = param_def()

    def __init__(
        self,
        map: AffineMap | None,
        pad: Attribute | None = None,
        combine: CombineKind | str | None = None,
    ):
        super().__init__(
            UnitAttr() if map is None else AffineMapAttr(affine.normalize_map(map)),
            UnitAttr() if pad is None else pad,
            UnitAttr() if combine is None else CombineAttr(CombineKind(combine)),
        )

    @property
    def map(self) -> AffineMap | None:
        """The indices, or None where the access is indirect."""
        return self.map_attr.data if isinstance(self.map_attr, AffineMapAttr) else None

    @property
    def is_indirect(self) -> bool:
        return isinstance(self.map_attr, UnitAttr)

    @property
    def pad(self) -> Attribute | None:
        return None if isinstance(self.pad_attr, UnitAttr) else self.pad_attr

    @property
    def combine(self) -> CombineKind | None:
        attr = self.combine_attr
        return None if isinstance(attr, UnitAttr) else attr.data

    def with_map(self, map: AffineMap) -> AccessAttr:
        return AccessAttr(map, self.pad, self.combine)

    def verify(self) -> None:
        if self.pad is not None:
            if not isinstance(self.pad, IntegerAttr | FloatAttr):
                raise VerifyException(
                    f"expected a number as pad value, but got '{self.pad}'"
                )
            if self.is_indirect:
                raise VerifyException("expected no pad value for an indirect access")
        if self.map is None:
            return
        for expr in self.map.results:
            if reason := affine.why_illegal(expr):
                raise VerifyException(reason)
            if any(dim >= self.map.num_dims for dim in expr.used_dims()):
                raise VerifyException(
                    f"expected dims below d{self.map.num_dims}, but got "
                    f"'{affine.text(expr)}'"
                )
            if any(s >= self.map.num_symbols for s in affine.used_symbols(expr)):
                raise VerifyException(
                    f"expected symbols below s{self.map.num_symbols}, but got "
                    f"'{affine.text(expr)}'"
                )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            map = None if parser.parse_optional_punctuation("*") else _parse_map(parser)
            pad: Attribute | None = None
            combine: CombineKind | None = None
            while parser.parse_optional_punctuation(","):
                if parser.parse_keyword_in(("pad", "combine")) == "pad":
                    pad = parser.parse_attribute()
                else:
                    combine = parser.parse_str_enum(CombineKind)
        return cls(map, pad, combine).parameters

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string("*" if self.map is None else map_text(self.map))
            if self.pad is not None:
                printer.print_string(", pad ")
                printer.print_attribute(self.pad)
            if self.combine is not None:
                printer.print_string(f", combine {self.combine}")


def map_text(map: AffineMap) -> str:
    """`map` as `#tir.access` prints it: `(d0, d1)[s0] -> (d0 * s0 + d1)`."""
    dims = ", ".join(f"d{i}" for i in range(map.num_dims))
    symbols = ", ".join(f"s{i}" for i in range(map.num_symbols))
    results = ", ".join(affine.text(expr) for expr in map.results)
    return f"({dims}){f'[{symbols}]' if symbols else ''} -> ({results})"


def _parse_map(parser: AttrParser) -> AffineMap:
    def count(delimiter: AttrParser.Delimiter, letter: str) -> int:
        names = parser.parse_optional_comma_separated_list(
            delimiter, parser.parse_identifier
        )
        if names is None:
            return 0
        if names != [f"{letter}{i}" for i in range(len(names))]:
            parser.raise_error(f"expected the names {letter}0, {letter}1, …")
        return len(names)

    num_dims = count(parser.Delimiter.PAREN, "d")
    num_symbols = count(parser.Delimiter.SQUARE, "s")
    parser.parse_punctuation("->")
    results = parser.parse_comma_separated_list(
        parser.Delimiter.PAREN,
        lambda: affine.parse_expr(parser, num_dims, num_symbols),
    )
    return AffineMap(num_dims, num_symbols, tuple(results))


@irdl_attr_definition
class StructType(ParametrizedAttribute, TypeAttribute):
    """
    A C struct that an external function takes, by value or by pointer.

    ```mlir
    !tir.struct<"ctx", (memref<64xi8>, i32)>
    ```
    """

    name = "tir.struct"

    struct_name: StringAttr = param_def()
    fields: ArrayAttr[Attribute] = param_def()

    @staticmethod
    def get(name: str, fields: Iterable[Attribute]) -> StructType:
        return StructType(StringAttr(name), ArrayAttr(fields))

    def verify(self) -> None:
        if not is_c_name(self.struct_name.data):
            raise VerifyException(
                f"expected a C name, but got '{self.struct_name.data}'"
            )
        for position, field in enumerate(self.fields):
            if not is_c_type(field):
                raise VerifyException(
                    "expected a number, memref or struct as field "
                    f"{position}, but got '{field}'"
                )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            name = parser.parse_str_literal()
            parser.parse_punctuation(",")
            fields = parser.parse_comma_separated_list(
                parser.Delimiter.PAREN, parser.parse_type
            )
        return (StringAttr(name), ArrayAttr(fields))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(self.struct_name.data)
            printer.print_string(", ")
            with printer.in_parens():
                printer.print_list(self.fields, printer.print_attribute)


@irdl_attr_definition
class TokenType(ParametrizedAttribute, TypeAttribute):
    """
    A copy under way, to be waited for once.

    ```mlir
    !tir.token
    ```
    """

    name = "tir.token"


def is_c_type(type: Attribute) -> bool:
    """Whether a C function may take it: a number, a memref (its address), a struct."""
    return is_number(type) or isinstance(type, MemRefType | StructType)
