"""
The conformance kit: what authors of targets run on theirs.

```python
def test_my_target():
    print(check_target("#woofles.target<lanes = 8>"))
```
"""

import os
import threading
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import ParseError

from transom.dialects import plugins
from transom.dialects.diagnostics import OpError
from transom.dialects.parser import parse_attribute_text, parse_ir
from transom.dialects.plugins import Plugin
from transom.dialects.target import TargetAttr
from transom.driver import PHASES, lower
from transom.lowering.conversion import Refusal
from transom.passes.graph_patterns import Matcher
from transom.plugin_states import plugin_statuses
from transom.registry import new_context, registry
from transom.runtime.jit import JitError
from transom.runtime.program import ProgramError
from transom.targets import TARGETS
from transom.targets.contract import (
    KnownPasses,
    answer_of,
    answers_of,
    members_of,
    verify_answers,
)
from transom.targets.contract.rules import ANSWERING_HOOKS
from transom.targets.hooks import API_VERSION, Accepted, AnyClaim, Claim, TargetHooks
from transom.targets.llvm_cpu.dialect import LlvmCpuAttr
from transom.targets.llvm_cpu.host import resolved
from transom.targets.registry import HooksError, hooks_by_name, hooks_of
from transom.testing import reproduction
from transom.testing.attribute_rules import round_trip_problems, value_problems
from transom.testing.phases import PhaseMismatch, check_phases
from transom.testing.samples import (
    HOST,
    SAMPLES,
    SPECIAL,
    machine_of,
    placed_sample,
    special_inputs,
)

RULES: dict[str, str] = {
    "registered": "the attribute and its hooks are registered, for this API version",
    "text": "the attribute parses from its text, alone and inside of others",
    "values": "the attribute is verified by value",
    "answers": "hooks are functions of the attribute, with answers of their types",
    "environment": "hooks read no environment variables",
    "claims": "claims accept with a cost or refuse with a reason, and change nothing",
    "contract": "hooks keep their contract on the samples, thoroughly checked",
    "phases": "the samples compute the same at every phase",
    "special": "so do element-wise ops of NaN, infinities and negative zero",
    "threads": "lowering in two threads at once gives the same text",
    "hash-seeds": "lowering in other processes gives the same text",
}
"""What is checked, in order."""

_BASIC = ("text", "answers")
"""Nothing more is checked of a target that breaks these."""


class Violation(NamedTuple):
    """A rule that a target breaks."""

    rule: str
    message: str
    sample: str | None = None

    def __str__(self) -> str:
        where = "" if self.sample is None else f", sample '{self.sample}'"
        return f"{self.rule}{where}: {self.message}"


class ConformanceError(AssertionError):
    """A target breaks rules; the message lists all that were found."""

    def __init__(self, target: TargetAttr | str, violations: Sequence[Violation]):
        many = "a rule" if len(violations) == 1 else f"{len(violations)} rules"
        listed = "\n".join(f"- {violation}" for violation in violations)
        super().__init__(f"'{target}' breaks {many}:\n{listed}")
        self.violations = tuple(violations)


@dataclass
class ConformanceReport:
    """What was checked of a target, and what the samples could not show."""

    target: TargetAttr
    checked: dict[str, int] = field(default_factory=dict[str, int])
    """How often each rule was checked."""
    notes: list[str] = field(default_factory=list[str])

    def __str__(self) -> str:
        lines = [f"'{self.target}' keeps all rules"]
        lines += [
            f"  {rule:12} {count:4}  {RULES[rule]}"
            for rule, count in self.checked.items()
        ]
        return "\n".join((*lines, *(f"note: {note}" for note in self.notes)))


def check_target(
    target: TargetAttr | str,
    *,
    modules: Mapping[str, str] | None = None,
    samples: Collection[str] | None = None,
    machine: str | None = None,
    libraries: Sequence[str] = (),
    unverified: Collection[str] = (),
    processes: bool = True,
) -> ConformanceReport:
    """
    Check that a target keeps the rules (`RULES`) on small modules of all kinds.

    `modules` are texts of further modules by name, each with `@main` and no device;
    `samples` are the names of those of `SAMPLES` to use, by default all. `machine` is
    text that declares devices, where `{target}` stands for the target and the first one
    is the host; by default the target is one that the host prefers. `libraries` hold
    the C functions that its kernels call, `unverified` names parameters of the
    attribute that may have any value. Without `processes` hash seeds are not tried.

    Raises `ConformanceError`.
    """
    chosen = SAMPLES if samples is None else {name: SAMPLES[name] for name in samples}
    ctx = new_context()
    try:
        attribute = _target(target, ctx)
        hooks = hooks_of(attribute)
    except (ParseError, HooksError) as e:
        reason = str(e.args[-1] if isinstance(e, ParseError) else e)
        violation = Violation("registered", reason)
        raise ConformanceError(target, (violation,)) from None
    declared = machine_of(str(attribute))
    if machine is not None:
        declared = machine.replace("{target}", str(attribute))
    texts = {
        name: placed_sample(text, declared)
        for name, text in {**chosen, **(modules or {})}.items()
    }
    kit = _Kit(ctx, attribute, hooks, texts, tuple(libraries), frozenset(unverified))
    kit.check(processes)
    if kit.violations:
        raise ConformanceError(target, kit.violations)
    return kit.report


def _target(target: TargetAttr | str, ctx: Context) -> TargetAttr:
    attribute = target
    if isinstance(target, str):
        attribute = parse_attribute_text(ctx, target)
    if not isinstance(attribute, TargetAttr):
        raise HooksError(f"expected a target attribute, but got '{attribute}'")
    if isinstance(attribute, LlvmCpuAttr):  # hooks are not asked about a `host`
        return resolved(attribute)
    return attribute


class _Kit:
    """Checks one target."""

    def __init__(
        self,
        ctx: Context,
        target: TargetAttr,
        hooks: TargetHooks[Any],
        texts: Mapping[str, str],
        libraries: Sequence[str],
        unverified: Collection[str],
    ) -> None:
        self.ctx = ctx
        self.target = target
        self.hooks = hooks
        self.texts = texts
        self.libraries = libraries
        self.unverified = unverified
        self.report = ConformanceReport(target)
        self.violations: list[Violation] = []
        self.modules: dict[str, ModuleOp] = {}

    def check(self, processes: bool) -> None:
        """Check all rules; those on samples only if the target itself is right."""
        self.all_of("registered", self.registration_problems())
        self.all_of("text", round_trip_problems(self.target, self.ctx))
        self.all_of("values", value_problems(self.target, self.unverified))
        self.all_of("answers", self.answer_problems())
        if any(violation.rule in _BASIC for violation in self.violations):
            return
        self.all_of("environment", self.environment_problems())
        for name, text in self.texts.items():
            self.modules[name] = parse_ir(self.ctx, text, f"{name}.mlir")
        self.check_claims()
        for name, module in self.modules.items():
            self.all_of("contract", self.contract_problems(module), name)
            if name == SPECIAL:
                self.all_of("special", self.special_problems(module), name)
            else:
                self.all_of("phases", self.phase_problems(module), name)
        if any(violation.sample is not None for violation in self.violations):
            return
        self.all_of("threads", self.thread_problems())
        if processes:
            self.check_hash_seeds()

    def all_of(self, rule: str, problems: Iterable[str], sample: str | None = None):
        """Note that a rule was checked, and what broke it."""
        self.report.checked[rule] = self.report.checked.get(rule, 0) + 1
        self.violations += (Violation(rule, text, sample) for text in problems)

    # The attribute and its hooks.

    @property
    def plugin(self) -> Plugin | None:
        """The plug-in that the hooks are of; None if they are not of one."""
        found = plugins.plugins_named(plugins.TARGETS, self.target.name)
        is_registered = self.is_registered and self.target.name not in TARGETS
        return found[0] if is_registered and found else None

    @property
    def is_registered(self) -> bool:
        """Whether other processes find the same hooks."""
        try:
            return hooks_by_name(self.target.name) is self.hooks
        except HooksError:
            return False

    def registration_problems(self) -> Iterator[str]:
        if (plugin := self.plugin) is None:
            return
        for status in plugin_statuses():
            if status.plugin == plugin and status.error is not None:
                yield str(status.error)
        classes = type(self.hooks).__mro__
        own = classes[: classes.index(TargetHooks)]
        if not any("api_version" in vars(cls) for cls in own):
            yield (
                f"'{type(self.hooks).__qualname__}' does not say for which version of "
                f"the contract it was written; expected 'api_version = {API_VERSION}'"
            )

    def answer_problems(self) -> Iterator[str]:
        shared = [name for phase in PHASES for name in phase.passes]
        omissible = [name for phase in PHASES for name in phase.omissible]
        known = KnownPasses(registry().passes, shared, omissible, self.ctx)
        try:
            verify_answers(self.hooks, self.target, known)
        except HooksError as e:
            yield str(e)

    def environment_problems(self) -> Iterator[str]:
        for hook in ANSWERING_HOOKS:
            # Twice, as the first time may import modules, which may do as they like.
            getattr(self.hooks, hook)(self.target)
            with _noted_variables() as variables:
                getattr(self.hooks, hook)(self.target)
            for variable in dict.fromkeys(variables):
                yield f"hook '{hook}' reads environment variable '{variable}'"

    # Samples.

    def check_claims(self) -> None:
        unused: dict[str, None] = {}
        for claim in self.hooks.claims(self.target):
            accepted = False
            for name, module in self.modules.items():
                graph_level = lower(module, "graph", ctx=self.ctx)
                for op in graph_level.walk():
                    if claim.may_root(op):
                        answers: list[object] = []
                        problems = self.claim_problems(claim, op, answers)
                        self.all_of("claims", problems, name)
                        accepted |= isinstance(answers[0], Accepted)
            if not accepted:
                unused[f"no sample has {claim.what} that is accepted"] = None
        self.report.notes += unused

    def claim_problems(
        self, claim: AnyClaim, op: Operation, answers: list[object]
    ) -> Iterator[str]:
        """What is wrong with what a claim says of an op; it is put into `answers`."""
        root = op.parent_op() or op
        before = str(root)
        try:
            answers += (self.answer(claim, op) for _ in range(2))
        except OpError as e:
            answers.append(None)
            yield e.message
            return
        if str(root) != before:
            yield f"the claim on '{op.name}' changes the module"
        first, second = answers
        if first != second:
            yield (
                f"asked twice, the claim on '{op.name}' answers '{first}', then "
                f"'{second}'"
            )
        if isinstance(first, Refusal) and not first.reason.strip():
            yield f"the claim on '{op.name}' refuses without a reason"

    def answer(self, claim: AnyClaim, op: Operation) -> Accepted | Refusal | None:
        """What a claim says of an op, None where its pattern does not end there."""
        if isinstance(claim, Claim):
            members_of(claim, op, self.target)
            return answer_of(claim, op, self.target)
        said = [a for _, a in answers_of(claim, op, self.target, Matcher())]
        granted = (answer for answer in said if isinstance(answer, Accepted))
        return next(granted, said[0] if said else None)

    def contract_problems(self, module: ModuleOp) -> Iterator[str]:
        try:
            lower(module, PHASES[-1].name, ctx=self.ctx, thorough=True)
        except Exception as e:  # plug-in boundary: hooks are others' code
            yield _said(e)

    def special_problems(self, module: ModuleOp) -> Iterator[str]:
        with np.errstate(all="ignore"):  # it is what the inputs are for
            yield from self.phase_problems(module, special_inputs())

    def phase_problems(
        self, module: ModuleOp, inputs: Mapping[str, Any] | None = None
    ) -> Iterator[str]:
        try:
            check_phases(module, inputs, ctx=self.ctx, libraries=self.libraries)
        except Exception as e:  # plug-in boundary: hooks are others' code
            yield _said(e)

    # Determinism.

    def thread_problems(self) -> Iterator[str]:
        """All samples for the target in one thread, and for the host in another."""
        alone = {name: lowered(m, self.ctx) for name, m in self.modules.items()}
        host = {
            name: parse_ir(self.ctx, placed_sample(text, machine_of(HOST)), name)
            for name, text in SAMPLES.items()
        }

        def run(modules: Mapping[str, ModuleOp]) -> dict[str, str]:
            ctx = new_context()
            return {name: lowered(m, ctx) for name, m in modules.items()}

        with ThreadPoolExecutor(2) as pool:
            beside = pool.submit(copy_context().run, run, host)
            together = pool.submit(copy_context().run, run, self.modules)
            try:
                found = together.result()
                beside.result()
            except Exception as e:  # plug-in boundary: hooks are others' code
                yield _said(e)
                return
        for name, text in alone.items():
            if found[name] != text:
                yield f"sample '{name}' is lowered otherwise beside another thread"

    def check_hash_seeds(self) -> None:
        if not self.is_registered:
            self.report.notes.append(
                "hash seeds were not tried: other processes do not have these hooks"
            )
            return
        found = reproduction.differences(self.texts)
        self.all_of(
            "hash-seeds",
            (f"sample '{name}' differs at phase '{phase}'" for name, phase in found),
        )


def _said(error: Exception) -> str:
    """An error as its user sees it; the kind of error too, if it is a bug."""
    text = str(error).strip()
    if isinstance(error, OpError | JitError | PhaseMismatch | ProgramError):
        return text
    return f"{type(error).__name__}: {text}"


def lowered(module: ModuleOp, ctx: Context) -> str:
    """The text of a module at the last phase."""
    return str(lower(module, PHASES[-1].name, ctx=ctx))


@contextmanager
def _noted_variables() -> Generator[list[str]]:
    """The environment variables that this thread asks for meanwhile."""
    environment = type(os.environ)
    original = environment.__getitem__
    thread = threading.get_ident()
    asked: list[str] = []

    def noting(self: Any, key: str) -> str:
        if threading.get_ident() == thread:
            asked.append(key)
        return original(self, key)

    environment.__getitem__ = noting
    try:
        yield asked
    finally:
        environment.__getitem__ = original
