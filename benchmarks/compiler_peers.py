"""
The candidates IREE and TVM, which compile a model before it runs.

Neither is told where to write to: IREE's outputs are buffers that the call allocates,
TVM's come from the pool of its virtual machine. Both stay where they were made until
they are looked at, so nothing is copied while it is measured.
"""

import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.candidates import Candidate, CompileError
from benchmarks.cases import Array, Case

FLOAT32 = np.dtype(np.float32)

IREE_OPSET = 17
"""What older models are converted to, as IREE has no ops of their opsets."""

IREE_FLAGS = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
    "--iree-opt-level=O3",
    "--iree-opt-data-tiling",
    # Without it convolutions are 1.5 to 8 times as slow.
    "--iree-preprocessing-pass-pipeline="
    "builtin.module(util.func(iree-preprocessing-convert-conv-to-channels-last))",
)


class Iree(Candidate):
    packages = ("iree-base-compiler", "iree-base-runtime")
    module = "iree"

    def __init__(
        self, case: Case, model: Path, inputs: Mapping[str, Array], threads: int
    ) -> None:
        self.outputs = {}
        compiled = self.compile(case, model, threads)
        self.runtime: Any = import_module("iree.runtime")  # which has no types
        if threads == 1:
            config = self.runtime.Config("local-sync")  # runs on the thread that calls
        else:
            self.runtime.flags.parse_flags(f"--task_topology_group_count={threads}")
            config = self.runtime.Config("local-task")
        module = self.runtime.VmModule.mmap(config.vm_instance, str(compiled))
        self.system = self.runtime.SystemContext(vm_modules=[module], config=config)
        self.function = module.lookup_function(_entry(module.function_names))
        self.arguments = self.runtime.VmVariantList(len(inputs))
        for array in inputs.values():
            self.arguments.push_ref(self._buffer(config.device, array))

    def _buffer(self, device: Any, array: Array) -> Any:
        """A copy of an input where the device reads it."""
        usage = self.runtime.BufferUsage
        return device.allocator.allocate_buffer_copy(
            memory_type=self.runtime.MemoryType.DEVICE_LOCAL,
            allowed_usage=usage.DEFAULT | usage.MAPPING,
            device=device,
            buffer=array,
            element_type=self.runtime.HalElementType.FLOAT_32,
        )

    def run(self) -> None:
        self.made = self.runtime.VmVariantList(1)
        self.system.vm_context.invoke(self.function, self.arguments, self.made)

    def results(self) -> Mapping[str, Array]:
        found: dict[str, Array] = {}
        for number in range(len(self.made)):
            view = self.made.get_as_object(number, self.runtime.HalBufferView)
            found[f"{number}"] = view.map().asarray(view.shape, FLOAT32)
        return found

    @staticmethod
    def compile(case: Case, model: Path, threads: int) -> Path:
        imported, compiled = model.with_suffix(".mlir"), model.with_suffix(".vmfb")
        _iree_tool("import_onnx", model, imported, [f"--opset-version={IREE_OPSET}"])
        _iree_tool("scripts.iree_compile", imported, compiled, IREE_FLAGS)
        return compiled


def _iree_tool(tool: str, source: Path, made: Path, flags: Sequence[str]) -> None:
    """Have a tool make a file of another. Raises `CompileError`."""
    command = [sys.executable, "-m", f"iree.compiler.tools.{tool}"]
    done = subprocess.run(
        [*command, str(source), "-o", str(made), *flags],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise CompileError(_first_error(done.stderr))


def _first_error(text: str) -> str:
    """The error that the messages of a compiler, or a traceback, tell of."""
    found = re.search(r"\berror: (.*)", text)
    lines = [found[1]] if found else text.strip().splitlines()
    return lines[-1] if lines else "no message"


def _entry(names: Sequence[str]) -> str:
    """The function that waits for its results."""
    (name,) = (n for n in names if not n.startswith("__") and f"{n}$async" in names)
    return name


class Tvm(Candidate):
    """Its default pipeline for this CPU, without tuning."""

    packages = ("apache-tvm",)
    module = "tvm"

    def __init__(
        self, case: Case, model: Path, inputs: Mapping[str, Array], threads: int
    ) -> None:
        self.outputs = {}
        executable = self.compile(case, model, threads)
        tvm: Any = import_module("tvm")  # which has no types
        relax: Any = import_module("tvm.relax")
        self.main = relax.VirtualMachine(executable, tvm.cpu())["main"]
        self.arguments = [tvm.runtime.tensor(array) for array in inputs.values()]

    def run(self) -> None:
        self.made = self.main(*self.arguments)

    def results(self) -> Mapping[str, Array]:
        is_one = hasattr(self.made, "numpy")
        tensors = [self.made] if is_one else list(self.made)
        return {f"{n}": np.from_dlpack(tensor) for n, tensor in enumerate(tensors)}

    @staticmethod
    def compile(case: Case, model: Path, threads: int) -> Any:
        import onnx

        tvm: Any = import_module("tvm")  # which has no types
        importer: Any = import_module("tvm.relax.frontend.onnx")
        module = importer.from_onnx(onnx.ModelProto.FromString(model.read_bytes()))
        return tvm.compile(module, tvm.target.Target.from_device(tvm.cpu()))
