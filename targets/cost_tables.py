"""
Tables of measured times, JSON files whose entries are for ops, or labels of patterns,
with types of operands and results:

```json
{"entries": [{"target": "#toy_npu.target", "op": "graph.relu",
              "types": "(tensor<4xf32>) -> (tensor<4xf32>)", "seconds": 1e-06}]}
```
"""

import json
import math
import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, cast

from xdsl.dialects.builtin import LocationAttr

from transom.dialects.diagnostics import (
    OpError,
    did_you_mean,
    file_location,
    report,
)


class Key(NamedTuple):
    """What a time is for."""

    target: str
    op: str
    """Its name, or the label of a pattern."""
    types: str


class Time(NamedTuple):
    """An entry of a table."""

    seconds: float
    location: LocationAttr


FIELDS = (*Key._fields, "seconds")

_START = re.compile(r'"entries"\s*:\s*\[')


@dataclass(frozen=True)
class CostTable:
    """What was measured."""

    times: Mapping[Key, Time]

    def seconds(self, key: Key) -> float | None:
        """What was measured for a candidate, if it was."""
        time = self.times.get(key)
        return None if time is None else time.seconds

    def warn_of_rest(self, candidates: AbstractSet[Key]) -> None:
        """Say that entries are for none of the candidates that there were."""
        rest = [key for key in self.times if key not in candidates]
        if not rest:
            return
        message = _why_none(rest[0], candidates)
        if len(rest) > 1:
            message += f"; {len(rest)} of {len(self.times)} entries are for none"
        report("warning", self.times[rest[0]].location, message)


def _why_none(key: Key, candidates: AbstractSet[Key]) -> str:
    """Which part of a key no candidate has."""
    targets = {other.target for other in candidates}
    if key.target not in targets:
        near = did_you_mean(key.target, targets)
        return f"no candidate is of target '{key.target}'{near}"
    ops = {other.op for other in candidates if other.target == key.target}
    if key.op not in ops:
        near = did_you_mean(key.op, ops)
        return f"no candidate of '{key.target}' is '{key.op}'{near}"
    types = {other.types for other in candidates if other[:2] == key[:2]}
    near = did_you_mean(key.types, types)
    return f"no '{key.op}' of '{key.target}' has types '{key.types}'{near}"


def read_table(path: str) -> CostTable:
    """
    The measured times of a file.

    Raises `OSError` for a file that cannot be read, and `OpError` at the line of it
    where it is no such table.
    """
    content = Path(path).read_bytes()
    try:
        text = content.decode()
        data = cast(object, json.loads(text))
    except json.JSONDecodeError as e:
        where = file_location(path, e.lineno, e.colno)
        raise OpError(where, f"expected JSON: {e.msg}") from None
    except ValueError as e:  # no text
        raise OpError(file_location(path, 1, 1), f"expected JSON: {e}") from None
    entries = cast(Any, data).get("entries") if isinstance(data, dict) else None
    if not isinstance(entries, list):
        raise OpError(file_location(path, 1, 1), "expected a list 'entries'")
    numbers: dict[Key, int] = {}
    times: dict[Key, Time] = {}
    positions = _positions(text, len(cast("list[object]", entries)))
    for number, entry in enumerate(cast("list[object]", entries)):
        problem = _problem_of(entry)
        where = _location(path, text, positions[number])
        if problem is None:
            found = cast("dict[str, Any]", entry)
            key = Key(*(found[name] for name in Key._fields))
            first = numbers.setdefault(key, number)
            if first != number:
                problem = f"expected another target, op or types than in entry {first}"
            else:
                times[key] = Time(float(found["seconds"]), where)
        if problem is not None:
            raise OpError(where, f"entry {number}: {problem}")
    return CostTable(times)


def _positions(text: str, count: int) -> list[int]:
    """Where the entries of a table begin; at the start, if that is hard to see."""
    start = _START.search(text)
    found: list[int] = []
    at = text.index("]") if start is None else start.end()
    while text[at] != "]":
        if text[at] in " \t\r\n,":
            at += 1
        else:
            found.append(at)
            _, at = json.JSONDecoder().raw_decode(text, at)
    return found if len(found) == count else [0] * count


def _location(path: str, text: str, position: int) -> LocationAttr:
    line = text.count("\n", 0, position) + 1
    return file_location(path, line, position - text.rfind("\n", 0, position))


def _problem_of(entry: object) -> str | None:
    if not isinstance(entry, dict) or set(cast("dict[str, Any]", entry)) != set(FIELDS):
        return "expected " + ", ".join(f"'{name}'" for name in FIELDS)
    found = cast("dict[str, object]", entry)
    for name in Key._fields:
        if not isinstance(found[name], str):
            return f"expected a string for '{name}', but got {found[name]!r}"
    seconds = found["seconds"]
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not is_number or not 0 <= cast(float, seconds) < math.inf:
        return f"expected seconds >= 0, but got {seconds!r}"
    return None
