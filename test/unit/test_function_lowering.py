"""
Kernels: their names, what shares one, and the cache.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32, i64
from xdsl.ir import Attribute

import transom
from transom.cache import Count, counted
from transom.dialects import graph, tir
from transom.dialects.parser import parse_ir
from transom.dialects.target import TargetAttr
from transom.dialects.verifier import verify_module
from transom.interpreters.interpreter import Interpreter
from transom.lowering.function_lowering import FunctionLowering
from transom.registry import new_context
from transom.runtime.program import ProgramError
from transom.targets.convert_graph_to_tir import ConvertGraphToTirPass

ROOT = Path(__file__).parents[2]

PLACE = "attributes {target.for = #target.place<@cpu, ?, ?>}"


def lowered(text: str, pass_: FunctionLowering | None = None) -> ModuleOp:
    """The module of a text after `convert-graph-to-tir`, or another lowering."""
    ctx = new_context()
    module = parse_ir(ctx, text, "test.mlir")
    verify_module(module)
    (pass_ or ConvertGraphToTirPass()).apply(ctx, module)
    verify_module(module)
    return module


def kernels_of(module: ModuleOp) -> list[str]:
    return [op.sym_name.data for op in module.ops if isinstance(op, tir.FuncOp)]


def region(body: str, name: str = "region", size: int = 4) -> str:
    type = f"tensor<{size}xf32>"
    return (
        f"func.func private @{name}(%x: {type}) -> {type} {PLACE} {{\n"
        f"  {body} : {type}\n  func.return %y : {type}\n}}\n"
    )


def test_names_do_not_depend_on_the_hash_seed() -> None:
    model = ROOT / "test" / "models" / "rows.mlir"
    script = (
        "import transom\n"
        f"print(transom.lower(transom.load({str(model)!r}), 'scheduled'))\n"
    )
    texts = [
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert texts[0] == texts[1]
    assert "tir.func @" in texts[0]


def test_equal_kernels_are_one() -> None:
    """Names of values, locations and attributes make no difference."""
    module = lowered(
        region("%y = graph.relu %x")
        + region('%y = graph.relu %x {test.hint} : tensor<4xf32> loc("a":1:1) //', "b")
    )
    assert len(kernels_of(module)) == 1


def test_attributes_of_the_call_are_on_the_calls_of_kernels() -> None:
    type = "tensor<4xf32>"
    module = lowered(
        region("%z = graph.relu %x {test.op} : tensor<4xf32>\n%y = graph.exp %z")
        + f"func.func @main(%x: {type}) -> {type} {{\n"
        + f"  %y = func.call @region(%x) {{test.call}} : ({type}) -> {type}\n"
        + f"  func.return %y : {type}\n}}\n"
    )
    calls = [op for op in module.walk() if isinstance(op, tir.CallOp)]
    assert [[*call.attributes] for call in calls] == [
        ["test.call", "test.op"],
        ["test.call"],
    ]


def test_other_content_is_another_kernel() -> None:
    module = lowered(
        region("%y = graph.relu %x")
        + region("%y = graph.relu %x", "larger", 8)
        + region("%y = graph.relu %x", "elsewhere").replace("@cpu", "@npu")
    )
    assert len(set(kernels_of(module))) == 3


def test_a_name_that_is_taken_gets_more_digits() -> None:
    (name,) = kernels_of(lowered(region("%y = graph.relu %x")))
    module = lowered(
        region("%y = graph.relu %x")
        + f"func.func private @{name}(tensor<4xf32>) -> tensor<4xf32>\n"
    )
    (longer,) = kernels_of(module)
    assert longer.startswith(name) and len(longer) == len(name) + 8


def test_a_kernel_that_is_there_is_used() -> None:
    """Written by hand, or lowered before."""
    first = lowered(region("%y = graph.relu %x"))
    (name,) = kernels_of(first)
    kernel = next(op for op in first.ops if isinstance(op, tir.FuncOp))
    main = (
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %y = func.call @region(%x) : (tensor<4xf32>) -> tensor<4xf32>\n"
        "  func.return %y : tensor<4xf32>\n}\n"
    )
    module = lowered(main + region("%y = graph.relu %x") + str(kernel))
    assert kernels_of(module) == [name]
    (found,) = Interpreter(module).run("main", [np.array([-1, 2, -3, 4], np.float32)])
    assert found.tolist() == [0, 2, 0, 4]


def test_nested_modules_have_kernels_of_their_own() -> None:
    inner = region("%y = graph.relu %x")
    module = lowered(f"builtin.module {{\n{inner}}}\n{region('%y = graph.exp %x')}")
    (nested,) = (op for op in module.ops if isinstance(op, ModuleOp))
    assert [name.split("_")[0] for name in kernels_of(module)] == ["exp"]
    assert [name.split("_")[0] for name in kernels_of(nested)] == ["relu"]


@dataclass(frozen=True)
class Recorded(ConvertGraphToTirPass):
    """Remembers what it was asked for."""

    calls: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    identity: str = "a"

    def __repr__(self) -> str:
        return "Recorded()"

    def lower_kernels(
        self, ctx: Context, module: ModuleOp, target: TargetAttr | None
    ) -> None:
        self.calls.append((str(target), len(tuple(module.ops))))
        super().lower_kernels(ctx, module, target)

    def code_identity(self, target: TargetAttr | None) -> Sequence[str]:
        return (self.identity,)


def test_kernels_are_lowered_per_target_in_the_order_of_appearance() -> None:
    def on(device: str, name: str, op: str) -> str:
        return region(f"%y = graph.{op} %x", name).replace("@cpu", f"@{device}")

    targets = ['#llvm_cpu.target<cpu = "znver4">', '#llvm_cpu.target<cpu = "znver3">']
    text = (
        f"target.device @one {{targets = [{targets[0]}]}}\n"
        f"target.device @two {{targets = [{targets[1]}]}}\n"
        + on("two", "a", "relu")
        + on("one", "b", "relu")
        + on("two", "c", "exp")
        + on("nowhere", "d", "relu")
    )
    record = Recorded(identity=uuid4().hex)
    lowered(text, record)
    assert record.calls == [(targets[1], 2), (targets[0], 1), ("None", 1)]


def test_other_code_makes_other_entries_under_the_same_names() -> None:
    text = region("%y = graph.relu %x")
    first, again, other = (Recorded(identity=f"{uuid4()}") for _ in range(3))
    names = {
        tuple(kernels_of(lowered(text, pass_)))
        for pass_ in (first, first, Recorded(again.calls, first.identity), other)
    }
    assert len(names) == 1
    assert [len(pass_.calls) for pass_ in (first, again, other)] == [1, 0, 1]


def test_the_cache_tells_what_it_found() -> None:
    text = region("%y = graph.clamp %x min 0.1234 : f32 max 0.5678 : f32")
    pass_ = Recorded(identity=uuid4().hex)
    with counted() as first_counts:
        first = lowered(text, pass_)
    with counted() as second_counts:
        second = lowered(text, pass_)
    assert first_counts["convert-graph-to-tir"] == Count(missed=1)
    assert second_counts["convert-graph-to-tir"] == Count(memory=1)
    assert str(first) == str(second)
    assert len(pass_.calls) == 1


@pytest.mark.parametrize("what", ["place", "target", "option", "content"])
def test_what_makes_another_entry(what: str) -> None:
    """All that the lowering may depend on; nothing is found for another."""

    @dataclass(frozen=True)
    class Optional(Recorded):
        option: int = 0

        def __repr__(self) -> str:
            return f"Optional({self.option})"

    def text(cpu: str = "znver4", memory: str = "?", op: str = "relu") -> str:
        device = (
            f'target.device @cpu {{targets = [#llvm_cpu.target<cpu = "{cpu}">], '
            "memories = [@dram]}\ntarget.memory @dram"
        )
        body = region(f"%y = graph.{op} %x").replace("@cpu, ?, ?", f"@cpu, ?, {memory}")
        return f"{device}\n{body}"

    identity = uuid4().hex
    changed = {
        "place": text(memory="@dram"),
        "target": text(cpu="znver3"),
        "option": text(),
        "content": text(op="exp"),
    }[what]
    lowered(text(), Optional(identity=identity))
    other = Optional(identity=identity, option=int(what == "option"))
    lowered(changed, other)
    assert len(other.calls) == 1
    again = Optional(identity=identity)
    lowered(text(), again)
    assert again.calls == []


def program(text: str) -> "transom.Program":
    return transom.compile(parse_ir(new_context(), text, "test.mlir"))


FAILURES: list[tuple[str, str, list[tuple[int, ...]], str]] = [
    (
        "graph.matmul %0, %1 : tensor<?x?xf32>, tensor<?x?xf32> -> tensor<?x?xf32>",
        "tensor<?x?xf32>",
        [(2, 3), (4, 2)],
        "'graph.matmul': dimension 1 of operand 0 is not that of dimension 0",
    ),
    (
        "graph.add %0, %1 : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>",
        "tensor<?xf32>",
        [(2,), (3,)],
        "'graph.add': dimension 0 of operand 1 does not broadcast",
    ),
    (
        "graph.slice %0 starts [2] sizes [2] steps [1] "
        ": tensor<?xf32> -> tensor<2xf32>",
        "tensor<2xf32>",
        [(3,)],
        "'graph.slice': the slice leaves dimension 0",
    ),
    (
        "graph.slice %0 starts [-4] sizes [-1] steps [1] "
        ": tensor<?xf32> -> tensor<?xf32>",
        "tensor<?xf32>",
        [(3,)],
        "'graph.slice': the slice leaves dimension 0",
    ),
    (
        "graph.reshape %0 to [2, -1] : tensor<?xf32> -> tensor<2x?xf32>",
        "tensor<2x?xf32>",
        [(5,)],
        "'graph.reshape': the elements do not fill the shape",
    ),
    (
        "graph.max_pool2d %0 kernel [3, 3] "
        ": tensor<1x1x?x?xf32> -> tensor<1x1x?x?xf32>",
        "tensor<1x1x?x?xf32>",
        [(1, 1, 4, 2)],
        "'graph.max_pool2d': dimension 3 of operand 0 is below the window",
    ),
    (
        "graph.relu %0 : tensor<?xf32> -> tensor<4xf32>",
        "tensor<4xf32>",
        [(3,)],
        "'graph.relu': dimension 0 of result 0 is not 4",
    ),
]


@pytest.mark.parametrize("op, result, shapes, message", FAILURES)
def test_wrong_sizes_are_found_at_run_time(
    op: str, result: str, shapes: list[tuple[int, ...]], message: str
) -> None:
    """Before a kernel reads or writes outside of its arrays."""
    operands = op.split(" : ")[1].split(" -> ")[0].split(", ")
    args = ", ".join(f"%{i}: {type}" for i, type in enumerate(operands))
    text = (
        f"func.func @main({args}) -> {result} {{\n"
        f"  %y = {op}\n  func.return %y : {result}\n}}\n"
    )
    inputs = [np.zeros(shape, np.float32) for shape in shapes]
    with pytest.raises(ProgramError) as caught:
        program(text)(*inputs)
    assert message in str(caught.value)


@pytest.mark.parametrize("size", (0, 3))
def test_gather_of_nothing(size: int) -> None:
    """Nothing can be gathered of nothing, but no indices are none too many."""
    data, places = graph.tensor((None,), f32), graph.tensor((None,), i64)
    types: tuple[Attribute, ...] = (data, places)
    args = ", ".join(f"%{i}: {type}" for i, type in enumerate(types))
    compiled = program(
        f"func.func @main({args}) -> {data} {{\n"
        f"  %y = graph.gather %0, %1 axis 0 : {data}, {places} -> {data}\n"
        f"  func.return %y : {data}\n}}\n"
    )
    empty = np.zeros(0, np.float32)
    at = np.zeros(size, np.int64)
    if size:
        with pytest.raises(ProgramError, match="there is nothing along axis 0"):
            compiled(empty, at)
    else:
        (found,) = compiled.run({"arg0": empty, "arg1": at}).values()
        assert found.shape == (0,)
