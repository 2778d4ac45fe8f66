"""
Conversion patterns that change types and nothing else.

For a function, a call, a branch or a loop, changing the types of its operands, results
and block arguments is all that a `TypeConverter` asks for:

```mlir
func.func @f(%i: index) -> index {          func.func @f(%i: i64) -> i64 {
  %r = func.call @g(%i) : …           ==>     %r = func.call @g(%i) : (i64) -> i64
  func.return %r : index                      func.return %r : i64
}                                           }
```

`add_structural_conversions` sets all of it up.
"""

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects import cf, func, scf
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FunctionType,
    UnrealizedConversionCastOp,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    AttrSizedResultSegments,
    IRDLOperation,
    OptionalDef,
    VariadicDef,
)

from transom.dialects.op_making import make_op
from transom.lowering.conversion import (
    ConversionPattern,
    ConversionRewriter,
    ConversionTarget,
    Operands,
    Refusal,
    Signature,
    TypeConverter,
    operand_segments,
    result_segments,
)


def add_structural_conversions(
    target: ConversionTarget, converter: TypeConverter
) -> tuple[ConversionPattern[Operation], ...]:
    """
    Patterns for functions, calls, branches and loops, which become legal where their
    types are.
    """
    patterns: tuple[ConversionPattern[Operation], ...] = (
        ConvertFunctionSignature(),  # pyright: ignore[reportAssignmentType] # patterns
        ConvertCallTypes(),  # pyright: ignore[reportAssignmentType] # only see their
        ConvertBranchTypes(),  # root
        ConvertLoopTypes(),
    )
    for pattern in patterns:
        roots = pattern.root if isinstance(pattern.root, tuple) else (pattern.root,)
        target.add_dynamically_legal_op(*roots, predicate=converter.is_legal_op)
    return patterns


class ConvertFunctionSignature(ConversionPattern[Operation]):
    """
    Convert the signature of a function, whatever its class: an op with a property
    `function_type` and one region. A subclass for another kind sets `root`.

    Attributes of an argument go to the first value that it becomes.
    """

    root = func.FuncOp
    is_structural = True

    def match_and_rewrite(
        self, op: Operation, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        rewriter.replace(op, convert_function(op, rewriter))


class ConvertTypes(ConversionPattern[Operation]):
    """Rebuild an op with converted types; a subclass sets `root`."""

    is_structural = True

    def match_and_rewrite(
        self, op: Operation, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        return convert_types(op, operands, rewriter)


class ConvertCallTypes(ConvertTypes):
    """Convert the types at call sites and returns."""

    root = (func.CallOp, func.ReturnOp)


class ConvertLoopTypes(ConvertTypes):
    """Convert the types that structured control flow carries."""

    root = (
        scf.ForOp,
        scf.WhileOp,
        scf.IfOp,
        scf.IndexSwitchOp,
        scf.ExecuteRegionOp,
        scf.ParallelOp,
        scf.ReduceOp,
        scf.ReduceReturnOp,
        scf.YieldOp,
        scf.ConditionOp,
    )


class ConvertBranchTypes(ConversionPattern[Operation]):
    """Convert the types that branches pass to blocks."""

    root = (cf.BranchOp, cf.ConditionalBranchOp, cf.SwitchOp)
    is_structural = True

    def match_and_rewrite(
        self, op: Operation, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        properties: dict[str, Attribute] = {}
        if isinstance(op, cf.SwitchOp):
            groups = iter(operands.named("case_operands").groups)
            sizes = [
                sum(len(next(groups)) for _ in range(size))
                for size in op.case_operand_segments.get_values()
            ]
            segments = DenseArrayBase.from_list(i32, sizes)
            properties["case_operand_segments"] = segments
        return convert_types(op, operands, rewriter, properties)


class RemoveCast(ConversionPattern[UnrealizedConversionCastOp]):
    """
    Remove a cast between types that have become the same, or the second of two that
    lead back to where they started.
    """

    root = UnrealizedConversionCastOp
    generates = ()
    is_structural = True

    def match_and_rewrite(
        self,
        op: UnrealizedConversionCastOp,
        operands: Operands,
        rewriter: ConversionRewriter,
    ) -> Refusal | None:
        signature = result_signature(op, rewriter.converter)
        values = operands.flat
        seen = 0
        while (have := tuple(v.type for v in values)) != signature.types:
            cast = values[0].owner if values else None
            if (
                not isinstance(cast, UnrealizedConversionCastOp)
                or tuple(cast.results) != values
            ):
                want = ", ".join(map(str, signature.types))
                return Refusal(
                    f"expected casts to lead back to the type that they started from, "
                    f"but got '({', '.join(map(str, have))})' to '({want})'"
                )
            values = tuple(rewriter.converted(v) for v in cast.inputs)
            seen += 1
        rewriter.replace(op, (), split(values, signature))


class ReplaceOp(ConversionPattern[Operation]):
    """
    Replace an op by one of another class, with the same operands and converted result
    types.

    `properties` makes the properties of the new op of the old one.
    """

    def __init__(
        self,
        root: type[Operation] | str,
        new: type[Operation],
        properties: Callable[[Operation], Mapping[str, Attribute]] | None = None,
    ) -> None:
        self.root = root
        self.generates = (new,)
        self._new = new
        self._properties = properties

    @property
    def name(self) -> str:
        return f"Replace({self._new.name})"

    def match_and_rewrite(
        self, op: Operation, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        signature = result_signature(op, rewriter.converter)
        properties: Mapping[str, Attribute] = {}
        if self._properties is not None:
            properties = self._properties(op)
        new = make_op(self._new, operands.flat, signature.types, properties)
        rewriter.replace(op, new, split(new.results, signature))


def convert_types(
    op: Operation,
    operands: Operands,
    rewriter: ConversionRewriter,
    properties: Mapping[str, Attribute] | None = None,
) -> Refusal | None:
    """
    Replace an op by one of its class with the converted operands, and with converted
    result types, regions and successors; `properties` replace some of its own.
    """
    signature = result_signature(op, rewriter.converter)
    new_properties = {**op.properties, **(properties or {})}
    attributes = inherent_attributes(op)
    if isinstance(op, IRDLOperation):
        refusal = _set_segments(op, operands, signature, new_properties, attributes)
        if refusal is not None:
            return refusal
    new = type(op).create(
        operands=operands.flat,
        result_types=signature.types,
        properties=new_properties,
        attributes=attributes,
        successors=[rewriter.converted_block(block) for block in op.successors],
        regions=[rewriter.convert_region(region) for region in op.regions],
    )
    rewriter.replace(op, new, split(new.results, signature))


def convert_function(op: Operation, rewriter: ConversionRewriter) -> Operation:
    """
    A function of the same class with converted signature and body, not yet inserted.
    """
    converter = rewriter.converter
    assert converter is not None, "only a type converter changes signatures"
    function_type = op.properties["function_type"]
    assert isinstance(function_type, FunctionType), "this is a function"
    inputs = converter.convert_signature(function_type.inputs)
    outputs = converter.convert_signature(function_type.outputs)
    properties = dict(op.properties)
    properties["function_type"] = FunctionType.from_lists(inputs.types, outputs.types)
    for name, signature in (("arg_attrs", inputs), ("res_attrs", outputs)):
        attributes = op.properties.get(name)
        if isinstance(attributes, ArrayAttr):
            properties[name] = spread_attributes(attributes, signature)  # pyright: ignore[reportUnknownArgumentType] # of dictionaries, by the verifier
    return type(op).create(
        properties=properties,
        attributes=inherent_attributes(op),
        regions=[
            rewriter.convert_region(region, signature=inputs) for region in op.regions
        ],
    )


def spread_attributes(
    attributes: ArrayAttr[DictionaryAttr], signature: Signature
) -> ArrayAttr[DictionaryAttr]:
    """One dictionary per new argument: the old one for the first of each group."""
    empty = DictionaryAttr({})
    return ArrayAttr(
        attribute if position == 0 else empty
        for attribute, group in zip(attributes.data, signature.groups, strict=True)
        for position in range(len(group))
    )


def result_signature(op: Operation, converter: TypeConverter | None) -> Signature:
    """What the result types of an op become."""
    if converter is None:
        return Signature(tuple((t,) for t in op.result_types))
    return converter.convert_signature(op.result_types)


def split(
    values: Sequence[SSAValue], signature: Signature
) -> tuple[tuple[SSAValue, ...], ...]:
    """Cut values into the groups of a signature."""
    groups: list[tuple[SSAValue, ...]] = []
    start = 0
    for group in signature.groups:
        groups.append(tuple(values[start : start + len(group)]))
        start += len(group)
    return tuple(groups)


def inherent_attributes(op: Operation) -> dict[str, Attribute]:
    """
    The attributes that the definition of an op has: the driver carries the others.

    Of an op of an unregistered dialect, those without a dialect's prefix.
    """
    if isinstance(op, IRDLOperation):
        names = op.get_irdl_definition().attributes
        return {k: v for k, v in op.attributes.items() if k in names}
    return {k: v for k, v in op.attributes.items() if "." not in k}


def _set_segments(
    op: IRDLOperation,
    operands: Operands,
    results: Signature,
    properties: dict[str, Attribute],
    attributes: dict[str, Attribute],
) -> Refusal | None:
    """Set segment sizes to those after the conversion; refuse where there are none."""
    definition = op.get_irdl_definition()
    sizes = [len(g) for g in operands.groups], [len(g) for g in results.groups]
    for kind, counts, definitions, segments in (
        (AttrSizedOperandSegments, sizes[0], definition.operands, operand_segments),
        (AttrSizedResultSegments, sizes[1], definition.results, result_segments),
    ):
        option = next((o for o in definition.options if isinstance(o, kind)), None)
        if all(count == 1 for count in counts):
            continue
        old = segments(op)
        new: list[int] = []
        rest = iter(counts)
        for (name, part), size in zip(definitions, old, strict=True):
            count = sum(next(rest) for _ in range(size))
            new.append(count)
            variadic = isinstance(part, VariadicDef)
            limit = 1 if isinstance(part, OptionalDef) else None
            if (not variadic and count != 1) or (limit is not None and count > limit):
                return Refusal(f"expected '{name}' to stay one value, but got {count}")
        if option is not None:
            where = properties if option.as_property else attributes
            where[option.attribute_name] = DenseArrayBase.from_list(i32, new)
    return None
