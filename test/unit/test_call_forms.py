"""Calls of regions become calls of kernels, in whatever form and place they are."""

from typing import Any, TypeVar

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation

import transom
from transom.dialects import graph, tir
from transom.dialects.parser import parse_ir
from transom.dialects.verifier import verify_module
from transom.interpreters.interpreter import Interpreter
from transom.registry import new_context
from transom.targets.convert_graph_to_tir import ConvertGraphToTirPass

OpT = TypeVar("OpT", bound=Operation)

T = "tensor<4xf32>"
PLACE = "attributes {target.for = #target.place<@cpu, ?, ?>}"
DEVICE = 'target.device @cpu {targets = [#llvm_cpu.target<cpu = "host">]}\n'


def region(name: str, body: str, results: str = "%y", inputs: str = "%x") -> str:
    """A graph function on tensors of four floats."""
    types = ", ".join(T for _ in results.split(", "))
    arguments = ", ".join(f"{argument}: {T}" for argument in inputs.split(", "))
    return (
        f"func.func private @{name}({arguments}) -> ({types}) {PLACE} {{\n"
        f"{body}\n  func.return {results} : {types}\n}}\n"
    )


def main(body: str, result: str = "%r", inputs: str = "%x") -> str:
    arguments = ", ".join(f"{argument}: {T}" for argument in inputs.split(", "))
    types = ", ".join(T for _ in result.split(", "))
    return (
        f"func.func @main({arguments}) -> ({types}) {{\n{body}\n"
        f"  func.return {result} : {types}\n}}\n"
    )


EXP = region("exp", f"  %y = graph.exp %x : {T}")
MANY = region(
    "many",
    f"  %a = graph.exp %x : {T}\n  %b = graph.softmax %a axis 0 : {T}\n"
    f"  %c = graph.neg %b : {T}\n  %y = graph.add %c, %x : {T}, {T} -> {T}",
)
SEVERAL = region(
    "several",
    f"  %a = graph.exp %x : {T}\n  %b = graph.neg %a : {T}\n"
    f"  %w = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : {T}",
    "%b, %x, %a, %b, %w",
)
TYPES5 = ", ".join([T] * 5)


def call(name: str, values: str = "%x", results: str = T) -> str:
    inputs = ", ".join(T for _ in values.split(", "))
    return f"func.call @{name}({values}) : ({inputs}) -> ({results})"


MODULES: dict[str, tuple[str, int]] = {
    "direct": (EXP + main(f"  %r = {call('exp')}"), 1),
    "many kernels": (MANY + main(f"  %r = {call('many')}"), 4),
    "several results": (
        SEVERAL
        + main(
            f"  %r:5 = {call('several', results=TYPES5)}",
            "%r#4, %r#2, %r#1, %r#0, %r#3",
        ),
        2,
    ),
    "one of several results": (
        SEVERAL + main(f"  %r:5 = {call('several', results=TYPES5)}", "%r#0"),
        2,
    ),
    "twice in a row": (
        EXP + main(f"  %a = {call('exp')}\n  %r = {call('exp', '%a')}"),
        2,
    ),
    "two inputs that are one": (
        region("add", f"  %y = graph.sub %a, %b : {T}, {T} -> {T}", inputs="%a, %b")
        + main(f"  %r = {call('add', '%x, %x')}"),
        1,
    ),
    "several callers": (
        EXP
        + main(f"  %a = {call('exp')}\n  %r = {call('helper', '%a')}")
        + main(f"  %r = {call('exp')}").replace("@main", "private @helper"),
        2,
    ),
    "in the arms of a branch": (
        EXP
        + MANY
        + main(
            "  %c = arith.constant true\n"
            f"  %r = scf.if %c -> ({T}) {{\n    %a = {call('exp')}\n"
            f"    scf.yield %a : {T}\n  }} else {{\n    %b = {call('many')}\n"
            f"    scf.yield %b : {T}\n  }}"
        ),
        5,
    ),
    "in a loop that carries tensors": (
        MANY
        + main(
            "  %0 = arith.constant 0 : index\n  %1 = arith.constant 1 : index\n"
            "  %3 = arith.constant 3 : index\n"
            f"  %r = scf.for %i = %0 to %3 step %1 iter_args(%v = %x) -> ({T}) {{\n"
            f"    %a = {call('many', '%v')}\n    scf.yield %a : {T}\n  }}"
        ),
        4,
    ),
    "before and after a condition": (
        EXP
        + MANY
        + main(
            "  %0 = arith.constant 0 : index\n  %1 = arith.constant 1 : index\n"
            "  %3 = arith.constant 3 : index\n"
            f"  %n, %r = scf.while (%i = %0, %v = %x) : (index, {T}) "
            f"-> (index, {T}) {{\n"
            f"    %a = {call('exp', '%v')}\n    %c = arith.cmpi slt, %i, %3 : index\n"
            f"    scf.condition(%c) %i, %a : index, {T}\n  }} do {{\n"
            f"  ^bb0(%j: index, %w: {T}):\n    %k = arith.addi %j, %1 : index\n"
            f"    %b = {call('many', '%w')}\n    scf.yield %k, %b : index, {T}\n  }}"
        ),
        5,
    ),
}


def module_of(text: str) -> ModuleOp:
    module = parse_ir(new_context(), DEVICE + text, "a.mlir")
    verify_module(module)
    return module


def lowered(text: str) -> ModuleOp:
    module = module_of(text)
    ConvertGraphToTirPass().apply(new_context(), module)
    verify_module(module)
    return module


def outputs(module: ModuleOp) -> list[Any]:
    x = np.array([0.5, -1, 2, 0], np.float32)
    return list(Interpreter(module).run("main", [x]))


def ops_of(root: Operation, kind: type[OpT]) -> list[OpT]:
    return [op for op in root.walk() if isinstance(op, kind)]


@pytest.mark.parametrize("name", MODULES)
def test_calls_in_every_form(name: str) -> None:
    """The numbers stay, no call of a region is left, and main calls so many kernels."""
    text, count = MODULES[name]
    module = lowered(text)
    calls = ops_of(module, tir.CallOp)
    assert len(calls) == count
    left = [c.callee.string_value() for c in ops_of(module, CallOp)]
    assert set(left) <= {"helper"}
    for found, expected in zip(outputs(module), outputs(module_of(text)), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("name", MODULES)
def test_compiled_calls_in_every_form(name: str) -> None:
    text, _ = MODULES[name]
    x = np.array([0.5, -1, 2, 0], np.float32)
    results = transom.compile(module_of(text))(x).values()
    for found, expected in zip(results, outputs(module_of(text)), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_the_kernels_of_a_region_are_named_on_it() -> None:
    module = lowered(MANY + main(f"  %r = {call('many')}"))
    region_ = next(
        op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "many"
    )
    kernels = [op.sym_name.data for op in module.ops if isinstance(op, tir.FuncOp)]
    listed = str(region_.attributes["target.lowered_to"])
    assert listed == f"[{', '.join(f'@{name}' for name in kernels)}]"
    assert len(ops_of(region_, graph.GraphOp)) == 4  # and it is kept as it was


def test_what_is_no_region_is_left_alone() -> None:
    """External functions, functions of the host, and kernels that are there already."""
    others = (
        f"func.func private @external({T}) -> {T}\n"
        f"func.func private @host(%x: {T}) -> {T} {{\n  func.return %x : {T}\n}}\n"
        "tir.func @kernel(read %x: memref<4xf32>, write %y: memref<4xf32>) {\n"
        "  tir.copy %x, %y : memref<4xf32>, memref<4xf32>\n  tir.return\n}\n"
    )
    text = (
        others
        + EXP
        + main(
            f"  %a = {call('external')}\n  %b = {call('host', '%a')}\n"
            f"  %d = tensor.empty() : {T}\n"
            f"  %k = tir.call @kernel(%b : {T}) outs(%d : {T})\n"
            f"  %r = {call('exp', '%k')}"
        )
    )
    before = {op.properties["sym_name"]: str(op) for op in module_of(others).ops}
    module = lowered(text)
    for op in module.ops:
        if op.properties.get("sym_name") in before:
            assert str(op) == before[op.properties["sym_name"]]
    names = [c.callee.string_value() for c in ops_of(module, CallOp)]
    assert names == ["external", "host"]
    kernels = [c.callee_name for c in ops_of(module, tir.CallOp)]
    assert kernels[0] == "kernel" and kernels[1].startswith("exp_")


def test_running_again_changes_nothing() -> None:
    for text, _ in MODULES.values():
        module = lowered(text)
        before = str(module)
        ConvertGraphToTirPass().apply(new_context(), module)
        assert str(module) == before


def test_constants_of_several_functions_do_not_clash() -> None:
    """Equal ones are one weight; others have names of their own."""

    def adds(name: str, values: str) -> str:
        return region(
            name,
            f"  %w = graph.constant dense<[{values}]> : {T}\n"
            f"  %y = graph.add %x, %w : {T}, {T} -> {T}",
        )

    text = (
        adds("a", "1.0, 2.0, 3.0, 4.0")
        + adds("b", "5.0, 6.0, 7.0, 8.0")
        + adds("c", "1.0, 2.0, 3.0, 4.0")
        + main(
            f"  %p = {call('a')}\n  %q = {call('b', '%p')}\n  %r = {call('c', '%q')}"
        )
    )
    module = lowered(text)
    weights = [op for op in module.ops if isinstance(op, graph.WeightOp)]
    assert len({op.sym_name.data for op in weights}) == len(weights) == 2
    kernels = [op for op in module.ops if isinstance(op, tir.FuncOp)]
    assert len(kernels) == 1  # a weight is an argument
    (found,), (expected,) = outputs(module), outputs(module_of(text))
    np.testing.assert_array_equal(found, expected)


def test_names_do_not_depend_on_what_else_is_there() -> None:
    def names(text: str) -> list[str]:
        return [
            op.sym_name.data for op in lowered(text).ops if isinstance(op, tir.FuncOp)
        ]

    alone = names(EXP + main(f"  %r = {call('exp')}"))
    together = names(
        MANY + EXP.replace("%x", "%input") + MODULES["direct"][0][len(EXP) :]
    )
    assert alone[0] in together
