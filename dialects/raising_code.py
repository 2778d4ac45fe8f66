"""
Whose code has raised an exception, for messages.
"""

import sys
import traceback
from pathlib import Path
from types import FrameType

_NEVER_MEANT = {"transom", "xdsl", "numpy", "llvmlite", *sys.stdlib_module_names}


def code_of_others(error: BaseException) -> str | None:
    """
    File and line of the last frame outside of transom, of what it is made with and of
    the standard library, such as `woofles/hooks.py:58`; None if there is none.
    """
    frames = traceback.walk_tb(error.__traceback__)
    others = [(f, line) for f, line in frames if _package(f) not in _NEVER_MEANT]
    return _text(*others[-1]) if others else None


def last_code(error: BaseException) -> str | None:
    """File and line of the last frame, if there is one."""
    frames = list(traceback.walk_tb(error.__traceback__))
    return _text(*frames[-1]) if frames else None


def _module(frame: FrameType) -> str:
    name: object = frame.f_globals.get("__name__")
    return name if isinstance(name, str) else ""


def _package(frame: FrameType) -> str:
    return _module(frame).partition(".")[0]


def _text(frame: FrameType, line: int) -> str:
    """The file of a module, from the folder of its outermost package on."""
    file = Path(frame.f_code.co_filename)
    folders = _module(frame).count(".") + (file.name == "__init__.py")
    return "/".join(file.parts[-folders - 1 :]) + f":{line}"
