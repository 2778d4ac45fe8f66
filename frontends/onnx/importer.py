"""
From the graph of a model to a function of `graph` ops.
"""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    ModuleOp,
    NameLoc,
    StringAttr,
    TensorType,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from transom.dialects import graph
from transom.dialects.diagnostics import Note, OpError
from transom.dialects.dtypes import element_type, numpy_dtype
from transom.dialects.onnx_weights import (
    dtype_of_kind,
    kind_name,
    kind_of_dtype,
    tensor_elements,
)
from transom.dialects.weight_files import Array, WeightError, content_sha256
from transom.frontends.onnx.checks import check_graph
from transom.frontends.onnx.functions import expand
from transom.frontends.onnx.input_sizes import Bounds, set_sizes
from transom.frontends.onnx.inputs import check_size, input_type
from transom.frontends.onnx.known import evaluate
from transom.frontends.onnx.model_file import (
    DOMAINS,
    MIN_OPSET,
    Model,
    is_as_later,
    read_model,
)
from transom.frontends.onnx.node import Node, Unsupported, shape_in, type_of
from transom.frontends.onnx.operators import HANDLERS
from transom.frontends.onnx.refusals import reason_of
from transom.frontends.onnx.sizes import RuntimeSize, is_few
from transom.frontends.onnx.small_types import (
    SMALL_OPERATORS,
    SmallType,
    small_type,
)
from transom.frontends.onnx.subgraphs import GRAPH_HANDLERS, renamed

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto, TensorProto, TypeProto, ValueInfoProto

MAIN = "main"
"""The function that a model becomes."""

MAX_DEPTH = 8
"""Functions within functions."""

SHOWN_NODES = 4
"""Nodes that are named of each kind that is not supported."""

SHOWN_REASON = 200
"""Characters of a reason, which may hold numbers that the file chose."""


def load_onnx(
    path: str,
    data_folders: Sequence[str] = (),
    *,
    shapes: Mapping[str, Sequence[int | None]] | None = None,
    dims: Mapping[str, Bounds] | None = None,
) -> ModuleOp:
    """
    Read a model. Paths in the module are relative to the model's folder; links to the
    model and to its external data may only leave that for one of `data_folders`.
    `shapes` and `dims` say sizes that the model leaves open (see `set_sizes`).

    Raises `OpError` for a file that is no model and for one with nodes that are not
    supported, all of which it lists, and `OSError` for one that can not be read.
    """
    model = read_model(path, data_folders)
    check_graph(model)
    set_sizes(model, shapes or {}, dims or {})
    return Importer(model).run()


class MissingValues(OpError):
    """A model that could be imported if the elements of some inputs were known."""

    names: tuple[str, ...] = ()


class Importer:
    """Imports one graph, and is what its nodes see of it."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.source = model.graph
        self.stored = {tensor.name: tensor for tensor in self.source.initializer}
        """Tensors of the file by name, which are read when they are needed."""
        self.used = {name for node in self.source.node for name in node.input}
        self.used.update(value.name for value in self.source.output)
        self.values: dict[str, SSAValue] = {}
        self.constants: dict[str, Array] = {}
        """Elements that are known and few."""
        self.small_values: dict[SSAValue, SmallType] = {}
        self.small_constants: dict[str, SmallType] = {}
        """Of elements that `graph` has no type for."""
        self.weights: dict[graph.WeightRefOp, graph.WeightOp] = {}
        self.top = Block()
        """The body of the function."""
        self.block = self.top
        """Where ops are inserted."""
        self.location: LocationAttr = model.place()
        self.refused: dict[tuple[str, str], list[tuple[str, LocationAttr]]] = {}
        self.inputs: dict[str, frozenset[str]] = {}
        """The inputs of the model that each value depends on."""
        self.missing: list[str] = []
        """Values that would have to be known."""
        self._graph_depth = 0
        self.broken: set[str] = set()
        """Values of nodes that were refused; what reads one is not reported."""

    def run(self) -> ModuleOp:
        """The module. Raises `OpError`."""
        inputs = [v for v in self.source.input if v.name not in self.stored]
        for value in inputs:
            self._argument(value)
        for number, proto in enumerate(self.source.node, 1):
            self._import(number, proto)
        if self.refused:
            raise self._error()
        self.location = self.model.place()
        outputs = [self._output(value) for value in self.source.output]
        self.top.add_op(ReturnOp(*outputs))
        main = FuncOp(
            MAIN,
            FunctionType.from_lists(self.top.arg_types, [v.type for v in outputs]),
            Region(self.top),
            arg_attrs=self._named(inputs, self.top.args),
            res_attrs=self._named(self.source.output, outputs),
        )
        self._drop_unread()
        module = ModuleOp([*self.weights.values(), main])
        module.location = main.location = self.model.place()
        return module

    # What nodes ask for

    def value(self, name: str) -> SSAValue:
        """The value of a name; what the file holds is read where it is first used."""
        found = self.values.get(name)
        if found is None:
            constant = self.constants.get(name)
            if name in self.stored:
                found = self._weight(name)
            elif constant is None:
                raise Unsupported(f"'{name}', which its graph reads, is not there")
            else:
                is_static = constant.dtype != object
                found = (self._constant if is_static else self._sizes)(constant)
            self._define(name, found)
        return found

    def constant(self, name: str) -> Array | None:
        """The elements of a value that are known now, if they are and are few."""
        if name not in self.constants and name in self.stored:
            if not is_few(self.stored[name].dims):
                return None
            self.constants[name] = self._read(name)
        return self.constants.get(name)

    def small_type(self, name: str) -> SmallType | None:
        """The type of a value's elements, if it is one that `graph` has not."""
        if name in self.values and self.values[name] in self.small_values:
            return self.small_values[self.values[name]]
        if name in self.stored:
            return small_type(self.stored[name].data_type)
        return self.small_constants.get(name)

    def mark_small(self, value: SSAValue, small: SmallType) -> None:
        """Let the elements of a value be of a type that `graph` has not."""
        self.small_values[value] = small

    def is_used(self, name: str) -> bool:
        """Whether something reads the value of a name."""
        return name in self.used

    def elements(self, name: str, tensor: "TensorProto") -> Array:
        """The elements of a tensor that stands in a node."""
        try:
            return tensor_elements(tensor, f"'{name}'")
        except WeightError as e:
            raise Unsupported(str(e)) from None

    def insert(self, op: Operation) -> Operation:
        """
        Insert an op at the place of the current node.

        Raises `Unsupported` for absurd results, and `VerifyException`.
        """
        op.location = self.location
        self.block.add_op(op)
        for result in op.results:
            if isinstance(result.type, TensorType):
                check_size(type_of(result))
        op.verify(verify_nested_ops=False)
        return op

    # One node

    def _import(self, number: int, proto: "NodeProto") -> None:
        self._trace(proto)
        label = proto.name or next(filter(None, proto.output))
        self.location = NameLoc(StringAttr(label), self.model.place(number))
        if any(name in self.broken for name in proto.input):
            self.broken.update(proto.output)
            return
        try:
            self._define_results(proto, self.model.opset)
        except (Unsupported, VerifyException) as e:
            if isinstance(e, Unsupported) and e.missing is not None:
                self.missing.append(e.missing)
            reason = str(e)
            if len(reason) > SHOWN_REASON:
                reason = reason[:SHOWN_REASON] + "…"
            entries = self.refused.setdefault((proto.op_type, reason), [])
            entries.append((label, self.location))
            self.broken.update(proto.output)

    def _define_results(self, proto: "NodeProto", opset: int, depth: int = 0) -> None:
        """
        Define what a node computes, by its operator or by the function that this is.

        Raises `Unsupported` or `VerifyException`.
        """
        before = self._state()
        try:
            for name, value in self._results(Node(self, proto, opset), depth):
                self._define(name, value)
        except (Unsupported, VerifyException) as e:
            self._restore(before)
            try:
                if self._define_function(proto, opset, depth):
                    return
            except (Unsupported, VerifyException):
                if proto.op_type not in HANDLERS:
                    raise
                self._restore(before)  # what the operator itself lacks says more
            raise e

    def _graph_results(self, node: Node, depth: int) -> Sequence[tuple[str, SSAValue]]:
        """What a node with graphs of its own defines."""
        if depth >= MAX_DEPTH:
            raise Unsupported(f"expected at most {MAX_DEPTH} graphs in each other")
        self._graph_depth = depth
        names = GRAPH_HANDLERS[node.proto.op_type](node, self)
        node.check_attributes()
        pairs: list[tuple[str, SSAValue]] = []
        for name, found in zip(node.proto.output, names, strict=False):
            known = self.constant(found) if name else None
            if known is not None:
                self.constants[name] = known
            elif name:
                pairs.append((name, self.value(found)))
        return pairs

    def import_graph(
        self, source: "GraphProto", inputs: Sequence[str], prefix: str, node: Node
    ) -> list[str]:
        """Import a graph in place (see `subgraphs.Graphs`)."""
        if len(inputs) != len(source.input):
            raise Unsupported(
                f"expected {len(source.input)} inputs of its graph, "
                f"but got {len(inputs)}"
            )
        depth = self._graph_depth
        names = dict(zip((v.name for v in source.input), inputs, strict=True))
        for stored in source.initializer:
            names[stored.name] = prefix + stored.name
            self.constants[prefix + stored.name] = self.elements(stored.name, stored)
        for inner in source.node:
            made = renamed(inner, names, prefix)
            self.used.update(made.input)
            self.used.update(made.output)
            self._trace(made)
            try:
                self._define_results(made, node.opset, depth + 1)
            except (Unsupported, VerifyException) as e:
                missing = e.missing if isinstance(e, Unsupported) else None
                reason = f"in its graph, '{inner.op_type}': {e}"
                raise Unsupported(reason, missing) from None
            self._graph_depth = depth
        return [names.get(value.name, value.name) for value in source.output]

    @contextmanager
    def within(self, block: Block) -> Generator[None]:
        """Insert ops into a block; see `loops.Regions`."""
        before, self.block = self.block, block
        try:
            yield
        except (Unsupported, VerifyException):
            block.erase(safe_erase=False)
            raise
        finally:
            self.block = before

    def attempt(self, make: Callable[[], list[str]]) -> list[str] | None:
        """What a function gives, or None; see `subgraphs.Graphs`."""
        before, depth = self._state(), self._graph_depth
        try:
            return make()
        except (Unsupported, VerifyException):
            self._restore(before)
            self._graph_depth = depth
            return None

    def name_value(self, name: str, value: SSAValue) -> str:
        """Give a value a name."""
        self.values[name] = value
        return name

    def name_array(self, name: str, array: Array) -> str:
        """Give elements that are known a name."""
        self.constants[name] = array
        return name

    def _define_function(self, proto: "NodeProto", opset: int, depth: int) -> bool:
        """
        Define what a node computes by the body of its operator. False if there is none.
        """
        if depth >= MAX_DEPTH:
            return False
        domain = "" if proto.domain in DOMAINS else proto.domain
        opsets = {**self.model.opsets, "": opset}
        prefix = f"{next(filter(None, proto.output))}/{proto.op_type}."
        body = expand(proto, domain, opsets, self._type_proto, prefix)
        if body is None:
            return False
        for inner in body.nodes:
            self.used.update(inner.input)
            self._trace(inner)
            try:
                self._define_results(inner, body.opset, depth + 1)
            except (Unsupported, VerifyException) as e:
                reason = f"in its function, '{inner.op_type}': {e}"
                missing = e.missing if isinstance(e, Unsupported) else None
                raise Unsupported(reason, missing) from None
        return True

    def _type_proto(self, name: str) -> "TypeProto":
        """The type of a value, as ONNX says it."""
        from onnx import helper

        if name in self.stored and name not in self.values:
            tensor = self.stored[name]
            return helper.make_tensor_type_proto(tensor.data_type, list(tensor.dims))
        type, small = type_of(self.value(name)), self.small_type(name)
        kind = (
            kind_of_dtype(numpy_dtype(type.element_type))
            if small is None
            else small.number
        )
        symbols = graph.dim_symbols(type)
        shape = [
            (None if symbol is None else symbol.name) if size < 0 else size
            for size, symbol in zip(shape_in(type), symbols, strict=True)
        ]
        return helper.make_tensor_type_proto(kind, shape)

    def _state(self) -> "_State":
        """What an attempt to import a node may change."""
        return _State(
            self.top.last_op,
            self.block.last_op,
            dict(self.values),
            dict(self.constants),
            dict(self.stored),
            dict(self.weights),
        )

    def _restore(self, state: "_State") -> None:
        """Take back what was done since a state."""
        for block, last_op in ((self.block, state.last_op), (self.top, state.last_top)):
            while (op := block.last_op) is not last_op:
                assert op is not None, "ops are only added at the end"
                op.detach()
                op.erase(safe_erase=False)
        self.values, self.constants = state.values, state.constants
        self.stored, self.weights = state.stored, state.weights

    def _results(self, node: Node, depth: int) -> Sequence[tuple[str, SSAValue]]:
        """What a node defines; nothing yet for what is known or stored."""
        proto = node.proto
        if proto.domain not in DOMAINS:
            raise Unsupported(f"operators of domain '{proto.domain}' are unknown")
        if not is_as_later(proto.op_type, node.opset):
            raise Unsupported(f"it changed before opset {MIN_OPSET}")
        smalls = [self.small_type(name) for name in proto.input if name]
        small = next((found for found in smalls if found is not None), None)
        if small is not None and proto.op_type not in SMALL_OPERATORS:
            raise Unsupported(f"elements of type {small.kind} are not supported")
        if proto.op_type in GRAPH_HANDLERS:
            return self._graph_results(node, depth)
        node.check_no_graphs()
        if proto.op_type == "Constant" and node.given("value"):
            tensor = node.tensor_proto("value")
            if depth == 0:
                self.stored[proto.output[0]] = tensor
            else:  # of a function, which is not in the file
                self.constants[proto.output[0]] = self.elements("value", tensor)
                if (own := small_type(tensor.data_type)) is not None:
                    self.small_constants[proto.output[0]] = own
            return ()
        known = evaluate(node) if small is None else None
        if known is not None:
            node.check_attributes()
            self.constants[proto.output[0]] = known
            return ()
        handler = HANDLERS.get(proto.op_type)
        if handler is None:
            raise Unsupported(reason_of(proto.op_type))
        try:
            results = handler(node)
        except (IndexError, OverflowError, ValueError) as e:
            # Shapes that no handler expects, of a model that breaks ONNX's own rules.
            raise Unsupported(f"its inputs do not fit: {e}") from None
        node.check_attributes()
        if isinstance(results, SSAValue):
            results = (results,)
        if len(results) < node.output_count():
            raise Unsupported(f"output {len(results)} is not supported")
        pairs = zip(proto.output, results, strict=False)
        return [(name, value) for name, value in pairs if name]

    def _trace(self, proto: "NodeProto") -> None:
        """Note which inputs of the model the outputs of a node depend on."""
        sources = frozenset[str]().union(
            *(self.inputs.get(name, frozenset({name})) for name in proto.input if name)
        )
        self.inputs.update(dict.fromkeys(proto.output, sources))

    def _define(self, name: str, value: SSAValue) -> None:
        self.values[name] = value
        if value.name_hint is None and name.isascii() and SSAValue.is_valid_name(name):
            value.name_hint = name

    # Constants and weights

    def _constant(self, array: Array) -> SSAValue:
        """A value with elements that are written out."""
        type = graph.tensor(array.shape, element_type(array.dtype))
        if array.size and (array == array.flat[0]).all():
            op = graph.ConstantOp.splat(type, array.flat[0].item())
        else:
            op = graph.ConstantOp.from_bytes(type, array.tobytes())
        with self.within(self.top):  # for all that comes, in whatever region
            return self.insert(op).results[0]

    def _sizes(self, array: Array) -> SSAValue:
        """Sizes some of which are not static, as a value."""
        numbers: list[SSAValue] = []
        for size in array.flat:
            if isinstance(size, RuntimeSize):
                axis = self._index(size.axis, IndexType())
                dim = self.insert(tensor.DimOp(size.value, axis)).results[0]
                number = self.insert(arith.IndexCastOp(dim, i64)).results[0]
            else:
                number = self._index(int(size), i64)
            numbers.append(number)
        type = graph.tensor([len(numbers)], i64)
        op = tensor.FromElementsOp(*numbers, result_type=type)
        row = self.insert(op).results[0]
        return self.insert(graph.ReshapeOp(row, array.shape)).results[0]

    def _index(self, value: int, type: IndexType | IntegerType) -> SSAValue:
        op = arith.ConstantOp(IntegerAttr(value, type))
        return self.insert(op).results[0]

    def _weight(self, name: str) -> SSAValue:
        """A weight that stays in the file; one element is written out."""
        array = self.constants[name] if name in self.constants else self._read(name)
        if array.size == 1:
            return self._constant(array)
        type = graph.tensor(array.shape, element_type(array.dtype))
        file = graph.FileAttr.get(self.model.file_name, name, content_sha256(array))
        weight = graph.WeightOp(self._symbol(name), type, file)
        weight.location = NameLoc(StringAttr(name), self.model.place())
        reference = graph.WeightRefOp(weight)
        reference.location = self.location
        self.top.add_op(reference)
        self.weights[reference] = weight
        return reference.result

    def _symbol(self, name: str) -> str:
        """A symbol for a weight: its name, unless that is taken."""
        if name != MAIN:
            return name
        candidates = (f"{MAIN}_{number}" for number in count())
        return next(symbol for symbol in candidates if symbol not in self.stored)

    def _read(self, name: str) -> Array:
        tensor = self.stored[name]
        small = small_type(tensor.data_type)
        if small is None:
            dtype = dtype_of_kind(tensor.data_type)
        else:
            dtype = numpy_dtype(small.stored)
        if dtype is None:
            kind = kind_name(tensor.data_type)
            raise Unsupported(f"'{name}': elements of type {kind} are not supported")
        try:
            return self.model.files.read(self.model.file_name, name, tensor.dims, dtype)
        except WeightError as e:
            raise OpError(self.location, str(e)) from None

    def _drop_unread(self) -> None:
        """Remove constants that only told a type, such as those that became shapes."""
        for op in tuple(self.top.ops):
            is_constant = isinstance(op, graph.WeightRefOp | graph.ConstantOp)
            if is_constant and not op.results[0].uses:
                if isinstance(op, graph.WeightRefOp):
                    del self.weights[op]
                op.detach()
                op.erase()

    # The border of the graph

    def _argument(self, info: "ValueInfoProto") -> None:
        type = input_type(self.model, info)
        argument = self.top.insert_arg(type, len(self.top.args))
        small = small_type(info.type.tensor_type.elem_type)
        if small is not None:
            self.mark_small(argument, small)
        argument.location = NameLoc(StringAttr(info.name), self.model.place())
        self._define(info.name, argument)

    def _output(self, info: "ValueInfoProto") -> SSAValue:
        try:
            return self.value(info.name)
        except Unsupported as e:
            raise OpError(self.model.place(), f"output '{info.name}': {e}") from None

    def _named(
        self, infos: "Iterable[ValueInfoProto]", values: Iterable[SSAValue]
    ) -> ArrayAttr[DictionaryAttr]:
        """The names of arguments or results, and types that `graph` has not."""
        found: list[DictionaryAttr] = []
        for info, value in zip(infos, values, strict=True):
            attributes = {"graph.name": StringAttr(info.name)}
            if (small := self.small_values.get(value)) is not None:
                attributes["graph.element"] = StringAttr(str(small.dtype))
            found.append(DictionaryAttr(attributes))
        return ArrayAttr(found)

    def _error(self) -> OpError:
        """All nodes that were refused, by operator and reason."""
        total = sum(len(nodes) for nodes in self.refused.values())
        notes: list[Note] = []
        for (kind, reason), nodes in sorted(
            self.refused.items(), key=lambda entry: (-len(entry[1]), entry[0])
        ):
            shown = ", ".join(f"'{name}'" for name, _ in nodes[:SHOWN_NODES])
            if len(nodes) > SHOWN_NODES:
                shown += ", …"
            text = f"'{kind}' x{len(nodes)} ({reason}): {shown}"
            notes.append(Note(nodes[0][1], text))
        message = f"{total} of {len(self.source.node)} nodes are not supported"
        names = self._missing_inputs()
        if len(self.missing) < total or not names:
            return OpError(self.model.place(), message, *notes)
        error = MissingValues(self.model.place(), message, *notes)
        error.names = names
        return error

    def _missing_inputs(self) -> tuple[str, ...]:
        """The inputs that say what would have to be known, if inputs alone do."""
        names = {
            value
            for missing in self.missing
            for value in self.inputs.get(missing, frozenset({missing}))
        }
        given = [v.name for v in self.source.input if v.name not in self.stored]
        return tuple(name for name in given if name in names)


class _State(NamedTuple):
    last_top: Operation | None
    last_op: Operation | None
    values: dict[str, SSAValue]
    constants: dict[str, Array]
    stored: "dict[str, TensorProto]"
    weights: dict[graph.WeightRefOp, graph.WeightOp]
