"""
Main as it is walked by the executors `graph` and `vm`: kept while a module is lowered
to machine code, behind the emission of artifacts, which may want more arguments, and
before pools become arguments.
"""

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from transom.dialects.diagnostics import OpError
from transom.dialects.target import get_config
from transom.driver import lower_in_place
from transom.passes.pipeline import PassObserver, PassObservers
from transom.phase_plan import PHASES

LOWERS_MAIN = "lower-executor-to-func"


def lower_keeping_main(
    module: ModuleOp, ctx: Context, observer: PassObserver | None = None
) -> ModuleOp:
    """
    Lower a module itself to phase `machine`, and give a copy of what it was before main
    was lowered. Raises `OpError`, also for a module at that phase.
    """
    machine = PHASES[-1].name
    if get_config(module).phase == machine:
        raise OpError(
            module, f"expected a module before phase '{machine}' to walk its main"
        )
    kept = _Kept()
    observers = (kept,) if observer is None else (kept, observer)
    lower_in_place(module, machine, ctx=ctx, observer=PassObservers(observers))
    (found,) = kept.modules
    return found


@dataclass(frozen=True)
class _Kept(PassObserver):
    modules: list[ModuleOp] = field(default_factory=list[ModuleOp])

    def before(self, pass_: ModulePass, op: Operation) -> None:
        if pass_.name == LOWERS_MAIN and isinstance(op, ModuleOp):
            self.modules.append(op.clone())
