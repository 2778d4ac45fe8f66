"""
The host as the device of a module that declares none.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hook_cases import CasesAttr, CasesTarget, cases_target
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, IntegerAttr, ModuleOp, i64
from xdsl.parser import Parser

import transom
from transom.dialects.diagnostics import Diagnostic, OpError
from transom.dialects.parser import parse_ir
from transom.dialects.target import DeviceOp, LinkOp, MemoryOp, Target
from transom.dialects.verifier import verify_module
from transom.passes.machine import Machine
from transom.passes.pipeline import Pipeline
from transom.targets import resolve_devices as resolution
from transom.targets.bind_devices import bind_device
from transom.targets.llvm_cpu.dialect import LlvmCpu, LlvmCpuAttr
from transom.targets.llvm_cpu.host import UnknownHostError, resolved
from transom.targets.resolve_devices import (
    ShowNotes,
    TargetResolveDevicesPass,
    resolve_devices,
)


def parse(text: str) -> ModuleOp:
    ctx = Context()
    for dialect in (Builtin, LlvmCpu, Target):
        ctx.load_dialect(dialect)
    return Parser(ctx, text).parse_module()


def test_there_is_one_note_when_the_host_is_assumed():
    module = parse("module {}")
    (note,) = resolve_devices(module)
    assert note.severity == "note"
    assert note.message.startswith(
        "no device is declared, so the host is assumed: '#llvm_cpu.target<cpu = "
    )
    text = str(module)
    assert resolve_devices(module) == []
    assert str(module) == text


def test_a_declared_device_needs_no_note():
    text = 'target.device @d {targets = [#llvm_cpu.target<cpu = "host">]}'
    assert resolve_devices(parse(text)) == []


def test_an_observer_gets_the_note_before_the_pass():
    module = parse("module {}")
    seen: list[Diagnostic] = []
    pipeline = Pipeline("builtin.module", (TargetResolveDevicesPass(),) * 2)
    pipeline.apply(Context(), module, ShowNotes(seen.append))
    assert [note.message for note in seen] == [
        note.message for note in resolve_devices(parse("module {}"))
    ]


def test_a_host_that_llvm_does_not_know_is_an_error(monkeypatch: pytest.MonkeyPatch):
    def resolved(target: object) -> object:
        raise UnknownHostError("expected a CPU that LLVM targets, but this is 'pdp11'")

    monkeypatch.setattr(resolution, "resolved", resolved)
    with pytest.raises(OpError, match="but this is 'pdp11'"):
        resolve_devices(parse("module {}"))


def test_a_host_of_another_architecture_is_an_error():
    target = '#llvm_cpu.target<cpu = "host", triple = "riscv64-unknown-elf">'
    module = parse(f"target.device @d {{targets = [{target}]}}")
    with pytest.raises(OpError) as error:
        resolve_devices(module)
    assert error.value.message.startswith(
        f"the host cannot be '{target}': unknown CPU '"
    )


def test_what_is_loaded_names_the_host_and_declares_nothing(tmp_path: Path):
    file = tmp_path / "a.mlir"
    file.write_text('"test.op"() {t = [#llvm_cpu.target<cpu = "host">]} : () -> ()')
    text = str(transom.load(file))
    assert f"t = [{resolved(LlvmCpuAttr.get('host'))}]" in text
    assert "target.device" not in text and "target.config" not in text


class Brings(CasesTarget):
    """Brings a memory and a link to it from one that the module has to declare."""

    def memories(self, target: CasesAttr) -> Sequence[MemoryOp | LinkOp]:
        return (LinkOp("dram", "sram", target.number.value.data + 1.0), SRAM)


SRAM = MemoryOp("sram", 4096)

LINKED = """
  target.memory @dram
  target.device @d {targets = [#cases.target]}
"""


def brought(text: str, times: int = 1) -> ModuleOp:
    with cases_target(Brings) as ctx:
        module = parse_ir(ctx, text, "brought.mlir")
        for _ in range(times):
            resolve_devices(module)
        verify_module(module)
        return module


@pytest.mark.parametrize("times", [1, 2])
def test_links_join_those_declared_whatever_their_order(times: int):
    assert str(brought(LINKED, times)).split("\n")[1:-1] == [
        "  target.memory @dram",
        "  target.memory @sram {size = 4096}",
        "  target.link @dram -> @sram {bandwidth = 1.0}",
        "  target.device @d {targets = [#cases.target], brought = [@sram]}",
    ]
    assert SRAM.parent is None


@pytest.mark.parametrize(
    "listed, default", [("", None), (", memories = [@dram]", "dram")]
)
def test_a_memory_that_a_target_brings_is_nobodys_default(
    listed: str, default: str | None
):
    module = brought(LINKED.replace("]}", f"]{listed}}}"))
    machine = Machine(module)
    assert machine.default_memory(machine.devices["d"]) == default
    assert machine.default_place.memory_name == default


def test_a_device_is_bound_again_after_its_targets_brought_memories():
    module = brought(LINKED)
    text = str(module)
    bind_device(module, DeviceOp("d", (CasesAttr.new([IntegerAttr(0, i64)]),)))
    assert str(module) == text


def test_a_link_that_differs_is_an_error_that_names_both():
    text = LINKED + "target.device @e {targets = [#cases.target<number = 1>]}"
    text = "module attributes {target.config = #target.config<host = @d>} {" + text
    with pytest.raises(OpError) as error:
        brought(text + "}")
    assert str(error.value) == (
        "brought.mlir:4:1: error: '#cases.target<number = 1>' brings 'target.link "
        "@dram -> @sram {bandwidth = 2.0}', but there is 'target.link @dram -> @sram "
        "{bandwidth = 1.0}'\n"
        "brought.mlir:3:3: note: '#cases.target' brings it"
    )


def test_a_link_of_a_memory_that_nobody_declares_is_an_error():
    with pytest.raises(OpError) as error:
        brought("target.device @d {targets = [#cases.target]}")
    assert error.value.message == (
        "'#cases.target' brings 'target.link @dram -> @sram {bandwidth = 1.0}', "
        "but no memory '@dram' is declared"
    )


def test_a_target_without_hooks_is_named_at_its_device():
    with cases_target(CasesTarget) as ctx:
        module = parse_ir(ctx, LINKED, "brought.mlir")
    with pytest.raises(OpError) as error:
        resolve_devices(module)
    assert str(error.value).startswith(
        "brought.mlir:3:3: error: no target 'cases.target' is registered"
    )
