"""
What hooks insert into phases, replace and omit, and in which order.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hook_cases import (
    SEEN,
    TWO_TARGETS,
    CasesAttr,
    CasesTarget,
    SeeFunctions,
    SeeKernels,
    cases_target,
    two_targets,
)
from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.passes import ModulePass

import transom
from transom.dialects import tir
from transom.dialects.diagnostics import Diagnostic, OpError
from transom.dialects.target import DeviceOp, targets_in
from transom.driver import place_of_owned
from transom.passes.owned_functions import owned_by
from transom.passes.pipeline import Pipeline, parse_pipeline
from transom.phase_plan import phase_named, phase_plan
from transom.registry import registry
from transom.targets.hooks import Step, TargetHooks
from transom.targets.resolve_devices import ShowNotes
from transom.testing import check_phases
from transom.tools import listings, transom_opt, transom_run


def test_a_target_without_hooks_takes_the_shared_pipeline() -> None:
    with cases_target(CasesTarget) as ctx:
        module = two_targets(ctx)
        for phase in transom.phases():
            plan = phase_plan(module, phase, ctx)
            # A pass runs once for each of two targets that give it other options.
            names = dict.fromkeys(p.name for p in plan.pipeline.passes())
            assert list(names) == list(phase.passes)
            assert not plan.omissions
        assert check_phases(module, ctx=ctx)


class Everything(CasesTarget):
    """Inserts a pass wherever it can."""

    def graph_pipeline(self, target: CasesAttr) -> Pipeline:
        return Pipeline("func.func", (SeeFunctions(),))

    def constants(self, target: CasesAttr) -> ModulePass:
        return SeeKernels("constants")

    def tir_pipeline(self, target: CasesAttr) -> Sequence[Step]:
        after = Pipeline("builtin.module", (SeeKernels("after"),))
        return (
            Step(after, requires=frozenset({"convert-tir-to-scf"})),
            Step(Pipeline("builtin.module", (SeeKernels("before"),))),
        )


def test_hooks_see_the_functions_of_their_target_only() -> None:
    with cases_target(Everything) as ctx:
        module = two_targets(ctx)
        transom.lower(module, "scheduled", ctx=ctx)
        (kernel,) = {name for _, names in SEEN[2:] for name in names} - {"main"}
        assert [
            ("cases-see-functions", ("mine",)),
            ("cases-see-kernelsconstants", ("main", "mine")),
            ("cases-see-kernelsbefore", (kernel, "main")),
            ("cases-see-kernelsafter", (kernel, "main")),
        ] == SEEN
        assert kernel.startswith("exp_sqrt_")


def test_a_plan_is_text_that_does_the_same() -> None:
    with cases_target(Everything) as ctx:
        module = transom.lower(two_targets(ctx), "tensor", ctx=ctx)
        plan = phase_plan(module, phase_named("scheduled"), ctx)
        assert str(plan.pipeline) == (
            "builtin.module{only=[#cases.target]}(cases-see-kernels{label=before}),"
            "tir-compute-at,"
            "convert-tir-to-scf,"
            "builtin.module{only=[#cases.target]}(cases-see-kernels{label=after}),"
            "builtin.module{without=[#cases.target]}"
            "(lower-math-to-polynomials{fma=true}),"
            "builtin.module{only=[#cases.target]}(lower-math-to-polynomials)"
        )
        again = parse_pipeline(str(plan.pipeline), registry().passes, ctx)
        assert str(again) == str(plan.pipeline)
        by_hand = module.clone()
        again.apply(ctx, by_hand)
        by_plan = transom.lower(module, "scheduled", ctx=ctx)
        texts = [[str(op) for op in m.body.ops] for m in (by_hand, by_plan)]
        assert texts[0] == texts[1]


class Omitting(CasesTarget):
    """Leaves its nests as they are up to the loops."""

    def omits(self, target: CasesAttr) -> frozenset[str]:
        return frozenset({"tir-fuse-nests", "tir-choose-schedule"})


def test_what_is_omitted_runs_on_the_functions_of_others() -> None:
    with cases_target(Omitting) as ctx:
        module = transom.lower(two_targets(ctx), "partitioned", ctx=ctx)
        plan = phase_plan(module, phase_named("tensor"), ctx)
        assert str(plan.pipeline) == (
            "convert-graph-to-tir,"
            "convert-linalg-to-tir,"
            "builtin.module{without=[#cases.target]}(tir-fuse-nests),"
            "tir-use-winograd,"
            "tir-reshape-dims,"
            "builtin.module{without=[#cases.target]}(tir-choose-schedule{dot=pairs}),"
            "tir-pack-operands,"
            "tir-parallelize-nests,"
            "target-refine-places"
        )
        assert [str(o.target) for o in plan.omissions] == ["#cases.target"] * 2
        assert [o.pass_name for o in plan.omissions] == [
            "tir-fuse-nests",
            "tir-choose-schedule",
        ]
        lowered = transom.lower(module, "tensor", ctx=ctx)
        kernels = {
            op.sym_name.data.rpartition("_")[0]: str(op)
            for op in lowered.body.ops
            if isinstance(op, tir.FuncOp)
        }
        assert "#tir.schedule" in kernels["relu"]
        assert "#tir.schedule" not in kernels["exp_sqrt"]
        assert kernels["exp_sqrt"].count("tir.nest ") == 2
        assert check_phases(two_targets(ctx), ctx=ctx)


class Options(CasesTarget):
    """Has other registers than the host."""

    def pass_options(self, target: CasesAttr) -> Mapping[str, Mapping[str, int]]:
        return {"tir-choose-schedule": {"vector-bytes": 16, "register-count": 8}}


def test_options_differ_by_target() -> None:
    with cases_target(Options) as ctx:
        module = transom.lower(two_targets(ctx), "partitioned", ctx=ctx)
        plan = phase_plan(module, phase_named("tensor"), ctx)
        assert (
            "builtin.module{without=[#cases.target]}"
            "(tir-choose-schedule{dot=pairs}),"
            "builtin.module{only=[#cases.target]}"
            "(tir-choose-schedule{vector-bytes=16 register-count=8})"
            in str(plan.pipeline)
        )
        assert "vector = d1 : 4>" in str(transom.lower(module, "tensor", ctx=ctx))
        assert check_phases(two_targets(ctx), ctx=ctx)


TO_LOOPS = ("tir-compute-at", "convert-tir-to-scf")
"""The shared passes of phase `scheduled`, but for the last."""


def steps(*made: Step) -> type[TargetHooks[Any]]:
    class Steps(CasesTarget):
        def tir_pipeline(self, target: CasesAttr) -> Sequence[Step]:
            return made

    return Steps


def step(label: str, **relations: Sequence[str]) -> Step:
    return Step(
        Pipeline("builtin.module", (SeeKernels(label),)),
        **{name: frozenset(names) for name, names in relations.items()},
    )


def order_of(*made: Step) -> list[str]:
    """The passes of phase `scheduled` but for the last shared one."""
    with cases_target(steps(*made)) as ctx:
        module = transom.lower(two_targets(ctx), "tensor", ctx=ctx)
        plan = phase_plan(module, phase_named("scheduled"), ctx)
        names = [getattr(p, "label", p.name) for p in plan.pipeline.passes()]
        return [name for name in names if name != "lower-math-to-polynomials"]


def test_order_is_solved() -> None:
    assert order_of(
        step("last", requires=["loops", "tiles"]),
        step("loops", requires=["convert-tir-to-scf"], provides=["loops"]),
        step("tiles", provides=["tiles"]),
        step("first", before=["tiles"]),
        step("any", requires=["tir-fuse-nests", "convert_graph_to_tir"]),
    ) == ["first", "tiles", "any", *TO_LOOPS, "loops", "last"]


def test_steps_without_relations_keep_their_order_and_come_first() -> None:
    assert order_of(step("b"), step("a")) == ["b", "a", *TO_LOOPS]


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (
            (step("a", requires=["tile"]), step("b", provides=["tiles"])),
            "step 0 (cases-see-kernels{label=a}) of '#cases.target' requires 'tile', "
            "which nothing provides; did you mean 'tiles'?",
        ),
        (
            (step("a", before=["tir-fuse-nests"]),),
            "step 0 (cases-see-kernels{label=a}) of '#cases.target' must come before "
            "'tir-fuse-nests', which an earlier phase has provided already",
        ),
        (
            (step("a", before=["nobody"]),),
            "step 0 (cases-see-kernels{label=a}) of '#cases.target' must come before "
            "'nobody', which nothing provides",
        ),
        (
            (
                step("a", requires=["two"], provides=["one"]),
                step("b", requires=["convert-tir-to-scf"], provides=["two"]),
                step("c", requires=["one"], before=["convert-tir-to-scf"]),
            ),
            "these wait for each other: "
            "step 0 (cases-see-kernels{label=a}) of '#cases.target' -> "
            "step 2 (cases-see-kernels{label=c}) of '#cases.target' -> "
            "pass 'convert-tir-to-scf' -> "
            "step 1 (cases-see-kernels{label=b}) of '#cases.target' -> "
            "step 0 (cases-see-kernels{label=a}) of '#cases.target'",
        ),
    ],
)
def test_orders_that_cannot_be(made: tuple[Step, ...], message: str) -> None:
    with cases_target(steps(*made)) as ctx:
        module = transom.lower(two_targets(ctx), "tensor", ctx=ctx)
        with pytest.raises(OpError) as caught:
            transom.lower(module, "scheduled", ctx=ctx)
        diagnostic = caught.value.diagnostic()
        assert diagnostic.message == message
        assert str(diagnostic).startswith("two_targets.mlir:3:3: error: ")


class NeedsOmitted(CasesTarget):
    """Relies on what it omits."""

    def omits(self, target: CasesAttr) -> frozenset[str]:
        return frozenset({"tir-fuse-nests"})

    def tir_pipeline(self, target: CasesAttr) -> Sequence[Step]:
        return (step("a", requires=["tir-fuse-nests"]),)


def test_a_step_that_requires_what_its_target_omits() -> None:
    with cases_target(NeedsOmitted) as ctx:
        with pytest.raises(OpError) as caught:
            transom.lower(two_targets(ctx), "scheduled", ctx=ctx)
        assert caught.value.diagnostic().message == (
            "step 0 (cases-see-kernels{label=a}) of '#cases.target' requires "
            "'tir-fuse-nests', which the target omits"
        )


SHARES = "two_targets.mlir:2:1: note: cases 2/4 ops, llvm_cpu 2/4"

OMISSIONS = [
    "two_targets.mlir:12:5: note: '#cases.target' omits 'tir-fuse-nests' for its "
    "functions",
    "two_targets.mlir:12:5: note: '#cases.target' omits 'tir-choose-schedule' for its "
    "functions",
]


def test_omissions_are_noted() -> None:
    notes: list[Diagnostic] = []
    with cases_target(Omitting) as ctx:
        transom.lower(
            two_targets(ctx), "scheduled", ctx=ctx, observer=ShowNotes(notes.append)
        )
    assert list(map(str, notes)) == [SHARES, *OMISSIONS]


def test_omissions_are_told_by_lowering_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By `transom-opt`, whoever runs a program is not told."""
    path = tmp_path / "two_targets.mlir"
    path.write_text(TWO_TARGETS.replace("x86-64-v3", "host"))
    with cases_target(Omitting):
        assert transom_opt.main([str(path), "--to=scheduled"]) == 0
        err = capsys.readouterr().err
        notes = [line for line in err.splitlines() if "note:" in line]
        assert notes == [f"{tmp_path}/{note}" for note in (SHARES, *OMISSIONS)]
        assert transom_run.main([str(path), "--input", "random:0"]) == 0
        assert capsys.readouterr().err == ""


def test_a_note_is_told_once() -> None:
    told: list[Diagnostic] = []
    observer = ShowNotes(told.append)
    for message in ("a", "a", "b", "a"):
        observer.noted(Diagnostic("note", UNKNOWN_LOC, message))
    assert [note.message for note in told] == ["a", "b"]


def test_the_place_of_what_a_target_owns() -> None:
    """That of the device, if no function and no call has one."""
    with cases_target(Omitting) as ctx:
        lowered = transom.lower(two_targets(ctx), "tensor", ctx=ctx)
        (target,) = [t for t in targets_in(lowered) if t.name == "cases.target"]
        (kernel, *_) = owned_by(lowered, target)
        (device,) = [op for op in lowered.ops if isinstance(op, DeviceOp)]
        for op in lowered.walk():
            if op is not device:
                op.location = UNKNOWN_LOC
        assert place_of_owned(lowered, kernel, target) == device.location
        device.location = UNKNOWN_LOC
        assert place_of_owned(lowered, kernel, target) == UNKNOWN_LOC


def test_phases_are_listed_for_a_module() -> None:
    class All(Everything, Omitting):
        pass

    with cases_target(All) as ctx:
        module = two_targets(ctx)
        before = str(module)
        text = listings.phases_of(module, ctx)
        assert str(module) == before
    lines = [line.strip() for line in text.splitlines()]
    start = lines.index("convert-graph-to-tir")
    assert lines[start : start + 19] == [
        "convert-graph-to-tir",
        "convert-linalg-to-tir",
        "builtin.module{without=[#cases.target]}(tir-fuse-nests)",
        "tir-use-winograd",
        "tir-reshape-dims",
        "builtin.module{without=[#cases.target]}(tir-choose-schedule{dot=pairs})",
        "tir-pack-operands",
        "tir-parallelize-nests",
        "target-refine-places",
        "// '#cases.target' omits 'tir-fuse-nests'",
        "// '#cases.target' omits 'tir-choose-schedule'",
        "scheduled    nests and blocks are loops and vector ops",
        "builtin.module{only=[#cases.target]}(cases-see-kernels{label=before})"
        "  // tir_pipeline",
        "tir-compute-at",
        "convert-tir-to-scf",
        "builtin.module{only=[#cases.target]}(cases-see-kernels{label=after})"
        "  // tir_pipeline",
        "builtin.module{without=[#cases.target]}(lower-math-to-polynomials{fma=true})",
        "builtin.module{only=[#cases.target]}(lower-math-to-polynomials)",
        "planned      main is on buffers, every static buffer has a pool and an offset",
    ]
