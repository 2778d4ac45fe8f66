"""
From the graph of a model to a function of `graph` ops.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    ModuleOp,
    NameLoc,
    StringAttr,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from transom.dialects import graph
from transom.dialects.diagnostics import Note, OpError
from transom.dialects.dtypes import element_type
from transom.dialects.graph.desc import AnyTensor
from transom.dialects.weight_files import WeightError, WeightFiles, content_sha256
from transom.frontends.onnx.model_file import place_in, read_model
from transom.frontends.onnx.node import Array, Node, Unsupported
from transom.frontends.onnx.operators import HANDLERS

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto, ValueInfoProto

OpT = TypeVar("OpT", bound=Operation)

MAX_INLINE = 1024
"""Elements of an initialiser that handlers may ask for, such as a shape."""

SHOWN_NODES = 4
"""Nodes that are named of each kind that is not supported."""

DOMAINS = ("", "ai.onnx")
"""The names of ONNX's own operators."""


def load_onnx(path: str) -> ModuleOp:
    """
    Read a model. Paths in the module are relative to the model's folder.

    Raises `OpError` for a file that is no model and for one with nodes that are not
    supported, all of which it lists, and `OSError` for one that can not be read.
    """
    model = read_model(path)
    opsets = {entry.domain: entry.version for entry in model.opset_import}
    opset = next((opsets[name] for name in DOMAINS if name in opsets), None)
    if opset is None:
        raise OpError(place_in(path), "expected an opset of the default domain")
    if model.functions:
        raise OpError(
            place_in(path), "expected a model without functions of its own; inline them"
        )
    return Importer(path, model.graph, opset).run()


class Importer:
    """Imports one graph."""

    def __init__(self, path: str, source: "GraphProto", opset: int) -> None:
        self.path = path
        self.source = source
        self.opset = opset
        self.files = WeightFiles(Path(path).parent or Path("."))
        self.initializers = {tensor.name: tensor for tensor in source.initializer}
        self.used = {name for node in source.node for name in node.input}
        self.used.update(value.name for value in source.output)
        self.used.discard("")
        self.values: dict[str, SSAValue] = {}
        self.constants: dict[str, Array] = {}
        self.weights: list[graph.WeightOp] = []
        self.block = Block()
        self.location = place_in(path)
        self.refused: dict[tuple[str, str], list[Node]] = {}
        self.broken: set[str] = set()
        """Values of nodes that were refused; what reads one is not reported."""

    def run(self) -> ModuleOp:
        """The module. Raises `OpError`."""
        inputs = [v for v in self.source.input if v.name not in self.initializers]
        for value in inputs:
            self.values[value.name] = self._argument(value)
        for number, proto in enumerate(self.source.node, 1):
            self._import(number, proto)
        if self.refused:
            raise self._error()
        outputs = [self._output(value) for value in self.source.output]
        self.block.add_op(ReturnOp(*outputs))
        self._drop_dead()
        main = FuncOp(
            "main",
            FunctionType.from_lists(self.block.arg_types, [v.type for v in outputs]),
            Region(self.block),
            arg_attrs=_names(value.name for value in inputs),
            res_attrs=_names(value.name for value in self.source.output),
        )
        main.location = place_in(self.path)
        used = {
            op.weight.string_value()
            for op in main.walk()
            if isinstance(op, graph.WeightRefOp)
        }
        weights = [w for w in self.weights if w.sym_name.data in used]
        module = ModuleOp([*weights, main])
        module.location = place_in(self.path)
        return module

    # What nodes ask for

    def value(self, name: str) -> SSAValue:
        """The value of a name; an initialiser is read where it is first used."""
        found = self.values.get(name)
        if found is None:
            if name not in self.initializers:
                raise Unsupported(f"'{name}' is no value of the graph")
            found = self.values[name] = self._weight(name)
        return found

    def constant(self, name: str) -> Array | None:
        """The elements of a value that are known now, if they are and are few."""
        if name not in self.constants and name in self.initializers:
            tensor = self.initializers[name]
            if int(np.prod(tensor.dims, dtype=object)) <= MAX_INLINE:
                self.constants[name] = self._elements(name)
        return self.constants.get(name)

    def insert(self, op: OpT) -> OpT:
        """Insert an op at the place of the current node."""
        op.location = self.location
        self.block.add_op(op)
        return op

    def known_value(self, name: str, array: Array) -> SSAValue:
        """The value of a constant, whose elements are kept if they are few."""
        if array.size <= MAX_INLINE:
            self.constants[name] = array
        return self.constant_value(array)

    def constant_value(self, array: Array) -> SSAValue:
        """A value with elements that are written out."""
        type = graph.tensor(array.shape, element_type(array.dtype))
        first = array.reshape(-1)[:1]
        strides_are_zero = array.ndim > 0 and not any(array.strides)
        if array.size and (strides_are_zero or (array == first).all()):
            return self.insert(graph.ConstantOp.splat(type, first[0].item())).result
        data = np.ascontiguousarray(array).tobytes()
        return self.insert(graph.ConstantOp.from_bytes(type, data)).result

    # One node

    def _import(self, number: int, proto: "NodeProto") -> None:
        self.location = NameLoc(
            StringAttr(proto.name or f"{proto.op_type}_{number}"),
            place_in(self.path, number),
        )
        node = Node(self, proto, self.opset)
        if any(name in self.broken for name in proto.input):
            self.broken.update(proto.output)
            return
        last = self.block.last_op
        try:
            self._define(node)
        except (Unsupported, VerifyException) as e:
            self.refused.setdefault((proto.op_type, str(e)), []).append(node)
            self.broken.update(proto.output)
            self._remove_after(last)

    def _define(self, node: Node) -> None:
        proto = node.proto
        handler = HANDLERS.get(proto.op_type)
        if proto.domain not in DOMAINS:
            raise Unsupported(f"operators of domain '{proto.domain}' are unknown")
        if handler is None:
            raise Unsupported("there is no such operator in 'graph' yet")
        results = handler(node)
        node.check_attributes()
        if isinstance(results, SSAValue):
            results = (results,)
        if len(results) < node.output_count():
            raise Unsupported(f"output {len(results)} is not supported")
        for name, value in zip(proto.output, results, strict=False):
            if name:
                self.values[name] = value
                if value.name_hint is None and SSAValue.is_valid_name(name):
                    value.name_hint = name

    def _remove_after(self, last: Operation | None) -> None:
        while self.block.last_op is not last:
            op = self.block.last_op
            assert op is not None, "it stands behind another"
            self.values = {k: v for k, v in self.values.items() if v.owner is not op}
            op.detach()
            op.erase(safe_erase=False)

    # The border of the graph

    def _argument(self, info: "ValueInfoProto") -> SSAValue:
        type = tensor_of(self.path, info)
        argument = self.block.insert_arg(type, len(self.block.args))
        if SSAValue.is_valid_name(info.name):
            argument.name_hint = info.name
        argument.location = NameLoc(StringAttr(info.name), place_in(self.path))
        return argument

    def _output(self, info: "ValueInfoProto") -> SSAValue:
        try:
            return self.value(info.name)
        except Unsupported as e:
            raise OpError(place_in(self.path), f"output '{info.name}': {e}") from None

    def _weight(self, name: str) -> SSAValue:
        tensor = self.initializers[name]
        array = self._elements(name)
        if array.size == 1:
            return self.constant_value(array)
        type = graph.tensor(array.shape, element_type(array.dtype))
        digest = content_sha256(array)
        file = graph.FileAttr.get(Path(self.path).name, tensor.name, digest)
        weight = graph.WeightOp(name, type, file)
        weight.location = NameLoc(StringAttr(name), place_in(self.path))
        self.weights.append(weight)
        return self.insert(graph.WeightRefOp(weight)).result

    def _elements(self, name: str) -> Array:
        tensor = self.initializers[name]
        dtype = dtype_of(self.path, name, tensor.data_type)
        try:
            return self.files.read(Path(self.path).name, name, tensor.dims, dtype)
        except WeightError as e:
            raise OpError(place_in(self.path), str(e)) from None

    def _drop_dead(self) -> None:
        """Remove ops whose results nobody uses, such as weights that became shapes."""
        for op in reversed(tuple(self.block.ops)):
            if op.results and not any(result.uses for result in op.results):
                op.detach()
                op.erase()

    def _error(self) -> OpError:
        """All nodes that were refused, by operator and reason."""
        total = sum(len(nodes) for nodes in self.refused.values())
        notes: list[Note] = []
        for (kind, reason), nodes in sorted(
            self.refused.items(), key=lambda entry: (-len(entry[1]), entry[0])
        ):
            names = [f"'{n.proto.name or n.proto.output[0]}'" for n in nodes]
            shown = ", ".join(names[:SHOWN_NODES])
            if len(names) > SHOWN_NODES:
                shown += ", …"
            text = f"'{kind}' x{len(nodes)} ({reason}): {shown}"
            notes.append(Note(place_in(self.path), text))
        return OpError(
            place_in(self.path),
            f"{total} of {len(self.source.node)} nodes are not supported",
            *notes,
        )


def dtype_of(path: str, name: str, kind: int) -> "np.dtype[Any]":
    """The dtype of an ONNX element type. Raises `OpError` if `graph` has none."""
    import onnx

    try:
        dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(kind))
        element_type(dtype)
    except (KeyError, ValueError, TypeError):
        known = kind in onnx.TensorProto.DataType.values()
        text = onnx.TensorProto.DataType.Name(kind) if known else str(kind)  # pyright: ignore[reportArgumentType] # a number that is one of them
        raise OpError(
            place_in(path), f"'{name}': elements of type {text} are not supported"
        ) from None
    return dtype


def tensor_of(path: str, info: "ValueInfoProto") -> AnyTensor:
    """The type of an input. Raises `OpError` for what is no tensor of numbers."""
    where = place_in(path)
    if not info.type.HasField("tensor_type"):
        raise OpError(where, f"expected '{info.name}' to be a tensor")
    tensor = info.type.tensor_type
    element = element_type(dtype_of(path, info.name, tensor.elem_type))
    if not tensor.HasField("shape"):
        raise OpError(where, f"'{info.name}': expected a known number of dimensions")
    shape: list[int | str | None] = []
    for dim in tensor.shape.dim:
        if dim.HasField("dim_value"):
            if dim.dim_value < 0:
                raise OpError(
                    where,
                    f"'{info.name}': expected sizes >= 0, but got {dim.dim_value}",
                )
            shape.append(dim.dim_value)
        else:
            shape.append(dim.dim_param or None)
    return graph.tensor(shape, element)


def _names(names: Iterable[str]) -> ArrayAttr[DictionaryAttr]:
    return ArrayAttr(
        [DictionaryAttr({"graph.name": StringAttr(name)}) for name in names]
    )
