"""
Writes reproducers of a run: when it fails, or whenever one is asked for.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import ShrinkException

from transom.dialects.diagnostics import Diagnostic
from transom.passes.pipeline import (
    MODULE,
    PassFactory,
    PassObserver,
    Pipeline,
    PipelineError,
)
from transom.runtime.files import write_whole
from transom.tools.ir_printing import ir_text
from transom.tools.output_files import write_stdout
from transom.tools.reproducers import (
    EXACTLY,
    Failure,
    Reproducer,
    failure_of,
    replay,
    verdict,
)

STDOUT = "-"


@dataclass(frozen=True)
class Wanted:
    """Which reproducers are to be written, and where."""

    on_failure: str | None = None
    always: str | None = None
    local: bool = False
    """On a failure, of the failing pass alone."""

    verify_each: bool = True


@dataclass
class _Snapshot:
    """A module as it was before a pass."""

    text: str
    pipeline: Pipeline


@dataclass
class Recorder(PassObserver):
    """Records what is done with one module, so that it can be done again."""

    wanted: Wanted
    ctx: Context
    """A context that is not used for anything else."""

    passes: Mapping[str, PassFactory]
    module: ModuleOp
    emit: Callable[[Diagnostic], None]
    _input: str = field(init=False)
    _items: list[ModulePass | Pipeline] = field(
        default_factory=list[ModulePass | Pipeline], init=False
    )
    _before: _Snapshot | None = field(default=None, init=False)
    _failed: ModulePass | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._input = ir_text(self.module, EXACTLY)

    def started(self, pipeline: Pipeline, *more: ModulePass) -> None:
        """Told of what is about to run: a pipeline, and passes that follow it."""
        plain = pipeline.anchor == MODULE and pipeline.shown.sees_all
        self._items += pipeline.items if plain else (pipeline,)
        self._items += more
        if self.wanted.always is not None:
            # The process may not live to write it later.
            self._write(self.wanted.always, self._whole())

    def before(self, pass_: ModulePass, op: Operation) -> None:
        if not self.wanted.local:
            return
        module = op.get_toplevel_object()
        assert isinstance(module, Operation), "passes run on ops of a module"
        anchored = Pipeline(op.name, (pass_,))
        pipeline = anchored if op is module else Pipeline(MODULE, (anchored,))
        self._before = _Snapshot(ir_text(module, EXACTLY), pipeline)

    def after(self, pass_: ModulePass, op: Operation) -> None:
        self._before = None

    def failed(self, pass_: ModulePass, op: Operation) -> None:
        self._failed = pass_

    def ended(self) -> None:
        """Told that all has run without an error."""
        if self.wanted.always is not None:
            self._announce(self.wanted.always, self._whole(), ir_text(self.module))

    def gave_up(self, error: BaseException) -> None:
        """Told that an error has ended the run."""
        if isinstance(error, PipelineError | ShrinkException | SystemExit):
            return  # not about what the passes do
        name = None if self._failed is None else self._failed.name
        failure = failure_of(error, name)
        interrupted = not isinstance(error, Exception)
        text = self._whole()
        try:
            if self.wanted.always is not None:
                self._announce(self.wanted.always, text, failure, interrupted)
            if self._before is not None and self._failed is not None:
                text = self._text(self._before.pipeline, self._before.text)
            if self.wanted.on_failure is not None:
                self._announce(self.wanted.on_failure, text, failure, interrupted)
        except OSError as e:  # the error that ended the run is to be seen
            message = f"no reproducer is written: {e.filename}: {e.strerror}"
            self.emit(Diagnostic("warning", self.module.location, message))

    def _whole(self) -> str:
        return self._text(Pipeline(MODULE, tuple(self._items)), self._input)

    def _text(self, pipeline: Pipeline, module: str) -> str:
        reproducer = Reproducer(pipeline.spelled_out(), self.wanted.verify_each)
        return reproducer.with_module(module)

    def _announce(
        self, path: str, text: str, outcome: Failure | str, interrupted: bool = False
    ) -> None:
        """Write a reproducer, run it again, and say what came of it."""
        self._write(path, text, last=True)
        if interrupted:
            said = "; it is not run again, as the run was interrupted"
        else:
            said = verdict(outcome, replay(text, self.ctx, self.passes))
        where = "standard output" if path == STDOUT else f"'{path}'"
        message = f"reproducer written to {where}{said}"
        self.emit(Diagnostic("note", self.module.location, message))

    def _write(self, path: str, text: str, last: bool = False) -> None:
        if path != STDOUT:
            write_whole(path, text)
        elif last:
            write_stdout(text)
