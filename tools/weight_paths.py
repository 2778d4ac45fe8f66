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
import sys
from collections.abc import Callable
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from transom.dialects.diagnostics import Diagnostic
from transom.dialects.symbols import replace_attributes


def folder_of(file: str | None) -> str:
    """The real folder of a file; None or `-` is standard input or a pipe."""
    if file is None or file == "-":
        return os.path.realpath(".")
    return os.path.realpath(os.path.dirname(file) or ".")


def output_folder(file: str | None, source: str) -> str:
    """
    The real folder that output is written to; `source` is that of the input.

    A shell may redirect standard output to a file beside the input, so that paths are
    right as they are. Other files there may stand for pipes, as in test runners.
    """
    if file is not None and is_stream(file):
        return source
    if file in (None, "-"):
        redirected = _redirected()
        if redirected is not None and folder_of(redirected) == source:
            return source
    return folder_of(file)


def is_stream(file: str) -> bool:
    """Whether what is written to a file is not kept in it, as `/dev/null`."""
    return os.path.exists(file) and not os.path.isfile(file)


def _redirected() -> str | None:
    """The path of the file that standard output is, if it is one and has one."""
    try:
        number = sys.stdout.fileno()
        path = os.path.realpath(f"/proc/self/fd/{number}")
        same = os.path.samestat(os.stat(path), os.fstat(number))
    except (AttributeError, OSError, ValueError):  # closed, deleted, or in memory
        return None
    return path if same and os.path.isfile(path) else None


def rebase_weights(
    module: ModuleOp, old: str, new: str, emit: Callable[[Diagnostic], None]
) -> None:
    """
    Let paths that are relative to the folder `old` be relative to `new`.

    Warns of what is then outside of `new`: programs read it only if they are told to.
    """
    if old == new or all(op.name != "graph.weight" for op in module.walk()):
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
