"""
Write `docs/operators.md`: what each operator of ONNX becomes in `graph`, element types,
and what is refused and why, as the importer's source says it.

```sh
python -m transom.tools.operator_docs          # write the page
python -m transom.tools.operator_docs --check  # status 1 if it is not up to date
```
"""

import argparse
import ast
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from onnx import TensorProto, defs

from transom.dialects import graph
from transom.dialects.dtypes import element_type
from transom.dialects.graph import elements
from transom.dialects.onnx_weights import dtype_of_kind
from transom.frontends.onnx import operators, subgraphs
from transom.frontends.onnx.known import EVALUATORS, SOURCES
from transom.frontends.onnx.node import Node
from transom.frontends.onnx.operators import HANDLERS
from transom.frontends.onnx.refusals import reason_of
from transom.frontends.onnx.subgraphs import GRAPH_HANDLERS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "operators.md"

NOTICE = "<!-- Written by `python -m transom.tools.operator_docs`. -->"

NONE = "-"
"""What stands in a cell for nothing."""

FRONTEND = "transom.frontends.onnx"

STEPS = (f"{FRONTEND}.node", f"{FRONTEND}.values")
"""Modules whose steps all operators share: their refusals are not those of one."""

METHODS = {"reshape": graph.ReshapeOp.name, "splat": graph.ConstantOp.name}
"""Methods of nodes that make an op."""

ELEMENTS_OF: Mapping[str, elements.ElementSet] = {
    name: value
    for name, value in vars(elements).items()
    if isinstance(value, elements.ElementSet)
}


@dataclass
class Found:
    """What the source of a handler mentions."""

    ops: set[str] = field(default_factory=set[str])
    refusals: list[str] = field(default_factory=list[str])

    def add(self, other: "Found") -> None:
        self.ops |= other.ops
        self.refusals += [r for r in other.refusals if r not in self.refusals]


class Sources:
    """The functions and classes of the importer, and what they mention."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, str], Found] = {}

    def of(self, module: str, node: ast.AST) -> Found:
        """What an expression or a function mentions, and all that it calls."""
        found = Found()
        for part in ast.walk(node):
            if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
                if part.value.id in ("n", "self") and part.attr in METHODS:
                    found.ops.add(METHODS[part.attr])
                elif part.value.id == "graph" and part.attr.endswith("Op"):
                    found.ops.add(getattr(graph, part.attr).name)
                elif module_of(module, part.value.id) is not None:
                    inner = f"{FRONTEND}.{part.value.id}"
                    found.add(self.named(inner, part.attr))
            elif isinstance(part, ast.Name):
                found.add(self.named(module, part.id))
            elif isinstance(part, ast.Raise) and module not in STEPS:
                found.add(Found(refusals=refusal(part)))
        return found

    def named(self, module: str, name: str) -> Found:
        """What a function, a class or a table of this name mentions."""
        key = module, name
        if key not in self.known:
            self.known[key] = Found()  # of a function that calls itself
            self.known[key] = self._named(module, name)
        return self.known[key]

    def _named(self, module: str, name: str) -> Found:
        definition = definitions(module).get(name)
        if isinstance(definition, ast.ImportFrom):
            origin = definition.module or ""
            is_step = origin.startswith(FRONTEND) and origin != FRONTEND
            if is_step and name != Node.__name__:
                return self.named(origin, name)
            return Found()
        return Found() if definition is None else self.of(module, definition)


def module_of(module: str, name: str) -> ModuleType | None:
    """The module of the importer that a name means, if it means one."""
    definition = definitions(module).get(name)
    if isinstance(definition, ast.ImportFrom) and definition.module == FRONTEND:
        return import_module(f"{FRONTEND}.{name}")
    return None


@cache
def definitions(module: str) -> dict[str, ast.AST]:
    """What defines each name at the top of a module: a function, class or import."""
    found: dict[str, ast.AST] = {}
    for node in ast.parse(inspect.getsource(import_module(module))).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.ImportFrom):
            found.update((alias.asname or alias.name, node) for alias in node.names)
    return found


def refusal(node: ast.Raise) -> list[str]:
    """The text of an `Unsupported`; what is filled in is written as `…`."""
    call = node.exc
    if not isinstance(call, ast.Call) or not call.args:
        return []
    if not (isinstance(call.func, ast.Name) and call.func.id == "Unsupported"):
        return []
    text = call.args[0]
    if isinstance(text, ast.Constant):
        return [str(text.value)]
    if isinstance(text, ast.JoinedStr):
        parts = (
            str(part.value) if isinstance(part, ast.Constant) else "…"
            for part in text.values
        )
        return ["".join(parts)]
    return []


def handlers() -> dict[str, Found]:
    """What the handler of each operator mentions."""
    sources, found = Sources(), dict[str, Found]()
    for name in sorted({*HANDLERS, *EVALUATORS, *SOURCES, *GRAPH_HANDLERS}):
        found[name] = Found()
    tables = [m.__name__ for m in vars(operators).values() if isinstance(m, ModuleType)]
    for module in [*tables, subgraphs.__name__]:
        for name, value in entries(module):
            if name in found:
                found[name].add(sources.of(module, value))
    return found


def entries(module: str) -> Iterator[tuple[str, ast.AST]]:
    """The entries of the table of handlers in a module."""
    for node in ast.parse(inspect.getsource(import_module(module))).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(node, ast.AnnAssign):
            target = node.target
        if not isinstance(node, ast.Assign | ast.AnnAssign):
            continue
        if not (isinstance(target, ast.Name) and target.id.endswith("HANDLERS")):
            continue
        if isinstance(node.value, ast.Dict):
            for key, value in zip(node.value.keys, node.value.values, strict=True):
                if isinstance(key, ast.Constant):
                    yield str(key.value), value


def schemas() -> dict[str, Any]:
    """The newest schema of each operator of ONNX's own domain."""
    found: dict[str, Any] = {}
    for schema in defs.get_all_schemas():
        if schema.domain == "":
            found[schema.name] = schema
    return found


def operator_table() -> Iterator[str]:
    found = handlers()
    yield "| ONNX | becomes | refused |"
    yield "|---|---|---|"
    for name, schema in sorted(schemas().items()):
        if name in found:
            made = ", ".join(f"`{op}`" for op in sorted(found[name].ops))
            kind = made or "a constant, or the value itself"
            refused = "<br>".join(map(escaped, found[name].refusals))
        elif schema.has_function or schema.has_context_dependent_function:
            kind, refused = "the nodes of its function", ""
            if reason_of(name) != reason_of(""):
                kind, refused = NONE, escaped(reason_of(name))
        else:
            kind, refused = NONE, escaped(reason_of(name))
        yield f"| {name} | {kind} | {refused} |"


def escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def graph_table() -> Iterator[str]:
    """Each graph op with its elements and the operators of ONNX that become it."""
    sources: dict[str, list[str]] = {}
    for name, found in handlers().items():
        for op in found.ops:
            sources.setdefault(op, []).append(name)
    yield "| graph op | elements | ONNX |"
    yield "|---|---|---|"
    for op in sorted(graph.Graph.operations, key=lambda op: op.name):
        if issubclass(op, graph.GraphOp):
            listed = ", ".join(sorted(sources.get(op.name, ())))
            yield f"| `{op.name}` | {elements_of(op)} | {listed} |"


def elements_of(op: type[graph.GraphOp]) -> str:
    """The elements that each operand may have, as `infer` checks them."""
    declared = getattr(op, "ELEMENTS", None)
    if isinstance(declared, elements.ElementSet):
        return declared.name
    found: list[str] = []
    source = inspect.cleandoc(inspect.getsource(op.infer))
    for name, what in re.findall(r"\b([A-Z]+)\.check\([^,]+,\s*\"([^\"]+)\"", source):
        if name in ELEMENTS_OF:
            kind = ELEMENTS_OF[name].name
            plain = what in ("the operand", "the operands")
            found.append(kind if plain else f"{what.strip(chr(39))}: {kind}")
    return "; ".join(dict.fromkeys(found)) or "any"


def type_table() -> Iterator[str]:
    yield "| ONNX | graph |"
    yield "|---|---|"
    for name, kind in TensorProto.DataType.items():
        if kind != TensorProto.UNDEFINED:
            dtype = dtype_of_kind(kind)
            shown = "refused" if dtype is None else f"`{element_type(dtype)}`"
            yield f"| {name} | {shown} |"


def text() -> str:
    """The page."""
    sets = [
        f"* *{name}*: " + ", ".join(f"`{type}`" for type in sorted(map(str, types)))
        for name, types in sorted(ELEMENTS_OF.values())
    ]
    lines = [
        "# Operators",
        "",
        NOTICE,
        "",
        f"ONNX up to opset {defs.onnx_opset_version()}, in its own domain. Nodes that",
        "are refused are listed in one run ([onnx.md](onnx.md)), with one of the",
        "reasons below, in which `…` is filled in. Sizes that are not static are",
        "supported where no reason says otherwise.",
        "",
        "## Operators of ONNX",
        "",
        *operator_table(),
        "",
        "## Graph ops",
        "",
        *graph_table(),
        "",
        "Elements by their name:",
        "",
        *sets,
        "",
        "## Element types",
        "",
        *type_table(),
        "",
        "Floats of 8 and fewer bits, complex numbers and strings have no element type",
        "in `graph`.",
        "",
    ]
    return "\n".join(lines)


def is_outdated() -> bool:
    """Whether the page says something else than the source."""
    return not PAGE.exists() or PAGE.read_text() != text()


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="write docs/operators.md")
    parser.add_argument("--check", action="store_true", help="only compare")
    if parser.parse_args(argv).check:
        if is_outdated():
            print("docs/operators.md is not up to date", file=sys.stderr)
            return 1
        return 0
    PAGE.write_text(text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
