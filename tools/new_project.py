"""
`transom new`: the beginning of a target, a dialect, a pass or a conversion, which works
and has tests.

```text
transom new target woofles              # a package in the folder woofles
transom new pass graph-fold-relu --into woofles
transom new pass woofles-unroll --level tir --into woofles
```

A pass or a conversion goes into the package of a folder that has one, else it gets a
package of its own. All files are made or none.
"""

import argparse
import errno
import keyword
import os
import re
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path

from transom.dialects import plugins
from transom.passes.pipeline import PipelineError
from transom.registry import registry
from transom.runtime.files import write_whole
from transom.targets.registry import registered_targets
from transom.tools.output_files import write_stdout
from transom.tools.reporter import Reporter

KINDS = ("target", "dialect", "pass", "conversion")
PACKAGES = ("target", "dialect")
"""Kinds that are always a package."""

KERNEL_PASS = "kernel_pass"
"""The template of a pass with `--level tir`."""

LEVELS = ("graph", "tir")

PACKAGE_NAME = re.compile(r"[a-z][a-z0-9_]*")
PASS_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
CONVERSION_NAME = re.compile(r"(convert|lower)(-[a-z0-9]+)+-to(-[a-z0-9]+)+")

SUFFIX = ".in"
"""Of the templates, whose text is that of the files but for the names."""

PYTEST = "pytest test\n"
"""What to run of packages with tests in Python: pytest fails where it finds none."""

Files = dict[str, str]
"""Texts by path, relative to the folder of the package."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    add = parser.add_argument
    add("kind", choices=KINDS, help="what to begin")
    add(
        "name",
        help="of the dialect and its package, or of the pass; a conversion is "
        "a pass of its own, called 'convert-FROM-to-TO' or 'lower-FROM-to-TO'",
    )
    add(
        "--level",
        choices=LEVELS,
        help="what a pass is for: functions of graph ops (default) or, with 'tir', "
        "kernels",
    )
    add(
        "--into",
        metavar="DIR",
        type=Path,
        default=Path(),
        help="where to make it (default: here), made if it is not there; a pass or a "
        "conversion goes into the package there, if there is one",
    )


def run(args: argparse.Namespace, reporter: Reporter) -> bool:
    """Make the files, and say which."""
    kind, name, into = args.kind, args.name, args.into
    if into.exists() and not into.is_dir():
        raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(into))
    check_name(kind, name)
    if args.level is not None and kind != "pass":
        raise PipelineError(f"expected '--level' with 'pass' only, not with '{kind}'")
    if args.level == "tir":
        kind = KERNEL_PASS
    with _undone_on_failure() as folders:
        _make_folder(into, folders)
        if kind not in PACKAGES and (into / "pyproject.toml").exists():
            made = add_to_package(kind, name, existing_package(into))
        else:
            made = new_package(kind, name, into)
    write_stdout("".join(f"{path}\n" for path in made))
    return True


# Names.


def check_name(kind: str, name: str) -> None:
    """Raise `PipelineError` unless something of a kind can have a name."""
    pattern, example, letters = {
        "conversion": (
            CONVERSION_NAME,
            "convert-graph-to-arith",
            "a name of the form 'convert-FROM-to-TO' or 'lower-FROM-to-TO'",
        ),
        "pass": (
            PASS_NAME,
            "graph-fold-relu",
            "a name of lower-case words and digits with dashes between them",
        ),
    }.get(
        kind,
        (
            PACKAGE_NAME,
            "woofles",
            "a name of lower-case letters, digits and underscores",
        ),
    )
    if pattern.fullmatch(name) is None:
        raise PipelineError(
            f"expected {letters}, such as '{example}', but got '{name}'"
        )
    what = "dialect" if kind in PACKAGES else "pass"
    if (owner := registry().owners.get((what, name))) is not None:
        raise PipelineError(
            f"{what} '{name}' is registered by distribution '{owner}'; choose another "
            "name"
        )
    if kind == "target" and f"{name}.target" in registered_targets():
        raise PipelineError(
            f"target '{name}.target' is registered; choose another name"
        )


def check_package_name(name: str) -> None:
    """Raise `PipelineError` unless a new package can have a name."""
    if keyword.iskeyword(name) or keyword.issoftkeyword(name):
        raise PipelineError(f"'{name}' is a word of Python; choose another name")
    if name in sys.stdlib_module_names or find_spec(name) is not None:
        raise PipelineError(
            f"there is a Python module '{name}' already; choose another name"
        )


@dataclass(frozen=True)
class Names:
    """What the names in the templates stand for."""

    package: str
    item: str

    def put_into(self, text: str) -> str:
        """A text of a template with these names."""
        item = self.item.replace("-", "_")
        replaced = {
            "woofles": self.package,
            "Woofles": _camel(self.package),
            "WOOFLES": self.package.upper(),
            "fold-it": self.item,
            "fold_it": item,
            "FoldIt": _camel(item),
        }
        return re.sub("|".join(replaced), lambda m: replaced[m.group()], text)


def _camel(name: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


# New packages.


def new_package(kind: str, name: str, into: Path) -> list[Path]:
    """Make a package for something of a kind. Gives the paths of its files."""
    package = name.replace("-", "_")
    check_package_name(package)
    folder = into / package
    if folder.exists():
        raise FileExistsError(errno.EEXIST, "exists already", str(folder))
    content = files_of_package(kind, Names(package, name))
    temporary = Path(tempfile.mkdtemp(prefix=f".{package}.", dir=into))
    try:
        for path, text in content.items():
            file = temporary / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        temporary.chmod(0o777 & ~_umask())
        temporary.rename(folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    return [folder / path for path in content]


def files_of_package(kind: str, names: Names) -> Files:
    """The files of a new package."""
    content = dict(template("package", names))
    for path, text in template(kind, names):
        if path == "entry_points.toml":
            content["pyproject.toml"] += text
        elif path == "README.md":
            content[path] += text
        else:
            content[path] = text
    if not any(path.startswith("test/test_") for path in content):
        content["README.md"] = content["README.md"].replace(PYTEST, "")
    universe = f"{names.package}/universe.py"
    content[universe] = with_entry(content[universe], kind, names, universe)
    return dict(sorted(content.items()))


def template(kind: str, names: Names) -> Iterator[tuple[str, str]]:
    """The files of a template, with names put in."""
    root = files("transom.tools").joinpath("scaffolds", kind)
    for path, file in _walk(root, ""):
        text = file.read_text(encoding="utf-8")
        yield names.put_into(path.removesuffix(SUFFIX)), names.put_into(text)


def _walk(folder: Traversable, path: str) -> Iterator[tuple[str, Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda e: e.name):
        inner = f"{path}/{entry.name}" if path else entry.name
        if entry.is_dir():
            yield from _walk(entry, inner)
        elif entry.name.endswith(SUFFIX):
            yield inner, entry


def with_entry(text: str, kind: str, names: Names, file: str) -> str:
    """The text of a module `universe` with a line for something of a kind."""
    if kind in PACKAGES:
        table, key = "DIALECTS", names.package
        value = f"{names.package}.dialect:{_camel(names.package)}"
    else:
        table, key = "PASSES", names.item
        module = names.item.replace("-", "_")
        layer = "lowering" if kind == "conversion" else "passes"
        value = f"{names.package}.{layer}.{module}:{_camel(module)}Pass"
    found = re.search(
        rf"^{table}: dict\[str, str\] = \{{\n?((?:    .*\n)*)\}}", text, re.MULTILINE
    )
    if found is None:
        raise PipelineError(
            f"expected '{table}: dict[str, str] = {{…}}', a line per name, in '{file}'"
        )
    lines = sorted([*found[1].splitlines(), f'    "{key}": "{value}",'])
    whole = "\n".join((f"{table}: dict[str, str] = {{", *lines, "}"))
    return text[: found.start()] + whole + text[found.end() :]


# Packages that exist.


@dataclass(frozen=True)
class Package:
    """A package that brings passes to transom."""

    name: str
    folder: Path
    """Of the project."""
    universe: Path
    """The file with its tables."""


def existing_package(project: Path) -> Package:
    """The package of a project. Raises `PipelineError` if it does not take passes."""
    file = project / "pyproject.toml"
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise PipelineError(f"'{file}' cannot be read: {e}") from None
    points: Mapping[str, Mapping[str, str]]
    points = tables.get("project", {}).get("entry-points", {})
    for value in points.get(plugins.UNIVERSE, {}).values():
        module = value.partition(":")[0].strip()
        universe = project.joinpath(*module.split(".")).with_suffix(".py")
        if universe.is_file() and "." in module:
            return Package(module.partition(".")[0], project, universe)
    raise PipelineError(
        f"expected an entry point of group '{plugins.UNIVERSE}' in '{file}' that names "
        "a module of the project"
    )


def add_to_package(kind: str, name: str, package: Package) -> list[Path]:
    """Add something of a kind to a package. Gives the paths of new files."""
    names = Names(package.name, name)
    text = package.universe.read_text(encoding="utf-8")
    text = with_entry(text, kind, names, str(package.universe))
    content = {
        package.folder / path: text
        for path, text in template(kind, names)
        if path != "README.md"
    }
    new = {
        p: t for p, t in content.items() if p.name != "__init__.py" or not p.exists()
    }
    for path in new:
        if path.exists():
            raise FileExistsError(errno.EEXIST, "exists already", str(path))
    with _undone_on_failure() as made:
        for path, inner in new.items():
            _make_folder(path.parent, made)
            made.append(path)
            write_whole(path, inner)
        write_whole(package.universe, text)
    return list(new)


@contextmanager
def _undone_on_failure() -> Generator[list[Path]]:
    """Files and folders that are made meanwhile are removed if anything fails."""
    made: list[Path] = []
    try:
        yield made
    except BaseException:
        for path in reversed(made):
            if path.is_dir():
                path.rmdir()
            else:
                path.unlink(missing_ok=True)
        raise


def _make_folder(folder: Path, made: list[Path]) -> None:
    if not folder.is_dir():
        _make_folder(folder.parent, made)
        folder.mkdir()
        made.append(folder)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
