"""
All that watches the passes of a run of `transom-opt`, by the flags given.
"""

import argparse
import json
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from transom.dialects.diagnostics import Diagnostic
from transom.driver import lower_in_place, phases_between
from transom.passes.pipeline import MODULE, PassFactory, PassObserver, Pipeline
from transom.passes.target_set_phase import TargetSetPhasePass
from transom.phase_plan import PHASES, phase_plan
from transom.targets.resolve_devices import ShowNotes, TargetResolveDevicesPass
from transom.tools.attribute_audit import AttributeAudit
from transom.tools.ir_dumps import DumpSink, IrDumps, StreamSink, TreeSink, Wanted
from transom.tools.ir_printing import print_options
from transom.tools.pass_observers import CurrentPass, NumbersMoved, VerifyEach
from transom.tools.pass_timing import PassTiming, Timed
from transom.tools.reproduction import Recorder
from transom.tools.reproduction import Wanted as WantedReproducers

if TYPE_CHECKING:
    from transom.tools.check_each import NumberCheck
    from transom.tools.pass_statistics import PassStatistics


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
    recorder: Recorder | None = None
    show: Callable[[Pipeline], None] | None = None
    """Told of each pipeline before it runs; each can be run again by its text."""

    timing: PassTiming | None = None

    def take(self, step: Pipeline | str) -> None:
        """Run a pipeline, or lower to the phase of a name."""
        if isinstance(step, Pipeline):
            self._started(step)
            step.apply(self.ctx, self.module, self.observer)
        elif self.recorder is None and self.show is None:
            self._lower(step)
        else:
            self._lower_by_phases(step)

    def _lower(self, to: str) -> None:
        if self.timing is not None:
            self.timing.phase = True
        lower_in_place(self.module, to, ctx=self.ctx, observer=self.observer)
        if self.timing is not None:
            self.timing.phase = False

    def _lower_by_phases(self, to: str) -> None:
        """Lower phase by phase: what leads to one depends on the module before it."""
        phases = phases_between(self.module, to)
        if phases and phases[0] is not PHASES[0]:
            self._started(Pipeline(MODULE, (TargetResolveDevicesPass(),)))
        for phase in phases:
            plan = phase_plan(self.module, phase, self.ctx)
            self._started(plan.pipeline, TargetSetPhasePass(phase.name))
            self._lower(phase.name)

    def _started(self, pipeline: Pipeline, *more: ModulePass) -> None:
        """Say what is about to run: a pipeline, and passes that follow it."""
        if self.recorder is not None:
            self.recorder.started(pipeline, *more)
        if self.show is not None:
            shown = Pipeline(MODULE, (*pipeline.items, *more)) if more else pipeline
            self.show(shown)


class Observers:
    """The observers of one run of the program."""

    def __init__(
        self,
        args: argparse.Namespace,
        passes: Mapping[str, PassFactory],
        current: CurrentPass,
        emit: Callable[[Diagnostic], None],
    ) -> None:
        self.args = args
        self.passes = passes
        self.current = current
        self.emit = emit
        self.timing = PassTiming() if args.timing or args.time_passes else None
        self.statistics = _new_statistics() if args.pass_statistics else None
        self.audit = None if args.audit_attributes is None else AttributeAudit()
        """One for all modules, or one for each if losses are errors."""
        self.modules = 0
        self.reproduced = False
        self._notes: list[Diagnostic] = []

    @contextmanager
    def watching(
        self, ctx: Context, module: ModuleOp, verify_each: bool
    ) -> Generator[ModuleRun]:
        """Watch what is done with a module."""
        args = self.args
        self.modules += 1
        observers: list[PassObserver] = [self.current]
        if not args.verify_diagnostics:  # it would have to be expected everywhere
            observers.append(ShowNotes(self.emit))
        if args.audit_attributes == "error":
            self.audit = AttributeAudit()
        recorder = self.recorder(ctx, module, verify_each)
        dumps, check = self.dumps(), self.check(ctx, module, verify_each)
        optional = (check, recorder, self.audit, dumps)
        observers += [observer for observer in optional if observer is not None]
        verifier: PassObserver = VerifyEach()
        if self.timing is not None:
            verifier = Timed(verifier, self.timing, "Verifier")
        observers += [verifier] * verify_each
        optional = (self.statistics, self.timing)
        observers += [observer for observer in optional if observer is not None]
        try:
            show = self.show_pipeline if args.dump_pass_pipeline else None
            watched = Nested(tuple(observers))
            with self.collecting():
                yield ModuleRun(ctx, module, watched, recorder, show, self.timing)
            if check is not None:
                check.ended()
        except BaseException as e:
            if recorder is not None and not isinstance(e, NumbersMoved):
                recorder.gave_up(e)
                self.reproduced = True
            raise
        finally:
            if check is not None:
                self.report("numbers", check.report(), check.to_json())
        if recorder is not None:
            recorder.ended()
        if self.audit is not None and args.audit_attributes == "error":
            self.audit.check()
        if dumps is not None:
            dumps.check_phase(module)

    def show_pipeline(self, pipeline: Pipeline) -> None:
        """Print a pipeline in a form that `-p` takes."""
        sys.stderr.write(f"{pipeline}\n")

    def recorder(
        self, ctx: Context, module: ModuleOp, verify_each: bool
    ) -> Recorder | None:
        """What writes reproducers, if some are wanted."""
        args = self.args
        if args.crash_reproducer is None and args.generate_reproducer is None:
            return None
        if self.reproduced:
            return None  # a file has one reproducer: that of the first failure
        wanted = WantedReproducers(
            args.crash_reproducer,
            args.generate_reproducer,
            args.local_reproducer,
            verify_each,
        )
        notes = self._notes.append
        return Recorder(wanted, ctx.clone(), self.passes, module, notes)

    def check(
        self, ctx: Context, module: ModuleOp, verify_each: bool
    ) -> "NumberCheck | None":
        """
        What runs the module after each pass, if that is wanted.

        Raises `OpError` if it cannot be run to begin with, and `PipelineError` if the
        inputs are wrong.
        """
        if self.args.check_each is None:
            return None
        from transom.tools.check_setup import number_check  # it imports much

        return number_check(self.args, ctx, module, self.passes, verify_each)

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

    def measured(self, name: str) -> AbstractContextManager[None]:
        """A context whose time is measured, if times are wanted."""
        return nullcontext() if self.timing is None else self.timing.measured(name)

    def collecting(self) -> AbstractContextManager[None]:
        """A context in which passes count, if counts are wanted."""
        return (
            nullcontext() if self.statistics is None else self.statistics.collecting()
        )

    def tell(self) -> None:
        """Say what has come up about a module, once the error is out."""
        for note in self._notes:
            if not self.args.verify_diagnostics:
                self.emit(note)
        self._notes.clear()

    def finish(self) -> None:
        """Say what is to be said when all modules are done."""
        if self.audit is not None and self.args.audit_attributes == "report":
            self.report("attributes", self.audit.report(), self.audit.to_json())
        if self.statistics is not None:
            as_list: bool = self.args.pass_statistics_display == "list"
            text = self.statistics.report(as_list)
            self.report("statistics", text, self.statistics.to_json(as_list))
        if self.timing is not None:
            as_list = self.args.timing_display == "list" or not self.args.timing
            text = self.timing.report(as_list)
            self.report("timing", text, self.timing.to_json(as_list))

    def report(self, name: str, text: str, data: object) -> None:
        """Write a report to standard error, in the format that was asked for."""
        if self.args.output_format == "json":
            text = json.dumps({"report": name, "data": data}, ensure_ascii=False) + "\n"
        sys.stderr.write(text)


def _new_statistics() -> "PassStatistics":
    from transom.tools.pass_statistics import PassStatistics  # it looks at the cache

    return PassStatistics()
