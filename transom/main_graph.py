"""
Main as a graph for the executor `graph`: from a module at phase `executable`.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

from xdsl.dialects import arith, cf, func, memref, scf
from xdsl.dialects.builtin import (
    ArrayAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from transom.dialects import executor
from transom.dialects.diagnostics import OpError
from transom.main_calls import (
    KernelSignatures,
    dropped_axes,
    predicate_of,
    static_numbers,
    type_text,
)
from transom.runtime.main_graph import FORMAT, OPS, VERSION
from transom.runtime.main_ops import SCALAR_OPS

Json = dict[str, Any]

EXECUTOR = "graph"

REGIONS: Mapping[str, tuple[str, ...]] = {
    "scf.if": ("then", "else"),
    "scf.for": ("body",),
    "scf.while": ("before", "after"),
}
"""What nested graphs are called."""

TYPED = (
    memref.CastOp,
    memref.ExpandShapeOp,
    memref.MemorySpaceCastOp,
    memref.ViewOp,
)
"""Ops whose nodes say the type of their result."""


def graph_of(module: ModuleOp, machine: ModuleOp) -> str:
    """
    The graph of main, as JSON text, of a module at phase `executable`; `machine` is the
    same at phase `machine`.

    Raises `OpError` at what a graph cannot run.
    """
    return _text(_Graph(module, machine).json(), 0) + "\n"


def _text(value: Any, depth: int) -> str:
    """JSON with a line for each node."""
    margin = " " * (depth + 1)
    if isinstance(value, dict):
        object_ = cast(Json, value)
        if any(isinstance(v, dict) or _is_nodes(v) for v in object_.values()):
            lines = [
                f"{margin}{json.dumps(key)}: {_text(item, depth + 1)}"
                for key, item in object_.items()
            ]
            return "{\n" + ",\n".join(lines) + "\n" + margin[1:] + "}"
    if _is_nodes(value):
        lines = [
            f"{margin}{_text(node, depth + 1)}" for node in cast("list[Any]", value)
        ]
        return "[\n" + ",\n".join(lines) + "\n" + margin[1:] + "]"
    return json.dumps(value, ensure_ascii=False)


def _is_nodes(value: Any) -> bool:
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return any(isinstance(item, dict) for item in items)


class _Graph:
    def __init__(self, module: ModuleOp, machine: ModuleOp) -> None:
        self.module = module
        self.signatures = KernelSignatures(machine, EXECUTOR)
        self.kernels: dict[str, Json] = {}

    def json(self) -> Json:
        functions = {
            op.sym_name.data: _Function(self, op).json()
            for op in self.module.body.ops
            if isinstance(op, func.FuncOp) and not op.is_declaration
        }
        return {
            "format": FORMAT,
            "version": VERSION,
            "kernels": self.kernels,
            "functions": functions,
        }

    def kernel(self, op: executor.CallOp) -> tuple[str, list[int]]:
        """The name of what a call calls, and which of its arguments are written."""
        name = op.callee.string_value()
        signature = self.signatures.of(op)
        self.kernels[name] = {
            "symbol": signature.symbol,
            "types": signature.types,
            "status": signature.gives_status,
        }
        return name, signature.writes


def _type(type: Attribute, op: Operation) -> str:
    return type_text(type, op, EXECUTOR)


class _Function:
    """The nodes of a function."""

    def __init__(self, graph: _Graph, op: func.FuncOp) -> None:
        self.graph = graph
        self.op = op
        self.names: dict[SSAValue, str] = {}
        self.used: set[str] = set()

    def json(self) -> Json:
        if len(self.op.body.blocks) != 1:
            raise OpError(
                self.op, "executor 'graph' cannot run branches between blocks"
            )
        block = self.op.body.block
        arguments = [self.name(argument) for argument in block.args]
        types = [_type(argument.type, self.op) for argument in block.args]
        nodes = self.nodes(block)
        found: Json = {"arguments": arguments, "types": types, "nodes": nodes}
        return found

    def name(self, value: SSAValue) -> str:
        """A name of its own for a value, like the one it has."""
        if value not in self.names:
            stem, number = value.name_hint or "v", 0
            name = value.name_hint or "v0"
            while name in self.used:
                number += 1
                name = f"{stem}{number}"
            self.used.add(name)
            self.names[value] = name
        return self.names[value]

    def names_of(self, values: Iterable[SSAValue]) -> list[str]:
        return [self.name(value) for value in values]

    def nodes(self, block: Block) -> list[Json]:
        last = block.last_op
        ends = (scf.YieldOp, scf.ConditionOp)
        return [
            self.node(op)
            for op in block.ops
            if not (op is last and isinstance(op, ends))
        ]

    def node(self, op: Operation) -> Json:
        if op.name not in OPS:
            raise OpError(op, f"executor 'graph' has no op '{op.name}'")
        node: Json = {"op": op.name}
        if op.operands:
            node["in"] = self.names_of(op.operands)
        node |= self.details(op)
        if op.regions:
            regions = zip(REGIONS[op.name], op.regions, strict=True)
            node |= {name: self.nested(region) for name, region in regions}
        if op.results:
            node["out"] = self.names_of(op.results)
        return node

    def nested(self, region: Region) -> Json:
        if not region.blocks:  # an `else` that does nothing
            return {"arguments": [], "nodes": [], "results": []}
        block = region.block
        arguments = self.names_of(block.args)
        nodes = self.nodes(block)
        last = block.last_op
        assert last is not None, "blocks have terminators"
        return {
            "arguments": arguments,
            "nodes": nodes,
            "results": self.names_of(last.operands),
        }

    def details(self, op: Operation) -> Json:
        """What a node says beside its operands and results."""
        match op:
            case arith.ConstantOp():
                value = op.value
                if not isinstance(value, IntegerAttr | FloatAttr):
                    raise OpError(op, "executor 'graph' has numbers as constants only")
                return {"type": _type(op.result.type, op), "value": _value(value)}
            case arith.CmpiOp() | arith.CmpfOp():
                return {"predicate": predicate_of(op)}
            case cf.AssertOp():
                return {"message": op.msg.data}
            case executor.ViewOp():
                place = {"pool": op.pool.string_value(), "offset": op.offset_bytes}
                if op.reserved is not None:
                    place["reserved"] = op.size_bytes
                return {**place, "type": _type(op.result.type, op)}
            case executor.AllocOp():
                alignment = op.alignment.value.data if op.alignment is not None else 64
                return {"type": _type(op.result.type, op), "alignment": alignment}
            case executor.ConstantOp():
                return {
                    "weight": op.weight.string_value(),
                    "type": _type(op.result.type, op),
                }
            case executor.CallOp():
                name, writes = self.graph.kernel(op)
                return {"kernel": name, "writes": writes}
            case executor.ShapeCallOp() | func.CallOp():
                return {"function": op.callee.string_value()}
            case memref.SubviewOp():
                return _subview(op)
            case memref.CollapseShapeOp():
                groups = cast(
                    "ArrayAttr[ArrayAttr[IntegerAttr]]", op.properties["reassociation"]
                )
                listed = [[index.value.data for index in group] for group in groups]
                return {"type": _type(op.result.type, op), "groups": listed}
            case _:
                is_typed = op.name in SCALAR_OPS or isinstance(op, TYPED)
                return {"type": _type(op.results[0].type, op)} if is_typed else {}


def _value(value: "IntegerAttr | FloatAttr") -> int | str:
    """A number; floats in hexadecimal, which lose nothing."""
    if isinstance(value, FloatAttr):
        return value.value.data.hex()
    number = value.value.data
    is_bit = isinstance(value.type, IntegerType) and value.type.width.data == 1
    return number & 1 if is_bit else number


def _subview(op: memref.SubviewOp) -> Json:
    names = ("offsets", "sizes", "strides")
    numbers = {name: static_numbers(op, name) for name in names}
    return {
        "type": _type(op.result.type, op),
        **numbers,
        "dropped": dropped_axes(op),
    }
