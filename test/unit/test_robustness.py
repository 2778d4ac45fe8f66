"""
Modules that nobody writes on purpose: they compute what the reference says, or end in
an error at a place of the text.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import transom
from transom.dialects.diagnostics import OpError
from transom.dialects.parser import parse_ir
from transom.dialects.verifier import verify_module
from transom.registry import new_context
from transom.runtime.comparison import compare_all
from transom.runtime.program import ProgramError
from transom.testing import interpret, random_inputs


def module_of(text: str) -> ModuleOp:
    """A module that verifies."""
    module = parse_ir(new_context(), text, "m.mlir")
    verify_module(module)
    return module


def agrees(text: str, inputs: Mapping[str, Any] | None = None) -> None:
    """Machine code and the reference give the same numbers."""
    module = module_of(text)
    if inputs is None:
        inputs = random_inputs(module)
    expected = interpret(module, inputs)
    differences = compare_all(transom.compile(module).run(inputs), expected)
    assert not differences, "\n".join(map(str, differences))


PROGRAMS = {
    "only constants": """
func.func @main() -> (tensor<4xf32>, tensor<2xi1>, tensor<bf16>, tensor<0xi8>) {
  %a = graph.constant dense<1.5> : tensor<4xf32>
  %b = graph.constant dense<[true, false]> : tensor<2xi1>
  %c = graph.constant dense<2.5> : tensor<bf16>
  %d = graph.constant dense<> : tensor<0xi8>
  func.return %a, %b, %c, %d : tensor<4xf32>, tensor<2xi1>, tensor<bf16>, tensor<0xi8>
}
""",
    "types of a normalization": """
func.func @main(%x: tensor<1x3x2xf32>, %s: tensor<3xf16>, %v: tensor<3xf64>) -> (
    tensor<1x3x2xf32>, tensor<3x3xf16>) {
  %p = graph.exp %v : tensor<3xf64>
  %a = graph.batch_norm %x, %s, %s, %v, %p epsilon 1.0e-05 : tensor<1x3x2xf32>, tensor<3xf16>, tensor<3xf16>, tensor<3xf64>, tensor<3xf64> -> tensor<1x3x2xf32>
  %h = graph.broadcast %s : tensor<3xf16> -> tensor<3x3xf16>
  %q = graph.exp %s : tensor<3xf16>
  %b = graph.batch_norm %h, %s, %v, %s, %q epsilon 1.0e-05 : tensor<3x3xf16>, tensor<3xf16>, tensor<3xf64>, tensor<3xf16>, tensor<3xf16> -> tensor<3x3xf16>
  func.return %a, %b : tensor<1x3x2xf32>, tensor<3x3xf16>
}
""",  # noqa: E501
    "bools and small integers as index": """
func.func @main(%b: tensor<5xi1>, %u: tensor<5xui8>, %i: tensor<5xi8>) -> (
    tensor<5xindex>, tensor<5xindex>, tensor<5xindex>) {
  %c = graph.constant dense<250> : tensor<ui8>
  %w = graph.or %u, %c : tensor<5xui8>, tensor<ui8> -> tensor<5xui8>
  %n = graph.neg %i : tensor<5xi8>
  %x = graph.cast %b : tensor<5xi1> -> tensor<5xindex>
  %y = graph.cast %w : tensor<5xui8> -> tensor<5xindex>
  %z = graph.cast %n : tensor<5xi8> -> tensor<5xindex>
  func.return %x, %y, %z : tensor<5xindex>, tensor<5xindex>, tensor<5xindex>
}
""",
    "padding of index": """
func.func @main(%x: tensor<1x2x5x4xindex>, %w: tensor<3x2x3x3xindex>) -> (
    tensor<2x2x5x7xindex>, tensor<1x3x5x4xindex>, tensor<1x2x5x4xindex>) {
  %p = graph.pad %x low [0, 0, 0, 3] high [1, 0, 0, 0] value 7 : index : tensor<1x2x5x4xindex> -> tensor<2x2x5x7xindex>
  %c = graph.conv2d %x, %w padding [1, 1, 1, 1] : tensor<1x2x5x4xindex>, tensor<3x2x3x3xindex> -> tensor<1x3x5x4xindex>
  %m = graph.max_pool2d %x kernel [3, 3] padding [1, 1, 1, 1] : tensor<1x2x5x4xindex> -> tensor<1x2x5x4xindex>
  func.return %p, %c, %m : tensor<2x2x5x7xindex>, tensor<1x3x5x4xindex>, tensor<1x2x5x4xindex>
}
""",  # noqa: E501
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees_with_the_reference(name: str) -> None:
    agrees(PROGRAMS[name])


ON_TENSORS = """{
  %y = graph.relu %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}
"""
CALL = "func.func{} @{}(%x: tensor<4xf32>) -> tensor<4xf32> "


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected '@main' or one public function, but got 0"),
        (
            "func.func @main(tensor<4xf32>) -> tensor<4xf32>",
            "expected a body of '@main', but it is declared only",
        ),
        (
            "func.func @main() { func.return }",
            "expected '@main' to take or give tensors",
        ),
        (
            "func.func @main(%x: tensor<4xf32>, %n: index) { func.return }",
            "expected tensors as arguments and results of an entry, but argument "
            "'arg1' is of type 'index'; make the function private",
        ),
        (
            "func.func @main(%x: tensor<*xf32>) { func.return }",
            "expected tensors as arguments and results of an entry, but argument "
            "'arg0' is of type 'tensor<*xf32>'; make the function private",
        ),
        (
            "func.func @main(%x: tensor<4xf80>) { func.return }",
            "expected input 'arg0' to have elements of i1, i8 to i64, ui8 to ui64, "
            "index, f16, bf16, f32 or f64, but got 'tensor<4xf80>'",
        ),
        (
            'func.func @main(%x: tensor<4xf32> {graph.name = ""}) { func.return }',
            "expected a name of input 0",
        ),
        (
            CALL.format("", "a") + ON_TENSORS + CALL.format("", "b") + ON_TENSORS,
            "expected '@main' or one public function, but got 2",
        ),
    ],
)
def test_modules_without_an_entry(text: str, message: str) -> None:
    with pytest.raises(OpError) as info:
        transom.compile(module_of(text))
    assert info.value.message == message
    assert info.value.diagnostic().place() == "m.mlir:1:1"


@pytest.mark.parametrize(
    "text",
    [
        CALL.format("", "main") + ON_TENSORS + CALL.format("", "b") + ON_TENSORS,
        CALL.format(" private", "main") + ON_TENSORS,
        CALL.format(" private", "a") + ON_TENSORS + CALL.format("", "b") + ON_TENSORS,
        # Called by another one.
        CALL.format("", "main")
        + ON_TENSORS
        + CALL.format("", "b")
        + ON_TENSORS.replace("graph.relu %x", "func.call @main(%x)").replace(
            ": tensor", ": (tensor<4xf32>) -> tensor", 1
        ),
    ],
)
def test_the_entry_is_main_or_the_public_function(text: str) -> None:
    x = np.array([-1, 2, -3, 4], np.float32)
    (y,) = transom.compile(module_of(text))(x).values()
    assert y.tolist() == [0, 2, 0, 4]


def test_llvm_refuses_a_line() -> None:
    module = module_of("""
builtin.module attributes {target.config = #target.config<phase = "machine">} {
  target.device @host {targets = [#llvm_cpu.target<cpu = "host">]}
  llvm.func @main() -> i32 attributes {executor.signature = #executor.signature<() -> ()>} {
    %0 = llvm.mlir.constant(0 : i64) : i64
    llvm.return %0 : i64
  }
}
""")  # noqa: E501
    with pytest.raises(OpError) as info:
        transom.compile(module)
    assert str(info.value) == (
        "m.mlir:4:3: error: LLVM refuses 'ret i64 0': value doesn't match function "
        "result type 'i32'"
    )


def test_no_memory_for_a_result() -> None:
    module = module_of("""
func.func @main(%x: tensor<f32>) -> tensor<1000000x1000000x10000xf32> {
  %y = graph.broadcast %x : tensor<f32> -> tensor<1000000x1000000x10000xf32>
  func.return %y : tensor<1000000x1000000x10000xf32>
}
""")
    with pytest.raises(ProgramError) as info:
        transom.compile(module)(np.float32(1))
    assert str(info.value) == (
        "no memory for 'result0' of 1000000x1000000x10000xfloat32"
    )
