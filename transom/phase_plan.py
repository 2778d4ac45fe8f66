"""
The phases, and what leads to each of them for the targets of a module.

The order of phases and of their shared passes is one for all. Targets say through their
hooks which passes they insert, what options shared passes take for their functions, and
which ones they omit; the plan of a phase is all of that as pipelines whose text can be
run by hand.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from transom.dialects.diagnostics import OpError, did_you_mean
from transom.dialects.target import DeviceOp, TargetAttr, get_config, targets_in
from transom.passes.owned_functions import EVERYTHING, FunctionFilter
from transom.passes.pass_options import format_value
from transom.passes.pipeline import MODULE, Pipeline, PipelineError, parse_pipeline
from transom.registry import registry
from transom.step_order import OrderedStep, OrderError, solve_order

if TYPE_CHECKING:
    from transom.targets.contract import KnownPasses
    from transom.targets.hooks import TargetHooks


@dataclass(frozen=True)
class Phase:
    """A state of a module that has a name, a promise, and passes that lead to it."""

    name: str
    promise: str
    passes: tuple[str, ...]
    """The shared passes, in order."""

    omissible: frozenset[str] = frozenset()
    """Those that a target may omit for its functions."""

    keeps_promise: frozenset[str] = frozenset()
    """Those without which a function stays at the phase before."""


PHASES = (
    Phase(
        "graph",
        "graph ops as imported, types and symbols inferred, constants folded",
        (
            "target-resolve-devices",
            "graph-infer-types",
            "graph-fold-constants",
            "graph-fold-batch-norm",
            "canonicalize",
            "cse",
            "dce",
        ),
    ),
    Phase(
        "placed",
        "every op has a place, copies are inserted",
        ("target-claim-ops", "target-plan-devices"),
    ),
    Phase(
        "partitioned",
        "each region is a private function with a place, fused groups are made",
        (
            "linalg-group-kernels",
            "graph-outline-regions",
            "graph-fold-weights",
            "graph-fold-dequantize",
            "graph-choose-layouts",
            "graph-fuse",
        ),
        frozenset(
            {
                "graph-fold-weights",
                "graph-fold-dequantize",
                "graph-choose-layouts",
                "graph-fuse",
            }
        ),
    ),
    Phase(
        "tensor",
        "kernels are tir functions, main calls them; no graph op computes",
        (
            "convert-graph-to-tir",
            "convert-linalg-to-tir",
            "tir-fuse-nests",
            "tir-use-winograd",
            "tir-reshape-dims",
            "tir-choose-schedule",
            "tir-pack-operands",
            "tir-parallelize-nests",
            "target-refine-places",
        ),
        frozenset(
            {
                "tir-fuse-nests",
                "tir-use-winograd",
                "tir-reshape-dims",
                "tir-choose-schedule",
                "tir-parallelize-nests",
            }
        ),
    ),
    Phase(
        "scheduled",
        "nests and blocks are loops and vector ops",
        ("tir-compute-at", "convert-tir-to-scf", "lower-math-to-polynomials"),
        frozenset(
            {"tir-compute-at", "convert-tir-to-scf", "lower-math-to-polynomials"}
        ),
        frozenset({"convert-tir-to-scf"}),
    ),
    Phase(
        "planned",
        "main is on buffers, every static buffer has a pool and an offset",
        (
            "tir-distribute-loops",
            "tir-lift-scratch",
            "tir-bufferize-main",
            "tir-build-in-place",
            "tir-plan-memory",
        ),
        frozenset({"tir-distribute-loops", "tir-lift-scratch"}),
    ),
    Phase(
        "executable",
        "main is executor ops, control flow and scalars",
        ("convert-tir-to-executor",),
    ),
    Phase(
        "machine",
        "only llvm and what targets have emitted is left",
        (
            "target-emit-artifacts",
            "lower-executor-to-func",
            "tir-outline-parallel-loops",
            "lower-scf-to-cf",
            "convert-to-llvm",
        ),
    ),
)
"""The one order of phases, for all targets and executors."""

PASSES_BY_HOOK = {
    "graph_pipeline": "partitioned",
    "constants": "partitioned",
    "convert_graph_to_artifact": "tensor",
    "convert_graph_to_tir": "tensor",
    "tir_pipeline": "scheduled",
}
"""The hooks that insert passes, and the phase in which each does."""


class PlannedStep(NamedTuple):
    """A part of a phase: passes, and the hook that they come from if they do."""

    pipeline: Pipeline
    hook: str | None = None
    target: TargetAttr | None = None


class Omission(NamedTuple):
    """A shared pass that does not run on the functions of a target."""

    target: TargetAttr
    pass_name: str


class PhasePlan(NamedTuple):
    """All that leads to a phase, in order, and what was left out."""

    phase: Phase
    steps: tuple[PlannedStep, ...]
    omissions: tuple[Omission, ...] = ()

    @property
    def pipeline(self) -> Pipeline:
        """The steps as one pipeline; its text can be run with `transom-opt -p`."""
        items: list[ModulePass | Pipeline] = []
        for step in self.steps:
            plain = step.pipeline.anchor == MODULE and step.pipeline.shown.sees_all
            items += step.pipeline.items if plain else (step.pipeline,)
        return Pipeline(MODULE, tuple(items))


def phase_named(name: str) -> Phase:
    """The phase of this name. Raises `PipelineError` if there is none."""
    for phase in PHASES:
        if phase.name == name:
            return phase
    names = [phase.name for phase in PHASES]
    raise PipelineError(f"unknown phase '{name}'{did_you_mean(str(name), names)}")


def shared_plan(phase: Phase, ctx: Context | None = None) -> PhasePlan:
    """What leads to a phase where no target has a say."""
    return PhasePlan(phase, tuple(_shown(_parsed(name, ctx)) for name in phase.passes))


def phase_plan(module: ModuleOp, phase: Phase, ctx: Context) -> PhasePlan:
    """
    What leads a module to a phase, by the hooks of the targets that it names.

    Raises `OpError` at the device whose target's hooks cannot be had or are wrong.
    """
    if phase is PHASES[0]:  # the machine is not concrete before
        return shared_plan(phase, ctx)
    from transom.targets.registry import HooksError  # not needed to list the phases

    planner = _Planner(module, phase, ctx)
    try:
        return planner.plan()
    except (HooksError, OrderError) as e:
        raise OpError(planner.place_of_blame(), str(e)) from None


class _Planner:
    """Makes the plan of one phase for one module."""

    def __init__(self, module: ModuleOp, phase: Phase, ctx: Context) -> None:
        self.module = module
        self.phase = phase
        self.ctx = ctx
        self.blamed: TargetAttr | None = None
        self.hooks: dict[TargetAttr, TargetHooks[Any]] = {}

    def place_of_blame(self) -> "ModuleOp | DeviceOp":
        """The device that brought the target whose hooks were asked last."""
        for op in self.module.body.ops:
            if isinstance(op, DeviceOp) and self.blamed in op.targets.data:
                return op
        return self.module

    def plan(self) -> PhasePlan:
        from transom.targets.contract import verify_answers
        from transom.targets.registry import hooks_of

        known = self.known_passes()
        for target in self.targets_by_host():
            self.blamed = target
            self.hooks[target] = hooks_of(target)
            verify_answers(self.hooks[target], target, known)
        steps: list[OrderedStep[PlannedStep]] = []
        omissions: list[Omission] = []
        for target, hooks in self.hooks.items():
            self.blamed = target
            steps += self.steps_of(target, hooks)
            omitted = self.omitted_by(target)
            omissions += [
                Omission(target, name) for name in self.phase.passes if name in omitted
            ]
        steps += self.shared_steps()
        ordered = self.ordered(steps)
        return PhasePlan(self.phase, tuple(ordered), tuple(omissions))

    def known_passes(self) -> "KnownPasses":
        """The passes that hooks may name."""
        from transom.targets.contract import KnownPasses

        return KnownPasses(
            registry().passes,
            [name for phase in PHASES for name in phase.passes],
            frozenset[str]().union(*(phase.omissible for phase in PHASES)),
            self.ctx,
        )

    def targets_by_host(self) -> Iterator[TargetAttr]:
        """The targets of the module, those of its host's device first."""
        targets = targets_in(self.module)
        host = get_config(self.module).host
        first = [
            target
            for op in self.module.body.ops
            if isinstance(op, DeviceOp) and op.sym_name.data == host
            for target in op.targets.data
        ]
        yield from dict.fromkeys((*first, *targets))

    # Steps of hooks.

    def steps_of(
        self, target: TargetAttr, hooks: "TargetHooks[Any]"
    ) -> Iterator[OrderedStep[PlannedStep]]:
        """What the hooks of a target insert into the phase."""
        for hook, phase in PASSES_BY_HOOK.items():
            if phase != self.phase.name:
                continue
            if hook == "tir_pipeline":
                for number, step in enumerate(hooks.tir_pipeline(target)):
                    yield OrderedStep(
                        self.planned(step.pipeline, hook, target),
                        f"step {number} ({step.pipeline}) of '{target}'",
                        step.requires,
                        step.provides,
                        step.before,
                        target,
                    )
                continue
            made: Pipeline | ModulePass | None = getattr(hooks, hook)(target)
            if isinstance(made, ModulePass):
                made = Pipeline(MODULE, (made,))
            if made is not None and made.items:
                yield OrderedStep(
                    self.planned(made, hook, target),
                    f"hook '{hook}' of '{target}'",
                    frozenset(_REQUIRED_BY_HOOK.get(hook, ())),
                    frozenset({hook}),
                    frozenset(_AFTER_HOOK[hook]),
                    target,
                )

    def planned(self, pipeline: Pipeline, hook: str, target: TargetAttr) -> PlannedStep:
        """The passes of a hook on what its target owns."""
        shown = FunctionFilter(only=(target,))
        return PlannedStep(
            Pipeline(pipeline.anchor, pipeline.items, shown), hook, target
        )

    # Shared passes.

    def shared_steps(self) -> Iterator[OrderedStep[PlannedStep]]:
        earlier: frozenset[str] = frozenset()
        for name in self.phase.passes:
            for number, step in enumerate(self.shared_pass(name)):
                yield OrderedStep(
                    step,
                    f"pass '{name}'",
                    earlier,
                    frozenset({name} if number == 0 else ()),
                )
            earlier = frozenset({name})

    def shared_pass(self, name: str) -> Iterator[PlannedStep]:
        """
        A shared pass, once for all functions that take the same options: first for the
        host's target and what nobody owns, then for each other group of targets.
        """
        groups: dict[Pipeline, list[TargetAttr]] = {}
        for target in self.hooks:
            options = self.options_of(target).get(name, {})
            made = _parsed(name + _braces(options), self.ctx)
            groups.setdefault(made, []).append(target)
        if not groups:
            groups[_parsed(name, self.ctx)] = []
        omitting = [target for target in self.hooks if name in self.omitted_by(target)]
        first, *others = groups.items()
        elsewhere = [target for _, targets in others for target in targets]
        hidden = tuple(t for t in self.hooks if t in elsewhere or t in omitting)
        yield _shown(first[0], FunctionFilter(without=hidden))
        for made, targets in others:
            seen = tuple(target for target in targets if target not in omitting)
            if seen:
                yield _shown(made, FunctionFilter(only=seen))

    def options_of(self, target: TargetAttr) -> Mapping[str, Mapping[str, object]]:
        return self.hooks[target].pass_options(target)

    def omitted_by(self, target: TargetAttr) -> frozenset[str]:
        return self.hooks[target].omits(target)

    # Order.

    def ordered(self, steps: Sequence[OrderedStep[PlannedStep]]) -> list[PlannedStep]:
        earlier: set[str] = set()
        for phase in PHASES[: PHASES.index(self.phase)]:
            earlier |= {*phase.passes}
            earlier |= {h for h, at in PASSES_BY_HOOK.items() if at == phase.name}
        for step in steps:
            self.check_omitted(step)
        return solve_order(steps, earlier)

    def check_omitted(self, step: OrderedStep[PlannedStep]) -> None:
        """A step does not rely on what its own target omits."""
        target = step.owner
        if not isinstance(target, TargetAttr):
            return
        for name in sorted(step.requires & self.omitted_by(target)):
            self.blamed = target
            raise OrderError(f"{step.name} requires '{name}', which the target omits")


_REQUIRED_BY_HOOK = {
    "graph_pipeline": ("graph-outline-regions",),
    "constants": ("graph-outline-regions",),
}
_AFTER_HOOK: Mapping[str, tuple[str, ...]] = {
    "graph_pipeline": (
        "graph-fold-weights",
        "graph-fold-dequantize",
        "graph-choose-layouts",
        "graph-fuse",
    ),
    "constants": (),
    "convert_graph_to_artifact": ("convert-graph-to-tir",),
    "convert_graph_to_tir": ("convert-graph-to-tir",),
}


def _parsed(text: str, ctx: Context | None) -> Pipeline:
    return parse_pipeline(text, registry().passes, ctx)


def _shown(pipeline: Pipeline, shown: FunctionFilter = EVERYTHING) -> PlannedStep:
    return PlannedStep(Pipeline(MODULE, pipeline.items, shown))


def _braces(options: Mapping[str, object]) -> str:
    if not options:
        return ""
    texts = (f"{key}={format_value(value)}" for key, value in options.items())
    return "{" + " ".join(texts) + "}"
