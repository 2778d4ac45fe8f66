"""
What a plug-in adds to the conversions of transom without a target of its own.

A distribution names a `Conversions` by an entry point of the group
`transom.conversions`, whose name is free:

```toml
[project.entry-points."transom.conversions"]
woofles = "woofles.conversions:CONVERSIONS"
```
"""

from dataclasses import dataclass
from typing import Any

from transom.lowering.conversion import ConversionPattern
from transom.targets.hooks import API_VERSION

GRAPH_TO_TIR = "convert-graph-to-tir"

JOINED_PASSES = (GRAPH_TO_TIR,)
"""The passes that patterns of plug-ins join."""


@dataclass(frozen=True)
class Conversions:
    """
    Patterns that join a pass of transom, for the functions of all targets.

    Of two patterns that take an op, that of the higher benefit comes first (those of
    transom have 1), then transom's.
    """

    patterns: tuple[ConversionPattern[Any], ...]
    joins: str = GRAPH_TO_TIR
    api_version: int = API_VERSION
    """The version of `transom.targets.hooks` that they were written for."""
