"""
`print → parse → print` is the identity.
"""

from itertools import zip_longest

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from transom.dialects.diagnostics import OpError
from transom.dialects.parser import parse_ir
from transom.tools.ir_printing import PrintOptions, ir_text


def verify_roundtrip(ctx: Context, module: ModuleOp) -> None:
    """
    Print a module in custom and generic form, with and without locations, and read it
    back.

    Raises `OpError` if it does not come back as it was.
    """
    for generic in (False, True):
        form = "generic" if generic else "custom"
        for debuginfo in (False, True):
            options = PrintOptions(debuginfo, generic)
            text = ir_text(module, options)
            try:
                again = parse_ir(ctx, text, "<round trip>")
            except OpError as e:
                raise OpError(
                    module,
                    f"expected the {form} form to parse back, but got "
                    f"'{e.message}' at '{_line_of(e, text)}'",
                ) from None
            if (difference := _difference(text, ir_text(again, options))) or (
                not module.is_structurally_equivalent(again)
            ):
                raise OpError(
                    module,
                    f"expected the {form} form to parse back to itself"
                    f"{difference or ', but got another module'}",
                )


def _line_of(error: OpError, text: str) -> str:
    position = error.diagnostic().position
    lines = text.split("\n")
    if position is None or not 1 <= position.line <= len(lines):
        return ""
    return lines[position.line - 1].strip()


def _difference(text: str, again: str) -> str | None:
    for old, new in zip_longest(text.split("\n"), again.split("\n"), fillvalue=""):
        if old != new:
            return f", but '{old.strip()}' became '{new.strip()}'"
    return None
