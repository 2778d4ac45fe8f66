"""
LLVM IR text from the `llvm` dialect; LLVM parses each text, and some of it runs.
"""

import ctypes
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import (
    Builtin,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    VectorType,
    f32,
    f64,
    i8,
    i32,
)
from xdsl.ir import Attribute, Block, Region
from xdsl.parser import Parser

from transom.dialects import llvm
from transom.dialects.diagnostics import OpError
from transom.lowering.emit_llvm import to_llvm_text
from transom.runtime import jit


def parse(text: str) -> ModuleOp:
    ctx = Context()
    ctx.load_dialect(Builtin)
    ctx.load_dialect(llvm.LLVM)
    module = Parser(ctx, text).parse_module()
    module.verify()
    return module


def emitted(text: str) -> str:
    """The text, which LLVM has parsed and verified."""
    result = to_llvm_text(parse(text))
    jit.parse(result)
    assert to_llvm_text(parse(text)) == result
    return result


def body_of(text: str, arguments: str = "", result: str = "") -> str:
    """The instructions of a function with this body."""
    full = emitted(f"llvm.func @f({arguments}) {result} {{ {text} }}")
    lines = full.split("{\n", 1)[1].split("\n}", 1)[0].split("\n")
    return "\n".join(line.strip() for line in lines if not line.endswith(":"))


OPERANDS = (
    "%i: i32, %j: i64, %f: f32, %d: f64, %p: !llvm.ptr, %v: vector<4xf32>, "
    "%w: vector<4xi32>, %m: vector<4xi1>, %c: i1, %h: f16, %b: bf16, %q: i8"
)
"""Arguments of the functions below, `%0` to `%11` in LLVM IR."""

INSTRUCTIONS = [
    ("llvm.add %i, %i : i32", "add i32 %0, %0"),
    ("llvm.add %i, %i overflow<nsw, nuw> : i32", "add nuw nsw i32 %0, %0"),
    ("llvm.sdiv exact %w, %w : vector<4xi32>", "sdiv exact <4 x i32> %6, %6"),
    ("llvm.or disjoint %i, %i : i32", "or disjoint i32 %0, %0"),
    ("llvm.fadd %b, %b : bf16", "fadd bfloat %10, %10"),
    ("llvm.fmul %h, %h : f16", "fmul half %9, %9"),
    (
        "llvm.fsub %f, %f {fastmathFlags = #llvm.fastmath<fast>} : f32",
        "fsub fast float %2, %2",
    ),
    (
        "llvm.fneg %v {fastmathFlags = #llvm.fastmath<contract,nnan>} : vector<4xf32>",
        "fneg nnan contract <4 x float> %5",
    ),
    ('llvm.icmp "ult" %w, %w : vector<4xi32>', "icmp ult <4 x i32> %6, %6"),
    ('llvm.icmp "eq" %p, %p : !llvm.ptr', "icmp eq ptr %4, %4"),
    ('llvm.fcmp "une" %v, %v : vector<4xf32>', "fcmp une <4 x float> %5, %5"),
    ('llvm.fcmp "_true" %f, %f : f32', "fcmp true float %2, %2"),
    (
        "llvm.select %m, %v, %v : vector<4xi1>, vector<4xf32>",
        "select <4 x i1> %7, <4 x float> %5, <4 x float> %5",
    ),
    ("llvm.sext %i : i32 to i64", "sext i32 %0 to i64"),
    ("llvm.zext nneg %i : i32 to i64", "zext nneg i32 %0 to i64"),
    ("llvm.trunc %j overflow<nsw> : i64 to i8", "trunc nsw i64 %1 to i8"),
    ("llvm.uitofp nneg %i : i32 to f32", "uitofp nneg i32 %0 to float"),
    (
        "llvm.fptosi %v : vector<4xf32> to vector<4xi32>",
        "fptosi <4 x float> %5 to <4 x i32>",
    ),
    ("llvm.fptoui %f : f32 to i8", "fptoui float %2 to i8"),
    ("llvm.fpext %b : bf16 to f32", "fpext bfloat %10 to float"),
    ("llvm.fptrunc %f : f32 to f16", "fptrunc float %2 to half"),
    ("llvm.bitcast %f : f32 to i32", "bitcast float %2 to i32"),
    ("llvm.ptrtoint %p : !llvm.ptr to i64", "ptrtoint ptr %4 to i64"),
    (
        "llvm.addrspacecast %p : !llvm.ptr to !llvm.ptr<3>",
        "addrspacecast ptr %4 to ptr addrspace(3)",
    ),
    ("llvm.freeze %i : i32", "freeze i32 %0"),
    (
        "llvm.load %p {alignment = 4 : i64} : !llvm.ptr -> vector<8xbf16>",
        "load <8 x bfloat>, ptr %4, align 4",
    ),
    (
        "llvm.load volatile %p atomic acquire {alignment = 4 : i64} : !llvm.ptr -> i32",
        "load atomic volatile i32, ptr %4 acquire, align 4",
    ),
    (
        "llvm.load %p invariant {nontemporal} : !llvm.ptr -> f32",
        "load float, ptr %4, !nontemporal !0, !invariant.load !1",
    ),
    (
        "llvm.alloca %j x f32 {alignment = 64 : i64} : (i64) -> !llvm.ptr",
        "alloca float, i64 %1, align 64",
    ),
    (
        "llvm.getelementptr inbounds %p[%j, 1] "
        ": (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x f32>",
        "getelementptr inbounds [8 x float], ptr %4, i64 %1, i32 1",
    ),
    (
        "llvm.extractelement %v[%j : i64] : vector<4xf32>",
        "extractelement <4 x float> %5, i64 %1",
    ),
    (
        "llvm.insertelement %f, %v[%i : i32] : vector<4xf32>",
        "insertelement <4 x float> %5, float %2, i32 %0",
    ),
    (
        "llvm.shufflevector %v, %v [0, 5, -1, 1] : vector<4xf32>",
        "shufflevector <4 x float> %5, <4 x float> %5, "
        "<4 x i32> <i32 0, i32 5, i32 poison, i32 1>",
    ),
    (
        "llvm.shufflevector %v, %v [0, 0] : vector<4xf32>",
        "shufflevector <4 x float> %5, <4 x float> %5, <2 x i32> zeroinitializer",
    ),
    (
        "llvm.atomicrmw fadd %p, %f monotonic : !llvm.ptr, f32",
        "atomicrmw fadd ptr %4, float %2 monotonic",
    ),
    (
        "llvm.intr.fma(%v, %v, %v) : "
        "(vector<4xf32>, vector<4xf32>, vector<4xf32>) -> vector<4xf32>",
        "call <4 x float> @llvm.fma.v4f32("
        "<4 x float> %5, <4 x float> %5, <4 x float> %5)",
    ),
    (
        "llvm.intr.roundeven(%b) : (bf16) -> bf16",
        "call bfloat @llvm.roundeven.bf16(bfloat %10)",
    ),
    (
        "llvm.intr.powi(%f, %i) : (f32, i32) -> f32",
        "call float @llvm.powi.f32.i32(float %2, i32 %0)",
    ),
    (
        "llvm.intr.maximum(%f, %f) {fastmathFlags = #llvm.fastmath<nsz>} "
        ": (f32, f32) -> f32",
        "call nsz float @llvm.maximum.f32(float %2, float %2)",
    ),
    (
        "llvm.intr.abs(%w) {is_int_min_poison = true} "
        ": (vector<4xi32>) -> vector<4xi32>",
        "call <4 x i32> @llvm.abs.v4i32(<4 x i32> %6, i1 true)",
    ),
    (
        "llvm.intr.umin(%i, %i) : (i32, i32) -> i32",
        "call i32 @llvm.umin.i32(i32 %0, i32 %0)",
    ),
    (
        "llvm.intr.sadd.with.overflow(%i, %i) : (i32, i32) -> !llvm.struct<(i32, i1)>",
        "call { i32, i1 } @llvm.sadd.with.overflow.i32(i32 %0, i32 %0)",
    ),
    (
        "llvm.intr.vector.reduce.add(%w) : (vector<4xi32>) -> i32",
        "call i32 @llvm.vector.reduce.add.v4i32(<4 x i32> %6)",
    ),
    (
        "llvm.intr.vector.reduce.fmaximum(%v) : (vector<4xf32>) -> f32",
        "call float @llvm.vector.reduce.fmaximum.v4f32(<4 x float> %5)",
    ),
    (
        "llvm.intr.vector.reduce.fadd(%f, %v) "
        "{fastmathFlags = #llvm.fastmath<reassoc>} : (f32, vector<4xf32>) -> f32",
        "call reassoc float @llvm.vector.reduce.fadd.v4f32(float %2, <4 x float> %5)",
    ),
    (
        "llvm.intr.masked.load %p, %m, %v {alignment = 4 : i32} "
        ": (!llvm.ptr, vector<4xi1>, vector<4xf32>) -> vector<4xf32>",
        "call <4 x float> @llvm.masked.load.v4f32.p0("
        "ptr %4, i32 4, <4 x i1> %7, <4 x float> %5)",
    ),
    (
        'llvm.call_intrinsic "llvm.fptosi.sat.i32.f32"(%f) : (f32) -> i32',
        "call i32 @llvm.fptosi.sat.i32.f32(float %2)",
    ),
    (
        'llvm.inline_asm asm_dialect = att "bswap $0", "=r,0" %i : (i32) -> i32',
        'call i32 asm "bswap $0", "=r,0"(i32 %0)',
    ),
    (
        "llvm.call %p(%i) : !llvm.ptr, (i32) -> f32",
        "call float %4(i32 %0)",
    ),
    (
        "llvm.call fastcc notail %p() : !llvm.ptr, () -> f32",
        "notail call fastcc float %4()",
    ),
]


@pytest.mark.parametrize(("op", "text"), INSTRUCTIONS)
def test_instruction(op: str, text: str) -> None:
    lines = body_of(f"%r = {op} llvm.return", OPERANDS)
    assert lines.split("\n") == [f"%12 = {text}", "ret void"]


EFFECTS = [
    (
        "llvm.store volatile %f, %p {alignment = 4 : i64} : f32, !llvm.ptr",
        "store volatile float %2, ptr %4, align 4",
    ),
    (
        "llvm.store %v, %p {alignment = 16 : i64, nontemporal} "
        ": vector<4xf32>, !llvm.ptr",
        "store <4 x float> %5, ptr %4, align 16, !nontemporal !0",
    ),
    (
        "llvm.store %i, %p atomic release {alignment = 4 : i64} : i32, !llvm.ptr",
        "store atomic i32 %0, ptr %4 release, align 4",
    ),
    (
        '"llvm.intr.memcpy"(%p, %p, %j) <{isVolatile = false}> '
        ": (!llvm.ptr, !llvm.ptr, i64) -> ()",
        "call void @llvm.memcpy.p0.p0.i64(ptr %4, ptr %4, i64 %1, i1 false)",
    ),
    (
        '"llvm.intr.memset"(%p, %q, %j) <{isVolatile = true}> '
        ": (!llvm.ptr, i8, i64) -> ()",
        "call void @llvm.memset.p0.i64(ptr %4, i8 %11, i64 %1, i1 true)",
    ),
    (
        "llvm.intr.masked.store %w, %p, %m {alignment = 4 : i32} "
        ": vector<4xi32>, vector<4xi1> into !llvm.ptr",
        "call void @llvm.masked.store.v4i32.p0("
        "<4 x i32> %6, ptr %4, i32 4, <4 x i1> %7)",
    ),
    (
        "llvm.intr.prefetch %p {rw = 1 : i32, hint = 3 : i32, cache = 1 : i32} "
        ": !llvm.ptr",
        "call void @llvm.prefetch.p0(ptr %4, i32 1, i32 3, i32 1)",
    ),
    ("llvm.intr.assume %c : i1", "call void @llvm.assume(i1 %8)"),
    ("llvm.intr.trap", "call void @llvm.trap()"),
    (
        'llvm.inline_asm has_side_effects "nop", "" : () -> ()',
        'call void asm sideeffect "nop", ""()',
    ),
]


@pytest.mark.parametrize(("op", "text"), EFFECTS)
def test_effect(op: str, text: str) -> None:
    assert body_of(f"{op} llvm.return", OPERANDS).split("\n") == [text, "ret void"]


CONSTANTS = [
    ("(true)", "i1", "true"),
    ("(-1 : i8)", "i8", "-1"),
    ("(1.0 : f32)", "f32", "0x3FF0000000000000"),
    ("(0.1 : f32)", "f32", "0x3FB99999A0000000"),
    ("(0x7FC00001 : f32)", "f32", "0x7FF8000020000000"),
    ("(1.0 : f64)", "f64", "0x3FF0000000000000"),
    ("(1.0 : f16)", "f16", "0xH3C00"),
    ("(1.0 : bf16)", "bf16", "0xR3F80"),
    ("(dense<2.0> : vector<4xf32>)", "vector<4xf32>", "splat (float {2})"),
    ("(dense<0.0> : vector<4xf32>)", "vector<4xf32>", "zeroinitializer"),
    (
        "(dense<-0.0> : vector<2xf64>)",
        "vector<2xf64>",
        "splat (double 0x8000000000000000)",
    ),
    ("(dense<[1, 2]> : vector<2xi8>)", "vector<2xi8>", "<i8 1, i8 2>"),
    (
        "(dense<[[1.0, 2.0]]> : tensor<1x2xbf16>)",
        "!llvm.array<1 x array<2 x bf16>>",
        "[[2 x bfloat] [bfloat 0xR3F80, bfloat 0xR4000]]",
    ),
    (
        "(dense<[[1, 2], [3, 4]]> : tensor<2x2xi16>)",
        "!llvm.array<2 x vector<2xi16>>",
        "[<2 x i16> <i16 1, i16 2>, <2 x i16> <i16 3, i16 4>]",
    ),
    ('("a\\22\\00")', "!llvm.array<3 x i8>", 'c"a\\22\\00"'),
    (
        "([1 : i32, 2.0 : f32])",
        "!llvm.struct<(i32, f32)>",
        "{ i32 1, float {2} }",
    ),
]


@pytest.mark.parametrize(("value", "type", "text"), CONSTANTS)
def test_constant(value: str, type: str, text: str) -> None:
    result = emitted(
        f"llvm.mlir.global constant @g{value} {{addr_space = 0 : i32}} : {type}"
    )
    two = "0x4000000000000000"
    assert result.rstrip().endswith(" " + text.replace("{2}", two))
    assert result.startswith("@g = constant ")


def returning(attr: Attribute, type: Attribute) -> ModuleOp:
    """A module with a function that returns a constant."""
    op = llvm.ConstantOp(attr, type)
    body = Region(Block([op, llvm.ReturnOp(op.result)]))
    function = llvm.FuncOp(
        "f", llvm.LLVMFunctionType([], type), llvm.LinkageAttr("external"), body=body
    )
    return ModuleOp([function])


@settings(max_examples=200)
@given(st.integers(0, 2**32 - 1))
def test_floats_are_exact(bits: int) -> None:
    """Any 32 bits stay what they are, NaNs with their payload."""
    data = bits.to_bytes(4, "little")
    type = VectorType(f32, [1])
    text = to_llvm_text(
        returning(DenseIntOrFPElementsAttr(type, BytesAttr(data)), type)
    )
    if not bits:
        assert "zeroinitializer" in text
        return
    wide = int(text.split("splat (float ", 1)[1].split(")", 1)[0], 16)
    if bits & 0x7F800000 == 0x7F800000:
        assert (wide >> 63, wide >> 29 & 0x7FFFFF) == (bits >> 31, bits & 0x7FFFFF)
    else:
        (back,) = struct.unpack("<d", wide.to_bytes(8, "little"))
        assert struct.pack("<f", back) == data


@settings(max_examples=100)
@given(st.floats(width=64))
def test_doubles_survive_llvm(value: float) -> None:
    text = to_llvm_text(returning(FloatAttr(value, f64), f64))
    got = jit.compile_llvm_ir(text).function("f", ctypes.c_double)()
    assert struct.pack("<d", got) == struct.pack("<d", value)


def test_an_integer_is_signless() -> None:
    assert "ret i8 -1" in to_llvm_text(returning(IntegerAttr(255, i8), i8))


HEADERS = [
    ("llvm.func @f()", "declare void @f()"),
    ("llvm.func extern_weak @f(i32)", "declare extern_weak void @f(i32)"),
    ("llvm.func @f(!llvm.ptr, ...) -> i32", "declare i32 @f(ptr, ...)"),
    ('llvm.func @"a b"()', 'declare void @"a b"()'),
    ("llvm.func hidden @f()", "declare hidden void @f()"),
    ("llvm.func fastcc @f()", "declare fastcc void @f()"),
    (
        "llvm.func @f(!llvm.ptr {llvm.noalias, llvm.nonnull, llvm.align = 64 : i64, "
        "llvm.dereferenceable = 256 : i64}) -> (f32 {llvm.noundef})",
        "declare noundef float @f(ptr noalias nonnull align 64 dereferenceable(256))",
    ),
    (
        "llvm.func @f(!llvm.ptr {llvm.sret = !llvm.struct<(f32, i32)>}, "
        "!llvm.ptr {llvm.byval = !llvm.array<4 x i8>}, i8 {llvm.signext})",
        "declare void @f(ptr sret({ float, i32 }), ptr byval([4 x i8]), i8 signext)",
    ),
    (
        'llvm.func @f() attributes {passthrough = ["nounwind", "memory(none)", '
        '["frame-pointer", "all"], "own"], no_inline}',
        'declare void @f() "frame-pointer"="all" "own" memory(none) noinline nounwind',
    ),
    (
        'llvm.func @f() attributes {target_cpu = "znver4", '
        'target_features = #llvm.target_features<["+avx2", "-sse4a"]>}',
        'declare void @f() "target-cpu"="znver4" "target-features"="+avx2,-sse4a"',
    ),
    (
        'llvm.func @f(%x: i32 {graph.name = "x"}) attributes {test.for = "cpu", '
        'section = ".fast", alignment = 32 : i64, dso_local}',
        'declare dso_local void @f(i32) section ".fast" align 32',
    ),
    ("llvm.func local_unnamed_addr @f()", "declare void @f() local_unnamed_addr"),
]


@pytest.mark.parametrize(("op", "text"), HEADERS)
def test_function_line(op: str, text: str) -> None:
    declaration = op.replace("%x: ", "")
    assert emitted(declaration).strip() == text


GLOBALS = [
    ("@g() {addr_space = 0 : i32} : f32", "@g = external global float"),
    ("extern_weak @g() : i8", "@g = extern_weak global i8"),
    ("internal constant @g(1 : i32) : i32", "@g = internal constant i32 1"),
    (
        'private unnamed_addr constant @g("hi") {alignment = 16 : i64, '
        'section = ".x"} : !llvm.array<2 x i8>',
        '@g = private unnamed_addr constant [2 x i8] c"hi", section ".x", align 16',
    ),
    ("thread_local @g(1 : i32) : i32", "@g = thread_local global i32 1"),
    ("@g(1 : i32) {dso_local} : i32", "@g = dso_local global i32 1"),
    ("@g(1 : i32) {visibility_ = 1 : i64} : i32", "@g = hidden global i32 1"),
    ("@g(1 : i32) {addr_space = 3 : i32} : i32", "@g = addrspace(3) global i32 1"),
    (
        "@g() : !llvm.struct<(i32, ptr)> { %u = llvm.mlir.zero : "
        "!llvm.struct<(i32, ptr)> %p = llvm.mlir.addressof @g : !llvm.ptr "
        "%e = llvm.getelementptr inbounds %p[0, 1] : (!llvm.ptr) -> !llvm.ptr, "
        "!llvm.struct<(i32, ptr)> "
        "%s = llvm.insertvalue %e, %u[1] : !llvm.struct<(i32, ptr)> "
        "llvm.return %s : !llvm.struct<(i32, ptr)> }",
        "@g = global { i32, ptr } { i32 0, ptr getelementptr inbounds "
        "({ i32, ptr }, ptr @g, i32 0, i32 1) }",
    ),
    (
        "@g() : i64 { %p = llvm.mlir.addressof @g : !llvm.ptr "
        "%i = llvm.ptrtoint %p : !llvm.ptr to i64 llvm.return %i : i64 }",
        "@g = global i64 ptrtoint (ptr @g to i64)",
    ),
]


@pytest.mark.parametrize(("op", "text"), GLOBALS)
def test_global(op: str, text: str) -> None:
    assert emitted(f"llvm.mlir.global {op}").strip() == text


def test_a_named_struct_is_declared_once() -> None:
    text = emitted("""
    llvm.func @f(!llvm.struct<"dims", (i32, i32)>) -> !llvm.struct<"dims", (i32, i32)>
    """)
    assert text == ("%dims = type { i32, i32 }\n\ndeclare %dims @f(%dims)\n")


def test_the_target_of_the_module() -> None:
    text = emitted("""
    builtin.module attributes {
      llvm.target_triple = "x86_64-unknown-linux-gnu", test.other = 1 : i32} {}
    """)
    assert text == 'target triple = "x86_64-unknown-linux-gnu"\n'


def test_a_call_keeps_what_it_says() -> None:
    lines = body_of(
        "%r = llvm.call tail @g(%p, %i) vararg(!llvm.func<f32 (ptr, ...)>) "
        "{arg_attrs = [{llvm.noalias}, {}], res_attrs = [{llvm.noundef}], no_unwind, "
        "fastmathFlags = #llvm.fastmath<nnan>} : (!llvm.ptr, i32) -> f32 "
        "llvm.return } llvm.func @g(!llvm.ptr, ...) -> f32 "
        "llvm.func @h() { llvm.return",
        "%p: !llvm.ptr, %i: i32",
    )
    assert lines.split("\n")[0] == (
        "%2 = tail call nnan noundef float (ptr, ...) "
        "@g(ptr noalias %0, i32 %1) nounwind"
    )


def test_metadata_is_shared() -> None:
    text = emitted("""
    llvm.func @f(%p: !llvm.ptr, %x: f32) {
      llvm.store %x, %p {nontemporal} : f32, !llvm.ptr
      llvm.store %x, %p {nontemporal} : f32, !llvm.ptr
      llvm.return
    }
    """)
    assert text.count("!nontemporal !0") == 2
    assert text.endswith("!0 = !{i32 1}\n")


def compiled(text: str) -> jit.JitModule:
    return jit.compile_llvm_ir(emitted(text))


def test_block_arguments_become_phis() -> None:
    function = compiled("""
    llvm.func @sum(%n: i64) -> i64 {
      %z = llvm.mlir.constant(0) : i64
      %o = llvm.mlir.constant(1) : i64
      llvm.br ^loop(%z, %z : i64, i64)
    ^loop(%i: i64, %s: i64):
      %t = llvm.add %s, %i : i64
      %j = llvm.add %i, %o : i64
      %c = llvm.icmp "slt" %j, %n : i64
      llvm.cond_br %c, ^loop(%j, %t : i64, i64), ^exit(%t : i64)
    ^exit(%r: i64):
      llvm.return %r : i64
    }
    """).function("sum", ctypes.c_int64, ctypes.c_int64)
    assert function(10) == 45


def test_two_edges_between_the_same_blocks() -> None:
    function = compiled("""
    llvm.func @f(%x: i32, %a: i32, %b: i32) -> i32 {
      llvm.switch %x : i32, ^join(%x : i32) [
        1: ^join(%a : i32),
        -2: ^join(%b : i32),
        3: ^three
      ]
    ^three:
      %c = llvm.icmp "slt" %a, %b : i32
      llvm.cond_br %c, ^join(%a : i32), ^join(%b : i32)
    ^join(%r: i32):
      llvm.return %r : i32
    }
    """).function("f", ctypes.c_int32, *[ctypes.c_int32] * 3)
    assert [function(x, 10, 20) for x in (1, -2, 3, 4)] == [10, 20, 10, 4]
    assert function(3, 20, 10) == 10


def test_the_entry_block_may_be_a_loop() -> None:
    """LLVM's may not, so one more block goes before it."""
    type = llvm.LLVMFunctionType([i32], i32)
    head, exit_ = Block(arg_types=[i32]), Block(arg_types=[i32])
    one = llvm.ConstantOp(IntegerAttr(1, i32), i32)
    ten = llvm.ConstantOp(IntegerAttr(10, i32), i32)
    total = llvm.AddOp(head.args[0], one.result)
    small = llvm.ICmpOp(total, ten, "slt")
    branch = llvm.CondBrOp(small, head, [total], exit_, [total])
    head.add_ops([one, ten, total, small, branch])
    exit_.add_op(llvm.ReturnOp(exit_.args[0]))
    function = llvm.FuncOp(
        "f", type, llvm.LinkageAttr("external"), body=Region([head, exit_])
    )
    text = to_llvm_text(ModuleOp([function]))
    run = jit.compile_llvm_ir(text).function("f", ctypes.c_int32, ctypes.c_int32)
    assert (run(3), run(50)) == (10, 51)


def test_an_unreachable_block_has_no_phis() -> None:
    emitted("""
    llvm.func @f() -> i32 {
      %z = llvm.mlir.constant(0 : i32) : i32
      llvm.return %z : i32
    ^dead(%x: i32):
      llvm.return %x : i32
    }
    """)


ERRORS = [
    (
        "llvm.mlir.global @g() : index",
        "no LLVM type for 'index'",
    ),
    (
        "llvm.func internal @f()",
        "expected linkage external or extern_weak of a declaration, but got 'internal'",
    ),
    (
        "llvm.func extern_weak @f() { llvm.return }",
        "expected no body of a function of linkage 'extern_weak'",
    ),
    (
        "llvm.func @f() attributes {personality = @p}",
        "no LLVM form for attribute 'personality' of 'llvm.func'",
    ),
    (
        "llvm.func @f(i32 {llvm.odd})",
        "no LLVM form for argument attribute 'llvm.odd'",
    ),
    (
        'llvm.func @f(i32 {llvm.align = "x"})',
        "expected an integer for 'llvm.align', but got '\"x\"'",
    ),
    (
        "llvm.func @f() attributes {passthrough = [1 : i32]}",
        "expected a string or a pair of strings, but got '1 : i32'",
    ),
    (
        "llvm.mlir.global internal @g() : i32",
        "expected a value, or linkage external or extern_weak, "
        "but got linkage 'internal'",
    ),
    (
        "llvm.mlir.global @g(1.0 : f32) : i32",
        "no constant of type 'i32' from '1.000000e+00 : f32'",
    ),
    (
        "llvm.mlir.global @g(1.0 : f32) : f64",
        "no constant of type 'f64' from '1.000000e+00 : f32'",
    ),
    (
        "llvm.mlir.global @g(dense<1> : tensor<2xi32>) : !llvm.array<3 x i32>",
        "no constant of type '!llvm.array<3 x i32>' from 'tensor<2xi32>'",
    ),
    (
        "llvm.mlir.global @g(dense<1> : tensor<9999999xi8>) : "
        "!llvm.array<9999999 x i8>",
        "expected at most 4194304 elements of a constant in LLVM's text, but got "
        "9999999; a 'graph.weight' has no such limit",
    ),
    (
        'llvm.mlir.global @g("abc") : !llvm.array<2 x i8>',
        "expected the type '!llvm.array<3 x i8>' for a string of 3 bytes, "
        "but got '!llvm.array<2 x i8>'",
    ),
    (
        "llvm.mlir.global @g([1 : i32]) : !llvm.struct<(i32, i32)>",
        "expected 2 values for '!llvm.struct<(i32, i32)>', but got '[1 : i32]'",
    ),
    (
        "llvm.mlir.global @g(1 : i32) {comdat = @c} : i32",
        "no LLVM form for attribute 'comdat' of 'llvm.mlir.global'",
    ),
    (
        "llvm.mlir.global @g() : i32 { %a = llvm.mlir.constant(1 : i32) : i32 "
        "%b = llvm.add %a, %a : i32 llvm.return %b : i32 }",
        "no constant expression for 'llvm.add'",
    ),
    (
        "llvm.mlir.global @g() : i32 { %a = llvm.mlir.constant(1) : i64 "
        "llvm.return %a : i64 }",
        "expected an initialiser of type 'i32'",
    ),
    (
        "llvm.func @f(%p: !llvm.ptr) { %a = llvm.load %p atomic acquire "
        ": !llvm.ptr -> i32 llvm.return }",
        "expected an alignment of the atomic load",
    ),
    (
        "llvm.func @f(%x: f32) { %y = llvm.fadd %x, %x {odd} : f32 llvm.return }",
        "no LLVM form for attribute 'odd' of 'llvm.fadd'",
    ),
    (
        "llvm.func @f(%x: i32) { %y = builtin.unrealized_conversion_cast "
        "%x : i32 to i64 llvm.return }",
        "no LLVM form for 'builtin.unrealized_conversion_cast'",
    ),
    ("builtin.module {}", "no LLVM form for 'builtin.module'"),
    (
        'llvm.func @f(!llvm.struct<"s", (i32)>, !llvm.struct<"s", (f32)>)',
        "expected one body for struct 's', but got '{ i32 }' and '{ float }'",
    ),
]


@pytest.mark.parametrize(("text", "message"), ERRORS)
def test_what_llvm_cannot_say(text: str, message: str) -> None:
    with pytest.raises(OpError) as caught:
        to_llvm_text(parse(f"builtin.module {{ {text} }}"))
    assert caught.value.message == message


def test_a_vector_has_one_dimension() -> None:
    text = """
    llvm.func @f(%p: !llvm.ptr) {
      %v = llvm.load %p : !llvm.ptr -> vector<2x2xf32>
      llvm.return
    }
    """
    with pytest.raises(OpError, match="expected a vector of one dimension"):
        to_llvm_text(parse(text))
