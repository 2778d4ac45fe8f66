"""
Which target is more generic than which: a partial order, and what devices make of it.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_npu.dialect import FEATURES, ToyNpuAttr
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import VerifyException

from transom.dialects.diagnostics import OpError
from transom.dialects.target import DeviceOp, PlaceAttr, TargetAttr, set_place
from transom.dialects.verifier import verify_module
from transom.targets.llvm_cpu.dialect import LlvmCpuAttr

CPUS = ("x86-64", "x86-64-v2", "x86-64-v3", "haswell", "znver3", "znver4")
CHANGES = ("+avx2", "-avx2", "+fma", "-fma", "-sse2", "-avx512f")
TRIPLES = ("", "x86_64-unknown-linux-gnu", "x86_64-apple-darwin")


@st.composite
def cpus(draw: st.DrawFn) -> LlvmCpuAttr:
    """CPUs that are near each other, so that some are more generic than others."""
    changes = draw(st.lists(st.sampled_from(CHANGES), max_size=2, unique=True))
    facts = draw(st.sampled_from([None, {"vector_bytes": 16}]))
    try:
        return LlvmCpuAttr.get(
            draw(st.sampled_from(CPUS)), changes, draw(st.sampled_from(TRIPLES)), facts
        )
    except VerifyException:  # a feature that the CPU lacks, or both of one
        return LlvmCpuAttr.get("x86-64")


npus = st.builds(
    ToyNpuAttr.get,
    st.sampled_from((1, 4, 8)),
    st.sampled_from((1 << 10, 1 << 16)),
    st.lists(st.sampled_from(FEATURES), unique=True),
)
targets = cpus() | npus


@given(targets)
def test_a_target_is_as_generic_as_itself(a: TargetAttr):
    assert a.subsumes(a)


@given(cpus() | npus, cpus() | npus, cpus() | npus)
def test_what_runs_on_what_runs_on_a_third_runs_there(
    a: TargetAttr, b: TargetAttr, c: TargetAttr
):
    if a.subsumes(b) and b.subsumes(c):
        assert a.subsumes(c)


@given(cpus(), cpus())
def test_cpus_that_run_code_for_each_other_have_the_same(
    a: LlvmCpuAttr, b: LlvmCpuAttr
):
    if a.subsumes(b) and b.subsumes(a):
        assert a.feature_set == b.feature_set
        assert a.features_given_up == b.features_given_up
        assert a.triple == b.triple


@given(npus, npus)
def test_npus_that_run_code_for_each_other_are_the_same(a: ToyNpuAttr, b: ToyNpuAttr):
    if a.subsumes(b) and b.subsumes(a):
        assert (a.lanes, a.scratchpad) == (b.lanes, b.scratchpad)
        assert a.feature_names == b.feature_names


@given(cpus(), npus)
def test_targets_of_two_kinds_run_no_code_of_each_other(a: LlvmCpuAttr, b: ToyNpuAttr):
    assert not a.subsumes(b) and not b.subsumes(a)


GENERIC, SPECIFIC = LlvmCpuAttr.get("x86-64-v3"), LlvmCpuAttr.get("znver4")


def placed(place: TargetAttr, *devices: DeviceOp) -> ModuleOp:
    func = FuncOp.external("f", [], [])
    set_place(func, PlaceAttr.get("d", place))
    return ModuleOp([*devices, func])


def test_a_device_takes_code_for_less_than_it_has():
    verify_module(placed(GENERIC, DeviceOp("d", [SPECIFIC])))
    verify_module(placed(SPECIFIC, DeviceOp("d", [SPECIFIC])))
    verify_module(placed(GENERIC, DeviceOp("d", [ToyNpuAttr.get(), SPECIFIC])))


def test_a_device_takes_no_code_for_more_than_it_has():
    with pytest.raises(OpError) as error:
        verify_module(placed(SPECIFIC, DeviceOp("d", [GENERIC, ToyNpuAttr.get()])))
    assert error.value.message == (
        "expected a target of device '@d' ('#llvm_cpu.target<cpu = \"x86-64-v3\">', "
        "'#toy_npu.target'), but got '#llvm_cpu.target<cpu = \"znver4\">'"
    )


def test_a_place_is_about_its_own_device_where_another_has_an_equal_target():
    with pytest.raises(OpError, match="expected a target of device '@d'"):
        verify_module(
            placed(SPECIFIC, DeviceOp("e", [SPECIFIC]), DeviceOp("d", [GENERIC]))
        )
    verify_module(placed(GENERIC, DeviceOp("e", [GENERIC]), DeviceOp("d", [GENERIC])))
