"""
`scf.while` as xDSL 0.75 prints it, without a location in its middle; active once this
is imported.

With locations xDSL prints one after the types of the op, where its own parser and MLIR
expect the first region, and once more at the end.
"""

from xdsl.dialects import scf
from xdsl.ir import SSAValue
from xdsl.printer import Printer


def _print_while(self: scf.WhileOp, printer: Printer) -> None:
    def print_pair(pair: tuple[SSAValue, SSAValue]) -> None:
        printer.print_ssa_value(pair[0])
        printer.print_string(" = ")
        printer.print_ssa_value(pair[1])

    printer.print_string(" (")
    arguments = self.before_region.block.args
    printer.print_list(zip(arguments, self.arguments, strict=True), print_pair)
    printer.print_string(") : ")
    printer.print_function_type(self.operand_types, self.result_types)
    printer.print_string(" ")
    printer.print_region(self.before_region, print_entry_block_args=False)
    printer.print_string(" do ")
    printer.print_region(self.after_region)
    if self.attributes:
        printer.print_op_attributes(self.attributes, print_keyword=True)


scf.WhileOp.print = _print_while

Scf = scf.Scf
"""xDSL's dialect, with this form."""
