"""
CPUs of `llvm_cpu`: features as sets, derived facts, the host.
"""

import os
import subprocess
import sys
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import StringAttr

from transom.targets.llvm_cpu.architectures import Architecture, architectures
from transom.targets.llvm_cpu.dialect import FACTS, LlvmCpuAttr
from transom.targets.llvm_cpu.facts import (
    CpuFacts,
    cpu_facts,
    has_feature,
    vector_bytes,
)
from transom.targets.llvm_cpu.generate_cpus import names, probe_all
from transom.targets.llvm_cpu.hooks import LlvmCpuTarget
from transom.targets.llvm_cpu.host import describe, host_cpu, resolved
from transom.targets.llvm_cpu.presets import MACHINES

TOY = Architecture(
    name="x86_64",
    triple="x86_64-unknown-linux-gnu",
    base="x86-64",
    free="sse slow-lea",
    implies="avx:\navx2: avx\navx512: avx2 fma\nfma: avx",
    cpus="new: avx512\nnewer: avx512\nold:\nold2: fma\nx86-64:",
)
"""A small table, so that what follows from it can be seen."""

X86 = architectures()["x86_64"]


def test_features_bring_what_they_imply_and_take_what_implies_them():
    assert TOY.features("old", []) == frozenset()
    assert TOY.features("new", []) == {"avx", "avx2", "avx512", "fma"}
    assert TOY.features("new", ["-avx2"]) == {"avx", "fma"}
    assert TOY.features("new", ["-avx", "+fma"]) == {"avx", "fma"}
    assert TOY.features("x86-64", ["+avx2", "+slow-lea"]) == {"avx", "avx2"}


def test_a_cpu_lacks_what_it_has_not_but_a_level_may_be_extended():
    assert TOY.lacking("old", "avx2") == {"avx", "avx2"}
    assert TOY.lacking("old2", "avx2") == {"avx2"}
    assert TOY.lacking("new", "avx2") == frozenset()
    assert TOY.lacking("old", "slow-lea") == frozenset()
    assert TOY.lacking("x86-64", "avx512") == frozenset()


def test_the_nearest_cpu_differs_least_then_has_the_likest_name():
    assert TOY.nearest_cpu("old", "avx2") == "new"
    assert TOY.nearest_cpu("old", "fma") == "old2"
    assert TOY.nearest_cpu("old", "slow-lea") is None


@given(st.data())
def test_switching_a_feature_on_and_off_again_leaves_no_trace_of_it(
    data: st.DataObject,
):
    architecture = data.draw(st.sampled_from(list(architectures().values())))
    cpu = data.draw(st.sampled_from(sorted(architecture.cpu_features)))
    feature = data.draw(st.sampled_from(sorted(architecture.implied)))
    on = architecture.features(cpu, [f"+{feature}"])
    assert architecture.implied[feature] <= on
    assert architecture.cpu_features[cpu] <= on
    off = architecture.features(cpu, [f"+{feature}", f"-{feature}"])
    assert not any(feature in architecture.implied[f] for f in off)


def cpu(name: str, *features: str, triple: str = "") -> LlvmCpuAttr:
    return LlvmCpuAttr.get(name, features, triple)


def test_code_for_fewer_features_runs_on_more():
    assert cpu("x86-64").subsumes(cpu("znver4"))
    assert cpu("x86-64-v3").subsumes(cpu("znver4"))
    assert cpu("znver4", "-avx512f").subsumes(cpu("znver4"))
    assert not cpu("x86-64-v4").subsumes(cpu("znver3"))
    assert not cpu("znver4").subsumes(cpu("znver4", "-avx512f"))
    assert not cpu("x86-64").subsumes(cpu("host"))
    assert cpu("host").subsumes(cpu("host"))


def test_what_every_cpu_has_and_one_gives_up_is_not_for_it():
    assert not cpu("x86-64").subsumes(cpu("x86-64", "-sse2"))
    assert cpu("x86-64", "-sse2").subsumes(cpu("x86-64"))
    assert not cpu("haswell", "-x87").subsumes(cpu("znver4", "-sse2", "-x87"))
    # What only tunes code fits every CPU.
    assert cpu("x86-64").subsumes(cpu("znver4", "-slow-lea"))


def test_facts_do_not_say_which_code_runs():
    wide = LlvmCpuAttr.get("haswell", facts={"vector_bytes": 64})
    assert wide.subsumes(cpu("haswell")) and cpu("haswell").subsumes(wide)
    assert not wide.subsumes(cpu("x86-64"))


def test_code_for_one_system_does_not_run_on_another():
    linux, apple = "aarch64-unknown-linux-gnu", "arm64-apple-darwin"
    assert cpu("generic", triple=linux).subsumes(cpu("apple-m1", triple=linux))
    assert not cpu("generic", triple=linux).subsumes(cpu("apple-m1", triple=apple))
    assert not cpu("cortex-a53", triple=linux).subsumes(
        cpu("cortex-a53", triple="armv7-none-eabi")
    )


@pytest.mark.parametrize(
    ("target", "width", "registers", "fma", "masks"),
    [
        (cpu("x86-64"), 16, 16, False, 0),
        (cpu("x86-64", "+avx"), 32, 16, False, 4),
        (cpu("haswell"), 32, 16, True, 4),
        (cpu("znver4"), 64, 32, True, 1),
        (cpu("znver4", "-avx512f"), 32, 16, True, 4),
        (cpu("knl"), 32, 16, True, 4),  # no 512-bit forms of the short vectors
        (cpu("cortex-a53", triple="aarch64-linux-gnu"), 16, 32, True, 0),
        (cpu("neoverse-v1"), 16, 32, True, 1),
        (cpu("apple-m1", "-neon"), 0, 0, False, 0),
        (cpu("cortex-a9", triple="armv7-none-eabi"), 16, 16, False, 0),
        (cpu("cortex-a7", triple="armv7-none-eabi"), 16, 16, True, 0),
        (cpu("cortex-m4"), 0, 0, False, 0),
        (cpu("cortex-m55"), 16, 8, True, 1),
        (cpu("generic-rv64"), 0, 0, False, 0),
        (cpu("generic-rv64", "+v"), 16, 32, True, 1),
        (cpu("generic-rv64", "+v", "+zvl256b"), 32, 32, True, 1),
    ],
    ids=str,
)
def test_vectors(
    target: LlvmCpuAttr, width: int, registers: int, fma: bool, masks: int
):
    facts = cpu_facts(target)
    assert facts.vector_bytes == vector_bytes(target) == width
    assert (facts.vector_registers, facts.has_fma) == (registers, fma)
    assert facts.mask_bytes == masks


def test_what_a_target_says_itself_replaces_what_is_derived():
    said = LlvmCpuAttr.get("znver4", facts={"vector_bytes": 16, "has_fma": False})
    facts = cpu_facts(said)
    assert (facts.vector_bytes, facts.has_fma) == (16, False)
    assert facts == replace(cpu_facts(cpu("znver4")), vector_bytes=16, has_fma=False)
    assert facts.vector_elements(4) == 4
    assert cpu_facts(cpu("cortex-m4")).vector_elements(4) == 1
    assert LlvmCpuTarget().pass_options(said)["tir-choose-schedule"] == {
        "vector-bytes": 16,
        "register-count": 32,
        "l1-bytes": 32 << 10,
        "l2-bytes": 1 << 20,
        "mask-bytes": 1,
        "chains": 8,
        "dot": "vnni",
    }


def test_a_target_may_say_all_facts_but_its_architecture():
    kinds = {f.name: f.type for f in fields(CpuFacts)}
    assert kinds.keys() - FACTS.keys() == {"architecture", "triple"}
    for name, range in FACTS.items():
        assert kinds[name] is (bool if range is bool else int)


@pytest.mark.parametrize(
    ("name", "dot_product", "bf16", "fp16"),
    [
        ("haswell", False, False, False),
        ("icelake-server", True, False, False),
        ("cooperlake", True, True, False),
        ("sapphirerapids", True, True, True),
        ("alderlake", True, False, False),
        ("cortex-a53", False, False, False),
        ("cortex-a76", True, False, True),
        ("neoverse-v1", True, True, True),
        ("cortex-m4", False, False, False),
        ("cortex-m55", False, False, True),
    ],
)
def test_arithmetic_on_short_types(
    name: str, dot_product: bool, bf16: bool, fp16: bool
):
    facts = cpu_facts(cpu(name))
    assert facts.has_dot_product == dot_product
    assert (facts.has_bf16, facts.has_fp16) == (bf16, fp16)


@pytest.mark.parametrize("name", LlvmCpuAttr.PRESETS)
def test_a_preset_is_a_cpu_of_its_system_with_its_caches(name: str):
    target = LlvmCpuAttr.from_keys({"preset": StringAttr(name)})
    machine, facts = MACHINES[name], cpu_facts(target)
    assert target.cpu.data == machine.cpu
    if machine.l1_bytes is not None:
        assert facts.l1_bytes == machine.l1_bytes
    if machine.l2_bytes is not None:
        assert facts.l2_bytes == machine.l2_bytes
    triple = machine.triple or architectures()[facts.architecture].triple
    assert facts.triple == triple


def test_caches_are_those_of_the_family():
    assert cpu_facts(cpu("znver4")).l2_bytes == 1 << 20
    assert cpu_facts(cpu("cortex-m4")).l2_bytes == 0
    assert cpu_facts(cpu("x86-64")).l1_bytes == 32 << 10


def test_features_that_every_cpu_has_count():
    assert has_feature(cpu("x86-64"), "sse2")
    assert not has_feature(cpu("x86-64", "-sse2"), "sse2")
    assert not has_feature(cpu("x86-64"), "avx")


def test_triple_is_the_usual_one_of_the_architecture_unless_given():
    assert cpu_facts(cpu("znver4")).triple == "x86_64-unknown-linux-gnu"
    apple = cpu("apple-m1", triple="arm64-apple-darwin")
    assert cpu_facts(apple).triple == "arm64-apple-darwin"


def test_host_differs_from_its_name_in_what_is_switched_off():
    has = {"avx": True, "avx2": False, "avx512": False, "fma": True, "unheard-of": True}
    assert describe(TOY, "new", has, TOY.triple) == ("new", ("-avx2", "-avx512"), "")


def test_host_uses_no_feature_that_its_name_lacks():
    assert describe(TOY, "old", {"fma": True}, TOY.triple) == ("old", (), "")


def test_host_of_an_unknown_name_is_the_base_cpu_with_features():
    has = {"avx": True, "fma": True, "avx2": False, "sse": True}
    assert describe(TOY, "newest", has, "x86_64-apple-darwin") == (
        "x86-64",
        ("+avx", "+fma"),
        "x86_64-apple-darwin",
    )


def test_this_host_is_described_by_a_valid_target():
    name, features, triple = host_cpu()
    target = resolved(cpu("host"))
    assert target == cpu(name, *features, triple=triple)
    assert target.cpu.data != "host"
    host = LlvmCpuAttr.get("host", ["-avx"], facts={"l2_bytes": 1})
    assert not resolved(host).feature_set & {"avx", "avx2"}
    assert resolved(host).said_facts == {"l2_bytes": 1}


@pytest.mark.parametrize("name", ["haswell", "x86-64-v3"])
def test_table_is_what_llvm_says(name: str):
    probed = sorted(X86.implied)
    (found,) = probe_all(X86.triple, [(name, "")], probed)
    assert found == X86.cpu_features[name]


def test_table_has_the_names_that_llvm_knows():
    _, known = names(X86.triple)
    assert X86.feature_names() == tuple(sorted(known))


def test_attributes_do_not_need_llvm():
    code = (
        "import sys\n"
        "from transom.targets.llvm_cpu.dialect import LlvmCpuAttr\n"
        "from transom.targets.llvm_cpu.facts import vector_bytes\n"
        "vector_bytes(LlvmCpuAttr.get('znver4'))\n"
        "sys.exit('llvmlite' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], env=os.environ).returncode == 0
