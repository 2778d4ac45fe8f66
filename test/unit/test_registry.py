"""The tables of names: what they lead to, and that they clash with nobody."""

import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import XDSL_UNIVERSE

from transom.dialects import DIALECTS
from transom.lowering import LOWERINGS
from transom.passes import PASSES
from transom.registry import (
    REPLACED_DIALECTS,
    own_passes,
    own_universe,
    registry,
)
from transom.targets import TARGET_DIALECTS, TARGET_PASSES, TARGETS
from transom.tools.universe import UNIVERSE

ROOT = Path(__file__).resolve().parent.parent.parent
PASS_TABLES = {"passes": PASSES, "lowering": LOWERINGS, "targets": TARGET_PASSES}
TABLES = [
    ("dialects", DIALECTS),
    *PASS_TABLES.items(),
    ("targets", TARGETS),
    ("targets", TARGET_DIALECTS),
]


def links() -> list[str]:
    """The folders that the package leads to, as `transom/dialects`."""
    folder = ROOT / "transom"
    return [f"transom/{path.name}" for path in folder.iterdir() if path.is_symlink()]


@pytest.mark.parametrize(("layer", "table"), TABLES)
def test_tables_are_sorted_and_of_their_layer(
    layer: str, table: dict[str, str]
) -> None:
    assert list(table) == sorted(table)
    for path in table.values():
        assert path.startswith(f"transom.{layer}.")


def test_no_name_is_one_of_xdsls() -> None:
    theirs = XDSL_UNIVERSE
    dialects = {**DIALECTS, **TARGET_DIALECTS}
    assert set(dialects) & set(theirs.all_dialects) == set(REPLACED_DIALECTS)
    assert not set(own_passes()) & set(theirs.all_passes)
    assert len(own_passes()) == sum(map(len, PASS_TABLES.values()))
    assert not set(UNIVERSE.all_dialects) & set(theirs.all_dialects)
    assert not set(UNIVERSE.all_targets) & set(theirs.all_targets)


@pytest.mark.parametrize("name", [*DIALECTS, *TARGET_DIALECTS])
def test_dialects_have_the_name_of_their_key(name: str) -> None:
    dialect = pkgutil.resolve_name({**DIALECTS, **TARGET_DIALECTS}[name])
    assert isinstance(dialect, Dialect)
    assert dialect.name == name


@pytest.mark.parametrize("name", own_passes())
def test_passes_have_the_name_of_their_key(name: str) -> None:
    cls = pkgutil.resolve_name(own_passes()[name])
    assert issubclass(cls, ModulePass)
    assert cls.name == name
    words = [word.capitalize() for word in re.split("[-_]", name)]
    assert cls.__name__.lower() == "".join(words).lower() + "pass"


@pytest.mark.parametrize("name", own_passes())
def test_passes_are_documented_by_their_module(name: str) -> None:
    cls = pkgutil.resolve_name(own_passes()[name])
    assert (sys.modules[cls.__module__].__doc__ or "").strip()


@pytest.mark.parametrize("name", own_passes())
def test_every_pass_has_a_test_of_its_name(name: str) -> None:
    folder = ROOT / "test" / "filecheck"
    stems = {path.stem for path in folder.rglob("*.mlir")}
    assert name in stems or any(stem.startswith(f"{name}-") for stem in stems)


def test_llvm_is_ours_and_not_published() -> None:
    ours = registry().dialects["llvm"]()
    assert {op.name for op in ours.operations} > {
        op.name for op in XDSL_UNIVERSE.all_dialects["llvm"]().operations
    }
    assert "llvm" not in own_universe().all_dialects


def test_xdsl_opt_runs_beside_us(tmp_path: Path) -> None:
    """A clash of names, or an error in our entry point, would stop it."""
    file = tmp_path / "a.mlir"
    file.write_text("graph.weight @w = dense<1.0> : tensor<4xf32>\n")
    done = subprocess.run(
        [Path(sys.executable).parent / "xdsl-opt", file],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "graph.weight @w" in done.stdout


# The configuration of tools.


def pyproject() -> dict[str, dict[str, dict[str, list[str]]]]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_pyright_is_told_of_every_link() -> None:
    """It does not follow links: what is not listed would not be checked."""
    include = pyproject()["tool"]["pyright"]["include"]
    links = [
        f"transom/{p.name}" for p in (ROOT / "transom").iterdir() if p.is_symlink()
    ]
    others = ["benchmarks", "transom", "test/plugins", "test/unit"]
    assert sorted(include) == sorted([*links, *others])


def test_ruff_checks_each_file_once() -> None:
    exclude = pyproject()["tool"]["ruff"]["extend-exclude"]
    links = [
        f"transom/{p.name}" for p in (ROOT / "transom").iterdir() if p.is_symlink()
    ]
    assert sorted(exclude) == sorted(links)


def test_links_are_relative_and_lead_to_their_folders() -> None:
    assert links()
    for link in map(Path, links()):
        assert (ROOT / link).readlink() == Path("..") / link.name
        assert (ROOT / link.name / "__init__.py").exists()


# Start-up.

HEAVY = ("numpy", "llvmlite", "onnx", "onnxruntime", "ml_dtypes", "safetensors", "rich")


@pytest.mark.parametrize(
    "code",
    [
        "import transom.tools.transom_opt as t; t.main(['--help'])",
        "import transom.tools.transom_opt as t; t.main(['--show-phases'])",
        "import transom, transom.dialects, transom.passes, transom.lowering",
        "import transom.tools.universe",
    ],
)
def test_start_up_loads_nothing_heavy(code: str) -> None:
    check = (
        f"import sys; {code}; "
        f"print([m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", check], capture_output=True, text=True, check=True
    )
    assert done.stderr == "[]\n"


def test_a_registered_dialect_is_loaded_when_met(tmp_path: Path) -> None:
    file = tmp_path / "a.mlir"
    file.write_text("func.func @f() { func.return }")
    code = (
        "import sys; import transom.tools.transom_opt as t; "
        f"t.main([{str(file)!r}]); "
        "print([m for m in sys.modules if m.startswith('transom.dialects.')"
        " and m.split('.')[2] in ('graph', 'tir', 'llvm')], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stderr == "[]\n"


def test_rules_of_discardable_attributes_hold_from_the_start(tmp_path: Path) -> None:
    """The dialect of an attribute's name is loaded when the name is read."""
    file = tmp_path / "a.mlir"
    file.write_text("module attributes {executor.nonsense} {}")
    done = subprocess.run(
        [sys.executable, "-m", "transom.tools.transom_opt", file],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "'executor.nonsense'" in done.stderr
