"""
Weights: symbols whose elements are in a file, or an expression over other weights that
is evaluated once.
"""

from collections.abc import Iterator, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    AnyTensorTypeConstr,
    DenseIntOrFPElementsAttr,
    FlatSymbolRefAttrConstr,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, Region
from xdsl.irdl import (
    IRDLOperation,
    base,
    irdl_attr_definition,
    irdl_op_definition,
    opt_prop_def,
    param_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import (
    IsolatedFromAbove,
    Pure,
    SymbolOpInterface,
    SymbolTable,
    SymbolUserOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from transom.dialects.diagnostics import did_you_mean
from transom.dialects.graph.constants import Dense, check_elements
from transom.dialects.graph.desc import AnyTensor
from transom.dialects.graph.elements import ANY
from transom.dialects.graph.operation import GraphOp
from transom.dialects.graph.shapes import DYNAMIC, ResultShape
from transom.dialects.graph.syntax import parse_type, print_type

TENSOR = AnyTensorTypeConstr


@irdl_attr_definition
class FileAttr(ParametrizedAttribute):
    """
    A tensor in a file: safetensors, or the ONNX model that the weight came from. The
    path is relative to the file that holds this attribute. `sha256` is that of the
    elements.

    ```mlir
    #graph.file<"m.safetensors", "w">
    ```
    """

    name = "graph.file"

    path: StringAttr = param_def(base(StringAttr))
    tensor: StringAttr = param_def(base(StringAttr))
    hash: StringAttr = param_def(base(StringAttr))

    @classmethod
    def get(cls, path: str, tensor: str, sha256: str | None = None) -> "FileAttr":
        """The tensor of this name in a file; the hash may be left out."""
        return FileAttr(StringAttr(path), StringAttr(tensor), StringAttr(sha256 or ""))

    @property
    def sha256(self) -> str | None:
        """The hash of the elements in hexadecimal, or None if nothing is said."""
        return self.hash.data or None

    def verify(self) -> None:
        if not self.path.data:
            raise VerifyException("expected a path")
        hash = self.hash.data
        if hash and (len(hash) != 64 or set(hash) - set("0123456789abcdef")):
            raise VerifyException(
                f"expected 'sha256' of 64 lower-case hexadecimal digits, "
                f"but got '{hash}'"
            )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        hash = ""
        with parser.in_angle_brackets():
            path = parser.parse_str_literal()
            parser.parse_punctuation(",")
            tensor = parser.parse_str_literal()
            if parser.parse_optional_punctuation(",") is not None:
                parser.parse_keyword("sha256")
                parser.parse_punctuation("=")
                hash = parser.parse_str_literal()
        return (StringAttr(path), StringAttr(tensor), StringAttr(hash))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(self.path.data)
            printer.print_string(", ")
            printer.print_string_literal(self.tensor.data)
            if self.hash.data:
                printer.print_string(", sha256 = ")
                printer.print_string_literal(self.hash.data)


@irdl_op_definition
class WeightOp(IRDLOperation):
    """
    A tensor that is known when the module is compiled: in a file, written out, or an
    expression over other weights (folded, packed, quantised).

    ```mlir
    graph.weight @w = #graph.file<"m.safetensors", "w"> : tensor<64x3xf32>
    ```
    """

    name = "graph.weight"

    sym_name = prop_def(SymbolNameConstraint())
    type = prop_def(AnyTensorTypeConstr)
    value = opt_prop_def(base(FileAttr) | base(DenseIntOrFPElementsAttr))
    body = region_def()

    traits = traits_def(SymbolOpInterface(), IsolatedFromAbove())

    def __init__(
        self,
        name: str | StringAttr,
        type: AnyTensor,
        value: FileAttr | Dense | None = None,
        body: Region | None = None,
    ) -> None:
        name = StringAttr(name) if isinstance(name, str) else name
        super().__init__(
            properties={"sym_name": name, "type": type, "value": value},
            regions=[Region() if body is None else body],
        )

    def verify_(self) -> None:
        type = self.type
        ANY.check(type.element_type, "a weight")
        if DYNAMIC in type.get_shape():
            raise VerifyException(f"expected a static shape, but got '{type}'")
        if bool(self.body.blocks) == (self.value is not None):
            raise VerifyException("expected either a value or a body")
        if isinstance(self.value, DenseIntOrFPElementsAttr):
            value = cast(Dense, self.value)
            if cast(Attribute, value.type) != type:
                raise VerifyException(
                    f"expected a value of type '{type}', but got '{value.type}'"
                )
            check_elements(type, value)
        if self.body.blocks:
            self._verify_body()

    def _verify_body(self) -> None:
        from transom.dialects.graph.structure import YieldOp

        block = self.body.block
        if block.args:
            raise VerifyException("expected a body without arguments")
        last = block.last_op
        types = last.operand_types if isinstance(last, YieldOp) else ()
        if types != (self.type,):
            raise VerifyException(
                f"expected the body to end with 'graph.yield' of one '{self.type}'"
            )
        for op in block.ops:
            if not isinstance(op, GraphOp | YieldOp):
                raise VerifyException(
                    f"expected graph ops in the body, but got '{op.name}'"
                )
        if self in sources_of(self):
            raise VerifyException(
                f"expected an expression over other weights, but '@{name_of(self)}' "
                "is derived from itself"
            )

    @classmethod
    def parse(cls, parser: Parser) -> "WeightOp":
        name = parser.parse_symbol_name()
        value: Attribute | None = None
        if parser.parse_optional_punctuation("=") is not None:
            start = parser.pos
            value = parser.parse_attribute()
            if isinstance(value, DenseIntOrFPElementsAttr):
                type = cast(Attribute, cast(Dense, value).type)
            elif isinstance(value, FileAttr):
                parser.parse_punctuation(":")
                type = parse_type(parser)
            else:
                parser.raise_error(
                    "expected '#graph.file<…>' or 'dense<…>'", start, parser.pos
                )
            body = Region()
            attributes = parser.parse_optional_attr_dict_with_keyword()
        else:
            parser.parse_punctuation(":")
            type = parse_type(parser)
            attributes = parser.parse_optional_attr_dict_with_keyword()
            body = parser.parse_region()
        op = cls(
            name, cast(AnyTensor, type), cast(FileAttr | Dense | None, value), body
        )
        if attributes is not None:
            op.attributes.update(attributes.data)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        if self.value is not None:
            printer.print_string(" = ")
            printer.print_attribute(self.value)
        if not isinstance(self.value, DenseIntOrFPElementsAttr):
            printer.print_string(" : ")
            print_type(printer, self.type)
        if self.attributes:
            printer.print_op_attributes(self.attributes, print_keyword=True)
        if self.value is None:
            printer.print_string(" ")
            printer.print_region(self.body)


class WeightRefUser(SymbolUserOpInterface):
    """Checks that a reference names a weight of its type."""

    def verify(self, op: Operation) -> None:
        assert isinstance(op, WeightRefOp), "the only op with this trait"
        weight = weight_of(op)
        name = op.weight.string_value()
        if weight is None:
            raise VerifyException(f"no weight '@{name}'{_near(op, name)}")
        if weight.type != op.result.type:
            raise VerifyException(
                f"expected the type '{weight.type}' of '@{name}', "
                f"but got '{op.result.type}'"
            )


def weight_of(op: "WeightRefOp") -> WeightOp | None:
    """The weight that a reference names, or None if there is none."""
    name = op.weight.string_value()
    for table in _symbol_tables(op):
        found = _weight_in(table, name)
        if found is not None:
            return found
    return None


INDEX = "_transom_weights"
"""The name under which a symbol table remembers where its weights are."""


def _weight_in(table: Operation, name: str) -> WeightOp | None:
    """
    The weight of this name. A module may have thousands with as many references, so the
    table remembers all; what it says is checked, and looked up again where it is wrong.
    """
    block = table.regions[0].block
    index = cast("dict[str, WeightOp]", vars(table).get(INDEX, {}))
    found = index.get(name)
    if found is not None and found.parent is block and name_of(found) == name:
        return found
    index = {name_of(op): op for op in block.ops if isinstance(op, WeightOp)}
    vars(table)[INDEX] = index
    return index.get(name)


def sources_of(weight: WeightOp) -> dict[WeightOp, None]:
    """The weights that a weight is derived from, directly or not, in order."""
    sources: dict[WeightOp, None] = {}
    pending = [weight]
    while pending:
        for op in pending.pop().walk():
            source = weight_of(op) if isinstance(op, WeightRefOp) else None
            if source is not None and source not in sources:
                sources[source] = None
                pending.append(source)
    return sources


def name_of(weight: WeightOp) -> str:
    """The symbol of a weight."""
    return weight.sym_name.data


def _symbol_tables(op: Operation) -> Iterator[Operation]:
    parent = op.parent_op()
    while parent is not None:
        if parent.has_trait(SymbolTable):
            yield parent
        parent = parent.parent_op()


def _near(op: "WeightRefOp", name: str) -> str:
    names = [
        f"@{other.sym_name.data}"
        for table in _symbol_tables(op)
        for other in table.regions[0].block.ops
        if isinstance(other, WeightOp)
    ]
    return did_you_mean(f"@{name}", names)


@irdl_op_definition
class WeightRefOp(GraphOp):
    """
    The tensor that a `graph.weight` of the module is.

    ```mlir
    %w = graph.weight_ref @w : tensor<64x3xf32>
    ```
    """

    name = "graph.weight_ref"

    weight = prop_def(FlatSymbolRefAttrConstr)
    result = result_def(TENSOR)

    traits = traits_def(Pure(), WeightRefUser())

    assembly_format = "$weight attr-dict `:` type($result)"

    def __init__(
        self, weight: "str | SymbolRefAttr | WeightOp", type: AnyTensor | None = None
    ) -> None:
        if isinstance(weight, WeightOp):
            type = weight.type
            weight = weight.sym_name.data
        if isinstance(weight, str):
            weight = SymbolRefAttr(weight)
        assert type is not None, "a name alone does not say the type"
        Operation.__init__(self, result_types=(type,), properties={"weight": weight})

    def infer(self) -> tuple[ResultShape, ...]:
        type = self.declared_type()
        return (ResultShape(type.get_shape(), type.element_type),)
