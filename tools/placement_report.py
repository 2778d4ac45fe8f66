"""
`--explain-placement=FILE`: for each op where it runs and why, and what the other
targets said, as text or as JSON. Equal ops are told together.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from transom.passes.op_placements import OpPlacement, PlacementSummary
from transom.passes.pipeline import PipelineError

SUFFIXES = (".txt", ".json")

MAX_PLACES = 8
"""How many places of equal ops the text tells."""


def check_report_file(path: str) -> None:
    """Raise `PipelineError` unless the suffix of a file says what to write."""
    if not path.endswith(SUFFIXES):
        kinds = " or ".join(SUFFIXES)
        raise PipelineError(
            f"--explain-placement: expected a file ending in {kinds}, but got '{path}'"
        )


def placement_report(ops: Sequence[OpPlacement], path: str) -> str:
    """What to write to a file about some ops, in the order of the module."""
    if path.endswith(".json"):
        summary = PlacementSummary()
        summary.add(ops)
        data = {
            "summary": summary.line(),
            "counts": [
                {"target": target, "device": device, "ops": count}
                for (target, device), count in summary.counts.items()
            ],
            "ops": [asdict(op) for op in ops],
        }
        return json.dumps(data, indent=1) + "\n"
    return "\n".join(_lines(ops)) + "\n"


def _lines(ops: Sequence[OpPlacement]) -> Iterator[str]:
    for function in dict.fromkeys(op.function for op in ops):
        own = [op for op in ops if op.function == function]
        summary = PlacementSummary()
        summary.add(own)
        yield f"@{function}: {summary.line() or 'nothing runs'}"
        groups: dict[object, list[OpPlacement]] = {}
        for op in own:
            key = (op.device, op.target, op.op, op.label, op.why, op.others)
            groups.setdefault(key, []).append(op)
        for group in sorted(
            groups.values(), key=lambda g: (g[0].device == "", -len(g))
        ):
            yield from _group(group)
        yield ""


def _group(group: Sequence[OpPlacement]) -> Iterator[str]:
    op = group[0]
    where = f"{op.target} on @{op.device}" if op.device else "nowhere"
    yield f"  {op.op} x{len(group)}: {where}: {op.why}"
    for other in op.others:
        yield f"    {other.target} on @{other.device}: {other.reason}"
    known = [o.location for o in group if o.location]
    if known:
        more = len(known) - MAX_PLACES
        tail = f" and {more} more" if more > 0 else ""
        yield f"    at {', '.join(known[:MAX_PLACES])}{tail}"
