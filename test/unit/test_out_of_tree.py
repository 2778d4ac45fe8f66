"""
Projects beside transom: the examples, and what `transom new` makes, installed into
fresh environments where transom is a wheel; their tests are green at once.
"""

import shutil
import subprocess
from pathlib import Path

import pytest
from fresh_environments import ROOT, Environment, new_environment, with_transom

EXAMPLES = ROOT / "examples"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with transom."""
    return with_transom(tmp_path_factory.mktemp("environments") / "base")


@pytest.fixture
def environment(base: Environment, tmp_path: Path) -> Environment:
    """A fresh environment beside which transom is installed."""
    return new_environment(tmp_path / "environment", base)


def copied(project: Path, folder: Path) -> Path:
    """A project without what was built in it."""
    ignored = shutil.ignore_patterns("__pycache__", "build", "*.egg-info", "*.so")
    return Path(shutil.copytree(project, folder / project.name, ignore=ignored))


def run_lit(environment: Environment, project: Path, count: int) -> None:
    """Run the FileCheck tests of a project, which has so many."""
    code = "from lit.main import main; main()"
    done = environment.run("-c", code, "-v", "test/filecheck", cwd=project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"Passed: {count} (100.00%)" in done.stdout


def run_pytest(environment: Environment, project: Path, count: int) -> None:
    """Run the other tests of a project, which has so many."""
    done = environment.run(
        "-m", "pytest", "-q", "-p", "no:cacheprovider", "test", cwd=project
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{count} passed" in done.stdout


def plugins_of(environment: Environment) -> list[tuple[str, str, str]]:
    """Name, group and state of the plug-ins of an environment."""
    done = environment.run("-m", "transom.tools.transom_main", "plugins", cwd=ROOT)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()[1:]]
    return [(row[0], row[1], row[5]) for row in rows]


# Examples.


def test_the_dialect(environment: Environment, tmp_path: Path) -> None:
    project = copied(EXAMPLES / "out_of_tree_dialect", tmp_path)
    environment.install(project)
    assert plugins_of(environment) == [
        ("metric", "transom.conversions", "ok"),
        ("metric", "transom.evaluators", "ok"),
        ("metric", "xdsl.universe", "ok"),
    ]
    run_lit(environment, project, 3)
    run_pytest(environment, project, 5)


def test_the_target(environment: Environment, tmp_path: Path) -> None:
    if shutil.which("cc") is None or shutil.which("make") is None:
        pytest.skip("no C compiler")
    project = copied(EXAMPLES / "out_of_tree_target", tmp_path)
    subprocess.run(["make", "--silent"], cwd=project, check=True)
    environment.install(project)
    assert plugins_of(environment) == [
        ("woofles", "xdsl.universe", "ok"),
        ("woofles.target", "transom.targets", "ok"),
    ]
    run_lit(environment, project, 4)
    run_pytest(environment, project, 5)


def test_the_target_is_small() -> None:
    """All that makes it work, but the C library and the tests."""
    project = EXAMPLES / "out_of_tree_target"
    files = [project / "pyproject.toml", *(project / "woofles").glob("*.py")]
    lines = [line for file in files for line in file.read_text().splitlines()]
    assert len(files) == 4
    assert len(lines) <= 150


# What `transom new` makes.


def new(environment: Environment, kind: str, name: str, into: Path) -> None:
    """Run `transom new` as it is in the wheel."""
    command = ("-m", "transom.tools.transom_main", "new", kind, name, "--into", into)
    done = environment.run(*command, cwd=into)
    assert done.returncode == 0, done.stderr


def test_a_new_target(environment: Environment, tmp_path: Path) -> None:
    """With a pass and a conversion of its own."""
    new(environment, "target", "my_npu", tmp_path)
    project = tmp_path / "my_npu"
    new(environment, "pass", "my-npu-tidy", project)
    new(environment, "conversion", "convert-graph-to-my-npu", project)
    environment.install(project)
    assert plugins_of(environment) == [
        ("my_npu", "xdsl.universe", "ok"),
        ("my_npu.target", "transom.targets", "ok"),
    ]
    run_lit(environment, project, 5)
    run_pytest(environment, project, 1)


def test_a_new_dialect(environment: Environment, tmp_path: Path) -> None:
    new(environment, "dialect", "rag", tmp_path)
    environment.install(tmp_path / "rag")
    assert plugins_of(environment) == [
        ("rag", "transom.conversions", "ok"),
        ("rag", "transom.evaluators", "ok"),
        ("rag", "xdsl.universe", "ok"),
    ]
    run_lit(environment, tmp_path / "rag", 3)
    run_pytest(environment, tmp_path / "rag", 2)


@pytest.mark.parametrize(
    ("kind", "name", "count"),
    [("pass", "rag-fold", 1), ("conversion", "lower-rag-to-tag", 2)],
)
def test_a_new_pass(
    environment: Environment, tmp_path: Path, kind: str, name: str, count: int
) -> None:
    new(environment, kind, name, tmp_path)
    project = tmp_path / name.replace("-", "_")
    environment.install(project)
    assert plugins_of(environment) == [(project.name, "xdsl.universe", "ok")]
    run_lit(environment, project, count)


def test_a_name_that_is_installed_is_taken(
    environment: Environment, tmp_path: Path
) -> None:
    new(environment, "dialect", "rag", tmp_path)
    environment.install(tmp_path / "rag")
    (tmp_path / "again").mkdir()
    command = ("-m", "transom.tools.transom_main", "new", "target", "rag")
    done = environment.run(*command, cwd=tmp_path / "again")
    assert (done.returncode, done.stderr) == (
        2,
        "transom: error: dialect 'rag' is registered by distribution 'rag'; choose "
        "another name\n",
    )
