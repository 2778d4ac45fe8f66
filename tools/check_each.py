"""
The numbers after each pass: a module is run on the same inputs again and again, and the
first pass after which they are others is named.

```text
m.mlir:1:1: error: pass 'bad-fold' moves the numbers (interpreted): output 'y': 32 of 32
elements differ, by at most 1.2 (largest expected: 2.1); at [3, 1] 0.5 is expected, but
1.7 is there
```

What cannot be run is said, and then the first pass that is known to be wrong is the
last of those that may be.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from transom.dialects.diagnostics import Note, OpError
from transom.dialects.target import get_config
from transom.entry import find_main
from transom.passes.owned_functions import shown_now, whole_copy
from transom.passes.pipeline import MODULE, PassObserver, Pipeline
from transom.runtime.comparison import largest_error
from transom.tools.ir_printing import ir_text
from transom.tools.number_runs import Arrays, Moved, NotRun, Outputs, Runner, Way
from transom.tools.pass_observers import NumbersMoved


@dataclass(frozen=True)
class Checked:
    """What is known of the numbers after a pass, or at a phase."""

    name: str
    way: Way | None
    """How the module was run; None if it was not."""

    error: float | None = None
    """The largest distance from what is expected, in units of the largest value."""

    reason: str | None = None
    """Why it was not run."""

    is_wrong: bool = False

    @property
    def verdict(self) -> str:
        """What is known, in words."""
        if self.way is None:
            return f"not run: {self.reason}"
        if self.is_wrong:
            return f"{self.way.value}: wrong"
        if self.error is None:
            return "unchanged"
        return f"{self.way.value}: right, largest error {self.error:.2g}"

    def to_json(self) -> dict[str, Any]:
        """It as data."""
        way = None if self.way is None else self.way.name.lower()
        found = {"after": self.name, "way": way, "error": self.error}
        found |= {} if self.reason is None else {"reason": self.reason}
        return found | ({"wrong": True} if self.is_wrong else {})


@dataclass(frozen=True)
class Suspect:
    """A pass with the module before it, from where it can be run again."""

    name: str
    before: ModuleOp
    pipeline: Pipeline


@dataclass(frozen=True)
class Finding:
    """A pass after which the numbers are wrong."""

    suspect: Suspect
    moved: Sequence[Moved]
    way: Way


Bisect = Callable[[Finding, Arrays], Sequence[Note]]
"""Looks closer at a pass, and tells what it finds."""


@dataclass
class NumberCheck(PassObserver):
    """
    Runs a module after each pass, or each time that it has reached a phase.

    Raises `OpError` at the first pass that moves the numbers.
    """

    runner: Runner
    module: ModuleOp
    by_phase: bool = False
    finish: bool = False
    bisect: Bisect | None = None
    checked: list[Checked] = field(default_factory=list[Checked], init=False)
    _expected: Arrays = field(init=False)
    _text: str = field(init=False)
    """What was right when it was run last."""

    _suspects: list[Suspect] = field(default_factory=list[Suspect], init=False)
    """The passes since then, the current one last."""

    _phase: str | None = field(init=False)

    def __post_init__(self) -> None:
        self._phase = get_config(self.module).phase
        self.runner.set_inputs(self.module)
        found = self.runner.run(self.module, finish=self.finish)
        if isinstance(found, NotRun):
            raise OpError(
                self._main(),
                f"the module cannot be run, so that nothing can be checked: "
                f"{found.reason}",
            )
        self._expected = found.arrays
        self._text = ir_text(self.module)

    # Passes

    def before(self, pass_: ModulePass, op: Operation) -> None:
        if self.by_phase:
            self._check_phase()
        anchor = Pipeline(op.name, (pass_,))
        shown = shown_now(self.module)
        pipeline = Pipeline(MODULE, (pass_,) if op is self.module else (anchor,), shown)
        # A phase is run again from its start, so that one copy is enough.
        once = self.by_phase and self._suspects
        copy = self._suspects[0].before if once else whole_copy(self.module)
        self._suspects.append(Suspect(pass_.name, copy, pipeline))

    def after(self, pass_: ModulePass, op: Operation) -> None:
        if not self.by_phase:
            self._check(pass_.name)

    def ended(self) -> None:
        """Told that all passes have run."""
        if self.by_phase:
            self._check_phase()
            if self._suspects:
                self._check("the last pass")

    def _check_phase(self) -> None:
        reached = get_config(self.module).phase
        if reached is not None and reached != self._phase:
            self._phase = reached
            self._check(f"phase {reached}")

    # Numbers

    def _check(self, name: str) -> None:
        module = whole_copy(self.module)
        text = ir_text(module)
        if text == self._text:
            self._right(Checked(name, Way.INTERPRETED), text)
            return
        found = self.runner.run(module, finish=self.finish)
        if isinstance(found, NotRun):
            self.checked.append(Checked(name, None, reason=found.reason))
            return
        moved = self.runner.moved(found.arrays, self._expected)
        if not moved:
            self._right(Checked(name, found.way, self._error(found.arrays)), text)
        elif found.way is Way.FINISHED and self._is_wrong_before():
            reason = (
                "wrong when finished, as it was before: one of the passes that follow"
            )
            self.checked.append(Checked(name, None, reason=reason))
        else:
            self._blame(name, moved, found)

    def _right(self, checked: Checked, text: str) -> None:
        self.checked.append(checked)
        self._suspects.clear()
        self._text = text

    def _error(self, actual: Arrays) -> float:
        expected = self._expected.items()
        return max((largest_error(actual[k], v) for k, v in expected), default=0.0)

    def _is_wrong_before(self) -> bool:
        found = self.runner.run_finished(self._suspects[-1].before)
        if isinstance(found, NotRun):
            return True
        return bool(self.runner.moved(found.arrays, self._expected))

    def _blame(self, name: str, moved: Sequence[Moved], found: Outputs) -> None:
        """Raise `OpError` for one of the passes since the numbers were right."""
        self.checked.append(Checked(name, found.way, is_wrong=True))
        if self.by_phase:
            self._narrow_down()
        suspects = self._suspects
        finding = Finding(suspects[-1], moved, found.way)
        names = list(dict.fromkeys(f"'{suspect.name}'" for suspect in suspects))
        if len(names) == 1:
            who = f"pass {names[0]} moves the numbers"
        else:
            listed = f"{', '.join(names[:-1])} or {names[-1]}"
            who = f"one of the passes {listed} moves the numbers"
        notes = [Note(self._main(), str(output)) for output in moved[1:]]
        for checked in self.checked[-len(suspects) : -1]:
            notes.append(
                Note(self._main(), f"after '{checked.name}' {checked.verdict}")
            )
        if self.bisect is not None and len(names) == 1:
            notes += self.bisect(finding, self._expected)
        raise NumbersMoved(
            self._main(), f"{who} ({found.way.value}): {moved[0]}", *notes
        )

    def _narrow_down(self) -> None:
        """
        Find the pass of a phase that moves the numbers: run its passes again, and look
        after each.
        """
        again = NumberCheck(
            self.runner,
            self._suspects[0].before,
            finish=self.finish,
            bisect=self.bisect,
        )
        again._expected = self._expected
        pipelines = [suspect.pipeline for suspect in self._suspects]
        for number, pipeline in enumerate(pipelines):
            if number == 0 or pipeline != pipelines[number - 1]:
                pipeline.apply(self.runner.ctx, again.module, again)

    def _main(self) -> Operation:
        try:
            return find_main(self.module, self.runner.function)
        except OpError:  # a function of another dialect by now
            return self.module

    # Reports

    def report(self) -> str:
        """A line for each check."""
        if not self.checked:
            return "no pass ran, so that there was nothing to check\n"
        width = max(len(checked.name) for checked in self.checked)
        lines = (f"{c.name:{width}}  {c.verdict}\n" for c in self.checked)
        return "numbers after each pass\n" + "".join(lines)

    def to_json(self) -> list[dict[str, Any]]:
        """All checks as data."""
        return [checked.to_json() for checked in self.checked]
