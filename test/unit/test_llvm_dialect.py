"""
The `llvm` dialect: the examples in its docstrings parse and print back to themselves.
"""

import re
from io import StringIO

import pytest
from xdsl.context import Context
from xdsl.dialects import test
from xdsl.dialects.builtin import Builtin, ModuleOp, VectorType, f32, i1, i32
from xdsl.dialects.test import TestOp
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, VerifyException

from transom.dialects import llvm


def context() -> Context:
    ctx = Context()
    for dialect in (Builtin, test.Test, llvm.LLVM):
        ctx.load_dialect(dialect)
    return ctx


def parse(text: str) -> ModuleOp:
    module = Parser(context(), text).parse_module()
    module.verify()
    return module


def printed(op: Operation, generic: bool = False) -> str:
    out = StringIO()
    Printer(out, print_generic_format=generic).print_op(op)
    return out.getvalue()


def assert_roundtrip(text: str) -> ModuleOp:
    module = parse(text)
    for generic in (False, True):
        once = printed(module, generic)
        again = parse(once)
        assert printed(again, generic) == once
        assert again.is_structurally_equivalent(module)
    return module


BODIES = [
    """
    %v = "test.op"() : () -> vector<4xf32>
    %c = llvm.fcmp "olt" %v, %v {fastmathFlags = #llvm.fastmath<nnan>} : vector<4xf32>
    %r = llvm.select %c, %v, %v : vector<4xi1>, vector<4xf32>
    """,
    """
    %p = "test.op"() : () -> !llvm.ptr
    %c = llvm.icmp "eq" %p, %p : !llvm.ptr
    %n = llvm.mlir.zero : !llvm.ptr
    %z = llvm.mlir.zero : vector<4xf32>
    %u = llvm.mlir.poison : vector<4xf32>
    %k = llvm.mlir.constant(1.5 : f32) {test.a} : f32
    %l = llvm.mlir.constant(7) : i64
    """,
    """
    %p = "test.op"() : () -> !llvm.ptr
    %v = llvm.load volatile %p {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
    %w = llvm.load %p atomic acquire {alignment = 4 : i64} : !llvm.ptr -> i32
    %x = llvm.load %p invariant {nontemporal} : !llvm.ptr -> vector<8xf32>
    llvm.store volatile %v, %p {alignment = 4 : i64} : vector<8xf32>, !llvm.ptr
    llvm.store %w, %p atomic seq_cst {alignment = 4 : i64} : i32, !llvm.ptr
    llvm.store %v, %p {nontemporal} : vector<8xf32>, !llvm.ptr
    %o = llvm.atomicrmw add %p, %w monotonic {alignment = 4 : i64} : !llvm.ptr, i32
    """,
    """
    %i = "test.op"() : () -> i32
    %v = "test.op"() : () -> vector<4xi32>
    %f = llvm.uitofp nneg %i : i32 to f32
    %g = llvm.uitofp %v : vector<4xi32> to vector<4xf32>
    %s = llvm.fptosi %f : f32 to i8
    %u = llvm.fptoui %g : vector<4xf32> to vector<4xi64>
    %z = llvm.freeze %v : vector<4xi32>
    %e = llvm.extractelement %v[%i : i32] : vector<4xi32>
    %p = "test.op"() : () -> !llvm.ptr
    %q = llvm.addrspacecast %p : !llvm.ptr to !llvm.ptr<3>
    """,
    """
    %p = "test.op"() : () -> !llvm.ptr
    %n = "test.op"() : () -> i64
    %b = "test.op"() : () -> i8
    "llvm.intr.memcpy"(%p, %p, %n) <{isVolatile = false}>
      : (!llvm.ptr, !llvm.ptr, i64) -> ()
    "llvm.intr.memset"(%p, %b, %n) <{isVolatile = true}>
      : (!llvm.ptr, i8, i64) -> ()
    llvm.intr.prefetch %p {rw = 0 : i32, hint = 3 : i32, cache = 1 : i32} : !llvm.ptr
    llvm.intr.trap
    """,
    """
    llvm.func internal fastcc hidden unnamed_addr @f(
        %p: !llvm.ptr {llvm.noalias}, %n: i64) -> (i32 {llvm.noundef})
        attributes {no_inline, test.a} {
      %z = llvm.mlir.constant(0 : i32) : i32
      llvm.return %z : i32
    }
    llvm.func extern_weak @printf(!llvm.ptr {llvm.nonnull}, ...) -> i32
    llvm.func @g(!llvm.ptr, i64 {llvm.signext})
    """,
    """
    %p = "test.op"() : () -> !llvm.ptr
    %m = "test.op"() : () -> vector<4xi1>
    %v = "test.op"() : () -> vector<4xi8>
    %w = llvm.intr.masked.load %p, %m, %v {alignment = 1 : i32}
      : (!llvm.ptr, vector<4xi1>, vector<4xi8>) -> vector<4xi8>
    llvm.intr.masked.store %w, %p, %m {alignment = 1 : i32}
      : vector<4xi8>, vector<4xi1> into !llvm.ptr
    """,
]


@pytest.mark.parametrize("body", BODIES)
def test_roundtrip(body: str) -> None:
    assert_roundtrip(body)


def examples() -> list[tuple[str, str]]:
    """The example of each op that gives the types of all its operands."""
    found: list[tuple[str, str]] = []
    for op in llvm.OPERATIONS:
        match = re.search(r"```mlir\n(.*?)```", op.__doc__ or "", re.DOTALL)
        assert match, f"{op.name} has no example"
        text = " ".join(match[1].split())
        assert op.name in text
        if " : (" in text and ") -> " in text:
            found.append((op.name, text))
    assert len(found) > 40
    return found


@pytest.mark.parametrize(("name", "text"), examples())
def test_the_example_parses(name: str, text: str) -> None:
    call, signature = text.split(" : (", 1)
    operands = re.findall(r"%\w+", call.split(name, 1)[1])
    types = signature.split(") -> ")[0].split(", ")
    sources = [
        f'{operand} = "test.op"() : () -> {type}'
        for operand, type in zip(operands, types, strict=True)
    ]
    assert_roundtrip("\n".join([*dict.fromkeys(sources), text]))


def test_switch() -> None:
    module = assert_roundtrip("""
    llvm.func @f(%x: i32, %a: f32) -> f32 {
      llvm.switch %x : i32, ^default [
        1: ^one(%a : f32),
        -1: ^default
      ]
    ^default:
      llvm.return %a : f32
    ^one(%b: f32):
      llvm.return %b : f32
    }
    """)
    switch = next(op for op in module.walk() if isinstance(op, llvm.SwitchOp))
    assert [number for number, _, _ in switch.cases] == [1, -1]
    assert len(switch.cases[0][2]) == 1


def test_switch_counts_its_operands() -> None:
    text = """
    "llvm.func"() <{sym_name = "f", function_type = !llvm.func<void (i32)>,
      linkage = #llvm.linkage<"external">, CConv = #llvm.cconv<ccc>}> ({
    ^bb0(%x: i32):
      "llvm.switch"(%x, %x) [^bb1, ^bb1] <{case_values = dense<1> : vector<1xi32>,
        case_operand_segments = array<i32: 0>,
        operandSegmentSizes = array<i32: 1, 0, 1>}> : (i32, i32) -> ()
    ^bb1:
      "llvm.return"() : () -> ()
    }) : () -> ()
    """
    with pytest.raises(VerifyException, match="expected 0 case operands, but got 1"):
        parse(text)


def test_an_unknown_predicate_lists_the_known() -> None:
    text = """%v = "test.op"() : () -> f32
    %c = llvm.fcmp "lt" %v, %v : f32"""
    with pytest.raises(ParseError, match="expected one of _false, oeq"):
        parse(text)


def test_a_comparison_of_vectors_gives_a_vector() -> None:
    source = TestOp(result_types=[VectorType(f32, [4])])
    bad = llvm.FCmpOp.create(
        operands=[source.res[0], source.res[0]],
        result_types=[i1],
        properties={
            "predicate": llvm.FCmpOp(source.res[0], source.res[0], "oeq").predicate
        },
    )
    with pytest.raises(
        VerifyException, match=r"expected a result of type 'vector<4xi1>', but got 'i1'"
    ):
        bad.verify()


def test_select_of_lanes_counts_them() -> None:
    source = TestOp(result_types=[VectorType(i1, [8]), VectorType(f32, [4])])
    with pytest.raises(VerifyException, match="expected a vector of 8 lanes"):
        llvm.SelectOp(source.res[0], source.res[1], source.res[1]).verify()


def test_indirect_call() -> None:
    source = TestOp(result_types=[llvm.LLVMPointerType(), i32])
    call = llvm.indirect_call(*source.res, result=i32)
    module = ModuleOp([source, call])
    assert_roundtrip(printed(module))


def test_it_replaces_the_upstream_dialect() -> None:
    names = [op.name for op in llvm.LLVM.operations]
    assert len(names) == len(set(names))
    assert set(names) >= {op.name for op in llvm.upstream.LLVM.operations}


def test_arguments_are_named_or_not() -> None:
    with pytest.raises(ParseError, match="expected all arguments to be named, or none"):
        parse("llvm.func @f(%x: i32, f32)")


def test_nothing_follows_the_variadic_arguments() -> None:
    with pytest.raises(ParseError, match=r"expected '\)' after '...'"):
        parse("llvm.func @f(..., i32)")
