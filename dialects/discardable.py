"""
Rules of a dialect's discardable attributes.

xDSL verifies the attributes of an op by the op's definition, and has no verifier of
discardable ones; a trait of `builtin.module` stands in.
"""

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation
from xdsl.traits import OpTrait
from xdsl.utils.exceptions import VerifyException

from transom.dialects.diagnostics import OpError, did_you_mean
from transom.dialects.walking import walk_ops

Rule = Callable[[Operation, Attribute], None]
"""Raises `VerifyException` unless an op may have this value of an attribute."""


class RuleError(OpError, VerifyException):
    """A broken rule of the module, at the op that breaks it."""


@dataclass(frozen=True)
class DiscardableAttributes(OpTrait):
    """
    All attributes called `dialect.…` of the ops in a module obey the rule of their
    name, and there are no others.
    """

    dialect: str
    rules: tuple[tuple[str, Rule], ...]

    def verify(self, op: Operation) -> None:
        rules, prefix = dict(self.rules), f"{self.dialect}."
        for user in walk_ops(op):
            for name, value in user.attributes.items():
                if not name.startswith(prefix):
                    continue
                if name not in rules:
                    near = did_you_mean(name, rules)
                    raise RuleError(user, f"unknown attribute '{name}'{near}")
                try:
                    rules[name](user, value)
                except VerifyException as e:
                    raise RuleError(user, str(e)) from None


def verify_on_module(op: Operation, name: str) -> None:
    """Raise `VerifyException` unless an op is a module."""
    if not isinstance(op, ModuleOp):
        raise VerifyException(f"expected '{name}' on a module, not on '{op.name}'")


def verify_on_function(op: Operation, name: str) -> None:
    """Raise `VerifyException` unless an op has the type of a function."""
    if op.get_attr_or_prop("function_type") is None:
        raise VerifyException(f"expected '{name}' on a function, not on '{op.name}'")


def verify_class(name: str, value: Attribute, kind: type[Attribute]) -> None:
    """Raise `VerifyException` unless a value is of the class that its name asks for."""
    if not isinstance(value, kind):
        raise VerifyException(
            f"expected a '#{kind.name}' for '{name}', but got '{value}'"
        )
