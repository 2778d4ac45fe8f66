"""
A module with functions of two targets, and hooks of one of them to try on it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from toy_npu.dialect import ToyNpuAttr
from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, SymbolRefAttr
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from transom.dialects import tir
from transom.dialects.diagnostics import Diagnostic, handling
from transom.dialects.parser import parse_ir
from transom.dialects.symbols import symbols_of
from transom.dialects.target import LOWERED_TO
from transom.dialects.verifier import verify_module
from transom.passes.owned_functions import FunctionFilter
from transom.passes.pipeline import Pipeline
from transom.registry import new_context
from transom.targets.contract import Breach, HookContract
from transom.targets.convert_graph_to_tir import ConvertGraphToTirPass
from transom.targets.hooks import TargetHooks
from transom.targets.registry import given_hooks

OpT = TypeVar("OpT", bound=Operation)

Change = Callable[[ModuleOp], None]

TARGET = ToyNpuAttr.get()

NPU = "#target.place<@npu, #toy_npu.target, ?>"
CPU = '#target.place<@cpu, #llvm_cpu.target<cpu = "x86-64-v3">, ?>'

MODULE = f"""\
target.memory @dram
target.memory @sram {{size = 65536}}
target.link @dram -> @sram {{bandwidth = 1.0e+09}}
target.device @cpu {{targets = [#llvm_cpu.target<cpu = "x86-64-v3">]}}
target.device @npu {{targets = [#toy_npu.target], memories = [@dram, @sram]}}
graph.weight @w = dense<2.0> : tensor<4xf32>
graph.weight @unused = dense<3.0> : tensor<4xf32>
func.func @main(%x: tensor<4xf32>, %n: index) -> (tensor<4xf32>, index) {{
  %one = arith.constant 1 : index
  %y = func.call @first(%x) {{test.hint}} : (tensor<4xf32>) -> tensor<4xf32>
  %m = arith.addi %n, %one : index
  %z = func.call @second(%y) : (tensor<4xf32>) -> tensor<4xf32>
  %h = func.call @other(%z) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %h, %m : tensor<4xf32>, index
}}
func.func private @first(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {{target.for = {NPU}}} {{
  %y = graph.relu %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}}
func.func private @second(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {{target.for = {NPU}}} {{
  %w = graph.weight_ref @w : tensor<4xf32>
  %y = graph.add %x, %w : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}}
func.func private @other(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {{target.for = {CPU}}} {{
  %w = graph.weight_ref @w : tensor<4xf32>
  %y = graph.mul %x, %w : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}}
"""
"""Calls of `@first` and `@second`, of the target, and `@other`; all on line numbers."""


NOTHING_OWNED = MODULE.replace(NPU, "#target.place<@cpu, ?, ?>")
"""The same for the other target only."""

KERNEL = f"""\
target.device @cpu {{targets = [#llvm_cpu.target<cpu = "x86-64-v3">]}}
target.device @npu {{targets = [#toy_npu.target]}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %d = tensor.empty() : tensor<4xf32>
  %y = tir.call @k(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
  func.return %y : tensor<4xf32>
}}
tir.func @k(read %x: memref<4xf32>, write %y: memref<4xf32>)
    attributes {{target.for = {NPU}}} {{
  tir.copy %x, %y : memref<4xf32>, memref<4xf32>
  tir.return
}}
"""
"""A kernel of the target."""


class ToyHooks(TargetHooks[ToyNpuAttr]):
    """Hooks whose passes are given to the contract by hand."""

    attr_type = ToyNpuAttr


class ModuleHooks(ToyHooks):
    """The same, for all functions at once."""

    scope = "module"


@dataclass(frozen=True)
class ChangePass(ModulePass):
    """A pass of a hook: some changes, one after the other."""

    name: ClassVar[str] = "test-change"

    changes: tuple[Change, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for change in self.changes:
            change(op)


@dataclass(frozen=True)
class Case:
    """A hook that breaks a rule, and what is said of it."""

    breach: Breach
    hook: str
    changes: tuple[Change, ...]
    message: str
    text: str = MODULE
    hooks: type[TargetHooks[Any]] = ToyHooks
    thorough: bool = False

    @property
    def label(self) -> str:
        """A name for the test."""
        names = "-".join(change.__name__ for change in self.changes)
        return f"{self.breach.rule.name}-{names or 'nothing'}"


def parsed(text: str, ctx: Context | None = None) -> ModuleOp:
    """A module that verifies, of the file `test.mlir`."""
    module = parse_ir(ctx or new_context(), text, "test.mlir")
    verify_module(module)
    return module


@dataclass
class Run:
    """Runs a hook on a module, as the driver does."""

    hook: str
    changes: Sequence[Change | ModulePass]
    text: str = MODULE
    hooks: TargetHooks[Any] = field(default_factory=ToyHooks)
    thorough: bool = False

    def check(self) -> ModuleOp:
        """The module after the hook. Raises `OpError` if it breaks the contract."""
        ctx = new_context()
        module = parsed(self.text, ctx)
        passes = tuple(
            change if isinstance(change, ModulePass) else ChangePass((change,))
            for change in self.changes
        )
        shown = FunctionFilter(only=(TARGET,))
        pipeline = Pipeline("builtin.module", passes, shown)
        with given_hooks(self.hooks):
            checker = HookContract(module, TARGET, self.hook, thorough=self.thorough)
            pipeline.apply(ctx, module)
            checker.check(lambda again: pipeline.apply(ctx, again))
        return module


def keeps(
    hook: str,
    *changes: Callable[[ModuleOp], None] | ModulePass,
    text: str = MODULE,
    hooks: TargetHooks[Any] | None = None,
) -> ModuleOp:
    """The module after a hook that keeps the contract, with all that it computes."""
    said: list[Diagnostic] = []
    with handling(said.append):
        module = Run(hook, changes, text, hooks or ToyHooks(), thorough=True).check()
    assert not said, "everything is compared"
    return module


# Finding and changing things.


def symbol(module: ModuleOp, name: str) -> Any:
    """The op of this name."""
    return dict(symbols_of(module))[name]


def ops_of(module: ModuleOp, kind: type[OpT]) -> list[OpT]:
    """All ops of a kind."""
    return [op for op in module.walk() if isinstance(op, kind)]


def lower(module: ModuleOp) -> None:
    """Lower all functions that are seen, in the way of transom."""
    ConvertGraphToTirPass().apply(new_context(), module)


def nothing(module: ModuleOp) -> None:
    """Leave everything as it is."""


def append(module: ModuleOp, op: Operation) -> None:
    """Add an op at the end of a module."""
    module.body.block.add_op(op)


def remove(op: Operation) -> None:
    """Take an op away, whoever uses it."""
    op.detach()
    op.erase(safe_erase=False)


def kernel_of(module: ModuleOp, name: str) -> tir.FuncOp:
    """The kernel that a function is lowered to."""
    (ref,) = symbol(module, name).attributes[LOWERED_TO]
    return symbol(module, ref.string_value())


def call_of(module: ModuleOp, name: str) -> Operation:
    """The call of a function, or of the kernel that it is lowered to."""
    names = {name, *(ref.string_value() for ref in lowered_names(module, name))}
    calls = [op for op in symbol(module, "main").walk() if "callee" in op.properties]
    (found,) = [c for c in calls if c.properties["callee"].string_value() in names]
    return found


def lowered_names(module: ModuleOp, name: str) -> Sequence[SymbolRefAttr]:
    """What a function says it is lowered to."""
    return symbol(module, name).attributes.get(LOWERED_TO, ArrayAttr([])).data
