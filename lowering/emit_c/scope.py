"""
What is known while a function is written: lines, names, and the values so far.

An expression that is used once, in the block that it is in, is not a variable of its
own: it waits, and is written where it is used. One that reads memory waits until
something may write.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from transom.dialects.diagnostics import OpError
from transom.lowering.emit_c.expressions import Expression
from transom.lowering.emit_c.memory import Buffer, Number, as_expression
from transom.lowering.emit_c.names import Names
from transom.lowering.emit_c.scalars import Scalars

LONG = 64
"""Characters of an expression that is not put into another."""

LOOP_NAMES = "ijklmn"


@dataclass(frozen=True)
class Struct:
    """A variable that holds a struct."""

    name: str


Value = Expression | Buffer | Struct


class Scope:
    """The inside of one function."""

    def __init__(self, scalars: Scalars, names: Names) -> None:
        self.scalars = scalars
        self.names = names
        self.lines: list[str] = []
        self._depth = 1
        self._loops = 0
        self._values: dict[SSAValue, Value] = {}
        self._waiting: dict[SSAValue, Expression] = {}

    # Lines.

    def line(self, text: str) -> None:
        """Write a line."""
        self.lines.append("    " * self._depth + text if text else "")

    @contextmanager
    def braces(self, head: str, tail: str = "}") -> Generator[None]:
        """Write what is inside of a statement's braces; its names end with it."""
        self.line(f"{head} {{" if head else "{")
        self._depth += 1
        outer, self.names = self.names, Names(self.names)
        yield
        self.names = outer
        self._depth -= 1
        self.line(tail)

    @contextmanager
    def loop_name(self) -> Generator[str]:
        """The name of a loop's index."""
        outer, self.names = self.names, Names(self.names)
        name = self.names.new(LOOP_NAMES[min(self._loops, len(LOOP_NAMES) - 1)])
        self._loops += 1
        yield name
        self._loops -= 1
        self.names = outer

    # Values.

    def put(self, value: SSAValue, known: Value) -> None:
        """Say what a value is."""
        self._values[value] = known

    def of(self, value: SSAValue) -> Value:
        """What a value is; an expression that waited is used up."""
        waiting = self._waiting.pop(value, None)
        return self._values[value] if waiting is None else waiting

    def number(self, value: SSAValue) -> Expression:
        """A value that is a number."""
        found = self.of(value)
        assert isinstance(found, Expression), "numbers are expressions"
        return found

    def buffer(self, op: Operation, value: SSAValue) -> Buffer:
        """A value that is a memref."""
        found = self.of(value)
        if not isinstance(found, Buffer):
            raise OpError(op, f"no C form for a value of type '{value.type}' here")
        return found

    def atom(self, value: SSAValue) -> Number:
        """A number that may be written several times: a constant or a name."""
        expression = self.number(value)
        if re.fullmatch(r"-?\d+", expression.text):
            return int(expression.text)
        if re.fullmatch(r"\w+", expression.text):
            return expression
        return self.variable(value, expression)

    def numbers(self, values: Sequence[SSAValue]) -> list[Number]:
        """Indices that are written once."""
        numbers: list[Number] = []
        for value in values:
            expression = self.number(value)
            known = re.fullmatch(r"-?\d+", expression.text)
            numbers.append(int(expression.text) if known else expression)
        return numbers

    def name_for(self, value: SSAValue, wanted: str = "v") -> str:
        """A new variable's name: the value's own, if it has one."""
        return self.names.new(value.name_hint or wanted)

    def variable(
        self, value: SSAValue, expression: Expression, wanted: str = "v"
    ) -> Expression:
        """Write an expression to a variable, which stands for the value from now on."""
        name = self.name_for(value, wanted)
        type = self.scalars.scalar(value.type).type
        self.line(f"const {type} {name} = {expression.text};")
        self._values[value] = result = Expression(name)
        return result

    def named(self, number: Number, wanted: str, type: str) -> Number:
        """A number as a constant or a name."""
        if isinstance(number, int) or re.fullmatch(r"\w+", number.text):
            return number
        name = self.names.new(wanted)
        self.line(f"const {type} {name} = {number.text};")
        return Expression(name)

    def define(self, op: Operation, value: SSAValue, expression: Expression) -> None:
        """The result of an op without effects."""
        if value.first_use is None:
            return
        if isinstance(op, arith.ConstantOp) or re.fullmatch(r"\w+", expression.text):
            self._values[value] = expression
            return
        use = value.get_user_of_unique_use()
        if use is not None and use.parent is op.parent and len(expression.text) <= LONG:
            self._waiting[value] = expression
            return
        self.variable(value, expression)

    def settle(self) -> None:
        """Write what waits and reads memory: what comes next may write there."""
        reading = [v for v, e in self._waiting.items() if e.reads]
        for value in reading:
            self.variable(value, self._waiting.pop(value))

    def texts(self, values: Sequence[SSAValue]) -> list[str]:
        """Numbers as texts."""
        return [self.number(value).text for value in values]


def start_text(buffer: Buffer) -> str:
    """The address of the first element."""
    return buffer.start().text


def number_text(number: Number) -> str:
    """A number as text."""
    return as_expression(number).text
