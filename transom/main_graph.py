"""
Main as a graph for the executor `graph`: from a module at phase `executable`.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

from xdsl.dialects import arith, cf, func, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from transom.dialects import executor, llvm, tir
from transom.dialects.diagnostics import OpError
from transom.dialects.dtypes import numpy_dtype
from transom.dialects.symbols import lookup, symbol_name
from transom.runtime.artifacts import SYMBOL
from transom.runtime.graph_scalars import BINARY, CASTS
from transom.runtime.main_graph import C_SCALARS, FORMAT, OPS, VERSION

Json = dict[str, Any]

REGIONS: Mapping[str, tuple[str, ...]] = {
    "scf.if": ("then", "else"),
    "scf.for": ("body",),
    "scf.while": ("before", "after"),
}
"""What nested graphs are called."""


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


def type_text(type: Attribute, op: Operation) -> str:
    """A type as a graph names it."""
    if isinstance(type, MemRefType):
        memory = cast("MemRefType[Attribute]", type)
        sizes = ["?" if n == DYNAMIC_INDEX else str(n) for n in memory.get_shape()]
        return f"{numpy_dtype(memory.element_type).name}[{','.join(sizes)}]"
    try:
        return numpy_dtype(type).name
    except (KeyError, TypeError, ValueError):
        raise OpError(op, f"executor 'graph' has no values of type '{type}'") from None


class _Graph:
    def __init__(self, module: ModuleOp, machine: ModuleOp) -> None:
        self.module = module
        self.declared = {
            symbol_name(op): op
            for op in machine.body.ops
            if isinstance(op, llvm.FuncOp)
        }
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
        callee = lookup(op, name)
        assert isinstance(callee, tir.Callee), "the verifier has looked"
        if name not in self.kernels:
            symbol = name if isinstance(callee, tir.FuncOp) else SYMBOL + name
            declared = self.declared.get(symbol)
            types = [type_text(type, op) for type in callee.argument_types]
            count = sum(1 + text.count("?") for text in types)
            if declared is None or len(declared.function_type.inputs) != count:
                raise OpError(
                    op, f"executor 'graph' does not know how to call '@{name}'"
                )
            for type, text in zip(callee.argument_types, types, strict=True):
                if "[" not in text and text not in C_SCALARS:
                    raise OpError(
                        op, f"executor 'graph' cannot pass a number of type '{type}'"
                    )
            returned = declared.function_type.output
            self.kernels[name] = {
                "symbol": symbol,
                "types": types,
                "status": not isinstance(returned, llvm.LLVMVoidType),
            }
        effects = callee.argument_effects
        return name, [i for i, effect in enumerate(effects) if effect.writes]


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
        types = [type_text(argument.type, self.op) for argument in block.args]
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
                return {"type": type_text(op.result.type, op), "value": _value(value)}
            case arith.CmpiOp() | arith.CmpfOp():
                return {"predicate": _predicate(op)}
            case cf.AssertOp():
                return {"message": op.msg.data}
            case executor.ViewOp():
                return {
                    "pool": op.pool.string_value(),
                    "offset": op.offset.value.data,
                    "type": type_text(op.result.type, op),
                }
            case executor.AllocOp():
                alignment = op.alignment.value.data if op.alignment is not None else 64
                return {"type": type_text(op.result.type, op), "alignment": alignment}
            case executor.ConstantOp():
                return {
                    "weight": op.weight.string_value(),
                    "type": type_text(op.result.type, op),
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
                return {"type": type_text(op.result.type, op), "groups": listed}
            case memref.ExpandShapeOp() | memref.ViewOp():
                return {"type": type_text(op.results[0].type, op)}
            case _:
                if op.name in CASTS or (op.name in BINARY and op.results):
                    return {"type": type_text(op.results[0].type, op)}
                return {}


def _value(value: "IntegerAttr | FloatAttr") -> int | str:
    """A number; floats in hexadecimal, which lose nothing."""
    if isinstance(value, FloatAttr):
        return value.value.data.hex()
    number = value.value.data
    is_bit = isinstance(value.type, IntegerType) and value.type.width.data == 1
    return number & 1 if is_bit else number


def _predicate(op: "arith.CmpiOp | arith.CmpfOp") -> str:
    from xdsl.dialects.arith import (
        CMPF_COMPARISON_OPERATIONS,
        CMPI_COMPARISON_OPERATIONS,
    )

    is_float = isinstance(op, arith.CmpfOp)
    names = CMPF_COMPARISON_OPERATIONS if is_float else CMPI_COMPARISON_OPERATIONS
    return names[op.predicate.value.data]


def _subview(op: memref.SubviewOp) -> Json:
    numbers: Json = {"type": type_text(op.result.type, op)}
    for name in ("offsets", "sizes", "strides"):
        static = cast("DenseArrayBase[IntegerType]", op.properties[f"static_{name}"])
        numbers[name] = [None if n == DYNAMIC_INDEX else n for n in static.get_values()]
    shape = list(op.result.type.get_shape())
    dropped: list[int] = []
    for axis, size in enumerate(numbers["sizes"]):
        known = DYNAMIC_INDEX if size is None else size
        if shape and shape[0] == known:
            shape.pop(0)
        else:
            dropped.append(axis)
    numbers["dropped"] = dropped
    return numbers
