"""
Check that each layer imports only what it may know.

`dialects <- passes <- lowering <- targets <- driver <- tools`; interpreters and
frontends see dialects only, targets see interpreters and runtime too, runtime sees no
compiler. All of the compiler sees `cache`, which sees none of it.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

LAYERS = {
    "cache": {"cache"},
    "dialects": {"cache", "dialects"},
    "passes": {"cache", "dialects", "passes"},
    "lowering": {"cache", "dialects", "passes", "lowering"},
    "interpreters": {"cache", "dialects", "interpreters"},
    "frontends": {"dialects", "frontends"},
    "runtime": {"runtime"},
    "targets": {
        "cache",
        "dialects",
        "passes",
        "lowering",
        "targets",
        "interpreters",
        "runtime",
    },
    "driver": {
        "cache",
        "dialects",
        "passes",
        "lowering",
        "targets",
        "interpreters",
        "frontends",
        "runtime",
        "driver",
    },
    "tools": {
        "cache",
        "dialects",
        "passes",
        "lowering",
        "targets",
        "interpreters",
        "frontends",
        "runtime",
        "driver",
        "tools",
    },
}
"""What each layer may import; `driver` is the folder `transom` itself."""

PACKAGE = "transom"
FREE_NAMES = frozenset({"__version__"})
"""Names of the package that no layer owns."""


DRIVER_FILES = ("frontends/onnx_backend.py",)
"""Files of other folders that are of the driver's layer."""


def folder_of(layer: str) -> str:
    """The folder of a layer, from the root of the project."""
    return PACKAGE if layer == "driver" else layer


def problems_in(root: Path) -> Iterator[str]:
    """A line for each import that a layer must not make."""
    for layer in LAYERS:
        folder = root / folder_of(layer)
        # The links in `transom` lead to the other layers; `rglob` does not follow them.
        for path in sorted(folder.rglob("*.py")):
            name = path.relative_to(root).as_posix()
            layer_of_file = "driver" if name in DRIVER_FILES else layer
            tree = ast.parse(path.read_text(encoding="utf-8"), name)
            yield from _problems_of(layer_of_file, name, tree)


def _problems_of(layer: str, file: str, tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            yield f"{file}:{node.lineno}: imports must be absolute"
            continue
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        for module in _modules_of(node):
            root, _, rest = module.partition(".")
            if root in LAYERS and root != "driver":
                yield f"{file}:{node.lineno}: import {PACKAGE}.{root}, not {root}"
            elif root == PACKAGE and rest not in FREE_NAMES:
                head = rest.partition(".")[0]
                other = head if head in LAYERS else "driver"
                if other not in LAYERS[layer]:
                    yield f"{file}:{node.lineno}: '{layer}' must not import '{other}'"


def _modules_of(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """The modules that a statement may import, as dotted names."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif node.module == PACKAGE:  # of a package a name may be a module
        yield from (f"{PACKAGE}.{alias.name}" for alias in node.names)
    elif node.module is not None:
        yield node.module


def main() -> int:
    """Exit status: 0 if all is in order, 1 otherwise."""
    problems = list(problems_in(Path(__file__).resolve().parent.parent))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
