"""
`docs/tutorial.md`: its code is that of the example, its listings are what the phases
print.
"""

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from test_hook_pages import check_listing

import transom
from transom.dialects.parser import parse_ir
from transom.registry import new_context, registry
from transom.targets.registry import given_hooks
from transom.tools import transom_run

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "out_of_tree_target"
FENCED = re.compile(r"^(`{3,4})(\w+) ([^\n]+)\n(.*?)^\1$", re.DOTALL | re.MULTILINE)
BLOCKS = [
    m.groups()[1:] for m in FENCED.finditer((ROOT / "docs/tutorial.md").read_text())
]
FILES = {words.split()[0] for _, words, _ in BLOCKS if "." in words or "/" in words}
FILES.add("Makefile")


@pytest.mark.parametrize("file", sorted(FILES))
def test_code_is_that_of_the_example(file: str) -> None:
    """All of it but indentation, in order; parts marked `last` come last."""
    marked = [(words.split(), code) for _, words, code in BLOCKS]
    parts = [code for words, code in marked if words == [file]]
    parts += [code for words, code in marked if words == [file, "last"]]
    shown = [line.strip() for code in parts for line in code.splitlines()]
    lines = [line.strip() for line in (EXAMPLE / file).read_text().splitlines()]
    assert list(filter(None, shown)) == list(filter(None, lines))


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "path", [str(EXAMPLE), *sys.path])
    dialect: Any = import_module("woofles.dialect")
    hooks: Any = import_module("woofles.hooks")
    monkeypatch.setitem(registry().dialects, "woofles", lambda: dialect.Woofles)
    with given_hooks(hooks.WooflesTarget()):
        yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "woofles"]:
        monkeypatch.delitem(sys.modules, name)


@pytest.mark.parametrize("phase", ["placed", "tensor", "planned"])
def test_listings(example: None, phase: str) -> None:
    texts = {words: code for kind, words, code in BLOCKS if kind == "mlir"}
    module = parse_ir(new_context(), texts["input"], "model.mlir")
    check_listing(texts[phase], str(transom.lower(module, phase)))


def test_the_model_runs(
    example: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With the inputs that the page has, and what it shows; no C compiler is needed."""
    (model,) = (code for _, words, code in BLOCKS if words == "input")
    monkeypatch.chdir(tmp_path)
    Path("model.mlir").write_text(model)
    page = (ROOT / "docs/tutorial.md").read_text()
    found = re.search(r"^\$ transom-run (.*)\n(.*)$", page, re.MULTILINE)
    assert found is not None
    command = found[1].replace("--library libwoofles.so", "--externs=reference")
    assert transom_run.main(command.split()) == 0
    assert capsys.readouterr().out == found[2] + "\n"
