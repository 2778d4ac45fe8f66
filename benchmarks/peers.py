"""
The candidates: each reads the model of a case and runs it on arrays that exist.

transom, NumPy and onnxruntime allocate no outputs while they are measured: transom and
NumPy write to arrays that are given, onnxruntime runs through I/O binding.
"""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.candidates import Candidate, Unable
from benchmarks.cases import Array, Case
from benchmarks.compiler_peers import Iree, Tvm
from benchmarks.halves import HALVES, TWIN, widened

if TYPE_CHECKING:
    from transom.runtime.program import Program


class Transom(Candidate):
    packages = ("transom",)
    module = "transom"

    def __init__(
        self, case: Case, model: Path, inputs: Mapping[str, Array], threads: int
    ) -> None:
        self.program = self.compile(case, model, threads)
        self.outputs = self.program.run(inputs)
        self.call = self.program.bind(dict(inputs), self.outputs)

    def run(self) -> None:
        self.call()

    @staticmethod
    def compile(case: Case, model: Path, threads: int) -> "Program":
        import transom

        return transom.compile(
            transom.load(model), threads=threads, winograd=case.winograd
        )


class TransomInF32(Transom):
    """The same numbers in f32: what a model in halves gains."""

    def __init__(
        self, case: Case, model: Path, inputs: Mapping[str, Array], threads: int
    ) -> None:
        twin = model.with_name(TWIN)
        if case.element == "f32":
            raise Unable("the model is in f32")
        super().__init__(case, twin, widened(inputs), threads)

    @staticmethod
    def compile(case: Case, model: Path, threads: int) -> "Program":
        if case.element == "f32" or model.name != TWIN:
            raise Unable("what compiles is the model in f32")
        return Transom.compile(case, model, threads)


class OnnxRuntime(Candidate):
    packages = ("onnxruntime",)
    module = "onnxruntime"

    def __init__(
        self, case: Case, model: Path, inputs: Mapping[str, Array], threads: int
    ) -> None:
        runtime: Any = import_module("onnxruntime")  # which has no types
        native: Any = import_module("onnxruntime.capi.onnxruntime_pybind11_state")
        try:
            self.session = self.compile(case, model, threads)
        except native.NotImplemented as e:
            raise Unable(str(e)) from e
        self.binding = self.session.io_binding()
        self.values = [ort_value(runtime.OrtValue, array) for array in inputs.values()]
        for name, value in zip(inputs, self.values, strict=True):
            self.binding.bind_ortvalue_input(name, value)
        names = [output.name for output in self.session.get_outputs()]
        for name in names:
            self.binding.bind_output(name)
        self.session.run_with_iobinding(self.binding)
        found = self.binding.get_outputs()
        dtypes = [dtype_of(value.element_type()) for value in found]
        self.outputs = {
            name: np.empty(value.shape(), dtype)
            for name, value, dtype in zip(names, found, dtypes, strict=True)
        }
        kinds = [value.element_type() for value in found]
        for (name, array), kind in zip(self.outputs.items(), kinds, strict=True):
            self.binding.bind_output(
                name, "cpu", 0, kind, array.shape, array.ctypes.data
            )

    def run(self) -> None:
        self.session.run_with_iobinding(self.binding)

    @staticmethod
    def compile(case: Case, model: Path, threads: int) -> Any:
        runtime: Any = import_module("onnxruntime")  # which has no types
        options = runtime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        return runtime.InferenceSession(
            str(model), options, providers=["CPUExecutionProvider"]
        )


def ort_value(kind: Any, array: Array) -> Any:
    """An array as a value of onnxruntime, which does not know the dtype of bf16."""
    if array.dtype != HALVES["bf16"]:
        return kind.ortvalue_from_numpy(array)
    return kind.ortvalue_from_numpy_with_onnx_type(
        array.view(np.uint16), onnx_kind("BFLOAT16")
    )


def onnx_kind(name: str) -> int:
    """The number of an element type of ONNX."""
    return import_module("onnx").TensorProto.DataType.Value(name)


def dtype_of(kind: int) -> "np.dtype[Any]":
    """The dtype of an element type of ONNX."""
    return import_module("onnx").helper.tensor_dtype_to_np_dtype(kind)


class NumPy(Candidate):
    """In f32 always: NumPy has no fast halves."""

    packages = ("numpy",)
    module = "numpy"

    def __init__(
        self, case: Case, model: Path, inputs: Mapping[str, Array], threads: int
    ) -> None:
        import onnx
        from onnx import numpy_helper, shape_inference

        if case.numpy is None:
            raise Unable("NumPy has no such op")
        self.function = case.numpy
        proto = shape_inference.infer_shapes(
            onnx.ModelProto.FromString(model.read_bytes())
        )
        weights = {t.name: numpy_helper.to_array(t) for t in proto.graph.initializer}
        self.arrays = widened({**inputs, **weights})
        (output,) = proto.graph.output
        shape = [dim.dim_value for dim in output.type.tensor_type.shape.dim]
        self.outputs = {output.name: np.empty(shape, np.float32)}

    def run(self) -> None:
        (out,) = self.outputs.values()
        self.function(self.arrays, out)

    @staticmethod
    def compile(case: Case, model: Path, threads: int) -> Any:
        raise Unable("NumPy compiles nothing")


CANDIDATES: dict[str, type[Candidate]] = {
    "transom": Transom,
    "onnxruntime": OnnxRuntime,
    "numpy": NumPy,
    "iree": Iree,
    "tvm": Tvm,
    "f32": TransomInF32,
}

REFERENCES = ("onnxruntime", "numpy", "f32")
"""Whose results the others are compared with: the first that takes part."""


def installed() -> dict[str, str]:
    """The candidates that can be had here, with their versions."""
    versions = {name: kind.version() for name, kind in CANDIDATES.items()}
    return {name: version for name, version in versions.items() if version is not None}
