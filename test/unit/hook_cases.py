"""
A target for tests of hooks, whose hooks are what a test says.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar
from unittest import mock

from xdsl.context import Context
from xdsl.dialects.builtin import I64, IntegerAttr, ModuleOp, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import irdl_attr_definition
from xdsl.passes import ModulePass

from transom.cache import entries
from transom.dialects.parser import parse_ir
from transom.dialects.target import TargetAttr
from transom.passes.function_pass import FunctionPass, functions_of
from transom.registry import new_context, registry
from transom.targets import registry as targets
from transom.targets.hooks import TargetHooks


@irdl_attr_definition
class CasesAttr(TargetAttr):
    """A target with a number, so that there are different ones."""

    name = "cases.target"

    DEFAULTS: ClassVar[Mapping[str, Attribute]] = {"number": IntegerAttr(0, i64)}

    number: IntegerAttr[I64]


CASES = Dialect("cases", [], [CasesAttr])


class CasesTarget(TargetHooks[CasesAttr]):
    """Hooks of which a test overrides what it wants."""

    attr_type = CasesAttr


SEEN: list[tuple[str, tuple[str, ...]]] = []
"""What the passes `SeeFunctions` and `SeeKernels` found."""


@dataclass(frozen=True)
class SeeFunctions(FunctionPass):
    """Notes the functions that it gets."""

    name = "cases-see-functions"

    def apply_to(self, ctx: Context, func: FuncOp) -> None:
        SEEN.append((self.name, (func.sym_name.data,)))


@dataclass(frozen=True)
class SeeKernels(ModulePass):
    """Notes the kernels with a body."""

    name = "cases-see-kernels"
    label: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kernels = [k for k in op.body.ops if k.name == "tir.func"]
        names = (k.get_attr_or_prop("sym_name") for k in kernels if k.regions[0].blocks)
        functions = (f.sym_name for f in functions_of(op))
        found = sorted(str(n).strip('"') for n in (*names, *functions))
        SEEN.append((self.name + self.label, tuple(found)))


PASSES: tuple[type[ModulePass], ...] = (SeeFunctions, SeeKernels)


@contextmanager
def cases_target(
    hooks: type[TargetHooks[Any]], passes: Sequence[type[ModulePass]] = PASSES
) -> Generator[Context]:
    """
    Register `#cases.target` with these hooks, and passes for their pipelines.

    Gives a context that knows the dialect.
    """
    known = registry()
    added: dict[str, Callable[[], type[ModulePass]]] = {
        p.name: (lambda p=p: p) for p in passes
    }
    SEEN.clear()
    with (
        mock.patch.dict(targets.TARGETS, {CasesAttr.name: f"{__name__}:CasesTarget"}),
        mock.patch.dict(known.dialects, {"cases": lambda: CASES}),
        mock.patch.dict(known.passes._passes, added),  # pyright: ignore[reportPrivateUsage]
        mock.patch(f"{__name__}.CasesTarget", hooks),
    ):
        forget_hooks()
        try:
            yield new_context()
        finally:
            forget_hooks()


def forget_hooks() -> None:
    """
    Forget what was made by a target's hooks: the cache takes code as a file has it for
    the same, and tests put other classes of one file in its place.
    """
    targets.hooks_by_name.cache_clear()
    entries._store.cache_clear()  # pyright: ignore[reportPrivateUsage]


HOST = '#llvm_cpu.target<cpu = "x86-64-v3">'

TWO_TARGETS = f"""
module attributes {{target.config = #target.config<host = @cpu>}} {{
  target.device @cpu {{targets = [{HOST}, #cases.target<>]}}
  func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {{
    %a = graph.relu %x : tensor<4x8xf32>
    %b = func.call @mine(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %c = graph.neg %b : tensor<4x8xf32>
    func.return %c : tensor<4x8xf32>
  }}
  func.func private @mine(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
      attributes {{target.for = #target.place<@cpu, #cases.target<>, ?>}} {{
    %y = graph.exp %x : tensor<4x8xf32>
    %z = graph.sqrt %y : tensor<4x8xf32>
    func.return %z : tensor<4x8xf32>
  }}
}}
"""
"""Main on the host, with one region of `#cases.target`."""


def two_targets(ctx: Context) -> ModuleOp:
    """The module of `TWO_TARGETS`."""
    return parse_ir(ctx, TWO_TARGETS, "two_targets.mlir")
