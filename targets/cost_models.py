"""
What candidates cost, by the first source that knows:

1. a table of measured times, a JSON file;
2. what the claim says, or the pass that proposed it;
3. the hook `cost` of the target, as a sum over the ops;
4. with `analytic`, the work of the ops at the speed of the device: the larger of
   operations by `flops` and bytes by `bandwidth`, as `target.device` says them.

What no source knows is not known. The entries of a table are for ops, or for labels of
patterns, with types of operands and results:

```json
{"entries": [{"target": "#toy_npu.target", "op": "graph.relu",
              "types": "(tensor<4xf32>) -> (tensor<4xf32>)", "seconds": 1e-06}]}
```
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from xdsl.ir import Operation, SSAValue

from transom.dialects.target import DeviceOp
from transom.passes.partition.op_costs import bytes_between, flops_of
from transom.passes.pipeline import PipelineError
from transom.targets.claim_candidates import Candidate
from transom.targets.contract.op_answers import cost_of

Key = tuple[str, str, str]
"""A target, an op or label, and types."""

FIELDS = ("target", "op", "types", "seconds")


@dataclass(frozen=True)
class CostModel:
    """Where costs come from."""

    devices: Mapping[str, DeviceOp]
    analytic: bool = True
    table: Mapping[Key, float] = field(default_factory=dict[Key, float])

    def seconds(self, candidate: Candidate) -> float | None:
        """What a candidate costs, None if that is not known."""
        measured = self.table.get(key_of(candidate))
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
    return str(candidate.taker.target), name, f"({texts[0]}) -> ({texts[1]})"


def read_table(path: str) -> dict[Key, float]:
    """
    The measured times of a file.

    Raises `PipelineError` for a file that cannot be read or is no such table.
    """
    try:
        data = cast(object, json.loads(Path(path).read_text()))
    except OSError as e:
        raise PipelineError(f"costs of '{path}': {e.strerror}") from None
    except ValueError as e:
        raise PipelineError(f"costs of '{path}': expected JSON: {e}") from None
    entries = cast(Any, data).get("entries") if isinstance(data, dict) else None
    if not isinstance(entries, list):
        raise PipelineError(f"costs of '{path}': expected a list 'entries'")
    table: dict[Key, float] = {}
    for number, entry in enumerate(cast("list[object]", entries)):
        problem = _problem_of(entry)
        if problem is not None:
            raise PipelineError(f"costs of '{path}': entry {number}: {problem}")
        found = cast("dict[str, Any]", entry)
        table[found["target"], found["op"], found["types"]] = float(found["seconds"])
    return table


def _problem_of(entry: object) -> str | None:
    if not isinstance(entry, dict) or set(cast("dict[str, Any]", entry)) != set(FIELDS):
        return "expected " + ", ".join(f"'{name}'" for name in FIELDS)
    found = cast("dict[str, object]", entry)
    for name in FIELDS[:-1]:
        if not isinstance(found[name], str):
            return f"expected a string for '{name}', but got {found[name]!r}"
    seconds = found["seconds"]
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not is_number or not 0 <= cast(float, seconds) < math.inf:
        return f"expected seconds >= 0, but got {seconds!r}"
    return None
