"""
Runs of `transom-opt` in this process, for the tests of what it does.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from transom.tools import transom_opt


@dataclass(frozen=True)
class Result:
    """What a run left: its exit status, standard output and standard error."""

    status: int
    out: str
    err: str


Run = Callable[..., Result]


@pytest.fixture(name="run")
def run_fixture(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Run:
    """Run the program on a text, in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def run_on(text: str | bytes, *args: str, file: str = "a.mlir") -> Result:
        content = text if isinstance(text, bytes) else text.encode()
        Path(file).parent.mkdir(exist_ok=True, parents=True)
        Path(file).write_bytes(content)
        status = transom_opt.main([file, *args])
        captured = capsys.readouterr()
        return Result(status, captured.out, captured.err)

    return run_on
