"""
How many ops a second the conversion framework converts, on one core.

Builds a function of loads, stores, multiplications, additions and fused
multiply-additions on vectors, converts it to `llvm` with one pattern per op, function
and arguments included, and prints ops of the input per second of processor time: the
best of some repetitions, with locations on all ops. Ends with status 1 if that is below
`LIMIT`. `--profile` prints where the time goes.

    python benchmarks/conversion_speed.py [OPS] [--profile]
"""

import cProfile
import gc
import pstats
import sys
import time
from collections.abc import Mapping

from xdsl.dialects import arith, func, llvm, memref, vector
from xdsl.dialects.builtin import (
    DenseArrayBase,
    FileLineColLoc,
    FunctionType,
    IndexType,
    IntAttr,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    VectorType,
    f32,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from transom.dialects.verifier import verify_module
from transom.lowering.conversion import (
    ConversionPattern,
    ConversionReport,
    ConversionRewriter,
    ConversionTarget,
    Operands,
    Refusal,
    TypeConverter,
    apply_full_conversion,
)

LIMIT = 10_000
OPS = 10_000
REPETITIONS = 5

VECTOR = VectorType(f32, (8,))
BUFFER = MemRefType(f32, (64, 1024))
INDEX = IndexType()
POINTER = llvm.LLVMPointerType()
NO_FLAGS: Mapping[str, Attribute] = {"fastmathFlags": llvm.FastMathAttr(None)}
ADDRESS: Mapping[str, Attribute] = {
    "elem_type": llvm.LLVMArrayType(1024, f32),
    "rawConstantIndices": DenseArrayBase.from_list(i32, [llvm.GEP_USE_SSA_VAL] * 2),
    "noWrapFlags": IntegerAttr(0, i32),
}
ACCESS: Mapping[str, Attribute] = {
    "alignment": IntegerAttr(4, i64),
    "ordering": IntegerAttr(0, i64),
}


def build(size: int) -> ModuleOp:
    """A function of about `size` ops, each with a location of its own."""
    block = Block(arg_types=(BUFFER, BUFFER, INDEX, INDEX))
    a, b, i, j = block.args
    ops: list[Operation] = []

    def add(kind: type[Operation], *operands: SSAValue, type: Attribute) -> SSAValue:
        op = kind.create(operands=operands, result_types=(type,))
        ops.append(op)
        return op.results[0]

    sum = add(vector.LoadOp, a, i, j, type=VECTOR)
    while len(ops) < size - 2:
        x = add(vector.LoadOp, a, i, j, type=VECTOR)
        y = add(vector.LoadOp, b, j, i, type=VECTOR)
        product = add(arith.MulfOp, x, y, type=VECTOR)
        sum = add(vector.FMAOp, product, y, sum, type=VECTOR)
        sum = add(arith.AddfOp, sum, x, type=VECTOR)
        scalar = add(memref.LoadOp, b, i, j, type=f32)
        ops.append(memref.StoreOp.create(operands=(scalar, b, j, i)))
        ops.append(vector.StoreOp.create(operands=(sum, a, i, j)))
    ops.append(func.ReturnOp())
    for line, op in enumerate(ops):
        op.location = FileLineColLoc(StringAttr("m.mlir"), IntAttr(line), IntAttr(3))
    block.add_ops(ops)
    types = FunctionType.from_lists(block.arg_types, ())
    return ModuleOp([func.FuncOp("kernel", types, Region(block))])


def make_converter() -> TypeConverter:
    """`index` to i64 and memrefs to pointers."""
    converter = TypeConverter()
    converter.add_conversion(lambda type: i64, of=IndexType)
    converter.add_conversion(lambda type: POINTER, of=MemRefType)
    return converter


class ConvertFloatBinary(ConversionPattern[arith.AddfOp | arith.MulfOp]):
    root = arith.AddfOp | arith.MulfOp
    generates = (llvm.FAddOp, llvm.FMulOp)

    def match_and_rewrite(
        self,
        op: arith.AddfOp | arith.MulfOp,
        operands: Operands,
        rewriter: ConversionRewriter,
    ) -> Refusal | None:
        lhs, rhs = operands
        kind = llvm.FAddOp if isinstance(op, arith.AddfOp) else llvm.FMulOp
        types = (lhs.type,)
        new = kind.create(operands=(lhs, rhs), result_types=types, properties=NO_FLAGS)
        rewriter.replace(op, new)


class ConvertFma(ConversionPattern[vector.FMAOp]):
    root = vector.FMAOp
    generates = (llvm.FMAOp,)

    def match_and_rewrite(
        self, op: vector.FMAOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        a, b, c = operands
        new = llvm.FMAOp.create(
            operands=(a, b, c), result_types=(a.type,), properties=NO_FLAGS
        )
        rewriter.replace(op, new)


class ConvertLoad(ConversionPattern[memref.LoadOp | vector.LoadOp]):
    root = memref.LoadOp | vector.LoadOp
    generates = (llvm.GEPOp, llvm.LoadOp)

    def match_and_rewrite(
        self,
        op: memref.LoadOp | vector.LoadOp,
        operands: Operands,
        rewriter: ConversionRewriter,
    ) -> Refusal | None:
        result = op.results[0].type
        if isinstance(result, VectorType) and len(result.get_shape()) != 1:
            return Refusal(f"expected a vector of one dimension, but got '{result}'")
        address = address_of(operands.flat)
        load = llvm.LoadOp.create(
            operands=address.results, result_types=op.result_types, properties=ACCESS
        )
        rewriter.replace(op, (address, load))


class ConvertStore(ConversionPattern[memref.StoreOp | vector.StoreOp]):
    root = memref.StoreOp | vector.StoreOp
    generates = (llvm.GEPOp, llvm.StoreOp)

    def match_and_rewrite(
        self,
        op: memref.StoreOp | vector.StoreOp,
        operands: Operands,
        rewriter: ConversionRewriter,
    ) -> Refusal | None:
        value, *place = operands.flat
        address = address_of(place)
        store = llvm.StoreOp.create(
            operands=(value, address.results[0]), properties=ACCESS
        )
        rewriter.replace(op, (address, store))


class ConvertFunc(ConversionPattern[func.FuncOp]):
    root = func.FuncOp
    generates = (llvm.FuncOp,)

    def match_and_rewrite(
        self, op: func.FuncOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        assert rewriter.converter is not None
        inputs = rewriter.converter.convert_signature(op.function_type.inputs)
        new = llvm.FuncOp(
            op.sym_name,
            llvm.LLVMFunctionType(inputs.types),
            body=rewriter.convert_region(op.body, signature=inputs),
        )
        rewriter.replace(op, new)


class ConvertReturn(ConversionPattern[func.ReturnOp]):
    root = func.ReturnOp
    generates = (llvm.ReturnOp,)

    def match_and_rewrite(
        self, op: func.ReturnOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        rewriter.replace(op, llvm.ReturnOp())


PATTERNS = (
    ConvertFloatBinary(),
    ConvertFma(),
    ConvertLoad(),
    ConvertStore(),
    ConvertFunc(),
    ConvertReturn(),
)


def address_of(operands: tuple[SSAValue, ...] | list[SSAValue]) -> llvm.GEPOp:
    """The address of an element: a pointer and two indices."""
    return llvm.GEPOp.create(
        operands=operands, result_types=(POINTER,), properties=ADDRESS
    )


def convert(module: ModuleOp) -> ConversionReport:
    """Convert all of a module to `llvm`."""
    target = ConversionTarget()
    target.add_legal_dialect("llvm")
    return apply_full_conversion(module, target, PATTERNS, make_converter())


def check(module: ModuleOp, report: ConversionReport, ops: int) -> None:
    """See that the work was done: all converted, and every op has its location."""
    assert report.ok and sum(report.converted.values()) == ops
    assert "func." not in str(module) and "vector.load" not in str(module)
    for op in module.walk():
        if not isinstance(op, ModuleOp | llvm.FuncOp):
            assert isinstance(op.location, FileLineColLoc)
    verify_module(module)


def main() -> int:
    """Measure; the status is 1 if the framework is slower than `LIMIT`."""
    sizes = [int(arg) for arg in sys.argv[1:] if arg.isdigit()]
    size = sizes[0] if sizes else OPS
    modules = [build(size) for _ in range(REPETITIONS)]
    ops = sum(1 for _ in modules[0].walk()) - 1
    if "--profile" in sys.argv:
        profile = cProfile.Profile()
        profile.runcall(convert, modules[0])
        pstats.Stats(profile).sort_stats("tottime").print_stats(25)
        return 0
    times: list[float] = []
    for module in modules:
        gc.collect()
        start = time.process_time()
        report = convert(module)
        times.append(time.process_time() - start)
        check(module, report, ops)
    speed = ops / min(times)
    new_ops = sum(1 for _ in modules[0].walk()) - 1
    print(f"{ops} ops to {new_ops} in {min(times):.3f} s: {speed:,.0f} ops/s")
    return 0 if speed >= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
