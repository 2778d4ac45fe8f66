"""
transom as a backend of ONNX, for its conformance tests and for tools that drive one.

```python
from transom.frontends.onnx_backend import TransomBackend

outputs = TransomBackend.prepare(model).run([x])
```

Models are compiled to machine code. Some inputs of a model say shapes or axes, which
the code must know: such a model is compiled when it is run, for the values of those
inputs, and again when they change.
"""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import SkipTest

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.base import Backend, BackendRep, Device, DeviceType, namedtupledict

import transom
from transom.dialects.diagnostics import OpError
from transom.frontends.onnx.importer import MissingValues
from transom.frontends.onnx.small_types import small_type
from transom.runtime.program import Program

MAX_PROGRAMS = 16
"""Programs that one prepared model keeps, for different values of what they know."""


class PreparedModel(BackendRep):
    """A model that can be run."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self.model = model
        stored = {tensor.name for tensor in model.graph.initializer}
        self.inputs = [i.name for i in model.graph.input if i.name not in stored]
        self.outputs = [o.name for o in model.graph.output]
        borders = (*model.graph.input, *model.graph.output)
        types = {v.name: small_type(v.type.tensor_type.elem_type) for v in borders}
        self.small = {name: type for name, type in types.items() if type is not None}
        """Inputs and outputs that programs have as bytes."""
        self.known: tuple[str, ...] = ()
        """Inputs whose values the code must know."""
        self.programs: dict[tuple[bytes, ...], Program] = {}
        try:
            self.programs[()] = compiled(model, {})
        except MissingValues as e:
            self.known = e.names

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """
        The outputs in order, for inputs in order or by name.

        Raises `SkipTest` if the model cannot be compiled for the values of what its
        code must know.
        """
        given = self._by_name(inputs)
        found = self._program(given).run(
            {name: value for name, value in given.items() if name not in self.known}
        )
        for name in self.small.keys() & found.keys():
            found[name] = self.small[name].from_bytes(found[name])
        make = namedtupledict("Outputs", self.outputs)
        return make(*(found[name] for name in self.outputs))

    def _by_name(self, inputs: Any) -> dict[str, Any]:
        pairs: Any = inputs
        if not isinstance(inputs, Mapping):
            pairs = zip(self.inputs, inputs, strict=False)
        given: dict[str, Any] = dict(pairs)
        if any(value is None for value in given.values()):
            raise SkipTest("an optional input that is absent has no form in 'graph'")
        arrays = {name: np.asarray(value) for name, value in given.items()}
        for name in self.small.keys() & arrays.keys():
            arrays[name] = self.small[name].to_bytes(arrays[name])
        return arrays

    def _program(self, given: Mapping[str, Any]) -> Program:
        """The program for the values of the inputs that it must know."""
        while True:
            values = {name: given[name] for name in self.known}
            key = tuple(_key(value) for value in values.values())
            if key not in self.programs:
                try:
                    program = compiled(self.model, values)
                except MissingValues as e:
                    more = [name for name in e.names if name not in self.known]
                    if not more:
                        raise SkipTest(str(e)) from None
                    self.known = (*self.known, *more)
                    self.programs.clear()
                    continue
                while len(self.programs) >= MAX_PROGRAMS:
                    del self.programs[next(iter(self.programs))]
                self.programs[key] = program
            return self.programs[key]


def _key(value: Any) -> bytes:
    return repr((value.dtype, value.shape)).encode() + value.tobytes()


def compiled(model: onnx.ModelProto, values: Mapping[str, Any]) -> Program:
    """
    A program of a model, some of whose inputs have these values.

    Raises `MissingValues` if other inputs would have to be known, and `SkipTest` with
    the reason if the model cannot be compiled.
    """
    if values:
        bound = onnx.ModelProto()
        bound.CopyFrom(model)
        for name, value in values.items():
            bound.graph.initializer.append(numpy_helper.from_array(value, name))
        model = bound
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(model.SerializeToString())
        try:
            return transom.compile(transom.load(path))
        except MissingValues:
            raise
        except OpError as e:
            raise SkipTest(_reason(e)) from None


def _reason(error: OpError) -> str:
    notes = [note.message for note in error.notes]
    return "; ".join((error.message, *notes))


class TransomBackend(Backend):
    """The backend of ONNX's interface; for this machine's CPU only."""

    @classmethod
    def supports_device(cls, device: str) -> bool:
        return Device(device).type == DeviceType.CPU

    @classmethod
    def is_compatible(
        cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any
    ) -> bool:
        return cls.supports_device(device)

    @classmethod
    def prepare(
        cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any
    ) -> PreparedModel:
        """
        Compile a model.

        Raises `SkipTest` if it cannot be, with the reason, and `ValueError` for
        another device than the CPU.
        """
        if not cls.supports_device(device):
            raise ValueError(f"expected device 'CPU', but got '{device}'")
        return PreparedModel(model)

    @classmethod
    def run_model(
        cls, model: onnx.ModelProto, inputs: Any, device: str = "CPU", **kwargs: Any
    ) -> tuple[Any, ...]:
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: Sequence[Any],
        device: str = "CPU",
        outputs_info: Sequence[tuple[Any, tuple[int, ...]]] | None = None,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """Run one node, whose outputs have these dtypes and shapes."""
        arrays = [np.asarray(value) for value in inputs]
        if outputs_info is None:
            raise ValueError("expected 'outputs_info', the types of the outputs")
        kind = onnx.helper.np_dtype_to_tensor_dtype
        graph = onnx.helper.make_graph(
            [node],
            "node",
            [
                onnx.helper.make_tensor_value_info(name, kind(a.dtype), a.shape)
                for name, a in zip(filter(None, node.input), arrays, strict=True)
            ],
            [
                onnx.helper.make_tensor_value_info(name, kind(np.dtype(dtype)), shape)
                for name, (dtype, shape) in zip(
                    filter(None, node.output), outputs_info, strict=True
                )
            ],
        )
        return cls.run_model(onnx.helper.make_model(graph), arrays, device, **kwargs)
