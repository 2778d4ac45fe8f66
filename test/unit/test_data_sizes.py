"""Results whose sizes depend on elements: `graph.nonzero` at every phase."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Region

import transom
from transom.dialects import executor, graph, tir
from transom.dialects.diagnostics import OpError
from transom.dialects.dtypes import numpy_dtype
from transom.dialects.parser import parse_attribute_text, parse_ir
from transom.dialects.target import place_of, set_phase
from transom.lowering.kernels import Kernel
from transom.lowering.shape_functions import plain_types
from transom.registry import new_context
from transom.runtime import load
from transom.runtime.program import Program, ProgramError
from transom.runtime.signature import InputError
from transom.targets.convert_graph_to_tir import ConvertGraphToTirPass
from transom.targets.llvm_cpu.dialect import LlvmCpuAttr
from transom.targets.llvm_cpu.hooks import LlvmCpuTarget
from transom.testing import check_phases, interpret

N = 'tensor<?x3xf32, #graph.desc<dims = ["N" : 1 to 8]>>'
"""A size with a bound."""

X = np.array([[1, 0, np.nan], [-0.0, 0, 0], [0, 5, 6]], np.float32)


def main(inputs: Sequence[str], body: str, results: str, types: Sequence[str]) -> str:
    arguments = ", ".join(f"%{'xyz'[i]}: {type}" for i, type in enumerate(inputs))
    listed = ", ".join(types)
    return (
        f"func.func @main({arguments}) -> ({listed}) {{\n{body}\n"
        f"  func.return {results} : {listed}\n}}\n"
    )


def module_of(text: str) -> ModuleOp:
    return parse_ir(new_context(), text, "a.mlir")


def nonzero(source: str, type: str, rank: int, name: str = "i") -> str:
    return f"  %{name} = graph.nonzero %{source} : {type} -> tensor<{rank}x?xi64>"


def places(x: Any) -> Any:
    return np.array(np.nonzero(x != 0), np.int64)


def everywhere(text: str, *inputs: Any) -> list[Any]:
    """The outputs of a module, which are the same at every phase in every way."""
    module = module_of(text)
    named = {f"arg{number}": array for number, array in enumerate(inputs)}
    runs = check_phases(module, named)
    assert {run.error for run in runs} == {0.0}
    planned = transom.lower(module, "planned")
    outputs = list(transom.compile(module).run(named).values())
    for phase in (planned, transom.lower(planned, "executable")):
        for found, expected in zip(
            interpret(phase, named).values(), outputs, strict=True
        ):
            np.testing.assert_array_equal(found, expected)
    return outputs


RESULT = main([N], nonzero("x", N, 2), "%i", ["tensor<2x?xi64>"])


@pytest.mark.parametrize(
    "x",
    [X, np.zeros((2, 3), np.float32), np.ones((8, 3), np.float32)],
    ids=["some", "none", "all"],
)
def test_a_result_of_main(x: Any) -> None:
    (found,) = everywhere(RESULT, x)
    np.testing.assert_array_equal(found, places(x))
    assert found.dtype == np.int64


ELEMENTS = ["i1", "i8", "ui8", "i32", "i64", "index", "f16", "bf16", "f64"]


@pytest.mark.parametrize("element", ELEMENTS)
def test_all_kinds_of_elements(element: str) -> None:
    type = f"tensor<5x{element}>"
    dtype = numpy_dtype(parse_attribute_text(new_context(), element))
    text = main([type], nonzero("x", type, 1), "%i", ["tensor<1x?xi64>"])
    (found,) = everywhere(text, np.array([0, 1, 0, 1, 1]).astype(dtype))
    assert found.tolist() == [[1, 3, 4]]


@pytest.mark.parametrize("shape", [(0,), (1,), (4,), (2, 0), (3, 5), (2, 3, 2)])
@pytest.mark.parametrize("is_static", [True, False])
def test_all_shapes(shape: tuple[int, ...], is_static: bool) -> None:
    sizes = "x".join(str(n) if is_static else "?" for n in shape)
    type, rank = f"tensor<{sizes}xi32>", len(shape)
    text = main([type], nonzero("x", type, rank), "%i", [f"tensor<{rank}x?xi64>"])
    x = np.random.default_rng(1).integers(0, 2, shape).astype(np.int32)
    (found,) = everywhere(text, x)
    np.testing.assert_array_equal(found, places(x))


def test_a_constant() -> None:
    """The function of its sizes has tensors, but takes none."""
    constant = "  %x = graph.constant dense<[0, 1, 1]> : tensor<3xi32>\n"
    text = main(
        [], constant + nonzero("x", "tensor<3xi32>", 1), "%i", ["tensor<1x?xi64>"]
    )
    (found,) = everywhere(text)
    assert found.tolist() == [[1, 2]]


SUM = (
    "  %a = graph.add %i, %i : tensor<2x?xi64>, tensor<2x?xi64> -> tensor<2x?xi64>\n"
    "  %s = graph.reduce sum %a axes [1] : tensor<2x?xi64> -> tensor<2xi64>"
)


@pytest.mark.parametrize("type", [N, "tensor<?x3xf32>", "tensor<3x3xf32>"])
def test_a_value_between(type: str) -> None:
    """Whether its size is bounded or not."""
    text = main([type], f"{nonzero('x', type, 2)}\n{SUM}", "%s", ["tensor<2xi64>"])
    (found,) = everywhere(text, X)
    assert found.tolist() == (2 * places(X).sum(1)).tolist()


def test_a_bounded_value_is_in_the_plan() -> None:
    """Memory for as much as there can be, instead of an allocation in each run."""

    def allocations(type: str) -> tuple[int, int]:
        text = main([type], f"{nonzero('x', type, 2)}\n{SUM}", "%s", ["tensor<2xi64>"])
        module = transom.lower(module_of(text), "executable")
        main_ = next(f for f in module.ops if isinstance(f, FuncOp))
        found = [op for op in main_.walk() if isinstance(op, executor.AllocOp)]
        views = [op for op in main_.walk() if isinstance(op, executor.ViewOp)]
        return len(found), max((byte_count(op) for op in views), default=0)

    def byte_count(op: executor.ViewOp) -> int:
        return 0 if op.reserved is None else op.reserved.value.data

    assert allocations(N) == (0, 2 * 8 * 3 * 8)
    assert allocations("tensor<?x3xf32>")[0] > 0


def test_several_results() -> None:
    """Two whose sizes depend on data, and one of a known and one of a computed size."""
    types = ["tensor<?xf32>", "tensor<?xi32>"]
    body = (
        f"{nonzero('x', types[0], 1)}\n{nonzero('y', types[1], 1, 'j')}\n"
        "  %c = graph.concat %x, %x axis 0 "
        ": tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>\n"
        "  %r = graph.reduce sum %x axes [0] : tensor<?xf32> -> tensor<f32>"
    )
    text = main(
        types,
        body,
        "%i, %c, %r, %j",
        ["tensor<1x?xi64>", "tensor<?xf32>", "tensor<f32>", "tensor<1x?xi64>"],
    )
    x, y = np.array([0, 2, 3], np.float32), np.array([4, 0, 0, 0, 5], np.int32)
    found = everywhere(text, x, y)
    assert [array.tolist() for array in found] == [
        [[1, 2]],
        [0, 2, 3, 0, 2, 3],
        5.0,
        [[0, 4]],
    ]


def test_a_size_that_follows_from_one_of_data() -> None:
    """Its bound follows from the bound."""
    body = (
        f"{nonzero('x', N, 2)}\n"
        "  %c = graph.concat %i, %i axis 1 "
        ": tensor<2x?xi64>, tensor<2x?xi64> -> tensor<2x?xi64>\n"
        "  %s = graph.slice %c starts [0, 1] sizes [-1, -1] steps [1, 2] "
        ": tensor<2x?xi64> -> tensor<2x?xi64>"
    )
    text = main([N], body, "%s", ["tensor<2x?xi64>"])
    (found,) = everywhere(text, X)
    expected = np.concatenate([places(X)] * 2, 1)[:, 1::2]
    np.testing.assert_array_equal(found, expected)


def test_in_branches_and_loops() -> None:
    body = (
        "  %0 = arith.constant 0 : index\n  %1 = arith.constant 1 : index\n"
        "  %3 = arith.constant 3 : index\n"
        "  %zero = graph.constant dense<0> : tensor<2xi64>\n"
        "  %r = scf.for %n = %0 to %3 step %1 iter_args(%v = %zero) -> "
        "(tensor<2xi64>) {\n"
        f"{nonzero('x', N, 2)}\n{SUM}\n"
        "  %w = graph.add %v, %s : tensor<2xi64>, tensor<2xi64> -> tensor<2xi64>\n"
        "  scf.yield %w : tensor<2xi64>\n  }"
    )
    (found,) = everywhere(main([N], body, "%r", ["tensor<2xi64>"]), X)
    assert found.tolist() == (6 * places(X).sum(1)).tolist()


def test_a_declared_size_is_checked() -> None:
    text = main(
        ["tensor<5xf32>"],
        "  %i = graph.nonzero %x : tensor<5xf32> -> tensor<1x2xi64>",
        "%i",
        ["tensor<1x2xi64>"],
    )
    program = transom.compile(module_of(text))
    assert program(np.array([0, 1, 0, 2, 0], np.float32))["result0"].tolist() == [
        [1, 3]
    ]
    with pytest.raises(ProgramError) as caught:
        program(np.ones(5, np.float32))
    assert str(caught.value) == ("'graph.nonzero': dimension 1 of result 0 is not 2")


def test_a_group_has_no_such_op() -> None:
    text = main(
        ["tensor<4xf32>"],
        '  %i = graph.composite "test.places" (%a = %x : tensor<4xf32>) '
        "-> (tensor<1x?xi64>) {\n"
        "    %n = graph.neg %a : tensor<4xf32>\n"
        "    %j = graph.nonzero %n : tensor<4xf32> -> tensor<1x?xi64>\n"
        "    graph.yield %j : tensor<1x?xi64>\n  }",
        "%i",
        ["tensor<1x?xi64>"],
    )
    with pytest.raises(OpError) as caught:
        transom.lower(module_of(text), "tensor")
    assert caught.value.message == (
        "expected 'graph.nonzero' to be in no group, as sizes of its results depend on "
        "data"
    )


# Programs.


def test_memory_of_the_caller_is_filled_from_its_start() -> None:
    program = transom.compile(module_of(RESULT))
    memory = np.full(64, -1, np.int64)
    (found,) = program.run({"arg0": X}, outputs={"result0": memory}).values()
    np.testing.assert_array_equal(found, places(X))
    assert np.shares_memory(found, memory)
    assert memory[: found.size].tolist() == found.ravel().tolist()
    assert (memory[found.size :] == -1).all()


def test_memory_that_is_too_small_is_refused() -> None:
    program = transom.compile(module_of(RESULT))
    for memory in (np.zeros((2, 8), np.int64), np.zeros(64, np.int32)):
        with pytest.raises(InputError) as caught:
            program.run({"arg0": X}, outputs={"result0": memory})
        assert str(caught.value) == (
            "'result0': expected an output of at least 18 elements of int64, but got "
            f"{memory.dtype}{list(memory.shape)}"
        )


def test_few_elements_do_not_keep_much_memory() -> None:
    program = transom.compile(module_of(RESULT))
    few, many = X.copy(), np.ones((8, 3), np.float32)
    assert program(few)["result0"].base is None
    assert program(many)["result0"].size == 2 * 24


def test_a_program_on_disk_has_them_too(tmp_path: Path) -> None:
    transom.compile(module_of(RESULT)).save(tmp_path / "p")
    np.testing.assert_array_equal(load(tmp_path / "p")(X)["result0"], places(X))


# Shape functions.


def test_main_calls_a_shape_function() -> None:
    """At tensor level a private function, then an op of the executor."""
    module = transom.lower(module_of(RESULT), "tensor")
    kernel = next(op for op in module.walk() if isinstance(op, tir.CallOp))
    call = next(op for op in module.walk() if isinstance(op, CallOp))
    assert call.callee.string_value() == f"{kernel.callee_name}.sizes"
    function = next(
        op
        for op in module.ops
        if isinstance(op, FuncOp) and op.sym_name.data == call.callee.string_value()
    )
    assert str(function.sym_visibility) == '"private"'
    later = transom.lower(module, "executable")
    shape_calls = [op for op in later.walk() if isinstance(op, executor.ShapeCallOp)]
    assert [op.callee for op in shape_calls] == [call.callee]


@dataclass(frozen=True)
class TargetLowering(ConvertGraphToTirPass):
    """A target that counts otherwise: here always three, or with a wrong type."""

    count: int = 3
    is_wrong: bool = False

    def shape_function(self, kernel: Kernel) -> FuncOp | None:
        types = [] if self.is_wrong else plain_types(kernel)
        block = Block(arg_types=types)
        count = arith.ConstantOp(IntegerAttr(self.count, IndexType()))
        block.add_ops([count, ReturnOp(count)])
        return FuncOp("f", (types, [IndexType()]), Region(block), "private")


def lowered_by(pass_: ConvertGraphToTirPass) -> ModuleOp:
    module = transom.lower(module_of(RESULT), "partitioned")
    pass_.apply(Context(), module)
    return module


def compiled_by(pass_: ConvertGraphToTirPass) -> Program:
    module = lowered_by(pass_)
    set_phase(module, "tensor")
    return transom.compile(module)


def test_a_target_has_a_shape_function_of_its_own() -> None:
    """With the same kernel, which checks that the number is right."""
    program = compiled_by(TargetLowering())
    three = np.array([[0, 1, 0], [0, 1, 1]], np.float32)
    np.testing.assert_array_equal(program(three)["result0"], places(three))
    for count in (2, 4):
        program = compiled_by(TargetLowering(count=count))
        with pytest.raises(ProgramError) as caught:
            program(three)
        assert str(caught.value) == (
            "'graph.nonzero': the shape function gives another number of elements"
        )


def test_a_shape_function_of_another_type_is_refused() -> None:
    with pytest.raises(OpError) as caught:
        lowered_by(TargetLowering(is_wrong=True))
    assert caught.value.message == (
        "expected a shape function of type '(tensor<?x3xf32>) -> index', but got "
        "'() -> index'"
    )


def test_a_lowering_of_a_target_keeps_its_contract(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A shape function is a function of the host, which the hook may add."""

    def convert(self: LlvmCpuTarget, target: LlvmCpuAttr) -> ConvertGraphToTirPass:
        return ConvertGraphToTirPass()

    monkeypatch.setattr(LlvmCpuTarget, "convert_graph_to_tir", convert)
    module = transom.lower(module_of(RESULT), "tensor", thorough=True)
    function = next(
        op
        for op in module.ops
        if isinstance(op, FuncOp) and op.sym_name.data.endswith(".sizes")
    )
    assert str(place_of(function)) == "#target.place<@host, ?, ?>"
    (found,) = everywhere(RESULT, X)
    np.testing.assert_array_equal(found, places(X))


def test_the_op_says_its_sizes_in_graph_ops() -> None:
    """Which an artifact's main, a target or a tool may use as well."""
    op = next(o for o in module_of(RESULT).walk() if isinstance(o, graph.NonzeroOp))
    block = Block(arg_types=[op.input.type])

    def add(new: Any) -> Any:
        block.add_op(new)
        return new.results[0]

    (size,) = op.data_sizes(block.args, add)
    assert [o.name for o in block.ops] == [
        "graph.constant",
        "graph.compare",
        "graph.cast",
        "graph.reduce",
    ]
    assert str(size.type) == "tensor<i64>"
