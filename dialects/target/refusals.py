"""
Why a target does not run an op.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Operation, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.hints import isa

from transom.dialects.target.places import TargetAttr

REFUSED = "target.refused"
"""On an op: the targets that might have run it and do not, a list of refusals."""


@irdl_attr_definition
class RefusalAttr(ParametrizedAttribute):
    """
    A target that does not run an op, and why.

    ```mlir
    #target.refusal<#llvm_cpu.target<cpu = "cortex-m4">, "expected f32, but got 'f64'">
    ```
    """

    name = "target.refusal"

    target: TargetAttr = param_def()
    reason: StringAttr = param_def()

    @classmethod
    def get(cls, target: TargetAttr, reason: str) -> "RefusalAttr":
        """The refusal of a target."""
        return RefusalAttr(target, StringAttr(reason))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[TargetAttr | StringAttr]:
        with parser.in_angle_brackets():
            start = parser.pos
            target = parser.parse_attribute()
            if not isinstance(target, TargetAttr):
                parser.raise_error(
                    f"expected a target in '#{cls.name}', but got '{target}'", start
                )
            parser.parse_punctuation(",")
            reason = parser.parse_str_literal(f" for the reason in '#{cls.name}'")
        return (target, StringAttr(reason))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.target)
            printer.print_string(", ")
            printer.print_string_literal(self.reason.data)


def refusals_of(op: Operation) -> tuple[RefusalAttr, ...]:
    """The targets that do not run an op, where a pass was asked to write that down."""
    refused = op.attributes.get(REFUSED)
    return refused.data if isa(refused, ArrayAttr[RefusalAttr]) else ()
