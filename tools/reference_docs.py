"""
Write `docs/reference/`: a page per dialect, one of all passes, one per target, and one
of the hooks, from their docstrings and definitions.

```sh
python -m transom.tools.reference_docs          # write the pages
python -m transom.tools.reference_docs --check  # status 1 if a page is not up to date
```
"""

import argparse
import inspect
import pkgutil
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from typing_extensions import get_type_hints
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Dialect, Operation
from xdsl.irdl import (
    IRDLOperation,
    OptionalDef,
    OptPropertyDef,
    ParamAttrDef,
    VariadicDef,
)
from xdsl.passes import ModulePass

from transom.dialects import DIALECTS
from transom.dialects.keyed_syntax import PRESET
from transom.dialects.target import TargetAttr
from transom.lowering import LOWERINGS
from transom.passes import PASSES
from transom.passes.pass_options import describe_hint, format_value, option_fields
from transom.phase_plan import PASSES_BY_HOOK, PHASES
from transom.registry import REPLACED_DIALECTS
from transom.targets import TARGET_DIALECTS, TARGET_PASSES, TARGETS
from transom.targets.hooks import TargetHooks

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "reference"

NOTICE = "<!-- Written by `python -m transom.tools.reference_docs`. -->"


def pages() -> dict[str, str]:
    """The text of each page by its file name."""
    found = {"passes.md": _page("Passes", passes_page())}
    for name, path in {**DIALECTS, **TARGET_DIALECTS}.items():
        if name not in REPLACED_DIALECTS:
            dialect = cast("Dialect", pkgutil.resolve_name(path))
            module = path.partition(":")[0]
            text = dialect_page(dialect, module)
            found[f"dialect-{name}.md"] = _page(f"Dialect `{name}`", text)
    for name, path in TARGETS.items():
        hooks = cast("type[TargetHooks[Any]]", pkgutil.resolve_name(path))
        file = f"target-{name.removesuffix('.target')}.md"
        found[file] = _page(f"Target `#{name}`", target_page(hooks))
    found["hooks.md"] = _page("Hooks of a target", hooks_page())
    found["README.md"] = _page("Reference", index(found))
    return found


def index(found: Mapping[str, str]) -> Iterator[str]:
    """The list of pages."""
    yield "Generated from the code; a test keeps the pages up to date."
    lines: list[str] = []
    for file, text in sorted(found.items()):
        title = text.splitlines()[0].removeprefix("# ")
        lines.append(f"* [{title}]({file})")
    yield "\n".join(lines)


# Dialects.


def dialect_page(dialect: Dialect, module: str) -> Iterator[str]:
    """What a dialect is for, its operations, attributes and types."""
    yield _documentation(inspect.getdoc(sys.modules[module]))
    operations = sorted(dialect.operations, key=lambda op: op.name)
    attributes = sorted(dialect.attributes, key=lambda a: a.name)
    if operations:
        yield "## Operations"
        for op in operations:
            yield from _operation(op)
    if attributes:
        yield "## Attributes and types"
        for attribute in attributes:
            yield from _attribute(attribute)


def _operation(op: type[Operation]) -> Iterator[str]:
    yield f"### `{op.name}`"
    yield _documentation(_own_doc(op))
    if not issubclass(op, IRDLOperation):
        return
    definition = op.get_irdl_definition()
    if definition.assembly_format is not None:
        yield f"Syntax: `{op.name} {' '.join(definition.assembly_format.split())}`"
    rows: list[tuple[str, str]] = []
    for kind, definitions in (
        ("operand", definition.operands),
        ("result", definition.results),
        ("region", definition.regions),
        ("successor", definition.successors),
    ):
        rows += [(name, _arity(kind, d)) for name, d in definitions]
    for name, prop in definition.properties.items():
        if not name.endswith("SegmentSizes"):
            optional = isinstance(prop, OptPropertyDef)
            rows.append((name, "optional property" if optional else "property"))
    if rows:
        yield _table(("name", "what"), [(f"`{name}`", what) for name, what in rows])
    names = (type(trait).__name__ for trait in op.traits.traits)
    traits = sorted(name for name in names if not name.startswith("_"))
    if traits:
        yield f"Traits: {', '.join(f'`{name}`' for name in traits)}"


def _arity(kind: str, definition: object) -> str:
    if isinstance(definition, OptionalDef):
        return f"optional {kind}"
    return f"any number of {kind}s" if isinstance(definition, VariadicDef) else kind


def _attribute(attribute: type[Attribute]) -> Iterator[str]:
    yield f"### `{attribute.name}`"
    yield _documentation(_own_doc(attribute))
    defaults: Mapping[str, Attribute] = getattr(attribute, "DEFAULTS", {})
    get_definition = getattr(attribute, "get_irdl_definition", None)
    definition = None if get_definition is None else get_definition()
    if not isinstance(definition, ParamAttrDef) or not definition.parameters:
        return
    keys = [name.removesuffix("_attr") for name, _ in definition.parameters]
    if not issubclass(attribute, TargetAttr):
        yield f"Parameters: {', '.join(f'`{key}`' for key in keys)}"
        return
    yield _table(
        ("parameter", "default"),
        [
            (f"`{key}`", f"`{defaults[key]}`" if key in defaults else "must be given")
            for key in keys
        ],
    )
    if attribute.PRESETS:
        named = {
            n: attribute.from_keys({PRESET: StringAttr(n)}) for n in attribute.PRESETS
        }
        rows = [(f"`{name}`", f"`{target}`") for name, target in named.items()]
        yield _table(("preset", "stands for"), rows)


# Passes.


def passes_page() -> Iterator[str]:
    """All passes of ours, by layer."""
    phases = {name: phase.name for phase in PHASES for name in phase.passes}
    for title, table in (
        ("Same level in, same level out", PASSES),
        ("One level to the next", LOWERINGS),
        ("Passes that know the targets", TARGET_PASSES),
    ):
        yield f"## {title}"
        for name in sorted(table):
            cls = cast("type[ModulePass]", pkgutil.resolve_name(table[name]))
            yield f"### `{name}`"
            yield _documentation(_pass_doc(cls))
            hints = get_type_hints(cls)
            rows = [
                (
                    f"`{f.name.replace('_', '-')}`",
                    describe_hint(hints[f.name]),
                    _default_of(f),
                )
                for f in option_fields(cls)
            ]
            if rows:
                yield _table(("option", "value", "default"), rows)
            if name in phases:
                yield f"Phase: `{phases[name]}`"


def _pass_doc(cls: type[ModulePass]) -> str | None:
    """The docstring of a pass, which is that of its module if it has none."""
    own = cls.__dict__.get("__doc__")
    if own and not own.startswith(f"{cls.__name__}("):  # made by @dataclass
        return inspect.cleandoc(own)
    return inspect.getdoc(sys.modules[cls.__module__])


def _default_of(field: Any) -> str:
    import dataclasses

    if field.default is not dataclasses.MISSING:
        return f"`{format_value(field.default)}`"
    if field.default_factory is not dataclasses.MISSING:
        return f"`{format_value(field.default_factory())}`"
    return "must be given"


# Targets.


def target_page(hooks: type[TargetHooks[Any]]) -> Iterator[str]:
    """A target's attribute, and the hooks that it has."""
    yield _documentation(inspect.getdoc(hooks))
    yield "## The attribute"
    yield from _attribute(hooks().attr_type)
    yield "## Hooks"
    own = [
        name
        for name in _hook_names()
        if getattr(hooks, name) is not getattr(TargetHooks, name)
    ]
    for name in own:
        yield f"### `{name}`"
        text = getattr(hooks, name).__doc__
        yield _documentation(inspect.cleandoc(text) if text else _hook_doc(name))
    others = [f"`{name}`" for name in _hook_names() if name not in own]
    yield f"As by default: {', '.join(others)}"


def hooks_page() -> Iterator[str]:
    """What each hook may do, and when it is asked."""
    yield _documentation(inspect.getdoc(sys.modules[TargetHooks.__module__]))
    yield _documentation(inspect.getdoc(TargetHooks))
    for name in _hook_names():
        yield f"## `{name}`"
        yield f"```python\n{_signature(name)}\n```"
        yield _documentation(_hook_doc(name))
        if name in PASSES_BY_HOOK:
            yield f"Phase: `{PASSES_BY_HOOK[name]}`"


def _hook_names() -> list[str]:
    return [
        name
        for name, value in vars(TargetHooks).items()
        if inspect.isfunction(value) and not name.startswith("_")
    ]


def _hook_doc(name: str) -> str | None:
    return inspect.getdoc(getattr(TargetHooks, name))


def _signature(name: str) -> str:
    function = getattr(TargetHooks, name)
    text = inspect.getsource(function)
    head = re.match(r"\s*(def .*?):\n", text, re.DOTALL)
    assert head is not None, "a function starts with 'def'"
    return " ".join(head.group(1).split())


# Text.


def _own_doc(cls: type[object]) -> str | None:
    text = cls.__dict__.get("__doc__")
    return inspect.cleandoc(text) if text else None


def _documentation(text: str | None) -> str:
    """A docstring as Markdown: fences of code have blank lines around them."""
    lines: list[str] = []
    inside = False
    for line in (text or "").splitlines():
        if line.lstrip().startswith("```"):
            if not inside and lines and lines[-1]:
                lines.append("")
            inside = not inside
        lines.append(line.rstrip())
    return "\n".join(lines).strip()


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    cells = ([cell.replace("|", "\\|") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def _page(title: str, parts: Iterator[str]) -> str:
    return "\n\n".join((f"# {title}", NOTICE, *filter(None, parts))) + "\n"


def outdated() -> list[str]:
    """The names of pages that are not what they should be, missing and surplus ones."""
    found, folder = pages(), FOLDER
    there = {path.name for path in folder.glob("*.md")}
    return sorted(
        name
        for name in {*found, *there}
        if name not in there
        or (folder / name).read_text(encoding="utf-8") != found.get(name)
    )


def main(args: Sequence[str] | None = None) -> int:
    """Exit status: 0 done, 1 with `--check` if a page is not up to date."""
    parser = argparse.ArgumentParser("reference_docs", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    check = parser.parse_args(args).check
    wrong = outdated()
    if check:
        for name in wrong:
            print(f"docs/reference/{name} is not up to date", file=sys.stderr)
        return 1 if wrong else 0
    found = pages()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in wrong:
        if name in found:
            (FOLDER / name).write_text(found[name], encoding="utf-8")
        else:
            (FOLDER / name).unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
