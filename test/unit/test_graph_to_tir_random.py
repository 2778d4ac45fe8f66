"""
Random programs compute the same after every pass from graphs to kernels, and as machine
code.
"""

import pytest
from graph_program_builder import Seeded
from graph_programs import Program, build, differences, programs
from hypothesis import HealthCheck, given, settings
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

import transom
from transom.dialects import graph
from transom.dialects.parser import parse_ir
from transom.dialects.target import set_phase
from transom.dialects.verifier import verify_module
from transom.passes.pipeline import parse_pipeline
from transom.registry import new_context, registry
from transom.testing import interpret, reread

PASSES = (
    "graph-fuse",
    "graph-outline-regions",
    "convert-graph-to-tir",
    "tir-fuse-nests",
)

DEVICE = '#llvm_cpu.target<cpu = "host">'


@pytest.fixture(scope="module")
def ctx() -> Context:
    return new_context()


def run(name: str, module: ModuleOp, ctx: Context) -> None:
    """Apply one pass."""
    parse_pipeline(name, registry().passes, ctx).apply(ctx, module)


def check_passes(program: Program, ctx: Context) -> None:
    """
    Each pass keeps the numbers, leaves a module that verifies and prints as it is
    parsed, and does nothing more when it runs again.
    """
    module = program.module
    verify_module(module)
    reread(module, ctx)
    expected = interpret(module, program.inputs)
    for name in PASSES:
        run(name, module, ctx)
        verify_module(module)
        found = interpret(reread(module, ctx), program.inputs)
        assert not differences(found, expected), name
        text = str(module)
        run(name, module, ctx)
        assert str(module) == text, f"'{name}' changes what it has left"


def check_native(program: Program, ctx: Context) -> None:
    """The program computes the same as machine code, without the passes before."""
    expected = interpret(program.module, program.inputs)
    text = str(program.module).replace("@cpu, ?, ?", f"@cpu, {DEVICE}, ?")
    device = f"target.device @cpu {{targets = [{DEVICE}]}}"
    start = "builtin.module {"
    module = parse_ir(ctx, text.replace(start, f"{start}\n{device}", 1), "random")
    set_phase(module, "placed")
    compiled = transom.compile(module, opt_level=0, poison_memory=True, ctx=ctx)
    assert not differences(compiled.run(program.inputs), expected)


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(program=programs(12))
def test_passes_keep_the_numbers(ctx: Context, program: Program) -> None:
    check_passes(program, ctx)


@settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(program=programs(12))
def test_machine_code_gives_the_numbers(ctx: Context, program: Program) -> None:
    check_native(program, ctx)


@pytest.mark.parametrize("seed", range(3))
def test_larger_programs(ctx: Context, seed: int) -> None:
    check_native(build(Seeded(seed), 60), ctx)
    check_passes(build(Seeded(seed), 60), ctx)


def test_programs_have_all_kinds_of_ops() -> None:
    """The tests above are about something: most ops come up, and so do groups."""
    found = {
        type(op)
        for seed in range(250)
        for op in build(Seeded(seed), 20).module.walk()
        if isinstance(op, graph.GraphOp | graph.GroupOp)
    }
    missing = {op for op in graph.Graph.operations if op not in found} - {
        *(graph.OnDeviceOp, graph.CopyOp, graph.RelayoutOp),
        *(graph.YieldOp, graph.WeightOp),
        graph.NonzeroOp,  # who builds programs knows all sizes
    }
    assert not missing
