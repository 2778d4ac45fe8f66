"""
Sizes on the command line: `--dim N=1..8` and `--shape x=1x3x224x224`.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp

from transom.passes.pipeline import PipelineError
from transom.size_bounds import Bounds, bound_dims, open_dims

Shape = tuple[int | None, ...]


@dataclass(frozen=True)
class InputSizes:
    """What a command line says of sizes."""

    dims: dict[str, Bounds] = field(default_factory=dict[str, Bounds])
    shapes: dict[str, Shape] = field(default_factory=dict[str, Shape])

    def bound(self, module: ModuleOp, kind: str) -> None:
        """
        Set the bounds of sizes in a module that was read from a file of a kind.

        Raises `PipelineError` for sizes that it does not have.
        """
        if self.shapes and kind != "onnx":
            raise PipelineError("--shape is for the inputs of an ONNX model")
        if dims := open_dims(self.dims, kind):
            bound_dims(module, dims)


def add_sizes(add: Callable[..., argparse.Action]) -> None:
    """Add the flags that say sizes of inputs."""
    add(
        "--dim",
        dest="dims",
        metavar="NAME=SIZES",
        type=dim,
        action="append",
        default=[],
        help="a symbolic size is 8 or within 1..8; one of the ends may be missing",
    )
    add(
        "--shape",
        dest="shapes",
        metavar="INPUT=SHAPE",
        type=shape,
        action="append",
        default=[],
        help="an input of an ONNX model is 1x3x224x224; ? leaves a size as it is",
    )


def sizes_of(args: argparse.Namespace) -> InputSizes:
    """What parsed arguments say. Raises `PipelineError` for a name that comes twice."""
    pairs: dict[str, list[tuple[str, Bounds]]] = {"--dim": args.dims}
    shapes: list[tuple[str, Shape]] = args.shapes
    names = {"--dim": [n for n, _ in pairs["--dim"]], "--shape": [n for n, _ in shapes]}
    for flag, given in names.items():
        for name in given:
            if given.count(name) > 1:
                raise PipelineError(f"expected {flag} of '{name}' once")
    return InputSizes(dict(pairs["--dim"]), dict(shapes))


def dim(text: str) -> tuple[str, Bounds]:
    """`N=8`, `N=1..8`, `N=1..` or `N=..8`."""
    name, _, sizes = text.rpartition("=")
    low, dots, high = sizes.partition("..")
    if not name or not sizes or (dots and not low + high):
        raise _wrong("NAME=8 or NAME=1..8", text)
    if not dots:
        return name, (_size(low, text), _size(low, text))
    least, most = (_size(end, text) if end else None for end in (low, high))
    if least is not None and most is not None and least > most:
        raise _wrong("bounds that rise", text)
    return name, (least, most)


def shape(text: str) -> tuple[str, Shape]:
    """`x=1x3x224x224`, `x=?x3`, or `x=` for no dimension."""
    name, equals, sizes = text.rpartition("=")
    if not name or not equals:
        raise _wrong("INPUT=1x3x224x224", text)
    entries = sizes.split("x") if sizes else []
    return name, tuple(None if e == "?" else _size(e, text) for e in entries)


def _size(text: str, whole: str) -> int:
    if not (text.isascii() and text.isdecimal()) or len(text) > 18:
        raise _wrong("sizes as numbers", whole)
    return int(text)


def _wrong(expected: str, text: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(f"expected {expected}, but got '{text}'")
