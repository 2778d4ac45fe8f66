"""
From a pass that moves the numbers to the pattern and the op, and to a small test.

The rewrites of the pass are counted (`transom.passes.rewrite_steps`), and the module is
run after the first half of them, and so on: the first rewrite after which the numbers
are others is the one that is wrong, or that wakes what is. Then the module is reduced
as long as the pass still moves its numbers, and written as a reproducer and as a test
for lit.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import (
    LocationAttr,
    ModuleOp,
    SymbolRefAttr,
    UnknownLoc,
)

from transom.dialects.diagnostics import Note, OpError
from transom.dialects.parser import parse_ir
from transom.passes.pipeline import PassFactory, parse_pipeline
from transom.passes.rewrite_steps import RewriteStep, RewriteSteps, counting_steps
from transom.runtime.files import write_whole
from transom.tools.check_each import Finding, Suspect
from transom.tools.ir_printing import ir_text
from transom.tools.number_runs import Arrays, NotRun, Outputs, Runner, Way
from transom.tools.reduction import NotInteresting, Reducer
from transom.tools.reproducers import EXACTLY, Reproducer

MAX_REDUCTIONS = 400
"""Smaller modules that are tried."""

MAX_SECONDS = 60.0
"""Time for them; a module that takes long to run is reduced less."""

TEST = """\
// RUN: transom-run %s --input {inputs} --interpret -q -o %t.npz
// RUN: transom-opt %s -p '{pipeline}' \\
// RUN: | transom-run - --input {inputs}{way} -q --expected %t.npz

// The numbers stay in pass '{name}'{pattern}.

{module}
"""

RANDOM = ("random:0",)
"""The inputs of a test, unless only those that were given show the mistake."""


@dataclass(frozen=True)
class Trial:
    """A run of a pass that was stopped after some rewrites."""

    steps: RewriteSteps
    moved: bool | None
    """Whether the numbers are others then; None if the module cannot be run."""


@dataclass
class Bisection:
    """Looks into a pass that moves the numbers."""

    runner: Runner
    passes: Mapping[str, PassFactory]
    folder: Path
    verify_each: bool = True
    _trials: dict[int | None, Trial] = field(
        default_factory=dict[int | None, Trial], init=False
    )

    def __call__(self, finding: Finding, expected: Arrays) -> Sequence[Note]:
        """What is found, as notes for an error."""
        suspect = finding.suspect
        self._trials.clear()
        whole = self.trial(suspect, expected, None)
        where = suspect.before
        if whole.moved is not True:
            return [Note(where, "run again without the cache, the pass is right")]
        notes: list[Note] = []
        steps = self.first_wrong(suspect, expected, len(whole.steps.taken))
        if not steps:
            notes.append(
                Note(where, f"no rewrite of '{suspect.name}' is needed for that")
            )
        elif len(steps) == 1:
            (step,) = steps
            number = f"rewrite {whole.steps.taken.index(step) + 1}"
            of = f"of {len(whole.steps.taken)}"
            message = (
                f"the first to move them is {number} {of}: "
                f"pattern '{step.pattern}' on '{step.op_name}'"
            )
            if step.function is not None:
                message += f" in '@{step.function}'"
            notes.append(Note(place_of(step, where), message))
        else:
            notes += [
                Note(
                    step.location,
                    f"one of {len(steps)} rewrites that may be it: {step}",
                )
                for step in steps
            ]
        pattern = steps[0].pattern if len(steps) == 1 else None
        notes += self.small_test(finding, pattern)
        return notes

    # Rewrites

    def trial(self, suspect: Suspect, expected: Arrays, limit: int | None) -> Trial:
        """Run the pass with so many rewrites, then the module."""
        if limit not in self._trials:
            module = suspect.before.clone()
            with counting_steps(limit) as steps:
                moved = self.moves(suspect, module, expected)
            self._trials[limit] = Trial(steps, moved)
        return self._trials[limit]

    def moves(
        self,
        suspect: Suspect,
        module: ModuleOp,
        expected: Arrays,
        inputs: Arrays | None = None,
    ) -> bool | None:
        """Run the pass on a module, and say whether its numbers are others then."""
        try:
            suspect.pipeline.apply(self.runner.ctx, module)
        except Exception:  # of a pass that was stopped half-way, or on a reduced module
            return None
        found = self.runner.run(module, inputs)
        if isinstance(found, NotRun):
            return None
        return bool(self.runner.moved(found.arrays, expected))

    def first_wrong(
        self, suspect: Suspect, expected: Arrays, count: int
    ) -> Sequence[RewriteStep]:
        """
        The rewrite that is the first to move the numbers; several where modules between
        them cannot be run, none if the numbers move without any.
        """
        if self.trial(suspect, expected, 0).moved is True:
            return ()
        low, high = 0, count
        while (middle := self._between(suspect, expected, low, high)) is not None:
            if self.trial(suspect, expected, middle).moved:
                high = middle
            else:
                low = middle
        taken = self.trial(suspect, expected, None).steps.taken
        return taken[low:high]

    def _between(
        self, suspect: Suspect, expected: Arrays, low: int, high: int
    ) -> int | None:
        """A number of rewrites between two, as near to the middle as can be run."""
        middle = (low + high) // 2
        for limit in sorted(range(low + 1, high), key=lambda n: abs(n - middle)):
            if self.trial(suspect, expected, limit).moved is not None:
                return limit
        return None

    # A small test

    def small_test(self, finding: Finding, pattern: str | None) -> Sequence[Note]:
        """Reduce the module, write what shows the mistake, and say so."""
        suspect = finding.suspect
        reduced = self.reduced(suspect, pattern)
        if reduced is None:
            message = "the pass alone, on a module that verifies, is right"
            return [Note(suspect.before, message)]
        small, words = reduced
        name = suspect.name
        files: dict[str, str | bytes] = {}
        if words == RANDOM:
            inputs = RANDOM[0]
        else:
            inputs = f"%S/{name}.npz"
            files[f"{name}.npz"] = npz_bytes(self.runner.inputs_for(small))
        reproducer = Reproducer(suspect.pipeline.spelled_out(), self.verify_each)
        text = reproducer.with_module(ir_text(small, EXACTLY))
        files[f"{name}.reproducer.mlir"] = text
        files[f"{name}.mlir"] = TEST.format(
            inputs=inputs,
            pipeline=suspect.pipeline,
            way=" --interpret" if finding.way is Way.INTERPRETED else "",
            name=name,
            pattern="" if pattern is None else f" by pattern '{pattern}'",
            module=ir_text(small),
        )
        self.folder.mkdir(parents=True, exist_ok=True)
        for file, content in files.items():
            write_whole(self.folder / file, content)
        test = self.folder / f"{name}.mlir"
        fails = "it fails" if self.fails(suspect, test, words) else "but it passes"
        count = sum(1 for _ in small.walk()) - 1
        where = suspect.before
        other = self.folder / f"{name}.reproducer.mlir"
        return [
            Note(where, f"a test of {count} ops is written to '{test}', and {fails}"),
            Note(where, f"a reproducer of the pass is written to '{other}'"),
        ]

    def reduced(
        self, suspect: Suspect, pattern: str | None
    ) -> tuple[ModuleOp, Sequence[str]] | None:
        """A small module that is made wrong, and the inputs that show it."""
        for words in dict.fromkeys((RANDOM, tuple(self.runner.words) or RANDOM)):
            runner = self.runner_on(words)
            reducer = Reducer(
                suspect.before,
                lambda module, runner=runner: self.is_wrong(
                    suspect, module, pattern, runner
                ),
                max_steps=MAX_REDUCTIONS,
                max_seconds=MAX_SECONDS,
            )
            # The module before a pass need not verify, if nobody asks for that.
            with suppress(NotInteresting, OpError):
                return reducer.run(), words
        return None

    def runner_on(self, words: Sequence[str]) -> Runner:
        """What runs modules on random numbers, or on the inputs that were given."""
        return replace(self.runner, words=RANDOM) if words == RANDOM else self.runner

    def is_wrong(
        self, suspect: Suspect, module: ModuleOp, pattern: str | None, runner: Runner
    ) -> bool:
        """Whether the pass moves the numbers of a module, with a pattern if known."""
        try:
            inputs = runner.inputs_for(module)
        except Exception:  # a module that is no program any more
            return False
        right = runner.run(module, inputs)
        if not isinstance(right, Outputs):
            return False
        with counting_steps() as steps:
            moved = self.moves(suspect, module.clone(), right.arrays, inputs)
        known = pattern is None or pattern in {step.pattern for step in steps.taken}
        return moved is True and known

    def fails(self, suspect: Suspect, test: Path, words: Sequence[str]) -> bool:
        """Do what the RUN lines of a test say."""
        ctx = self.runner.ctx.clone()
        module = parse_ir(ctx, test.read_text(), str(test))
        again = self.runner_on(words)
        inputs = again.inputs_for(module)
        right = again.run(module, inputs)
        pipeline = parse_pipeline(str(suspect.pipeline), self.passes, ctx)
        pipeline.apply(ctx, module)
        wrong = again.run(module, inputs)
        if not isinstance(right, Outputs) or not isinstance(wrong, Outputs):
            return False
        return bool(again.moved(wrong.arrays, right.arrays))


def place_of(step: RewriteStep, module: ModuleOp) -> LocationAttr:
    """The place of a rewrite; where it has none, as in a kernel, that of a call."""
    if not isinstance(step.location, UnknownLoc):
        return step.location
    for op in module.walk():
        callee = op.get_attr_or_prop("callee")
        if not isinstance(callee, SymbolRefAttr) or isinstance(op.location, UnknownLoc):
            continue
        if callee.string_value() == step.function:
            return op.location
    return step.location


def npz_bytes(arrays: Arrays) -> bytes:
    """A file of arrays by name."""
    buffer = BytesIO()
    named: dict[str, Any] = dict(arrays)
    np.savez(buffer, **named)
    return buffer.getvalue()
