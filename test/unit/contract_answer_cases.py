"""
What hooks return for a target: wrong answers, and what is said of them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle
from typing import Any, ClassVar, cast

from contract_cases import ToyHooks
from toy_npu.dialect import ToyNpuAttr
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.transforms.canonicalize import CanonicalizePass

from transom.dialects import graph
from transom.dialects.target import LinkOp, MemoryOp
from transom.lowering.conversion import ConversionPattern
from transom.passes.owned_functions import FunctionFilter
from transom.passes.pipeline import PassRegistry, Pipeline
from transom.registry import new_context, registry
from transom.targets.contract import (
    Breach,
    KnownPasses,
    rules,
)
from transom.targets.hooks import Accepted, Claim, Reference, Step

SHARED = ("graph-fuse", "tir-choose-schedule", "convert-tir-to-scf")
OMISSIBLE = ("graph-fuse", "convert-tir-to-scf")


@dataclass(frozen=True)
class UnknownPass(ModulePass):
    """A pass that nobody has registered."""

    name: ClassVar[str] = "toy-schedul"

    def apply(self, ctx: Context, op: ModuleOp) -> None: ...


@dataclass(frozen=True)
class SchedulePass(ModulePass):
    """A pass that is registered."""

    name: ClassVar[str] = "toy-schedule"

    note: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None: ...


@dataclass(frozen=True)
class OtherSchedulePass(SchedulePass):
    """Another class under the same name."""


def known() -> KnownPasses:
    passes = PassRegistry({**registry().passes, "toy-schedule": lambda: SchedulePass})
    return KnownPasses(passes, SHARED, OMISSIBLE, new_context())


def hooks_with(hook: str, answer: Callable[[ToyNpuAttr], Any]) -> ToyHooks:
    """Hooks of which one gives an answer."""

    def method(self: ToyHooks, target: ToyNpuAttr) -> Any:
        return answer(target)

    return cast(ToyHooks, type("Hooks", (ToyHooks,), {hook: method})())


def module(*passes: ModulePass | Pipeline) -> Pipeline:
    return Pipeline("builtin.module", passes)


def refuse(target: ToyNpuAttr) -> Any:
    raise ValueError("no such core")


NOTES = cycle(("first", "second"))
OMITTED = cycle(OMISSIBLE)


def accept(op: Any) -> Accepted:
    return Accepted()


def in_a_module() -> MemoryOp:
    memory = MemoryOp("sram")
    ModuleOp([memory])
    return memory


@dataclass(frozen=True)
class Answer:
    """What a hook returns, and what is said of it."""

    breach: Breach
    hook: str
    answer: Callable[[ToyNpuAttr], Any]
    message: str


def wrong_type(hook: str, answer: Any, message: str) -> Answer:
    return Answer(rules.WRONG_TYPE, hook, lambda target: answer, message)


class Rootless(ConversionPattern[Any]):
    """A pattern of nothing."""

    root = cast(Any, (graph.ReluOp, 3))

    def match_and_rewrite(self, op: Any, operands: Any, rewriter: Any) -> None: ...


# Wrong types, on purpose.
claim: Any = Claim
reference: Any = Reference
step: Any = Step

TYPES = (
    wrong_type(
        "claims", None, "expected a list of 'Claim' and 'PatternClaim', but got None"
    ),
    wrong_type(
        "claims",
        [graph.ReluOp],
        "expected a list of 'Claim' and 'PatternClaim', but got class 'ReluOp'",
    ),
    wrong_type(
        "claims",
        [claim("relu", accept)],
        "expected an op class as 'root' of a claim, but got 'relu'",
    ),
    wrong_type(
        "claims",
        [claim(graph.ReluOp, True)],
        "expected a function as 'answer' of a claim, but got True",
    ),
    wrong_type(
        "claims",
        [claim(graph.ReluOp, accept, "a", ())],
        "expected a function as 'members' of a claim, but got 'tuple'",
    ),
    wrong_type(
        "claims",
        [claim(graph.ReluOp, accept, 3)],
        "expected a string or None as 'label' of a claim, but got 3",
    ),
    wrong_type("graph_pipeline", None, "expected a 'Pipeline', but got None"),
    wrong_type("graph_pipeline", "cse", "expected a 'Pipeline', but got 'cse'"),
    wrong_type(
        "patterns",
        [Rootless()],
        "expected op classes and names as 'root' of a pattern, but got 3",
    ),
    wrong_type(
        "patterns", ["relu"], "expected a list of 'ConversionPattern', but got 'relu'"
    ),
    wrong_type(
        "convert_graph_to_tir",
        [SchedulePass()],
        "expected a pass, a 'Pipeline' or None, but got 'list'",
    ),
    wrong_type(
        "convert_graph_to_artifact",
        SchedulePass,
        "expected a pass, a 'Pipeline' or None, but got class 'SchedulePass'",
    ),
    wrong_type(
        "constants", "fold", "expected a pass, a 'Pipeline' or None, but got 'fold'"
    ),
    wrong_type(
        "tir_pipeline", module(), "expected a list of 'Step', but got 'Pipeline'"
    ),
    wrong_type(
        "tir_pipeline", [module()], "expected a list of 'Step', but got 'Pipeline'"
    ),
    wrong_type(
        "tir_pipeline",
        [step(SchedulePass())],
        "expected a 'Pipeline' as 'pipeline' of a step, but got 'SchedulePass'",
    ),
    wrong_type(
        "tir_pipeline",
        [step(module(), "vectors")],
        "expected a frozenset of strings as 'requires' of a step, but got 'vectors'",
    ),
    wrong_type(
        "pass_options", None, "expected a mapping of options by pass, but got None"
    ),
    wrong_type("pass_options", {1: {}}, "expected names of passes, but got 1"),
    wrong_type(
        "pass_options",
        {"graph-fuse": 1},
        "expected a mapping of values for 'graph-fuse', but got 1",
    ),
    wrong_type(
        "omits", "graph-fuse", "expected a frozenset of strings, but got 'graph-fuse'"
    ),
    wrong_type("omits", {1}, "expected a frozenset of strings, but got 'set'"),
    wrong_type(
        "memories", None, "expected a list of 'MemoryOp' and 'LinkOp', but got None"
    ),
    wrong_type(
        "memories",
        ["sram"],
        "expected a list of 'MemoryOp' and 'LinkOp', but got 'sram'",
    ),
    wrong_type("reference", None, "expected a 'Reference', but got None"),
    wrong_type(
        "reference",
        reference(ops=[]),
        "expected a mapping of functions by op class as 'ops', but got 'list'",
    ),
    wrong_type(
        "reference",
        reference(ops={"relu": accept}),
        "expected a mapping of functions by op class as 'ops', but got 'relu'",
    ),
    wrong_type(
        "reference",
        reference(externs={"f": 3}),
        "expected a mapping of functions by name as 'externs', but got 3",
    ),
    wrong_type(
        "reference",
        reference(artifacts={graph.ReluOp: accept}),
        "expected a mapping of functions by name as 'artifacts', but got class "
        "'ReluOp'",
    ),
)

ANSWERS = (
    Answer(rules.RAISED, "claims", refuse, "it raised ValueError: no such core"),
    Answer(
        rules.NO_HOOK,
        "tir_pipelines",
        lambda target: (),
        "it is no hook; did you mean 'tir_pipeline'? the name of a helper begins with "
        "'_'",
    ),
    Answer(
        rules.NOT_EQUAL,
        "omits",
        lambda target: {next(OMITTED)},
        "equal attributes expect equal answers, but it gave '{graph-fuse}', "
        "then '{convert-tir-to-scf}'",
    ),
    Answer(
        rules.NOT_EQUAL,
        "graph_pipeline",
        lambda target: module(SchedulePass(next(NOTES))),
        "equal attributes expect equal answers, but it gave "
        "'toy-schedule{note=first}', then 'toy-schedule{note=second}'",
    ),
)

PIPELINES = (
    Answer(
        rules.NOT_REGISTERED,
        "graph_pipeline",
        lambda target: module(UnknownPass()),
        "pass 'toy-schedul' is not registered in 'all_passes' of a universe "
        "(entry-point group 'xdsl.universe'); did you mean 'toy-schedule'?",
    ),
    Answer(
        rules.REGISTERED_OTHER,
        "convert_graph_to_tir",
        lambda target: OtherSchedulePass(),
        "pass 'toy-schedule' is registered with class 'SchedulePass', not "
        "'OtherSchedulePass'",
    ),
    Answer(
        rules.NOT_PARSED,
        "constants",
        lambda target: SchedulePass(cast(Any, graph.ReluOp)),
        "'toy-schedule{note=<class "
        "'transom.dialects.graph.functions.ReluOp'>}' does not parse: expected "
        "a string for option 'note', but got '<class'",
    ),
    Answer(
        rules.PARSED_OTHER,
        "tir_pipeline",
        lambda target: [Step(module(SchedulePass(cast(Any, 8))))],
        "'toy-schedule{note=8}' parses to 'toy-schedule{note=\"8\"}', which is "
        "not equal",
    ),
    Answer(
        rules.WRONG_ANCHOR,
        "graph_pipeline",
        lambda target: Pipeline("tir.func", (CanonicalizePass(),)),
        "expected a pipeline at 'builtin.module' or 'func.func', but got 'tir.func'",
    ),
    Answer(
        rules.WRONG_ANCHOR,
        "tir_pipeline",
        lambda target: [Step(Pipeline("func.func", ()))],
        "expected a pipeline at 'builtin.module' or 'tir.func', but got 'func.func'",
    ),
    Answer(
        rules.WRONG_ANCHOR,
        "constants",
        lambda target: Pipeline("func.func", ()),
        "expected a pipeline at 'builtin.module', but got 'func.func'",
    ),
    Answer(
        rules.OWN_FILTER,
        "graph_pipeline",
        lambda target: Pipeline("func.func", (), FunctionFilter(only=(target,))),
        "expected a pipeline without 'only' and 'without', but got "
        "'func.func{only=[#toy_npu.target]}()'; it is run on the functions of "
        "the target",
    ),
)

SHARED_PASSES = (
    Answer(
        rules.KEEPS_NESTS,
        "omits",
        lambda target: {"convert-tir-to-scf"},
        "without pass 'convert-tir-to-scf' nests stay, and nothing takes them; "
        "expected a hook 'emit', 'tir_pipeline', 'convert_graph_to_tir' or "
        "'convert_graph_to_artifact' that does",
    ),
    Answer(
        rules.NOT_OMISSIBLE,
        "omits",
        lambda target: {"tir-choose-schedule"},
        "pass 'tir-choose-schedule' cannot be omitted; expected one of "
        "'convert-tir-to-scf', 'graph-fuse'",
    ),
    Answer(
        rules.NOT_OMISSIBLE,
        "omits",
        lambda target: {"graph-fuze"},
        "pass 'graph-fuze' cannot be omitted; did you mean 'graph-fuse'?",
    ),
    Answer(
        rules.NOT_SHARED,
        "pass_options",
        lambda target: {"tir-choose-schedul": {}},
        "'tir-choose-schedul' is no shared pass; did you mean 'tir-choose-schedule'?",
    ),
    Answer(
        rules.NOT_SHARED,
        "pass_options",
        lambda target: {"canonicalize": {}},
        "'canonicalize' is no shared pass; expected one of "
        "'convert-tir-to-scf', 'graph-fuse', 'tir-choose-schedule'",
    ),
    Answer(
        rules.WRONG_OPTION,
        "pass_options",
        lambda target: {"tir-choose-schedule": {"vector-byte": 8}},
        "unknown option 'vector-byte' of pass 'tir-choose-schedule'; did you "
        "mean 'vector-bytes'?",
    ),
    Answer(
        rules.WRONG_OPTION,
        "pass_options",
        lambda target: {"tir-choose-schedule": {"vector-bytes": "many"}},
        "expected an integer for option 'vector-bytes', but got 'many'",
    ),
)

MEMORIES = (
    Answer(
        rules.MEMORY_ATTACHED,
        "memories",
        lambda target: [in_a_module()],
        "expected new ops, but 'target.memory' '@sram' is in a module already",
    ),
    Answer(
        rules.MEMORY_TWICE,
        "memories",
        lambda target: [MemoryOp("a"), MemoryOp("a", 8)],
        "'target.memory' '@a' is brought twice",
    ),
    Answer(
        rules.MEMORY_TWICE,
        "memories",
        lambda target: [LinkOp("a", "b", 1.0)] * 2,
        "'target.link' '@a -> @b' is brought twice",
    ),
    Answer(
        rules.MEMORY_INVALID,
        "memories",
        lambda target: [MemoryOp("a", -1)],
        "'target.memory' '@a' does not verify: expected a size > 0, but got -1",
    ),
    Answer(
        rules.MEMORY_INVALID,
        "memories",
        lambda target: [LinkOp("a", "a", 1.0)],
        "'target.link' '@a -> @a' does not verify: expected a link between two "
        "memories, but got '@a' twice",
    ),
)

CASES = (*TYPES, *ANSWERS, *PIPELINES, *SHARED_PASSES, *MEMORIES)
