"""
The hooks of `toy_vm`: what it takes, how that becomes a program, and what runs it.
"""

from collections.abc import Sequence

from xdsl.ir import Operation

from toy_vm.convert_graph_to_toy_vm import (
    NAMES,
    ConvertGraphToToyVmPass,
    reason_against,
)
from toy_vm.dialect import ToyVmAttr
from toy_vm.program import FORMAT, run
from transom.lowering.conversion import Refusal
from transom.targets.hooks import Accepted, Claim, Reference, TargetHooks


def answer(op: Operation) -> Accepted | Refusal:
    """Whether the machine takes an op."""
    reason = reason_against(op)
    return Accepted() if reason is None else Refusal(reason)


class ToyVmTarget(TargetHooks[ToyVmAttr]):
    """Functions go to programs in one step."""

    api_version = 1
    attr_type = ToyVmAttr

    def claims(self, target: ToyVmAttr) -> Sequence[Claim]:
        return [Claim(root, answer) for root in NAMES]

    def omits(self, target: ToyVmAttr) -> frozenset[str]:
        return frozenset({"graph-fuse"})

    def convert_graph_to_artifact(self, target: ToyVmAttr) -> ConvertGraphToToyVmPass:
        return ConvertGraphToToyVmPass()

    def reference(self, target: ToyVmAttr) -> Reference:
        return Reference(artifacts={FORMAT: run})
