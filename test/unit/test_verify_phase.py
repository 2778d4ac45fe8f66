"""What each phase promises, and what breaks the promise."""

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import ModuleOp, TensorType, f32

from transom.dialects.diagnostics import OpError
from transom.dialects.parser import parse_ir
from transom.dialects.target import PHASES
from transom.passes.verify_phase import verify_phase
from transom.registry import new_context

PLACE = "#target.place<@cpu, ?, ?>"
GRAPH = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.relu %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}
"""
PLACED = f"""
module attributes {{
  target.config = #target.config<default_place = {PLACE}>
}} {{ {GRAPH} }}
"""
PARTITIONED = f"""
module attributes {{
  target.config = #target.config<default_place = {PLACE}>
}} {{
  graph.weight @w : tensor<4xf32> {{
    %c = graph.constant dense<-1.0> : tensor<4xf32>
    %r = graph.relu %c : tensor<4xf32>
    graph.yield %r : tensor<4xf32>
  }}
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
    %w = graph.weight_ref @w : tensor<4xf32>
    %y = func.call @r(%w) : (tensor<4xf32>) -> tensor<4xf32>
    func.return %y : tensor<4xf32>
  }}
  func.func private @r(%x: tensor<4xf32>) -> tensor<4xf32>
      attributes {{target.for = {PLACE}}} {{
    %y = graph.relu %x : tensor<4xf32>
    func.return %y : tensor<4xf32>
  }}
}}
"""
LOWERED = f"""
module attributes {{
  target.config = #target.config<default_place = {PLACE}>
}} {{
  func.func private @r(%x: tensor<4xf32>) -> tensor<4xf32>
      attributes {{target.for = {PLACE}, target.lowered_to = [@k]}} {{
    %y = graph.relu %x : tensor<4xf32>
    func.return %y : tensor<4xf32>
  }}
}}
"""
NEST = """
  tir.nest dims [parallel 4] ins(%a[d0] : memref<4xf32>) outs(%o[d0] : memref<4xf32>)
    finish (%v: f32) { tir.yield %v : f32 }
"""


def kernel(attributes: str, body: str) -> str:
    return f"""
tir.func @k(read %a : memref<4xf32>, write %o : memref<4xf32>)
    attributes {{{attributes}}} {{
  {body}
  tir.return
}}
"""


KERNEL = kernel(f"target.for = {PLACE}", NEST)
LOOPS = kernel(f"target.for = {PLACE}", "")


def main(body: str, arguments: str = "") -> str:
    return f"func.func @main({arguments}) {{ {body}\n func.return }}"


def buffer(planner: str, place: str = "") -> str:
    """A buffer in a memory that somebody plans."""
    alloc = f"%a = tir.alloc {{{place}memory = @sram}} : memref<4xf32>"
    return f"""
target.memory @sram {{planned_by = {planner}}}
executor.pool @p {{size = 64, memory = @sram}}
{main(alloc)}
"""


def check(text: str, phase: str) -> None:
    verify_phase(parse_ir(new_context(True), text, "a.mlir"), phase)


@pytest.mark.parametrize(
    ("phase", "text"),
    [
        ("graph", GRAPH),
        ("placed", PLACED),
        ("partitioned", PARTITIONED),
        ("tensor", KERNEL),
        ("tensor", LOWERED),
        ("scheduled", LOOPS),
        # A kernel that says that it stays behind is left in peace.
        ("scheduled", kernel(f'target.for = {PLACE}, target.phase = "tensor"', NEST)),
        ("planned", main("%c = arith.constant 0 : index", "%x: memref<4xf32>")),
        ("planned", buffer("shared")),
        ("planned", buffer("target", "pool = @p, offset = 0, ")),
        ("executable", main("%c = arith.constant 0 : index", "%x: memref<4xf32>")),
        ("machine", "llvm.func @f() -> i32 { llvm.unreachable }"),
        *((phase, "module {}") for phase in PHASES),
    ],
)
def test_kept(phase: str, text: str) -> None:
    check(text, phase)


@pytest.mark.parametrize(
    ("phase", "text", "message"),
    [
        (
            "graph",
            "module { module {} }",
            "no module in the module; its functions belong there",
        ),
        ("graph", '"foo.bar"() : () -> ()', "no unregistered op, but got 'foo.bar'"),
        ("tensor", '"foo.bar"() : () -> ()', "no unregistered op, but got 'foo.bar'"),
        (
            "graph",
            KERNEL,
            "no op of a lower level, but got 'tir.func'; if passes run by name have "
            "lowered the module, let 'target.config' say its phase",
        ),
        (
            "placed",
            GRAPH,
            "a place for function 'main', its own or the default of the module",
        ),
        ("partitioned", GRAPH, "no 'graph.relu' outside a function with a place"),
        ("tensor", PARTITIONED, "no 'graph.relu'"),
        (
            "tensor",
            main("%y = math.exp %x : tensor<4xf32>", "%x: tensor<4xf32>"),
            "no 'math.exp' on tensors; write the op of 'graph' that computes it, or "
            "'linalg.map { math.exp }'",
        ),
        (
            "tensor",
            kernel("", NEST),
            "a place for each kernel; 'target.for' says it",
        ),
        ("scheduled", KERNEL, "no 'tir.nest'"),
        ("executable", KERNEL, "no 'tir.nest'"),
        ("planned", LOWERED, "no function 'r' that is lowered already"),
        (
            "planned",
            main("", "%x: tensor<4xf32>"),
            "values on buffers, but 'func.func' has a tensor",
        ),
        (
            "planned",
            main("%t = tensor.empty() : tensor<4xf32>"),
            "values on buffers, but 'tensor.empty' has a tensor",
        ),
        (
            "planned",
            buffer("target"),
            "an offset of each buffer of memory '@sram', which its target plans",
        ),
        (
            "executable",
            main("%m = memref.alloc() : memref<4xf32>"),
            "no 'memref.alloc' in main",
        ),
        ("machine", main(""), "no 'func.func'"),
        (
            "machine",
            """
            llvm.func @f(%x: i64) {
              %c = builtin.unrealized_conversion_cast %x : i64 to index
              llvm.return
            }
            """,
            "no 'builtin.unrealized_conversion_cast'",
        ),
    ],
)
def test_broken(phase: str, text: str, message: str) -> None:
    with pytest.raises(OpError) as info:
        check(text, phase)
    assert info.value.message == f"phase '{phase}' expects {message}"
    assert info.value.diagnostic().position is not None


def test_a_module_that_does_not_verify_keeps_nothing() -> None:
    with pytest.raises(OpError, match=r"'func\.return' op"):
        check("func.func @f() -> i32 { func.return }", "graph")


def test_inferred_sizes_have_a_limit() -> None:
    """The parser looks at what is written, this at what importers and passes make."""
    huge = test.TestOp(result_types=[TensorType(f32, [1 << 40, 1 << 17])])
    with pytest.raises(OpError, match="expected at most 72057594037927936 elements"):
        verify_phase(ModuleOp([huge]), "graph")
