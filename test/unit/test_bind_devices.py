"""
Devices from text: `NAME=TARGETS` of command lines and of `transom.compile`.
"""

from pathlib import Path
from typing import Any

import pytest
from toy_npu.dialect import ToyNpuAttr

import transom
from transom.dialects.parser import parse_ir
from transom.passes.pipeline import PipelineError
from transom.registry import new_context
from transom.targets.bind_devices import Targets, device_of, parse_device
from transom.targets.llvm_cpu.dialect import LlvmCpuAttr
from transom.tools.transom_opt import main as transom_opt
from transom.tools.transom_run import main as transom_run

NPU = "#toy_npu.target<lanes = 8>"
CPU = '#llvm_cpu.target<cpu = "znver4">'


@pytest.mark.parametrize(
    ("text", "memories"),
    [
        (f"soc=[{NPU}, {CPU}]", ()),
        (f" soc = {{targets = [{NPU}, {CPU}]}} ", ()),
        (
            f"soc={{memories = [@dram, @sram], targets = [{NPU}, {CPU}]}}",
            ("dram", "sram"),
        ),
    ],
)
def test_a_device_has_targets_and_memories(text: str, memories: tuple[str, ...]):
    device = parse_device(text, new_context())
    assert device.device == "soc"
    assert device.targets == (ToyNpuAttr.get(8), LlvmCpuAttr.get("znver4"))
    assert device.memories == memories


def test_one_target_needs_no_list():
    assert parse_device(f"a.b-1={NPU}", new_context()).targets == (ToyNpuAttr.get(8),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cpu", "expected 'NAME=TARGETS' for a device, but got 'cpu'"),
        (f"@cpu={CPU}", f"expected 'NAME=TARGETS' for a device, but got '@cpu={CPU}'"),
        ("cpu=[]", "device 'cpu': expected at least one target of device '@cpu'"),
        ("cpu=3", "device 'cpu': expected a target attribute, but got '3 : i64'"),
        ("cpu=[@a]", "device 'cpu': expected a target attribute, but got '@a'"),
        (
            "cpu={target = []}",
            "device 'cpu': unknown key 'target'; did you mean 'targets'?",
        ),
        (
            "cpu={targets = 3}",
            "device 'cpu': expected a list for 'targets', but got '3 : i64'",
        ),
        (
            f"cpu={{targets = [{CPU}], memories = [3]}}",
            "device 'cpu': expected a memory such as '@dram', but got '3 : i64'",
        ),
        (
            f"cpu={CPU} now",
            "device 'cpu': expected the end, but got 'now'",
        ),
        (
            '#llvm_cpu.target<cpu = "znver4">',
            "expected 'NAME=TARGETS' for a device, "
            "but got '#llvm_cpu.target<cpu = \"znver4\">'",
        ),
        (
            'cpu=#llvm_cpu.target<cpu = "znver9">',
            "device 'cpu': unknown CPU 'znver9'; did you mean 'znver5'?",
        ),
        (
            "cpu=#toy_npu.target<lanes = 3>",
            "device 'cpu': expected 'lanes' to be a power of two from 1 to 64, "
            "but got 3; the nearest is 2",
        ),
    ],
)
def test_wrong_devices_are_told_what_is_wrong(text: str, message: str):
    with pytest.raises(PipelineError) as error:
        parse_device(text, new_context())
    assert str(error.value) == message


MAIN = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.add %x, %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}
"""


def test_compile_binds_devices_in_order():
    module = parse_ir(new_context(), MAIN, "main.mlir")
    devices = {"host": f"{CPU.replace('znver4', 'host')}", "npu": NPU}
    program = transom.compile(module, devices=devices)
    assert program.signature.inputs[0].shape == (4,)
    assert "target.device" not in str(module)


def test_both_programs_bind_devices(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "main.mlir"
    file.write_text(MAIN)
    args = [str(file), "--device", 'cpu=#llvm_cpu.target<cpu = "host">']
    assert transom_opt([*args, "--to=graph"]) == 0
    assert "target.device @cpu" in capsys.readouterr().out
    assert transom_run([*args, "--input", "4xf32=1", "-q"]) == 0
    # No host is assumed, so there is no note.
    assert capsys.readouterr().err == ""
    for program in (transom_opt, transom_run):
        assert program([str(file), "--device", "cpu=#nope.target"]) == 2
        assert "error: device 'cpu': " in capsys.readouterr().err


@pytest.mark.parametrize(
    "value",
    [
        f"[{NPU}, {CPU}]",
        [NPU, CPU],
        (ToyNpuAttr.get(8), CPU),
        [f"[{NPU}, {CPU}]"],
        [ToyNpuAttr.get(8), LlvmCpuAttr.get("znver4")],
    ],
)
def test_a_device_in_python(value: Targets):
    device = device_of("soc", value, new_context())
    assert device.targets == (ToyNpuAttr.get(8), LlvmCpuAttr.get("znver4"))
    assert device_of("npu", ToyNpuAttr.get(8), new_context()).targets == (
        ToyNpuAttr.get(8),
    )


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "device 'cpu': expected at least one target of device '@cpu'"),
        (
            [NPU, 3],
            "device 'cpu': expected target attributes or their texts, but got '3'",
        ),
        (["3"], "device 'cpu': expected a target attribute, but got '3 : i64'"),
        (
            [f"{{targets = [{NPU}], memories = [@a]}}"],
            "device 'cpu': expected a target in a list, but got "
            f"'{{targets = [{NPU}], memories = [@a]}}'",
        ),
        (f"['{NPU}']", f"device 'cpu': Unexpected character: ', in '['{NPU}']'"),
    ],
)
def test_a_wrong_device_in_python(value: Any, message: str):
    module = parse_ir(new_context(), "module {}", "a.mlir")
    with pytest.raises(PipelineError) as caught:
        transom.compile(module, devices={"cpu": value})
    assert str(caught.value) == message
