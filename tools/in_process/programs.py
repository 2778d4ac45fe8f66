"""
Programs that need no process of their own, by the name that RUN lines call them.
"""

import io
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.metadata import distribution, entry_points
from pathlib import Path
from pkgutil import resolve_name

Main = Callable[[], object]
"""
What a console script calls: it reads `sys.argv` and returns a status, or None for 0.
"""

CHECKERS = ("FileCheck", "filecheck", "transom-filecheck")
"""Names of `transom-filecheck`, which stands in for the others."""

HERE = "transom.tools.in_process.programs"

BUILTIN = {
    **dict.fromkeys(CHECKERS, "transom.tools.filecheck.main:main"),
    "cat": f"{HERE}:cat",
    "diff": f"{HERE}:diff",
    "echo": f"{HERE}:echo",
}
"""What is no console script of transom, as `module:function`."""


class UnknownProgram(ValueError):
    """No console script has this name."""


def scripts_of(name: str) -> dict[str, str]:
    """The console scripts of a distribution, each as `module:function`."""
    return {
        entry.name: entry.value
        for entry in distribution(name).entry_points
        if entry.group == "console_scripts"
    }


def programs(names: Iterable[str] = ()) -> dict[str, str]:
    """
    All programs: transom's, `filecheck`, some of a shell's, and the console scripts of
    these names. Raises `UnknownProgram`.
    """
    found = {**scripts_of("transom"), **BUILTIN}
    for name in names:
        scripts = entry_points(group="console_scripts", name=name)
        if not scripts:
            raise UnknownProgram(
                f"expected an installed console script, but there is no '{name}'"
            )
        found[name] = next(iter(scripts)).value
    return found


def load(path: str) -> Main:
    """The function of `module:function`."""
    return resolve_name(path)


def cat() -> int:
    """`cat`, as lit has it."""
    return _of_lit("cat")


def diff() -> int:
    """`diff`, as lit has it."""
    return _of_lit("diff")


def _of_lit(name: str) -> int:
    program = import_module(f"lit.builtin_commands.{name}")
    return program.run(
        sys.argv,
        sys.stdin.buffer,
        sys.stdout.buffer,
        sys.stderr.buffer,
        str(Path.cwd()),
    )


def echo() -> int:
    """`echo`, with `-n` and `-e`."""
    flags = {"-n": False, "-e": False}
    words = sys.argv[1:]
    while words and words[0] in flags:
        flags[words.pop(0)] = True
    text = " ".join(words)
    if flags["-e"]:
        text = text.encode().decode("unicode_escape")
    output = io.TextIOWrapper(sys.stdout.buffer, "utf-8", newline="")
    output.write(text if flags["-n"] else f"{text}\n")
    output.flush()
    output.detach()
    return 0
