"""
Inputs on which other drivers are known to fail, and what `transom-opt` does instead.

Each test names its issue: what the users who filed it asked for is what is checked.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import pytest
from conversion_cases import index_to_i64, pattern, rename
from opt_program import Run, run_fixture
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from transom.lowering.conversion import (
    ConversionPattern,
    ConversionRewriter,
    ConversionTarget,
    Operands,
    Refusal,
    TypeConverter,
    analyze_conversion,
    apply_full_conversion,
    apply_partial_conversion,
)
from transom.registry import Registry, registry
from transom.tools import opt_driver

__all__ = ["run_fixture"]


def refuse(
    op: Operation, operands: Operands, rewriter: ConversionRewriter
) -> Refusal | None:
    return Refusal("weight rank is not 2 or 3")


@dataclass(frozen=True)
class ConvertG(ModulePass):
    """Converts the dialect `g`, as a user's conversion would."""

    name = "convert-g-to-h"

    mode: str = "full"

    patterns: ClassVar[Sequence[ConversionPattern[Operation]]] = ()
    converter: ClassVar[TypeConverter | None] = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = ConversionTarget()
        target.add_illegal_dialect("g")
        patterns, converter = self.patterns, self.converter
        if self.mode == "full":
            apply_full_conversion(op, target, patterns, converter)
        elif self.mode == "partial":
            apply_partial_conversion(op, target, patterns, converter)
        else:
            print(analyze_conversion(op, target, patterns, converter))


def convert(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    *patterns: ConversionPattern[Operation],
    converter: TypeConverter | None = None,
    mode: str = "full",
) -> tuple[int, str, str]:
    """Run a conversion on a text with unregistered ops."""
    cls = type("Convert", (ConvertG,), {"patterns": patterns, "converter": converter})
    fresh = Registry(dialects=registry().dialects, emitters=registry().emitters)
    fresh.passes.register(cls.name, lambda: cls)
    monkeypatch.setattr(opt_driver, "registry", lambda: fresh)
    flags = ("-p", f"convert-g-to-h{{mode={mode}}}", "--allow-unregistered-dialect")
    result = run(text, *flags)
    return result.status, result.out, result.err


def test_an_illegal_op_is_shown_with_types_and_place(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    # llvm-project#182729
    text = '%0 = "test.op"() : () -> i8\n%1 = "g.a"(%0) : (i8) -> vector<4xf32>\n'
    status, out, err = convert(run, monkeypatch, text)
    assert (status, out) == (1, "")
    assert err == (
        "a.mlir:2:1: error: no legal form for 'g.a' x1 (no pattern); its type is "
        "(i8) -> vector<4xf32>\n"
        '%1 = "g.a"(%0) : (i8) -> vector<4xf32>\n'
        "^\n"
    )


def test_a_missing_materialization_is_named_with_its_types(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    # llvm-project#207689
    text = '%0 = "test.op"() : () -> index\n"g.b"(%0) : (index) -> ()\n'
    status, _, err = convert(
        run, monkeypatch, text, rename("g.b", "h.b", name="P"), converter=index_to_i64()
    )
    assert status == 1
    assert err.startswith(
        "a.mlir:2:1: error: no legal form for 'g.b' x1 (P: no target materialization "
        "from 'index' to 'i64' for operand 0; see "
        "TypeConverter.add_target_materialization); its type is (index) -> ()\n"
    )


def test_what_a_partial_conversion_leaves_is_an_error_or_listed(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    # tensorflow/mlir#43
    text = '"g.a"() : () -> ()\n"o.b"() : () -> ()\n'
    rename_a = rename("g.a", "h.a")
    status, out, err = convert(run, monkeypatch, text, rename_a, mode="partial")
    assert (status, err) == (0, "")
    assert '"h.a"' in out and '"o.b"' in out
    status, _, err = convert(run, monkeypatch, text, mode="partial")
    assert status == 1
    assert err.startswith("a.mlir:1:1: error: no legal form for 'g.a' x1 (no pattern)")
    status, out, _ = convert(run, monkeypatch, text, mode="analysis")
    assert status == 0
    assert out.startswith("no legal form for 'g.a' x1 (no pattern); its type is () ->")


def test_all_unsupported_ops_with_counts_in_one_run(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    # torch-mlir#2028
    text = "\n".join(f'"g.{op}"() : () -> ()' for op in "abacba")
    status, _, err = convert(run, monkeypatch, text)
    assert status == 1
    messages = [line for line in err.splitlines() if line.startswith("a.mlir")]
    why = "(no pattern); its type is () -> ()"
    assert messages == [
        f"a.mlir:1:1: error: no legal form for 'g.a' x3 {why}",
        "a.mlir:3:1: note: also here",
        "a.mlir:6:1: note: also here",
        f"a.mlir:2:1: note: no legal form for 'g.b' x2 {why}",
        "a.mlir:5:1: note: also here",
        f"a.mlir:4:1: note: no legal form for 'g.c' x1 {why}",
    ]


def test_the_op_in_a_wrapper_is_named(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    # torch-mlir#4575
    text = (
        '"g.operator"() {name = "aten.foo"} : () -> () loc("model.py":7:3)\n'
        '"g.operator"() {name = "aten.bar"} : () -> ()\n'
    )
    status, _, err = convert(run, monkeypatch, text)
    assert status == 1
    assert err.splitlines()[0] == (
        "model.py:7:3: error: no legal form for 'g.operator' of 'aten.foo' x1 "
        "(no pattern); its type is () -> ()"
    )
    assert "a.mlir:2:1: note: no legal form for 'g.operator' of 'aten.bar' x1" in err


def test_the_consumer_is_blamed_with_its_reason(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    # torch-mlir#4327 and #2096: the reason of the pattern, once, at its op.
    text = '%0 = "g.constant"() : () -> i64\n"g.pad"(%0) : (i64) -> ()\n'
    pad = pattern("g.pad", refuse, name="ConvertPad")
    status, _, err = convert(run, monkeypatch, text, pad)
    assert status == 1
    assert err == (
        "a.mlir:2:1: error: no legal form for 'g.pad' x1 (ConvertPad: weight rank is "
        "not 2 or 3); its type is (i64) -> ()\n"
        '"g.pad"(%0) : (i64) -> ()\n'
        "^\n"
        "a.mlir:1:1: note: no legal form for 'g.constant' x1 (no pattern, used by "
        "'g.pad'); its type is () -> i64\n"
        '%0 = "g.constant"() : () -> i64\n'
        "^\n"
    )


@pytest.mark.parametrize("flags", [(), ("--print-op-generic",)])
def test_what_is_printed_parses(run: Run, flags: tuple[str, ...]) -> None:
    # iree#20802: `opt generic.mlir | opt`, here with operands that optional parts have.
    text = """
func.func @f(%m: memref<8x8xf32>, %v: vector<4xf32>, %i: index, %b: i1) {
  %0 = arith.constant 0.0 : f32
  %1 = vector.transfer_read %m[%i, %i], %0 {in_bounds = [true]} : memref<8x8xf32>, vector<4xf32>
  vector.transfer_write %v, %m[%i, %i] {in_bounds = [true]} : vector<4xf32>, memref<8x8xf32>
  %2 = memref.alloc(%i) {alignment = 64 : i64} : memref<?xf32>
  %3 = memref.subview %m[%i, 0] [4, %i] [1, 2] : memref<8x8xf32> to memref<4x?xf32, strided<[8, 2], offset: ?>>
  scf.if %b {
  }
  func.return
}
"""  # noqa: E501
    printed = run(text, *flags)
    assert (printed.status, printed.err) == (0, "")
    again = run(printed.out, *flags, file="printed.mlir")
    assert (again.status, again.out) == (0, printed.out)
    assert run(text, "--verify-roundtrip").status == 0


def test_large_hexadecimal_elements_come_back_as_they_were(run: Run) -> None:
    # xdsl#2876
    digits = bytes(range(256)).hex().upper() * 64
    line = f'%0 = arith.constant dense<"0x{digits}"> : tensor<64x64xf32>'
    result = run(f"builtin.module {{\n  {line}\n}}\n")
    assert (result.status, result.err) == (0, "")
    assert result.out == f"builtin.module {{\n  {line}\n}}\n"


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        # xdsl#1971, the bytes of i8, f32, bf16 and of one element for all
        ('dense<"0x01FF"> : tensor<2xi8>', "dense<[1, -1]> : tensor<2xi8>"),
        (
            'dense<"0x0000803F000000C0"> : tensor<2xf32>',
            "dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf32>",
        ),
        (
            'dense<"0x803F00C0"> : tensor<2xbf16>',
            "dense<[1.000000e+00, -2.000000e+00]> : tensor<2xbf16>",
        ),
        ('dense<"0x0000803F"> : tensor<2xf32>', "dense<1.000000e+00> : tensor<2xf32>"),
        ("dense<0x7FC00000> : tensor<1xf32>", "dense<0x7fc00000> : tensor<1xf32>"),
        # xdsl#4691, parameters that may be left out
        ("#target.place<@cpu, ?, ?>", "#target.place<@cpu, ?, ?>"),
        ("memref<4xf32, strided<[1]>>", "memref<4xf32, strided<[1]>>"),
        (
            "memref<4xf32, strided<[1], offset: ?>, 3 : i32>",
            "memref<4xf32, strided<[1], offset: ?>, 3 : i32>",
        ),
        ("!llvm.ptr", "!llvm.ptr"),
        ("!llvm.ptr<3>", "!llvm.ptr<3>"),
    ],
)
def test_elements_and_parameters_as_in_mlir(run: Run, text: str, printed: str) -> None:
    result = run(f'"test.op"() {{a = {text}}} : () -> ()\n')
    assert result.err == ""
    assert f'"test.op"() {{a = {printed}}} : () -> ()\n' in result.out


def test_a_branch_to_a_branch_is_canonicalized_right(run: Run) -> None:
    # xdsl#3281: what a pass leaves behind is verified, and the pass is named.
    text = """
func.func @f(%b: i1, %x: i32) -> i32 {
  cf.cond_br %b, ^bb1(%x : i32), ^bb2
^bb1(%y: i32):
  cf.br ^bb3(%y : i32)
^bb2:
  %c = arith.constant 1 : i32
  cf.br ^bb3(%c : i32)
^bb3(%z: i32):
  func.return %z : i32
}
"""
    result = run(text, "-p", "canonicalize", "--verify-roundtrip")
    assert (result.status, result.err) == (0, "")
