"""
Which program has an option that another one was given.

```text
transom-opt: error: unknown option '--interpret'; 'transom-run' has it
```
"""

import pkgutil
from collections.abc import Collection

FLAGS = {
    "transom-checks": "transom.tools.transom_checks:flags",
    "transom-compile": "transom.tools.transom_compile:flags",
    "transom-opt": "transom.tools.opt_driver:flags",
    "transom-reduce": "transom.tools.transom_reduce:flags",
    "transom-run": "transom.tools.transom_run:flags",
}
"""What gives the options of a program, which is imported when it is asked for."""


def owners_of(option: str, program: str) -> list[str]:
    """The other programs that have an option."""
    return [
        name for name in FLAGS if name != program and option in flags_of_program(name)
    ]


def flags_of_program(name: str) -> Collection[str]:
    """All options of a program of the table."""
    flags: Collection[str] = pkgutil.resolve_name(FLAGS[name])()
    return flags
