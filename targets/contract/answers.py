"""
What hooks return for a target, checked before any of it runs.
"""

import difflib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import FunctionType
from typing import Any, NamedTuple, cast

from xdsl.context import Context
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from transom.dialects.diagnostics import did_you_mean
from transom.dialects.target import TargetAttr
from transom.lowering.conversion import ConversionPattern
from transom.lowering.conversion.pattern import roots_of
from transom.passes.graph_patterns import Pattern
from transom.passes.pass_options import format_value
from transom.passes.pipeline import (
    PassFactory,
    Pipeline,
    PipelineError,
    parse_pipeline,
)
from transom.targets.contract.answer_texts import text_of_answer
from transom.targets.contract.asking import Question
from transom.targets.contract.memories import checked_memories
from transom.targets.contract.pipelines import PipelineRules
from transom.targets.contract.repetition import text_change
from transom.targets.contract.rules import (
    ANSWERING_HOOKS,
    KEEPS_NESTS,
    NO_HOOK,
    NOT_EQUAL,
    NOT_OMISSIBLE,
    NOT_SHARED,
    WRONG_OPTION,
    Breach,
)
from transom.targets.hooks import AnyClaim, Claim, Reference, Step, TargetHooks
from transom.targets.registry import HooksError

SCOPES = ("function", "module")

LOWERS_NESTS = "convert-tir-to-scf"
"""The pass without which a target has to do something of its own with nests."""

TAKE_NESTS = (
    "emit",
    "tir_pipeline",
    "convert_graph_to_tir",
    "convert_graph_to_artifact",
)
"""Hooks that can."""

NEAR = 0.75
"""How alike the names of a method and a hook are if one is meant for the other."""


class KnownPasses(NamedTuple):
    """The passes that hooks may name."""

    registered: Mapping[str, PassFactory]
    shared: Collection[str]
    """Those that lead to the phases."""
    omissible: Collection[str]
    """Those of the shared ones that a target may omit."""
    ctx: Context
    """Has the dialects of the attributes in options."""


_VERIFIED: dict[tuple[int, TargetAttr], TargetHooks[Any]] = {}
"""Hooks whose answers are right, by identity, and the target that they were for."""


def verify_answers(
    hooks: TargetHooks[Any], target: TargetAttr, known: KnownPasses
) -> None:
    """
    Check what hooks return for a target, once in a process.

    Raises `HooksError`, which names the hook, the target and what was expected.
    """
    if _VERIFIED.get((id(hooks), target)) is not hooks:
        _Answers(hooks, target, known).check()
        _VERIFIED[(id(hooks), target)] = hooks


class _Answers:
    """Asks each hook of a target, and looks at the answer."""

    def __init__(
        self, hooks: TargetHooks[Any], target: TargetAttr, known: KnownPasses
    ) -> None:
        self.hooks = hooks
        self.target = target
        self.known = known
        self.question = Question(hooks, "scope", target)

    def error(self, breach: Breach, **fields: object) -> HooksError:
        """The error of the hook that was asked last."""
        return self.question.error(breach, **fields)

    def expect(self, holds: bool, expected: str, found: object) -> None:
        """Raise `HooksError` unless an answer is as expected."""
        self.question.expect(holds, expected, found)

    def check(self) -> None:
        """Raise `HooksError` unless all answers are right."""
        names = " or ".join(f"'{name}'" for name in SCOPES)
        self.expect(self.hooks.scope in SCOPES, names, self.hooks.scope)
        for name, near in _misspelt(type(self.hooks)):
            self.question = Question(self.hooks, name, self.target)
            raise self.error(NO_HOOK, near=near)
        equal = self.target.new(self.target.parameters)
        for hook in ANSWERING_HOOKS:
            self.question = Question(self.hooks, hook, self.target)
            answer = self.question.answer()
            _CHECKS[hook](self, answer)
            again = text_of_answer(self.question.answer(equal))
            change = text_change(text_of_answer(answer), again)
            if change is not None:
                raise self.error(NOT_EQUAL, first=change.first, second=change.second)

    def items(self, answer: object, expected: str) -> Sequence[object]:
        """The items of an answer that is a list or a tuple."""
        self.expect(isinstance(answer, list | tuple), expected, answer)
        return cast("Sequence[object]", answer)

    def check_pipeline_at(self, pipeline: Pipeline, *anchors: str) -> None:
        rules = PipelineRules(self.known.registered, self.known.ctx, self.question)
        rules.check(pipeline, anchors)

    # One check per hook.

    def check_claims(self, answer: object) -> None:
        kinds = "a list of 'Claim' and 'PatternClaim'"
        for claim in self.items(answer, kinds):
            self.expect(isinstance(claim, AnyClaim), kinds, claim)
            assert isinstance(claim, AnyClaim), "checked above"
            functions: tuple[str, ...] = ("answer",)
            if isinstance(claim, Claim):
                expected = "an op class as 'root' of a claim"
                self.expect(is_op_class(claim.root), expected, claim.root)
                functions = ("answer", "members")
            else:
                is_pattern = isinstance(cast(object, claim.pattern), Pattern)
                expected = "a 'Pattern' as 'pattern' of a claim"
                self.expect(is_pattern, expected, claim.pattern)
            for part in functions:
                found = getattr(claim, part)
                expected = f"a function as '{part}' of a claim"
                self.expect(callable(found), expected, found)
            is_label = isinstance(cast(object, claim.label), str | None)
            self.expect(is_label, "a string or None as 'label' of a claim", claim.label)

    def check_pipeline(self, answer: object) -> None:
        self.expect(isinstance(answer, Pipeline), "a 'Pipeline'", answer)
        assert isinstance(answer, Pipeline), "checked above"
        self.check_pipeline_at(answer, "builtin.module", "func.func")

    def check_pass(self, answer: object) -> None:
        if answer is None:
            return
        is_pass = isinstance(answer, ModulePass | Pipeline)
        self.expect(is_pass, "a pass, a 'Pipeline' or None", answer)
        if isinstance(answer, ModulePass):
            answer = Pipeline("builtin.module", (answer,))
        assert isinstance(answer, Pipeline), "checked above"
        self.check_pipeline_at(answer, "builtin.module")

    def check_steps(self, answer: object) -> None:
        for step in self.items(answer, "a list of 'Step'"):
            self.expect(isinstance(step, Step), "a list of 'Step'", step)
            assert isinstance(step, Step), "checked above"
            pipeline = cast(object, step.pipeline)
            is_pipeline = isinstance(pipeline, Pipeline)
            self.expect(is_pipeline, "a 'Pipeline' as 'pipeline' of a step", pipeline)
            for part in ("requires", "provides", "before"):
                names = getattr(step, part)
                expected = f"a frozenset of strings as '{part}' of a step"
                self.expect(is_set_of_names(names), expected, names)
            self.check_pipeline_at(step.pipeline, "builtin.module", "tir.func")

    def check_patterns(self, answer: object) -> None:
        expected = "a list of 'ConversionPattern'"
        for pattern in self.items(answer, expected):
            self.expect(isinstance(pattern, ConversionPattern), expected, pattern)
            root = cast(object, getattr(pattern, "root", None))
            what = "op classes and names as 'root' of a pattern"
            for part in roots_of(cast(Any, root)):
                self.expect(is_op_class(part) or isinstance(part, str), what, part)

    def check_options(self, answer: object) -> None:
        expected = "a mapping of options by pass"
        self.expect(isinstance(answer, Mapping), expected, answer)
        for name, options in cast("Mapping[object, object]", answer).items():
            self.expect(isinstance(name, str), "names of passes", name)
            is_mapping = isinstance(options, Mapping)
            self.expect(is_mapping, f"a mapping of values for '{name}'", options)
            if name not in self.known.shared:
                near = did_you_mean(str(name), self.known.shared)
                raise self.error(NOT_SHARED, name=name, near=near)
            self.check_values(str(name), cast("Mapping[str, object]", options))

    def check_values(self, name: str, options: Mapping[str, object]) -> None:
        given = " ".join(f"{k}={format_value(v)}" for k, v in options.items())
        text = f"{name}{{{given}}}"
        try:
            parse_pipeline(text, self.known.registered, self.known.ctx)
        except PipelineError as e:
            raise self.error(WRONG_OPTION, message=e.message) from e

    def check_omits(self, answer: object) -> None:
        self.expect(is_set_of_names(answer), "a frozenset of strings", answer)
        for name in sorted(cast("AbstractSet[str]", answer)):
            if name not in self.known.omissible:
                near = did_you_mean(name, self.known.omissible)
                raise self.error(NOT_OMISSIBLE, name=name, near=near)
        omitted = cast("AbstractSet[str]", answer)
        if LOWERS_NESTS in omitted and not any(map(self.overrides, TAKE_NESTS)):
            raise self.error(KEEPS_NESTS, name=LOWERS_NESTS)

    def overrides(self, hook: str) -> bool:
        """Whether the target says something of its own in a hook."""
        default: object = getattr(TargetHooks, hook)
        return getattr(type(self.hooks), hook) is not default

    def check_memories(self, answer: object) -> None:
        checked_memories(answer, self.question)

    def check_reference(self, answer: object) -> None:
        self.expect(isinstance(answer, Reference), "a 'Reference'", answer)
        assert isinstance(answer, Reference), "checked above"
        for part in ("ops", "externs", "artifacts"):
            table = getattr(answer, part)
            what = "op class" if part == "ops" else "name"
            expected = f"a mapping of functions by {what} as '{part}'"
            self.expect(isinstance(table, Mapping), expected, table)
            for key, value in cast("Mapping[object, object]", table).items():
                fits = is_op_class(key) if part == "ops" else isinstance(key, str)
                self.expect(fits, expected, key)
                self.expect(callable(value), expected, value)


_CHECKS: dict[str, Callable[[_Answers, object], None]] = {
    "claims": _Answers.check_claims,
    "graph_pipeline": _Answers.check_pipeline,
    "constants": _Answers.check_pass,
    "convert_graph_to_tir": _Answers.check_pass,
    "convert_graph_to_artifact": _Answers.check_pass,
    "tir_pipeline": _Answers.check_steps,
    "patterns": _Answers.check_patterns,
    "pass_options": _Answers.check_options,
    "omits": _Answers.check_omits,
    "memories": _Answers.check_memories,
    "reference": _Answers.check_reference,
}


def _misspelt(cls: type[TargetHooks[Any]]) -> Iterator[tuple[str, str]]:
    """
    The public methods of a class that are no hooks, but nearly called like one.

    One that has the whole name in it, as `emit_c`, is a helper of the hook.
    """
    hooks = [name for name in vars(TargetHooks) if not name.startswith("_")]
    for name in dict.fromkeys(name for c in cls.__mro__ for name in vars(c)):
        if name.startswith("_") or hasattr(TargetHooks, name):
            continue
        method = next(vars(c)[name] for c in cls.__mro__ if name in vars(c))
        if not isinstance(method, FunctionType | classmethod | staticmethod):
            continue
        near = difflib.get_close_matches(name, hooks, 1, NEAR)
        if near and not (
            name.startswith(f"{near[0]}_") or name.endswith(f"_{near[0]}")
        ):
            yield name, near[0]


def is_op_class(value: object) -> bool:
    """Whether a value is a class of ops."""
    return isinstance(value, type) and issubclass(value, Operation)


def is_set_of_names(value: object) -> bool:
    """Whether a value is a set of strings."""
    if not isinstance(value, AbstractSet):
        return False
    return all(isinstance(name, str) for name in cast("AbstractSet[object]", value))
