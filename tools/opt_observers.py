"""
All that watches the passes of a run of `transom-opt`, by the flags given.
"""

import argparse
import sys
from collections.abc import Callable

from transom.dialects.diagnostics import Diagnostic
from transom.passes.pipeline import PassObserver, PassObservers
from transom.targets.resolve_devices import HostNote
from transom.tools.pass_observers import (
    CurrentPass,
    PrintIR,
    TimePasses,
    VerifyEach,
    ir_text,
)


class Observers:
    """The observers of one run of the program."""

    def __init__(
        self,
        args: argparse.Namespace,
        current: CurrentPass,
        emit: Callable[[Diagnostic], None],
    ) -> None:
        self.args = args
        self.current = current
        self.emit = emit
        self.times = TimePasses()

    def of_module(self) -> PassObserver:
        """What watches the passes on one module."""
        args = self.args
        observers: list[PassObserver] = [self.current]
        if not args.verify_diagnostics:  # it would have to be expected everywhere
            observers.append(HostNote(self.emit))
        if args.time_passes:
            observers.append(self.times)
        observers.append(
            PrintIR(
                sys.stderr,
                lambda op: ir_text(op, args.print_debuginfo, args.print_op_generic),
                lambda name: args.print_ir_before_all or name in args.print_ir_before,
                lambda name: (
                    args.print_ir_after_all
                    or args.print_between_passes
                    or name in args.print_ir_after
                ),
                args.print_ir_after_change,
                args.print_ir_after_failure,
                args.print_ir_module_scope,
            )
        )
        if args.verify_each and not args.disable_verify:
            observers.append(VerifyEach())
        return PassObservers(tuple(observers))

    def finish(self) -> None:
        """Say what is to be said when all modules are done."""
        if self.args.time_passes:
            sys.stderr.write(self.times.report())
