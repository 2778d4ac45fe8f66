"""Layers import what is to their left, and the checker finds what does not."""

from pathlib import Path

import pytest

from transom.tools.check_layers import LAYERS, folder_of, problems_in

ROOT = Path(__file__).resolve().parent.parent.parent


def test_the_project_keeps_its_layers() -> None:
    assert list(problems_in(ROOT)) == []


@pytest.mark.parametrize(
    ("layer", "text", "problem"),
    [
        (
            "lowering",
            "from transom.targets import hooks",
            "lowering/bad.py:1: 'lowering' must not import 'targets'",
        ),
        (
            "lowering",
            "\ndef f():\n    import transom.targets.hooks",
            "lowering/bad.py:3: 'lowering' must not import 'targets'",
        ),
        (
            "dialects",
            "from transom import passes",
            "dialects/bad.py:1: 'dialects' must not import 'passes'",
        ),
        (
            "passes",
            "import transom",
            "passes/bad.py:1: 'passes' must not import 'driver'",
        ),
        (
            "passes",
            "from transom import load",
            "passes/bad.py:1: 'passes' must not import 'driver'",
        ),
        (
            "runtime",
            "from transom.dialects.graph import AddOp",
            "runtime/bad.py:1: 'runtime' must not import 'dialects'",
        ),
        (
            "interpreters",
            "from transom.passes.pipeline import Pipeline",
            "interpreters/bad.py:1: 'interpreters' must not import 'passes'",
        ),
        (
            "driver",
            "from transom.tools import demo",
            "transom/bad.py:1: 'driver' must not import 'tools'",
        ),
        (
            "tools",
            "import dialects.graph",
            "tools/bad.py:1: import transom.dialects, not dialects",
        ),
        ("tools", "from . import x", "tools/bad.py:1: imports must be absolute"),
    ],
)
def test_finds(tmp_path: Path, layer: str, text: str, problem: str) -> None:
    file = tmp_path / folder_of(layer) / "bad.py"
    file.parent.mkdir()
    file.write_text(text)
    assert list(problems_in(tmp_path)) == [problem]


def test_lets_pass(tmp_path: Path) -> None:
    folder = tmp_path / "targets" / "x"
    folder.mkdir(parents=True)
    (folder / "good.py").write_text(
        "import numpy\n"
        "from transom import __version__\n"
        "from transom.interpreters import evaluators\n"
        "from transom.dialects import target\n"
        "from transom.runtime import jit\n"
    )
    assert list(problems_in(tmp_path)) == []


def test_every_folder_of_code_is_a_layer() -> None:
    links = {p.name for p in (ROOT / "transom").iterdir() if p.is_symlink()}
    assert links | {"driver"} == set(LAYERS)


def test_a_link_of_the_package_is_another_layer(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "good.py").write_text("import transom.tools")
    folder = tmp_path / "transom" / "testing"
    folder.mkdir(parents=True)
    (tmp_path / "transom" / "tools").symlink_to("../tools")
    (folder / "bad.py").write_text("import transom.tools")
    assert list(problems_in(tmp_path)) == [
        "transom/testing/bad.py:1: 'driver' must not import 'tools'"
    ]
