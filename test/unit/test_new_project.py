"""`transom new`: what it makes and what it refuses. That all of it works is tested in
`test_out_of_tree.py`."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from unittest import mock

import pytest

from transom.dialects.parser import parse_ir
from transom.dialects.verifier import verify_module
from transom.passes.kernel_pass import KernelPass
from transom.registry import new_context
from transom.tools import new_project
from transom.tools.transom_main import main


class Result(NamedTuple):
    status: int
    out: str
    err: str


Run = Callable[..., Result]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*words: object) -> Result:
        status = main(["new", *map(str, words)])
        captured = capsys.readouterr()
        return Result(status, captured.out, captured.err)

    return run


def tree(folder: Path) -> dict[str, str]:
    """The files of a folder, with their text."""
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize(
    ("kind", "name", "files"),
    [
        (
            "target",
            "my_npu",
            [
                "README.md",
                "my_npu/__init__.py",
                "my_npu/dialect.py",
                "my_npu/hooks.py",
                "my_npu/universe.py",
                "pyproject.toml",
                "test/filecheck/lit.cfg.py",
                "test/filecheck/target-invalid.mlir",
                "test/filecheck/target.mlir",
                "test/test_conformance.py",
            ],
        ),
        (
            "dialect",
            "rag",
            [
                "README.md",
                "pyproject.toml",
                "rag/__init__.py",
                "rag/conversions.py",
                "rag/dialect.py",
                "rag/evaluators.py",
                "rag/universe.py",
                "test/filecheck/convert.mlir",
                "test/filecheck/invalid.mlir",
                "test/filecheck/lit.cfg.py",
                "test/filecheck/ops.mlir",
                "test/test_numbers.py",
            ],
        ),
        (
            "pass",
            "rag-fold",
            [
                "README.md",
                "pyproject.toml",
                "rag_fold/__init__.py",
                "rag_fold/passes/__init__.py",
                "rag_fold/passes/rag_fold.py",
                "rag_fold/universe.py",
                "test/filecheck/lit.cfg.py",
                "test/filecheck/passes/rag-fold.mlir",
            ],
        ),
        (
            "conversion",
            "convert-rag-to-tag",
            [
                "README.md",
                "convert_rag_to_tag/__init__.py",
                "convert_rag_to_tag/lowering/__init__.py",
                "convert_rag_to_tag/lowering/convert_rag_to_tag.py",
                "convert_rag_to_tag/universe.py",
                "pyproject.toml",
                "test/filecheck/lit.cfg.py",
                "test/filecheck/lowering/convert-rag-to-tag-invalid.mlir",
                "test/filecheck/lowering/convert-rag-to-tag.mlir",
            ],
        ),
    ],
)
def test_a_package(run: Run, tmp_path: Path, kind: str, name: str, files: list[str]):
    result = run(kind, name, "--into", tmp_path)
    folder = tmp_path / name.replace("-", "_")
    assert (result.status, result.err) == (0, "")
    assert result.out.splitlines() == [str(folder / file) for file in files]
    made = tree(folder)
    assert list(made) == files
    for text in made.values():
        for word in ("woofles", "fold-it", "fold_it", "FoldIt"):
            assert word not in text.lower() or word in name
    assert list(tmp_path.iterdir()) == [folder]


def test_the_mode_of_a_package_is_that_of_any_folder(run: Run, tmp_path: Path):
    run("dialect", "rag", "--into", tmp_path)
    (tmp_path / "other").mkdir()
    modes = [path.stat().st_mode for path in (tmp_path / "rag", tmp_path / "other")]
    assert modes[0] == modes[1]


def test_here_is_the_default(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert run("dialect", "rag").out.splitlines()[0] == "rag/README.md"


def test_a_pass_on_kernels(run: Run, tmp_path: Path):
    """It is registered, keeps kernels alone, and does what its test says."""
    result = run("pass", "rag-fold", "--level", "tir", "--into", tmp_path)
    folder = tmp_path / "rag_fold"
    test = folder / "test/filecheck/passes/rag-fold.mlir"
    assert (result.status, result.err) == (0, "")
    assert str(test) in result.out.splitlines()
    universe = (folder / "rag_fold/universe.py").read_text()
    assert '"rag-fold": "rag_fold.passes.rag_fold:RagFoldPass"' in universe
    names: dict[str, Any] = {"__name__": "rag_fold"}
    with mock.patch.dict(sys.modules, {"rag_fold": ModuleType("rag_fold")}):
        exec((folder / "rag_fold/passes/rag_fold.py").read_text(), names)
        made = names["RagFoldPass"]
        assert issubclass(made, KernelPass) and made.name == "rag-fold"
        ctx = new_context()
        module = parse_ir(ctx, test.read_text(), "kernels.mlir")
        made().apply_to_kernels(ctx, module)
        verify_module(module)
    twice, once = (str(op) for op in module.body.ops)
    assert (twice.count("arith.negf"), once.count("arith.negf")) == (0, 1)


def test_only_a_pass_has_a_level(run: Run, tmp_path: Path):
    words = ("dialect", "rag", "--level", "tir", "--into", tmp_path)
    assert run(*words) == Result(
        2,
        "",
        "transom: error: expected '--level' with 'pass' only, not with 'dialect'\n",
    )
    assert not list(tmp_path.iterdir())


# A pass or a conversion of a package that exists.


def test_into_a_package(run: Run, tmp_path: Path):
    run("target", "my_npu", "--into", tmp_path)
    project = tmp_path / "my_npu"
    before = tree(project)
    result = run("pass", "npu-tidy", "--into", project)
    assert result == Result(
        0,
        f"{project}/test/filecheck/passes/npu-tidy.mlir\n"
        f"{project}/my_npu/passes/__init__.py\n"
        f"{project}/my_npu/passes/npu_tidy.py\n",
        "",
    )
    assert run("pass", "npu-fold", "--into", project).status == 0
    result = run("conversion", "convert-npu-to-npu", "--into", project)
    assert result.status == 0
    after = tree(project)
    changed = [name for name, text in before.items() if after[name] != text]
    assert changed == ["my_npu/universe.py"]
    assert (
        "PASSES: dict[str, str] = {\n"
        '    "convert-npu-to-npu": '
        '"my_npu.lowering.convert_npu_to_npu:ConvertNpuToNpuPass",\n'
        '    "npu-fold": "my_npu.passes.npu_fold:NpuFoldPass",\n'
        '    "npu-tidy": "my_npu.passes.npu_tidy:NpuTidyPass",\n'
        "}\n"
    ) in after["my_npu/universe.py"]


def test_a_file_that_is_there_stays(run: Run, tmp_path: Path):
    run("dialect", "rag", "--into", tmp_path)
    project = tmp_path / "rag"
    assert run("pass", "rag-fold", "--into", project).status == 0
    before = tree(project)
    result = run("pass", "rag-fold", "--into", project)
    file = project / "test/filecheck/passes/rag-fold.mlir"
    assert result == Result(1, "", f"transom: error: {file}: exists already\n")
    assert tree(project) == before


def test_a_package_that_is_there_stays(run: Run, tmp_path: Path):
    folder = tmp_path / "rag"
    folder.mkdir()
    result = run("dialect", "rag", "--into", tmp_path)
    assert result == Result(1, "", f"transom: error: {folder}: exists already\n")
    assert not list(folder.iterdir())


def test_a_package_without_an_entry_point(run: Run, tmp_path: Path):
    file = tmp_path / "pyproject.toml"
    file.write_text("[project]\nname = 'x'\n")
    result = run("pass", "rag-fold", "--into", tmp_path)
    assert result == Result(
        2,
        "",
        f"transom: error: expected an entry point of group 'xdsl.universe' in '{file}' "
        "that names a module of the project\n",
    )
    file.write_text("[project\n")
    result = run("pass", "rag-fold", "--into", tmp_path)
    assert result.status == 2
    assert result.err.startswith(f"transom: error: '{file}' cannot be read: ")


def test_a_package_without_a_table(run: Run, tmp_path: Path):
    run("dialect", "rag", "--into", tmp_path)
    file = tmp_path / "rag" / "rag" / "universe.py"
    file.write_text(file.read_text().replace("PASSES", "passes"))
    before = tree(tmp_path)
    result = run("pass", "rag-fold", "--into", tmp_path / "rag")
    assert result == Result(
        2,
        "",
        "transom: error: expected 'PASSES: dict[str, str] = {…}', a line per name, in "
        f"'{file}'\n",
    )
    assert tree(tmp_path) == before


# All or nothing.


def fail(*args: Any) -> None:
    raise OSError(28, "No space left on device", "x")


def test_a_package_is_made_whole_or_not(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Path, "rename", fail)
    result = run("dialect", "rag", "--into", tmp_path)
    assert result == Result(1, "", "transom: error: x: No space left on device\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("last", ["npu_tidy.py", "universe.py"])
def test_files_are_added_all_or_none(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: str
):
    run("target", "my_npu", "--into", tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    write = new_project.write_whole

    def write_or_fail(path: Path, text: str) -> None:
        if path.name == last:
            fail()
        write(path, text)

    monkeypatch.setattr(new_project, "write_whole", write_or_fail)
    result = run("pass", "npu-tidy", "--into", tmp_path / "my_npu")
    assert result == Result(1, "", "transom: error: x: No space left on device\n")
    assert set(tmp_path.rglob("*")) == set(before)


# What is refused.

LETTERS = (
    "expected a name of lower-case letters, digits and underscores, such as 'woofles'"
)
WORDS = (
    "expected a name of lower-case words and digits with dashes between them, such as "
    "'graph-fold-relu'"
)
FORM = (
    "expected a name of the form 'convert-FROM-to-TO' or 'lower-FROM-to-TO', such as "
    "'convert-graph-to-arith'"
)


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        ("target", "My", f"{LETTERS}, but got 'My'"),
        ("dialect", "a-b", f"{LETTERS}, but got 'a-b'"),
        ("dialect", "../x", f"{LETTERS}, but got '../x'"),
        ("pass", "a_b", f"{WORDS}, but got 'a_b'"),
        ("pass", "a--b", f"{WORDS}, but got 'a--b'"),
        ("conversion", "fold-it", f"{FORM}, but got 'fold-it'"),
        (
            "dialect",
            "arith",
            "dialect 'arith' is registered by distribution 'xdsl'; choose another name",
        ),
        (
            "target",
            "graph",
            "dialect 'graph' is registered by distribution 'transom'; choose another "
            "name",
        ),
        (
            "target",
            "llvm_cpu",
            "dialect 'llvm_cpu' is registered by distribution 'transom'; choose "
            "another name",
        ),
        (
            "pass",
            "cse",
            "pass 'cse' is registered by distribution 'xdsl'; choose another name",
        ),
        (
            "conversion",
            "convert-graph-to-tir",
            "pass 'convert-graph-to-tir' is registered by distribution 'transom'; "
            "choose another name",
        ),
        ("dialect", "class", "'class' is a word of Python; choose another name"),
        ("dialect", "match", "'match' is a word of Python; choose another name"),
        (
            "target",
            "json",
            "there is a Python module 'json' already; choose another name",
        ),
        (
            "pass",
            "numpy",
            "there is a Python module 'numpy' already; choose another name",
        ),
    ],
)
def test_names(run: Run, tmp_path: Path, kind: str, name: str, message: str):
    result = run(kind, name, "--into", tmp_path)
    assert result == Result(2, "", f"transom: error: {message}\n")
    assert not list(tmp_path.iterdir())


def test_the_folder_is_made(run: Run, tmp_path: Path):
    folder = tmp_path / "a" / "b"
    assert run("dialect", "keyword", "--into", folder).status == 2
    assert not list(tmp_path.iterdir())
    assert run("dialect", "rag", "--into", folder).status == 0
    assert (folder / "rag" / "pyproject.toml").exists()


def test_only_tests_that_there_are_are_to_be_run(run: Run, tmp_path: Path):
    run("dialect", "rag", "--into", tmp_path)
    run("pass", "my-fold", "--into", tmp_path)
    assert "\npytest test\n" in (tmp_path / "rag" / "README.md").read_text()
    text = (tmp_path / "my_fold" / "README.md").read_text()
    assert "\nlit -v test/filecheck\n```" in text


def test_what_is_no_folder(run: Run, tmp_path: Path):
    (tmp_path / "file").touch()
    assert run("dialect", "rag", "--into", tmp_path / "file") == Result(
        1, "", f"transom: error: {tmp_path}/file: Not a directory\n"
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(run: Run, tmp_path: Path):
    tmp_path.chmod(0o500)
    result = run("dialect", "rag", "--into", tmp_path)
    assert (result.status, result.out) == (1, "")
    assert "Permission denied" in result.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("targt", "x"),
            "argument kind: invalid choice: 'targt' (choose from 'target', 'dialect', "
            "'pass', 'conversion')",
        ),
        (("target",), "the following arguments are required: name"),
    ],
)
def test_command_line(run: Run, words: tuple[str, ...], message: str):
    assert run(*words) == Result(2, "", f"transom: error: {message}\n")
