"""Places on all ops, near names and checks of dominance cost no more than xDSL does."""

import gc
from collections.abc import Callable
from io import StringIO
from time import process_time

from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.printer import Printer

from transom.dialects.parser import parse_ir
from transom.dialects.verifier import verify_module
from transom.registry import new_context

OPS = 1000
BOUND = 1.3


def text() -> str:
    lines = ["func.func @f(%x: tensor<4x16xf32>, %y: tensor<4x16xf32>) {"]
    last = "%x"
    for i in range(OPS):
        op = ("arith.addf", "arith.mulf", "arith.subf", "arith.divf")[i % 4]
        lines.append(
            f"  %v{i} = {op} {last}, %y {{hint = {i} : i32}} : tensor<4x16xf32>"
        )
        last = f"%v{i}"
    return "\n".join([*lines, "  func.return", "}"])


def seconds(run: Callable[[], ModuleOp]) -> float:
    """The shortest of some runs, a print included."""
    times: list[float] = []
    for _ in range(5):
        gc.collect()
        start = process_time()
        Printer(stream=StringIO()).print_op(run())
        times.append(process_time() - start)
    return min(times)


def test_within_the_bound_of_xdsl() -> None:
    source = text()

    def ours() -> ModuleOp:
        module = parse_ir(new_context(), source)
        verify_module(module)
        return module

    def theirs() -> ModuleOp:
        module = Parser(new_context(), source).parse_module()
        module.verify()
        return module

    assert seconds(ours) <= BOUND * seconds(theirs)
