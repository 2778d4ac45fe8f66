"""
All that watches the passes of a run of `transom-opt`, by the flags given.
"""

import argparse
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from transom.dialects.diagnostics import Diagnostic
from transom.driver import lower_in_place
from transom.passes.pipeline import PassObserver, Pipeline
from transom.targets.resolve_devices import ShowNotes
from transom.tools.ir_dumps import DumpSink, IrDumps, StreamSink, TreeSink, Wanted
from transom.tools.ir_printing import print_options
from transom.tools.pass_observers import CurrentPass, TimePasses, VerifyEach


@dataclass(frozen=True)
class Nested(PassObserver):
    """
    Observers around each other, the outermost first.

    Each sees the end of a pass before those around it do; if it fails there, it is to
    them as if the pass had failed.
    """

    observers: tuple[PassObserver, ...]

    def before(self, pass_: ModulePass, op: Operation) -> None:
        for observer in self.observers:
            observer.before(pass_, op)

    def after(self, pass_: ModulePass, op: Operation) -> None:
        for place in reversed(range(len(self.observers))):
            try:
                self.observers[place].after(pass_, op)
            except BaseException:
                for observer in reversed(self.observers[:place]):
                    observer.failed(pass_, op)
                raise

    def failed(self, pass_: ModulePass, op: Operation) -> None:
        for observer in reversed(self.observers):
            observer.failed(pass_, op)

    def noted(self, note: Diagnostic) -> None:
        for observer in self.observers:
            observer.noted(note)


@dataclass(frozen=True)
class ModuleRun:
    """What is done with one module, under observation."""

    ctx: Context
    module: ModuleOp
    observer: PassObserver

    def take(self, step: Pipeline | str) -> None:
        """Run a pipeline, or lower to the phase of a name."""
        if isinstance(step, Pipeline):
            step.apply(self.ctx, self.module, self.observer)
        else:
            lower_in_place(self.module, step, ctx=self.ctx, observer=self.observer)


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
        self.modules = 0

    @contextmanager
    def watching(self, ctx: Context, module: ModuleOp) -> Generator[ModuleRun]:
        """Watch what is done with a module."""
        args = self.args
        self.modules += 1
        observers: list[PassObserver] = [self.current]
        if not args.verify_diagnostics:  # it would have to be expected everywhere
            observers.append(ShowNotes(self.emit))
        dumps = self.dumps()
        if dumps is not None:
            observers.append(dumps)
        if args.verify_each and not args.disable_verify:
            observers.append(VerifyEach())
        if args.time_passes:
            observers.append(self.times)
        yield ModuleRun(ctx, module, Nested(tuple(observers)))
        if dumps is not None:
            dumps.check_phase(module)

    def dumps(self) -> IrDumps | None:
        """What dumps the IR, if something is to be dumped."""
        args = self.args
        before: list[str] = args.print_ir_before
        after: list[str] = args.print_ir_after
        after_all: bool = args.print_ir_after_all or args.print_between_passes
        chosen = bool(before or after or after_all or args.print_ir_before_all)
        chosen = chosen or args.print_ir_after_change or args.print_ir_after_failure
        if not chosen and args.print_ir_tree_dir is None:
            return None
        wanted = Wanted(
            lambda name: args.print_ir_before_all or name in before,
            lambda name: after_all or name in after,
            args.print_ir_after_change or not chosen,
            args.print_ir_after_failure or not chosen,
            args.print_ir_module_scope,
        )
        return IrDumps(self.sink(), wanted)

    def sink(self) -> DumpSink:
        """Where dumps go."""
        args = self.args
        options = print_options(args)
        if args.print_ir_tree_dir is None:
            marks_phases: bool = (
                args.print_ir_before_all
                or args.print_ir_after_all
                or args.print_ir_after_change
            )
            return StreamSink(sys.stderr, options.on(sys.stderr), marks_phases)
        folder = Path(args.print_ir_tree_dir)
        if args.split_input_file is not None:
            folder /= f"module-{self.modules}"
        return TreeSink(folder, options.on(None))

    def finish(self) -> None:
        """Say what is to be said when all modules are done."""
        if self.args.time_passes:
            sys.stderr.write(self.times.report())
