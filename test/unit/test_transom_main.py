"""The program `transom`: its commands, and what it says of wrong ones."""

import json
import tomllib
from pathlib import Path

import pytest
from fake_distributions import install, run_python

import transom
from transom.tools.option_owners import FLAGS, flags_of_program
from transom.tools.transom_main import COMMANDS, main

TRANSOM = ("-m", "transom.tools.transom_main")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "expected a command; expected one of 'cache', 'new', 'plugins', 'show'"),
        (("plugin",), "unknown command 'plugin'; did you mean 'plugins'?"),
        (("--json", "plugin"), "unknown command 'plugin'; did you mean 'plugins'?"),
        (("plugins", "--jsno"), "unknown option '--jsno'; did you mean '--json'?"),
        (("plugins", "--to=tensor"), "unknown option '--to'; 'transom-opt' has it"),
        (("plugins", "x"), "unexpected argument 'x'"),
    ],
)
def test_wrong_commands(
    words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
):
    assert main(words) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", f"transom: error: {message}\n")


def test_every_program_tells_its_options() -> None:
    pyproject = Path(__file__).parent.parent.parent / "pyproject.toml"
    scripts = tomllib.loads(pyproject.read_text())["project"]["scripts"]
    others = {"transom", "transom-filecheck"}  # commands; the options of LLVM's
    assert list(FLAGS) == sorted(set(scripts) - others)
    for name in FLAGS:
        assert {"--help", "--version", "--traceback"} <= set(flags_of_program(name))


def test_errors_as_json(capsys: pytest.CaptureFixture[str]):
    assert main(["plugin", "--error-format=json"]) == 2
    assert json.loads(capsys.readouterr().err)["message"] == (
        "unknown command 'plugin'; did you mean 'plugins'?"
    )


def test_help_lists_the_commands(capsys: pytest.CaptureFixture[str]):
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    for name, command in COMMANDS.items():
        assert name in shown
        assert command.summary.split(",")[0] in " ".join(shown.split())
        assert main([name, "--help"]) == 0
        assert "--strict-plugins" in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"transom {transom.__version__}\n"


def test_strict_plugins(tmp_path: Path):
    """The list is printed, and what is wrong is an error as well."""
    install(tmp_path, "x", {"xdsl.universe": {"x": "nowhere:X"}})
    error = (
        "plug-in 'x' of distribution 'x' (nowhere:X) cannot be loaded: "
        "ModuleNotFoundError: No module named 'nowhere'"
    )
    plain = run_python(tmp_path, *TRANSOM, "plugins")
    assert (plain.returncode, plain.stderr) == (0, "")
    strict = run_python(tmp_path, *TRANSOM, "plugins", "--strict-plugins")
    assert strict.stdout == plain.stdout
    assert (strict.returncode, strict.stderr) == (1, f"transom: error: {error}\n")
    made = run_python(tmp_path, *TRANSOM, "new", "dialect", "rag", cwd=tmp_path)
    assert (made.returncode, made.stderr) == (0, f"transom: warning: {error}\n")
    command = (*TRANSOM, "new", "dialect", "tag", "--strict-plugins")
    refused = run_python(tmp_path, *command, cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == f"transom: error: {error}\n"
    assert not (tmp_path / "tag").exists()
