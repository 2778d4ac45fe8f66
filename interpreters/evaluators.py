"""
Tables of evaluators: what an op computes, by the class of the op.

An evaluator gets the frame that the op runs in, the op, and the values of its operands;
it returns one value per result. A value is

* a NumPy array for a tensor, memref (a view: writing to it writes to the buffer) or
  vector, its dtype that of `transom.dialects.dtypes`;
* a NumPy scalar for a number; inside a nest an array of it, one element per point of
  the nest's parallel dims.

The evaluators of a dialect are one table, found by the dialect's name: in-tree in
`TABLES`, out of tree through the entry-point group `transom.evaluators`, whose key is
the dialect and whose value names the table; or handed to `Interpreter(evaluators=…)`.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt
from xdsl.ir import Block, Operation

from transom.dialects import plugins
from transom.dialects.plugins import Plugin, PluginError, State

if TYPE_CHECKING:
    from transom.interpreters.interpreter import Frame

Array: TypeAlias = npt.NDArray[Any]

Value: TypeAlias = Any
"""An array or a scalar of NumPy, a token, or what a target's evaluators make of it."""

Values: TypeAlias = Sequence[Value]

Evaluator: TypeAlias = Callable[["Frame", Operation, Values], Values]

Unary: TypeAlias = Callable[[Any], Any]
Binary: TypeAlias = Callable[[Any, Any], Any]
Convert: TypeAlias = Callable[[Any, np.dtype[Any]], Any]
"""Functions of values; the last one also of the dtype of the result."""

OpT = TypeVar("OpT", bound=Operation)


class Jump:
    """What the evaluator of a branch returns: the block to go on with."""

    __slots__ = ("arguments", "block")

    def __init__(self, block: Block, arguments: Values) -> None:
        self.block = block
        self.arguments = arguments


class Evaluators(dict[type[Operation], Evaluator]):
    """
    The evaluators of some op classes; a subclass of an op class uses its evaluator.

    ```python
    WOOFLES = Evaluators()

    @WOOFLES.of(woofles.BarkOp)
    def bark(frame: Frame, op: woofles.BarkOp, args: Values) -> Values:
        return (np.repeat(args[0], 2),)
    ```
    """

    def of(
        self, *op_classes: type[OpT]
    ) -> "Callable[[Callable[[Frame, OpT, Values], Values]], Evaluator]":
        """Register the decorated evaluator for these op classes."""

        def register(
            function: "Callable[[Frame, OpT, Values], Values]",
        ) -> Evaluator:
            evaluator = cast(Evaluator, function)
            self.update(dict.fromkeys(op_classes, evaluator))
            return evaluator

        return register


def find_evaluator(
    op_class: type[Operation], tables: Sequence[Mapping[type[Operation], Evaluator]]
) -> Evaluator | None:
    """The evaluator of the class or its nearest base, from the first table with one."""
    for base in op_class.__mro__:
        for table in tables:
            if (found := table.get(base)) is not None:
                return found
    return None


TABLES: dict[str, str] = {
    "affine": "transom.interpreters.affine:AFFINE",
    "arith": "transom.interpreters.arith:ARITH",
    "builtin": "transom.interpreters.builtin:BUILTIN",
    "cf": "transom.interpreters.cf:CF",
    "executor": "transom.interpreters.executor:EXECUTOR",
    "func": "transom.interpreters.func:FUNC",
    "graph": "transom.interpreters.graph:GRAPH",
    "linalg": "transom.interpreters.linalg:LINALG",
    "math": "transom.interpreters.math:MATH",
    "memref": "transom.interpreters.memref:MEMREF",
    "scf": "transom.interpreters.scf:SCF",
    "tensor": "transom.interpreters.tensor:TENSOR",
    "tir": "transom.interpreters.tir:TIR",
    "vector": "transom.interpreters.vector:VECTOR",
}
"""Evaluators of this layer: dialect to `module:table`, resolved when first used."""


@cache
def dialect_table(dialect: str) -> Mapping[type[Operation], Evaluator]:
    """
    The table of a dialect, empty if there is none.

    Raises `PluginError` if an out-of-tree table cannot be used.
    """
    if (ours := TABLES.get(dialect)) is not None:
        for plugin in plugins.plugins_named(plugins.EVALUATORS, dialect):
            plugins.report_problem(table_of_ours(plugin))
        return resolve_name(ours)
    plugin = plugins.plugin_named(plugins.EVALUATORS, dialect)
    return {} if plugin is None else table_of_plugin(plugin)


def table_of_ours(plugin: Plugin) -> PluginError:
    """The problem of a plug-in whose dialect has a table of transom."""
    reason = f"is left out: distribution 'transom' evaluates dialect '{plugin.name}'"
    return PluginError(plugin, State.CLASH, reason)


def table_of_plugin(plugin: Plugin) -> Mapping[type[Operation], Evaluator]:
    """The table that a plug-in brings. Raises `PluginError`."""
    table = plugin.load_as(cast("type[Any]", Mapping))
    return cast("Mapping[type[Operation], Evaluator]", table)
