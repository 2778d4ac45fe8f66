"""
`transom plugins`: what other distributions bring, and what has become of it.

```text
NAME            GROUP            DISTRIBUTION  VERSION  API  STATE
woofles         xdsl.universe    woofles       0.1      -    ok
woofles.target  transom.targets  woofles       0.1      1    broken
    woofles.hooks:WooflesTarget cannot be loaded: ImportError: no licence
```

All plug-ins are loaded, with all that they bring.
"""

import argparse
import json
from collections.abc import Iterable, Sequence
from textwrap import indent
from traceback import format_exception

from transom.dialects.diagnostics import did_you_mean
from transom.dialects.plugins import (
    DISABLE_VARIABLE,
    disabled_names,
    handling_problems,
    installed,
)
from transom.plugin_states import PluginStatus, plugin_statuses
from transom.tools.output_files import write_stdout
from transom.tools.plugin_problems import all_plugins_usable
from transom.tools.reporter import Reporter

HEADER = ("NAME", "GROUP", "DISTRIBUTION", "VERSION", "API", "STATE")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument(
        "--json", action="store_true", help="print a list of objects, with all fields"
    )


def run(args: argparse.Namespace, reporter: Reporter) -> bool:
    """Print the list. That a plug-in is broken is an error only if it shall be."""
    with handling_problems(lambda problem: None):  # which the list has as well
        statuses = plugin_statuses()
    write_stdout(as_json(statuses) if args.json else as_table(statuses, args.traceback))
    names = {name for p in installed() for name in (p.name, p.distribution)}
    for name in sorted(disabled_names()):
        if not any(plugin.answers_to(name) for plugin in installed()):
            unknown = f"no plug-in is named '{name}'{did_you_mean(name, names)}"
            reporter.error(f"{DISABLE_VARIABLE}: {unknown}", "note")
    return not args.strict_plugins or all_plugins_usable(reporter)


def as_json(statuses: Iterable[PluginStatus]) -> str:
    """The list for programs."""
    objects = [
        {
            "name": status.plugin.name,
            "group": status.plugin.group,
            "value": status.plugin.value,
            "distribution": status.plugin.distribution,
            "version": status.plugin.version,
            "api_version": status.api_version,
            "state": str(status.state),
            "error": None if status.error is None else str(status.error),
        }
        for status in statuses
    ]
    return json.dumps(objects, indent=2, ensure_ascii=False) + "\n"


def as_table(statuses: Sequence[PluginStatus], with_tracebacks: bool = False) -> str:
    """The list for people, what is wrong below each, maybe with where it was raised."""
    if not statuses:
        return "no plug-ins are installed\n"
    rows = [HEADER, *(_row(status) for status in statuses)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
    text = lines[0].rstrip() + "\n"
    for line, status in zip(lines[1:], statuses, strict=True):
        text += line.rstrip() + "\n"
        if status.error is not None:
            text += f"    {status.plugin.value} {status.error.reason}\n"
            if with_tracebacks and (cause := status.error.__cause__) is not None:
                text += indent("".join(format_exception(cause)), " " * 8)
    return text


def _row(status: PluginStatus) -> tuple[str, ...]:
    plugin = status.plugin
    version = "-" if status.api_version is None else str(status.api_version)
    named = (plugin.name, plugin.group, plugin.distribution, plugin.version)
    return (*named, version, str(status.state))
