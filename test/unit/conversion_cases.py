"""What the tests of the conversion framework share: parsing, printing, patterns."""

from collections.abc import Callable, Iterable

from xdsl.context import Context
from xdsl.dialects import arith, cf, func, scf, test
from xdsl.dialects.builtin import Builtin, IndexType, ModuleOp, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from transom.dialects.parser import parse_ir
from transom.dialects.verifier import verify_module
from transom.lowering.conversion import (
    ConversionPattern,
    ConversionRewriter,
    Operands,
    Refusal,
    TypeConverter,
)


def parse(text: str) -> ModuleOp:
    """A module; dialects other than the usual ones are unregistered."""
    ctx = Context(allow_unregistered=True)
    for dialect in (Builtin, arith.Arith, cf.Cf, func.Func, scf.Scf, test.Test):
        ctx.load_dialect(dialect)
    module = parse_ir(ctx, text, "m.mlir")
    verify_module(module)
    return module


def body(module: ModuleOp) -> list[str]:
    """The lines of a module without those of the module itself, not indented."""
    return [line.strip() for line in str(module).strip().split("\n")[1:-1]]


def all_ops(module: ModuleOp) -> list[Operation]:
    return list(module.walk())


def values_of(op: Operation) -> list[SSAValue]:
    """The results of an op and the arguments of its blocks."""
    blocks = [block for region in op.regions for block in region.blocks]
    return [*op.results, *(arg for block in blocks for arg in block.args)]


def fingerprint(module: ModuleOp) -> object:
    """Everything about a module that a failed conversion must leave alone."""
    ops = all_ops(module)
    return (
        str(module),
        [id(op) for op in ops],
        [op.location for op in ops],
        [
            [(id(use.operation), use.index) for use in value.uses]
            for op in ops
            for value in values_of(op)
        ],
        [
            [id(use.operation) for use in block.uses]
            for op in ops
            for region in op.regions
            for block in region.blocks
        ],
    )


Rewrite = Callable[[Operation, Operands, ConversionRewriter], Refusal | None]


def pattern(
    root: type[Operation] | str | tuple[type[Operation] | str, ...],
    rewrite: Rewrite,
    *,
    name: str = "Pattern",
    benefit: int = 1,
    generates: tuple[type[Operation] | str, ...] | None = None,
    drops: tuple[str, ...] = (),
    converter: TypeConverter | None = None,
) -> ConversionPattern[Operation]:
    """A pattern made of a function."""

    class Made(ConversionPattern[Operation]):
        def match_and_rewrite(
            self, op: Operation, operands: Operands, rewriter: ConversionRewriter
        ) -> Refusal | None:
            return rewrite(op, operands, rewriter)

        @property
        def name(self) -> str:
            return name

        @property
        def converter(self) -> TypeConverter | None:
            return converter

    made = Made()
    made.root = root
    made.benefit = benefit
    made.generates = generates
    made.drops = drops
    return made


def rename(
    old: str, new: str, *, name: str | None = None, benefit: int = 1
) -> ConversionPattern[Operation]:
    """`old` becomes `new`, both of unregistered dialects, with converted types."""

    def rewrite(
        op: Operation, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        types: list[Attribute] = []
        for result in op.results:
            converter = rewriter.converter
            types.append(
                result.type if converter is None else converter.convert_one(result.type)
            )
        rewriter.replace(op, unregistered(new, operands.flat, types))

    return pattern(old, rewrite, name=name or f"{old}->{new}", benefit=benefit)


_context = Context(allow_unregistered=True)


def unregistered(
    name: str,
    operands: Iterable[SSAValue] = (),
    types: Iterable[Attribute] = (),
    **parts: object,
) -> Operation:
    """An op of a dialect that is not registered."""
    kind = _context.get_op(name)
    return kind.create(operands=tuple(operands), result_types=tuple(types), **parts)  # pyright: ignore[reportArgumentType] # handed on


def index_to_i64() -> TypeConverter:
    """A converter of `index` to `i64`, without materialisations."""
    return TypeConverter(lambda t: i64 if isa(t, IndexType) else None)
