"""How the programs end when the world around them does: pipes, interrupts, memory."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from transom.tools import memory_limit, transom_opt
from transom.tools.memory_limit import MemoryLimitError, memory_limited, size_of

GOOD = "func.func private @good()\n"
OPT = [sys.executable, "-m", "transom.tools.transom_opt"]
RUN = [sys.executable, "-m", "transom.tools.transom_run"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.mlir"
    path.write_text(GOOD)
    return path


def end_of(
    command: Sequence[str | Path], **streams: Any
) -> subprocess.CompletedProcess[str]:
    streams = {"stderr": subprocess.PIPE, "stdout": subprocess.PIPE, **streams}
    return subprocess.run(command, text=True, check=False, **streams)


def in_shell(command: Sequence[str | Path], redirection: str) -> list[str]:
    words = " ".join(f"'{word}'" for word in command)
    return ["sh", "-c", f"{words} {redirection}"]


# Pipes.


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_device(file: Path) -> None:
    with open("/dev/full", "w") as full:
        done = end_of([*OPT, file], stdout=full)
    assert (done.returncode, done.stderr) == (
        1,
        "transom-opt: error: <stdout>: No space left on device\n",
    )


def test_a_reader_that_has_gone(file: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    done = end_of([*OPT, file], stdout=write)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


def test_a_reader_of_errors_that_has_gone(file: Path) -> None:
    file.write_text("no IR")
    read, write = os.pipe()
    os.close(read)
    done = end_of([*OPT, file], stderr=write)
    os.close(write)
    assert (done.returncode, done.stdout) == (1, "")


@pytest.mark.parametrize("program", ["opt", "run"])
def test_closed_standard_input(program: str) -> None:
    command = OPT if program == "opt" else RUN
    done = end_of(in_shell([*command, "-"], "<&-"))
    message = f"transom-{program}: error: <stdin>: is closed\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", message)


def test_closed_standard_output(file: Path, tmp_path: Path) -> None:
    done = end_of(in_shell([*OPT, file], ">&-"))
    message = "transom-opt: error: <stdout>: is closed\n"
    assert (done.returncode, done.stderr) == (1, message)
    out = tmp_path / "out.mlir"
    done = end_of(in_shell([*OPT, file, "-o", out], ">&-"))
    assert (done.returncode, done.stderr) == (0, "")
    assert out.read_text().startswith("builtin.module")


def test_closed_standard_error(file: Path) -> None:
    file.write_text("no IR")
    done = end_of(in_shell([*OPT, file], "2>&-"))
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")


def test_output_is_utf8_whatever_the_locale_says(file: Path) -> None:
    file.write_text('func.func private @"é"()\n')
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run([*OPT, file], capture_output=True, env=environment)
    assert done.returncode == 0
    assert "\\C3\\A9" in done.stdout.decode() or "é" in done.stdout.decode()


def test_a_folder_as_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert transom_opt.main([str(tmp_path)]) == 1
    message = f"transom-opt: error: {tmp_path}: Is a directory\n"
    assert capsys.readouterr().err == message


# Interrupts.


def test_an_interrupt_leaves_nothing(tmp_path: Path) -> None:
    """While the input is read, from a pipe that is open."""
    pipe, folder = tmp_path / "pipe.mlir", tmp_path / "out"
    os.mkfifo(pipe)
    folder.mkdir()
    (folder / "old.mlir").write_text("old")
    process = subprocess.Popen(
        [*OPT, pipe, "-o", folder / "old.mlir"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with open(pipe, "w"):  # which waits until it is read
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "")
    assert [path.name for path in folder.iterdir()] == ["old.mlir"]
    assert (folder / "old.mlir").read_text() == "old"


def test_an_interrupt_during_start_up() -> None:
    code = (
        "import os, signal\n"
        "from transom.tools.interrupts import interruptible_imports\n"
        "with interruptible_imports():\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    print('still here')\n"
    )
    done = end_of([sys.executable, "-c", code])
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


# Memory.


@pytest.mark.parametrize(
    ("text", "size"),
    [("1", 1), ("2K", 2048), ("512M", 512 << 20), ("4GiB", 4 << 30), ("1tb", 1 << 40)],
)
def test_sizes(text: str, size: int) -> None:
    assert size_of(text) == size


@pytest.mark.parametrize("text", ["", "x", "-1", "1.5G", "1P", "9999999999999"])
def test_wrong_sizes(text: str) -> None:
    with pytest.raises(ValueError, match="expected a size, such as 512M or 4G, but"):
        size_of(text)


def test_a_limit_that_is_passed_already() -> None:
    with (
        pytest.raises(MemoryLimitError, match=r"expected a limit above the \d+M that"),
        memory_limited(1 << 20),
    ):
        pass


def test_a_system_without_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    def used(page: int) -> tuple[int, int]:
        raise FileNotFoundError

    monkeypatch.setattr(memory_limit, "_used", used)
    with (
        pytest.raises(MemoryLimitError, match="memory cannot be limited on this sys"),
        memory_limited(1 << 40),
    ):
        pass


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
@pytest.mark.parametrize("program", ["opt", "run"])
def test_too_much_memory(program: str, tmp_path: Path) -> None:
    file, out = tmp_path / "a.mlir", tmp_path / "out.mlir"
    elements = "01" * (30 << 20)
    text = (
        f'"test.op"() {{a = dense<"0x{elements}"> : tensor<{30 << 20}xi8>}} : () -> ()'
    )
    file.write_text(text)
    command = [*OPT, "-o", out] if program == "opt" else RUN
    command = [*command, str(file)]
    done = end_of([*command, "--memory-limit=150M"])
    assert done.returncode == 1
    assert done.stdout == ""
    assert "error: out of memory\n" in done.stderr
    assert "Traceback" not in done.stderr
    assert not out.exists()
    if program == "opt":
        assert end_of([*command, "--memory-limit=4G"]).returncode == 0
