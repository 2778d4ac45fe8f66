"""
The hooks of `toy_npu`: what it takes, at which cost, and the memory that it brings.
"""

from collections.abc import Callable, Sequence
from math import prod

from xdsl.dialects.builtin import bf16, f32
from xdsl.ir import Operation

from toy_npu.dialect import ToyNpuAttr
from transom.dialects import graph
from transom.dialects.target import LinkOp, MemoryOp, Planner
from transom.lowering.conversion import Refusal
from transom.targets.hooks import Accepted, Claim, TargetHooks

SECONDS_PER_OP = 1e-8
SECONDS_PER_ELEMENT = 1e-9

Answer = Callable[[Operation], Accepted | Refusal]


def elementwise(target: ToyNpuAttr) -> Answer:
    """Ops on tensors of known sizes, of f32 or, with the feature, of bf16."""
    lanes = target.lanes.value.data
    types = (f32, bf16) if "bf16" in target.feature_names else (f32,)

    def answer(op: Operation) -> Accepted | Refusal:
        type = graph.tensor_type(op.results[0])
        if not type.has_static_shape():
            return Refusal(f"expected a static shape, but got '{type}'")
        if type.element_type not in types:
            names = " or ".join(map(str, types))
            return Refusal(f"expected {names}, but got '{type.element_type}'")
        elements = prod(type.get_shape())
        return Accepted(SECONDS_PER_OP + SECONDS_PER_ELEMENT * elements / lanes)

    return answer


def chain(*kinds: type[Operation]) -> Callable[[Operation], Sequence[Operation]]:
    """The ops of these kinds that feed each other and end in an op; else no ops."""

    def members(op: Operation) -> Sequence[Operation]:
        found = [op]
        for kind in reversed(kinds[:-1]):
            before = found[-1].operands[0].owner
            if not isinstance(before, kind) or before.parent is not op.parent:
                return ()
            found.append(before)
        return found

    return members


class ToyNpuTarget(TargetHooks[ToyNpuAttr]):
    """Element-wise sums, products and `relu`; `matmul` and `gelu` where it has them."""

    attr_type = ToyNpuAttr

    def claims(self, target: ToyNpuAttr) -> Sequence[Claim]:
        answer = elementwise(target)
        roots: list[type[Operation]] = [graph.AddOp, graph.MulOp, graph.ReluOp]
        if "gelu" in target.feature_names:
            roots.append(graph.GeluOp)
        claims = [Claim(root, answer) for root in roots]
        if "matmul" in target.feature_names:
            kinds = (graph.MatmulOp, graph.AddOp, graph.ReluOp)
            claims.append(
                Claim(graph.ReluOp, answer, "toy_npu.matmul_add_relu", chain(*kinds))
            )
            claims.append(Claim(graph.MatmulOp, answer))
        return claims

    def memories(self, target: ToyNpuAttr) -> Sequence[MemoryOp | LinkOp]:
        size = target.scratchpad.value.data
        return (MemoryOp("toy_sram", size, 16, Planner.TARGET),)
