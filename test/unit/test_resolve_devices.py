"""
The host as the device of a module that declares none.
"""

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.parser import Parser

from transom.dialects.diagnostics import Diagnostic, OpError
from transom.dialects.target import Target
from transom.passes.pipeline import Pipeline
from transom.targets import resolve_devices as resolution
from transom.targets.llvm_cpu.dialect import LlvmCpu
from transom.targets.llvm_cpu.host import UnknownHostError
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
