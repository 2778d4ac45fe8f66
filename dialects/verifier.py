"""
Verify a module, with the place of the op that breaks a rule.
"""

from collections.abc import Iterable
from io import StringIO

from xdsl.dialects.builtin import StringAttr, UnregisteredOp
from xdsl.ir import Operation
from xdsl.printer import Printer
from xdsl.traits import NoTerminator, SymbolTable
from xdsl.utils.exceptions import DiagnosticException, VerifyException

from transom.dialects.definition_checks import verify_op
from transom.dialects.diagnostics import Note, OpError, position_of
from transom.dialects.dominance import verify_dominance
from transom.dialects.upstream_rules import verify_upstream
from transom.dialects.verified_functions import VerifiedFunctions
from transom.dialects.walking import held_by

MAX_SHOWN = 200
"""Characters of an op that a note shows."""


def verify_module(op: Operation) -> None:
    """
    Verify an op and all that it holds.

    Raises `OpError` at the first op, in the order of the text, that breaks a rule;
    nested ops are checked before the op around them.
    """
    known = VerifiedFunctions()
    for nested in _innermost_first(op, known):
        try:
            _verify_blocks(nested)
            _verify_symbol(nested)
            verify_op(nested)
            verify_upstream(nested)
        except OpError:
            raise
        except DiagnosticException as e:
            if (twice := _defined_twice(nested)) is not None:
                raise twice from None
            raise OpError(nested, _message_of(e, nested), *_shown(nested)) from None
        except Exception as e:  # plug-in boundary: verifiers of ops that are not ours
            if type(nested).__module__.startswith("transom."):
                raise
            message = _message_of(_explained(e, nested), nested)
            raise OpError(nested, message, *_shown(nested)) from e
    verify_dominance(op, known.unchanged)
    known.remember()


def _shown(op: Operation) -> tuple[Note, ...]:
    """The op in generic form, where no line of a file can be shown."""
    if position_of(op.location) is not None:
        return ()
    text = StringIO()
    Printer(stream=text, print_generic_format=True).print_op(op)
    line = text.getvalue().split("\n")[0]
    return (Note(op, f"the op is: {line[:MAX_SHOWN]}"),)


def _innermost_first(op: Operation, known: VerifiedFunctions) -> Iterable[Operation]:
    """
    All ops under `op` but in functions that are known, each after those that it holds;
    depth costs no stack.
    """
    stack: list[Operation | tuple[Operation]] = [op]
    while stack:
        current = stack.pop()
        if isinstance(current, tuple):  # after all that it holds
            yield current[0]
        elif not current.regions:
            yield current
        elif not known.has(current):
            stack.append((current,))
            stack += held_by(current)


def _verify_blocks(op: Operation) -> None:
    """What xDSL checks in `Block.verify`: no block lacks its terminator."""
    for region in op.regions:
        blocks = tuple(region.blocks)
        for block in blocks:
            if block.last_op is not None:
                continue
            if len(blocks) > 1 or not op.has_trait(NoTerminator):
                raise VerifyException(
                    "expected a terminator in each block, but one is empty"
                )


def _verify_symbol(op: Operation) -> None:
    """Names of symbols are words: object files have no others."""
    name = op.properties.get("sym_name")
    if isinstance(name, StringAttr) and (not name.data or "\0" in name.data):
        raise VerifyException(
            f"expected a name of characters other than NUL, but got {name}"
        )


def _defined_twice(table: Operation) -> OpError | None:
    """What is wrong with a symbol table in which a name stands for two ops."""
    if not table.has_trait(SymbolTable):
        return None
    defined: dict[StringAttr, Operation] = {}
    for op in (op for region in table.regions for op in region.ops):
        name = op.get_attr_or_prop("sym_name")
        if not isinstance(name, StringAttr):
            continue
        if (first := defined.setdefault(name, op)) is not op:
            message = f"expected another name, but '@{name.data}' is defined already"
            return OpError(op, message, Note(first, "defined here"))
    return None


def _explained(error: Exception, op: Operation) -> Exception:
    """What is wrong with an op whose verifier stumbled over it."""
    try:
        verify_upstream(op)
    except VerifyException as e:
        return e
    except Exception:  # it may be too broken for that as well
        pass
    return error if str(error) else VerifyException(type(error).__name__)


_FROM_OUTSIDE = "Operation using value defined out of its IsolatedFromAbove parent"
"""How xDSL's message of isolated ops starts, which ends with the op in it."""


def _message_of(error: Exception, op: Operation) -> str:
    """A verifier's message, without xDSL's frame around it."""
    name = op.op_name.data if isinstance(op, UnregisteredOp) else op.name
    message = str(error).removeprefix("Operation does not verify: ")
    message = message.replace(":\n", ": ")
    if message.startswith(_FROM_OUTSIDE):
        return (
            f"expected ops in '{name}' to use values of its own, but got one from "
            "outside; pass it as an argument"
        )
    return f"'{name}' op {message.removeprefix(f'Operation {op.name} ')}"
