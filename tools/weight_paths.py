"""
Paths of weights in a module that is written to another folder than it came from.

```text
transom-opt models/m.mlir -o build/m.mlir   "w.safetensors" => "../models/w.safetensors"
transom-opt models/m.mlir | transom-run -   "w.safetensors" => "models/w.safetensors"
```

A path is relative to the file that it is in, and to the working folder where a module
comes from standard input or goes to a pipe.
"""

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from transom.dialects.diagnostics import Diagnostic
from transom.dialects.symbols import replace_attributes

STANDARD_OUTPUT = "/proc/self/fd/1"


def folder_of(file: str | None) -> str:
    """The real folder of a file; None or `-` is standard input or a pipe."""
    if file is None or file == "-":
        return os.path.realpath(".")
    return os.path.realpath(os.path.dirname(file) or ".")


def output_folder(file: str | None) -> str:
    """The real folder that output is written to, also if a shell redirects it."""
    if file in (None, "-"):
        try:
            if stat.S_ISREG(os.fstat(sys.stdout.fileno()).st_mode):
                return folder_of(os.path.realpath(STANDARD_OUTPUT))
        except (AttributeError, OSError, ValueError):  # closed, or text in memory
            pass
    return folder_of(file)


def rebase_weights(
    module: ModuleOp, old: str, new: str, emit: Callable[[Diagnostic], None]
) -> None:
    """
    Let paths that are relative to the folder `old` be relative to `new`.

    Warns of what is then outside of `new`: programs read it only if they are told to.
    """
    if old == new:
        return
    from transom.dialects.graph import FileAttr  # which takes a while

    outside: dict[str, str] = {}

    def rebased(attribute: Attribute) -> Attribute:
        if not isinstance(attribute, FileAttr) or os.path.isabs(attribute.path.data):
            return attribute
        path = os.path.relpath(os.path.join(old, attribute.path.data), new)
        if Path(path).parts[0] == os.pardir:
            outside.setdefault(os.path.dirname(os.path.join(new, path)), path)
        return FileAttr.get(path, attribute.tensor.data, attribute.sha256)

    replace_attributes(module.walk(), rebased)
    for folder, path in outside.items():
        shown = os.path.relpath(os.path.normpath(folder))
        message = (
            f"the weights in '{path}' are outside the folder of the output; to read "
            f"them say '--allow-external-data-dir={shown}'"
        )
        emit(Diagnostic("warning", module.location, message))
