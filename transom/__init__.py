"""
transom: an MLIR-style dialect toolkit for machine-learning targets.

The public names below are loaded when first used, so that importing one layer does
not import the others.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transom import cache
    from transom.driver import compile, load, lower, parse, phases

__version__ = "0.1.0"
__all__ = ["__version__", "cache", "compile", "load", "lower", "parse", "phases"]

_DRIVER_NAMES = ("compile", "load", "lower", "parse", "phases")


def __getattr__(name: str) -> Any:
    if name in _DRIVER_NAMES:
        return getattr(import_module("transom.driver"), name)
    if name == "cache":
        return import_module("transom.cache")
    raise AttributeError(f"module 'transom' has no attribute '{name}'")
