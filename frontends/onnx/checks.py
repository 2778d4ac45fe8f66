"""
What must hold of a graph before its nodes are looked at: names are there, short and
printable, each value is defined once, and before it is read.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from transom.dialects.diagnostics import OpError
from transom.frontends.onnx.model_file import Model

if TYPE_CHECKING:
    from onnx import NodeProto

MAX_NAME = 1024
"""Characters of a name."""

SHOWN_CHARACTERS = 40
"""Characters of a name that is refused."""


def check_graph(model: Model) -> None:
    """Raises `OpError` for the first rule that the graph breaks."""
    Checker(model).run()


class Checker:
    def __init__(self, model: Model) -> None:
        self.model = model
        self.number = 1
        self.defined: set[str] = set()

    def run(self) -> None:
        graph = self.model.graph
        if graph.sparse_initializer:
            raise self.error("sparse initialisers are not supported")
        if not graph.output:
            raise self.error("expected a graph with an output")
        initializers = {tensor.name for tensor in graph.initializer}
        for tensor in graph.initializer:
            self.define(tensor.name, "an initialiser")
        for value in graph.input:
            if value.name not in initializers:
                self.define(value.name, "an input")
            for dim in value.type.tensor_type.shape.dim:
                self.check_name(dim.dim_param)
        for number, node in enumerate(graph.node, 1):
            self.number = number
            self.check_node(node)
        self.number = 1
        self.check_outputs([value.name for value in graph.output])

    def check_node(self, node: "NodeProto") -> None:
        for name in (node.name, node.op_type, node.domain):
            self.check_name(name)
        attributes = [attribute.name for attribute in node.attribute]
        for name in attributes:
            self.check_name(name)
        if twice := _twice(attributes):
            raise self.error(f"expected attribute '{twice}' once")
        for name in node.input:
            if name and name not in self.defined:
                raise self.undefined(name)
        outputs = [name for name in node.output if name]
        if not outputs:
            raise self.error(f"expected an output of '{node.op_type}'")
        for name in outputs:
            self.define(name, "an output")

    def check_outputs(self, names: list[str]) -> None:
        if twice := _twice(names):
            raise self.error(f"expected '{twice}' once among the outputs")
        for name in names:
            if name not in self.defined:
                self.check_name(name)
                raise self.error(f"output '{name}' is no value of the graph")

    def define(self, name: str, what: str) -> None:
        """A name is that of a value from here on."""
        if not name:
            raise self.error(f"expected {what} to have a name")
        self.check_name(name)
        if name in self.defined:
            raise self.error(f"'{name}' is defined twice")
        self.defined.add(name)

    def check_name(self, name: str) -> None:
        """Names are shown, in one line, and printed in IR."""
        if len(name) > MAX_NAME:
            raise self.error(
                f"expected names of at most {MAX_NAME} characters, but got {len(name)}"
            )
        if not name.isprintable():
            shown = ascii(name[:SHOWN_CHARACTERS])
            raise self.error(f"expected names of printable characters, but got {shown}")

    def undefined(self, name: str) -> OpError:
        """Why a node can not read a name."""
        self.check_name(name)
        for number, node in enumerate(self.model.graph.node, 1):
            if name in node.output:
                return self.error(
                    f"expected nodes in order, but '{name}' is read here and defined "
                    f"by node {number}"
                )
        return self.error(f"'{name}' is no value of the graph")

    def error(self, message: str) -> OpError:
        return OpError(self.model.place(self.number), message)


def _twice(names: Iterable[str]) -> str | None:
    """A name that is there more than once."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
