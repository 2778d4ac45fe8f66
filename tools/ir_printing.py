"""
IR as text, in the ways that the flags of the tools offer.

```mlir
%w = arith.constant dense<__elided__> : tensor<64x64xf32>
%y = arith.addf %x, %w : tensor<64x64xf32>  // users: %z, func.return
```

What is left out is said in a form that no parser takes for other data.
"""

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import StringIO
from typing import IO, Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    ModuleOp,
    UnregisteredOp,
)
from xdsl.ir import (
    Attribute,
    Block,
    BlockArgument,
    Operation,
    OpResult,
    Region,
    SSAValue,
)
from xdsl.printer import Printer
from xdsl.syntax_printer import SyntaxPrinter

from transom.dialects.diagnostics import name_of
from transom.dialects.elision import ELIDED

ELEMENTS_ON_A_TERMINAL = 32
"""Longer lists of elements are left out on a terminal, if nothing else is asked for."""

CHARACTERS_PER_ELEMENT = 20
"""A string, such as emitted code, is as long as so many elements."""

NEVER = -1
"""The limit that leaves nothing out, on a terminal neither."""


@dataclass(frozen=True)
class PrintOptions:
    """How IR is printed; by default so that it parses back to itself."""

    debuginfo: bool = False
    generic: bool = False
    properties_as_attributes: bool = False
    highlight: bool = False
    value_users: bool = False
    skip_regions: bool = False
    unique_names: bool = False
    names_of_locations: bool = False
    elide: int | None = None
    """Lists of more elements than this, and strings as long, are left out."""

    def on(self, stream: IO[str] | None) -> "PrintOptions":
        """The same for a stream: on a terminal long lists are left out by default."""
        elide = self.elide
        if elide is None and stream is not None and stream.isatty():
            elide = ELEMENTS_ON_A_TERMINAL
        return replace(self, elide=None if elide == NEVER else elide)


def print_options(args: argparse.Namespace) -> PrintOptions:
    """What the flags of a command line say about printing."""
    return PrintOptions(
        args.print_debuginfo,
        args.print_op_generic,
        args.print_no_properties,
        args.syntax_highlight,
        args.print_value_users,
        args.print_skip_regions,
        args.print_unique_ssa_ids,
        args.use_nameloc_as_prefix,
        args.elide_elements_larger,
    )


class IrPrinter(Printer):
    """xDSL's printer with what it lacks of those flags."""

    options: PrintOptions
    _order: dict[Operation, int]

    @staticmethod
    def to(stream: IO[str], options: PrintOptions) -> "IrPrinter":
        """A printer that writes to a stream."""
        cls = HighlightingPrinter if options.highlight else IrPrinter
        printer = cls(
            stream=stream,
            print_generic_format=options.generic,
            print_properties_as_attributes=options.properties_as_attributes,
            print_debuginfo=options.debuginfo,
        )
        printer.options = options
        return printer

    def name_values_of(self, op: Operation) -> None:
        """Know the names of all values, so that they can be said before they appear."""
        quiet = IrPrinter.to(
            StringIO(), replace(self.options, highlight=False, value_users=False)
        )
        quiet.print_op(op)
        self._ssa_values.update(quiet._ssa_values)
        self._order = {inner: number for number, inner in enumerate(op.walk())}

    def print_ssa_value(self, value: SSAValue) -> str:
        if (
            self.options.names_of_locations
            and value.name_hint is None
            and value not in self._ssa_values
            and (hint := _hint_of_location(value)) is not None
        ):
            count = self.ssa_names.get(hint, 0)
            self._ssa_values[value] = f"{hint}_{count}" if count else hint
            self.ssa_names[hint] = count + 1
        return super().print_ssa_value(value)

    def enter_scope(self) -> None:
        if not self.options.unique_names:
            super().enter_scope()

    def exit_scope(self) -> None:
        if not self.options.unique_names:
            super().exit_scope()

    def print_attribute(self, attribute: Attribute) -> None:
        limit = self.options.elide
        if limit is not None and _count(attribute) > limit:
            self._print_elided(attribute)
        else:
            super().print_attribute(attribute)

    def _print_elided(self, attribute: Attribute) -> None:
        if isinstance(attribute, DenseArrayBase):
            array = cast("DenseArrayBase[Any]", attribute)
            self.print_string("array<")
            self.print_attribute(array.elt_type)
            self.print_string(f": {ELIDED}>")
        else:
            assert isinstance(attribute, DenseIntOrFPElementsAttr), "it has a count"
            dense = cast("DenseIntOrFPElementsAttr[Any]", attribute)
            self.print_string(f"dense<{ELIDED}> : ")
            self.print_attribute(dense.type)

    def print_string_literal(self, string: str) -> None:
        limit = self.options.elide
        if limit is not None and len(string) > CHARACTERS_PER_ELEMENT * limit:
            self.print_string(ELIDED)
        else:
            super().print_string_literal(string)

    def print_region(
        self,
        region: Region,
        print_entry_block_args: bool = True,
        print_empty_block: bool = True,
        print_block_terminators: bool = True,
    ) -> None:
        if self.options.skip_regions:
            self.print_string("{...}")
            return
        super().print_region(
            region, print_entry_block_args, print_empty_block, print_block_terminators
        )

    def print_op(self, op: Operation) -> None:
        if not self.options.value_users:
            super().print_op(op)
            return
        block = op.parent
        if block is not None and op is block.first_op:
            self._print_users_of_arguments(block)
        super().print_op(op)
        if op.results:
            self.print_string(f"  // {self._users_of(op.results)}")

    def _print_users_of_arguments(self, block: Block) -> None:
        for arg in block.args:
            self.print_string(f"// {self._name(arg)} {self._users_of((arg,))}")
            self._print_new_line()

    def _users_of(self, values: Sequence[SSAValue]) -> str:
        """Who uses some values: by the first result, or by the name of the op."""
        groups = [self._listed(value) for value in values]
        if not any(groups):
            return "unused"
        if len(groups) == 1:
            (users,) = groups
            return f"{'users' if len(users) > 1 else 'user'}: {', '.join(users)}"
        texts = (f"({', '.join(users) or 'unused'})" for users in groups)
        return f"users: {', '.join(texts)}"

    def _listed(self, value: SSAValue) -> list[str]:
        users = dict.fromkeys(use.operation for use in value.uses)
        return [
            self._name(user.results[0]) if user.results else _op_name(user)
            for user in sorted(users, key=lambda user: self._order.get(user, -1))
        ]

    def _name(self, value: SSAValue) -> str:
        return f"%{self._ssa_values[value]}"


class HighlightingPrinter(IrPrinter, SyntaxPrinter):
    """The same in colours."""


def ir_text(
    op: Operation,
    options: PrintOptions | None = None,
    *,
    debuginfo: bool = False,
    generic: bool = False,
) -> str:
    """An op as text, without a newline at the end."""
    output = StringIO()
    _print(op, output, options or PrintOptions(debuginfo, generic))
    return output.getvalue()


def program_text(ctx: Context, module: ModuleOp, options: PrintOptions) -> str:
    """A module as text, with the resources that it refers to."""
    output = StringIO()
    printer = _print(module, output, options)
    printer.print_metadata(ctx.loaded_dialects)
    return output.getvalue() + "\n"


def _print(op: Operation, stream: IO[str], options: PrintOptions) -> IrPrinter:
    printer = IrPrinter.to(stream, options)
    if options.value_users:
        printer.name_values_of(op)
    printer.print_op(op)
    return printer


def _count(attribute: Attribute) -> int:
    """The elements that an attribute prints one by one."""
    if isinstance(attribute, DenseArrayBase):
        return len(cast("DenseArrayBase[Any]", attribute))
    if isinstance(attribute, DenseIntOrFPElementsAttr):
        dense = cast("DenseIntOrFPElementsAttr[Any]", attribute)
        return 0 if dense.is_splat() else len(dense)
    return 0


def _hint_of_location(value: SSAValue) -> str | None:
    """The name that a value's location gives, as an identifier."""
    if isinstance(value, BlockArgument):
        location = value.location
    else:
        assert isinstance(value, OpResult), "values of a module"
        location = value.op.location
    name = name_of(location)
    if not name:
        return None
    hint = _NO_IDENTIFIER.sub("_", name)
    return SSAValue.extract_valid_name(f"_{hint}" if hint[:1].isdigit() else hint)


_NO_IDENTIFIER = re.compile(r"[^A-Za-z0-9_]+")


def _op_name(op: Operation) -> str:
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name
