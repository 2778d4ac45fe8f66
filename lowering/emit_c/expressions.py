"""
C expressions with as few parentheses as C, and readers, need.
"""

from __future__ import annotations

from dataclasses import dataclass

ATOM, UNARY, TIMES, PLUS, SHIFT, LESS, EQUAL, BITS, AND, OR, CHOICE = range(11, 0, -1)
"""How tightly an operator binds; words and calls most."""


@dataclass(frozen=True)
class Expression:
    """The text of a value, and what must be known to move it."""

    text: str
    level: int = ATOM
    reads: bool = False
    """It reads memory, so that no write may come between."""
    update: tuple[str, str, str] | None = None
    """Left side, operator and right side of what may be an assignment to the left."""

    def at(self, level: int) -> str:
        """The text as an operand of an operator of this level."""
        return self.text if self.level >= level else f"({self.text})"


def joined(operator: str, level: int, lhs: Expression, rhs: Expression) -> Expression:
    """Two operands and an operator that groups to the left."""
    # Compilers warn of bits and logic mixed, and of chains of comparisons.
    if level in (SHIFT, BITS, AND, OR):
        left, right = lhs.at(UNARY), rhs.at(UNARY)
    elif level in (LESS, EQUAL):
        left, right = lhs.at(SHIFT), rhs.at(SHIFT)
    else:
        left, right = lhs.at(level), rhs.at(level + 1)
    return Expression(
        f"{left} {operator} {right}",
        level,
        lhs.reads or rhs.reads,
        (lhs.text, operator, rhs.text) if level in (PLUS, TIMES) else None,
    )


def cast(type: str, value: Expression) -> Expression:
    """A conversion."""
    return Expression(f"({type}){value.at(UNARY)}", UNARY, value.reads)


def call(function: str, *arguments: Expression) -> Expression:
    """A call of a function without effects."""
    text = ", ".join(argument.text for argument in arguments)
    return Expression(
        f"{function}({text})", ATOM, any(argument.reads for argument in arguments)
    )


def negated(value: Expression) -> Expression:
    """Logical negation."""
    return Expression(f"!{value.at(UNARY)}", UNARY, value.reads)
