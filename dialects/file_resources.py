"""
External resources of a file: what a tool wrote beside the IR, such as a reproducer.

```text
{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(cse)",
      verify_each: true
    }
  }
#-}
```

As in MLIR, an entry is a string or a truth value, and who reads the file knows the
sections that it understands; others are passed over with a warning.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.dialects.builtin import LocationAttr
from xdsl.parser import Parser

from transom.dialects.diagnostics import report

Resource: TypeAlias = "str | bool"
"""An entry of a section."""


@dataclass
class ExternalResources:
    """The sections of a file by name; parsers fill it."""

    sections: dict[str, dict[str, Resource]] = field(
        default_factory=dict[str, dict[str, Resource]]
    )
    locations: dict[str, LocationAttr] = field(default_factory=dict[str, LocationAttr])
    """Where each section begins."""


def parse_external_resources(
    parser: Parser,
    location_at: Callable[[int], LocationAttr],
    wanted: ExternalResources | None,
) -> None:
    """
    Parse what stands behind `external_resources:`. What nobody wants is passed over,
    what no tool of ours writes is reported as well. Raises `ParseError`.
    """
    found = ExternalResources() if wanted is None else wanted

    def parse_section() -> None:
        start = parser.pos
        name = parser.parse_identifier_or_str_literal(" as the name of a section")
        location = location_at(start)
        if name in found.sections:
            parser.raise_error(f"section '{name}' is given twice", start)
        parser.parse_punctuation(":")
        entries: dict[str, Resource] = {}
        parser.parse_comma_separated_list(
            parser.Delimiter.BRACES, lambda: _parse_entry(parser, entries)
        )
        found.sections[name], found.locations[name] = entries, location
        if name not in KNOWN_SECTIONS:
            report(
                "warning",
                location,
                f"unknown section '{name}' of external resources is passed over",
            )

    parser.parse_comma_separated_list(parser.Delimiter.BRACES, parse_section)


KNOWN_SECTIONS = frozenset({"mlir_reproducer"})
"""What tools of ours write."""


def _parse_entry(parser: Parser, entries: dict[str, Resource]) -> None:
    start = parser.pos
    name = parser.parse_identifier_or_str_literal(" as the name of an entry")
    if name in entries:
        parser.raise_error(f"entry '{name}' is given twice", start)
    parser.parse_punctuation(":")
    text = parser.parse_optional_str_literal()
    entries[name] = parser.parse_boolean() if text is None else text
