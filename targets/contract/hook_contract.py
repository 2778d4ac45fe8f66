"""
The contract of the hooks that return passes, checked after the passes ran.
"""

from collections.abc import Callable

from xdsl.dialects.builtin import ModuleOp

from transom.dialects.diagnostics import OpError
from transom.dialects.symbols import symbols_of, walk_symbol_uses
from transom.dialects.target import TargetAttr
from transom.dialects.verifier import verify_module
from transom.targets.contract.calls import check_calls
from transom.targets.contract.frozen import name_of
from transom.targets.contract.functions import check_functions, check_places
from transom.targets.contract.outside import check_outside
from transom.targets.contract.repetition import check_repetition
from transom.targets.contract.rules import (
    INVALID,
    SYMBOL_RENAMED,
    SYMBOL_TWICE,
    USES_REMOVED,
    USES_UNKNOWN,
    Origin,
)
from transom.targets.contract.snapshot import Snapshot, State, lowered_to
from transom.targets.contract.weights import check_weights
from transom.targets.registry import hooks_of


class HookContract:
    """
    Checks what the passes of one hook do to a module.

    It is made before they run; `check` comes after them. `hook` is the method that
    returned them, such as `convert_graph_to_tir`. A `thorough` check also runs them
    again, and compares what functions compute where they are small.
    """

    def __init__(
        self, module: ModuleOp, target: TargetAttr, hook: str, *, thorough: bool = False
    ) -> None:
        self.module = module
        self.origin = Origin(hook, target)
        self.hooks = hooks_of(target)
        self.before = Snapshot(module, target)
        self.original = module.clone() if thorough else None

    def check(self, again: Callable[[ModuleOp], None] | None = None) -> None:
        """
        Check all rules; `again` runs the same passes on another module, for the
        thorough ones.

        Raises `OpError` at the op that breaks a rule; the message names the hook, its
        target and the rule.
        """
        try:
            self._check_rules()
        except OpError:
            raise
        except Exception:  # plug-in boundary: what passes left too broken to look at
            self._check_verifies()
            raise
        if self.original is not None:
            if again is not None:
                check_repetition(self.original, self.module, self.origin, again)
            from transom.targets.contract.numbers import check_numbers  # slow to load

            one_by_one = self.before.owned if self.hooks.scope == "function" else ()
            check_numbers(self.original, self.module, one_by_one, self.origin)

    def _check_rules(self) -> None:
        self._check_unique()
        state = State(self.module, self.before)
        self._check_names(state)
        if self.origin.hook == "constants":
            check_weights(state, self.origin)
        self._check_uses(state)
        check_functions(state, self.origin, self.hooks)
        check_places(state, self.origin, self.hooks)
        changes = check_outside(state, self.origin)
        if self.before.owned or state.new:
            self._check_verifies()
        check_calls(changes, state, self.origin, self.hooks)

    def _check_unique(self) -> None:
        seen: set[str] = set()
        for name, op in symbols_of(self.module):
            if name in seen:
                raise self.origin.error(SYMBOL_TWICE, op, name=name)
            seen.add(name)

    def _check_names(self, state: State) -> None:
        for name in state.removed:
            op = self.before.symbols[name]
            new = state.new_name_of(op)
            if new is not None:
                raise self.origin.error(SYMBOL_RENAMED, op, name=name, new=new)

    def _check_uses(self, state: State) -> None:
        """Devices may be named before they are declared; what is called may not."""
        removed = set(state.removed)
        if removed:
            for use in walk_symbol_uses(self.module):
                if use.name in removed:
                    raise self.origin.error(
                        USES_REMOVED, use.user, op=name_of(use.user), name=use.name
                    )
        for callee, sites in state.calls.items():
            if callee not in state.symbols:
                op = sites[0].op
                raise self.origin.error(USES_UNKNOWN, op, op=name_of(op), name=callee)
        for op in self.module.body.ops:
            for name in lowered_to(op) or ():
                if name not in state.symbols:
                    raise self.origin.error(USES_UNKNOWN, op, op=op.name, name=name)

    def _check_verifies(self) -> None:
        try:
            verify_module(self.module)
        except OpError as e:
            raise self.origin.error(
                INVALID, e.location, *e.notes, message=e.message
            ) from None
        except Exception as e:  # plug-in boundary: verifiers of what passes left broken
            message = f"verifying it raised {type(e).__name__}: {e}"
            raise self.origin.error(INVALID, self.module, message=message) from e
