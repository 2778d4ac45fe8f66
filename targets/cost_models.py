"""
What candidates cost, by the first source that knows:

1. a table of measured times, a JSON file;
2. what the claim says, or the pass that proposed it;
3. the hook `cost` of the target, as a sum over the ops;
4. with `analytic`, the work of the ops at the speed of the device: the larger of
   operations by `flops` and bytes by `bandwidth`, as `target.device` says them.

What no source knows is not known.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue

from transom.dialects.target import DeviceOp
from transom.passes.partition.op_costs import bytes_between, flops_of
from transom.targets.claim_candidates import Candidate
from transom.targets.contract.op_answers import cost_of
from transom.targets.cost_tables import CostTable, Key


@dataclass(frozen=True)
class CostModel:
    """Where costs come from."""

    devices: Mapping[str, DeviceOp]
    analytic: bool = True
    table: CostTable | None = None
    asked: set[Key] = field(default_factory=set[Key])
    """The candidates that were looked up in the table."""

    def seconds(self, candidate: Candidate) -> float | None:
        """What a candidate costs, None if that is not known."""
        if self.table is not None:
            key = key_of(candidate)
            self.asked.add(key)
            measured = self.table.seconds(key)
            if measured is not None:
                return measured
        if candidate.seconds is not None:
            return candidate.seconds
        costs = [cost_of(op, candidate.taker.target) for op in candidate.ops]
        known = [cost for cost in costs if cost is not None]
        if len(known) == len(costs):
            return sum(known)
        return self._estimated(candidate) if self.analytic else None

    def _estimated(self, candidate: Candidate) -> float | None:
        device = self.devices[candidate.taker.device]
        flops, bandwidth = device.flops_per_second, device.bytes_per_second
        if flops is None or bandwidth is None:
            return None
        work = sum(flops_of(op) for op in candidate.ops)
        moved = bytes_between((*dict.fromkeys(candidate.reads()), *_results(candidate)))
        return max(work / flops, moved / bandwidth)


def _results(candidate: Candidate) -> list[SSAValue]:
    """What others read of a candidate."""
    inside = set(candidate.ops)
    return [
        result
        for op in candidate.ops
        for result in op.results
        if any(use.operation not in inside for use in result.uses)
    ]


def key_of(candidate: Candidate) -> Key:
    """Under which a table has a candidate: patterns by label, ops by name."""
    last: Operation = candidate.root
    reads = [value for value in dict.fromkeys(candidate.reads())]
    ins: Sequence[SSAValue] = last.operands if len(candidate.ops) == 1 else reads
    outs = last.results if len(candidate.ops) == 1 else _results(candidate)
    texts = [", ".join(str(value.type) for value in values) for values in (ins, outs)]
    name = candidate.label or last.name
    return Key(str(candidate.taker.target), name, f"({texts[0]}) -> ({texts[1]})")
