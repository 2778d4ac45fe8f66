"""
Programs in one process: each finds the state of a new one, and can do no harm.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from transom.tools.in_process.isolation import Command
from transom.tools.in_process.programs import UnknownProgram, programs
from transom.tools.in_process.runner import Runner, TimedOut

LEAKS = """
import gc, logging, os, random, signal, sys, threading, time, warnings

def state():
    from transom import cache
    from transom.dialects import plugins
    from transom.registry import registry
    lines = [
        sorted(k for k in os.environ if k.startswith("LEAK")),
        os.getcwd(), sys.argv, sys.getrecursionlimit(), sys.get_int_max_str_digits(),
        "leak" in sys.path, len(warnings.filters), logging.getLogger().level,
        len(logging.getLogger().handlers), logging.root.manager.disable,
        str(signal.getsignal(signal.SIGINT)), gc.isenabled(),
        sorted(n for n in registry().dialects if n.startswith("leak")),
        sys.excepthook is sys.__excepthook__, threading.active_count(),
        len(plugins._PROBLEMS), os.umask(0o22), str(cache.report()),
        cache.store().get("leak", "key"),
    ]
    for line in lines:
        print(line)

def leak():
    from transom import cache
    from transom.dialects import plugins
    from transom.registry import registry
    cache.store().put("leak", "key", b"x")
    cache.count("leak", memory=1)
    os.environ["LEAK"] = "1"
    os.chdir("/")
    sys.argv.append("leak")
    sys.setrecursionlimit(12345)
    sys.set_int_max_str_digits(0)
    sys.path.insert(0, "leak")
    warnings.simplefilter("ignore")
    logging.basicConfig(level=1)
    logging.disable(logging.CRITICAL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.alarm(1)
    gc.disable()
    os.umask(0o77)
    registry().dialects["leak"] = None
    sys.excepthook = print
    plugins._PROBLEMS["leak"] = None
    threading.Thread(target=time.sleep, args=(0.1,)).start()
    sys.stdout.close()

def warn():
    warnings.warn("once")

def said_once():
    from transom import cache
    cache.settings()

def outputs():
    print("out")
    print("err", file=sys.stderr)
    os.write(1, b"raw out\\n")
    os.write(2, b"raw err\\n")
    print(sys.stdin.read().upper())

def fails():
    raise ValueError("wrong")

def message():
    sys.exit("a message")

def status():
    return int(sys.argv[1])

def aborts():
    os.abort()

def ends():
    os._exit(3)

def hangs():
    while True:
        pass

def interrupted():
    raise KeyboardInterrupt
"""


class Programs:
    """Functions of the module above, run one after the other."""

    def __init__(self, folder: Path) -> None:
        (folder / "leaks.py").write_text(LEAKS)
        (folder / "empty").write_text("")
        self.folder = folder
        self.runner = Runner()
        self.env = {
            **os.environ,
            "PYTHONPATH": str(folder),
            "TRANSOM_CACHE": "memory",
        }
        self.count = 0

    def __call__(
        self,
        name: str,
        *args: str,
        text: str = "",
        merged: bool = False,
        env: dict[str, str] | None = None,
        seconds: float | None = None,
    ) -> tuple[int, str, str]:
        self.count += 1
        out, err = (self.folder / f"{n}{self.count}" for n in ("out", "err"))
        source = self.folder / "in"
        source.write_text(text)
        command = Command(
            (name, *args),
            {**self.env, **(env or {})},
            str(self.folder),
            str(source),
            str(out),
            None if merged else str(err),
        )
        status = self.runner.run(
            command,
            f"leaks:{name}",
            seconds=seconds,
            is_time_up=lambda: err.exists() and b"in serve" in err.read_bytes(),
        )
        shown = err.read_text() if err.exists() else ""
        return status, out.read_text() if out.exists() else "", shown


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Programs]:
    programs = Programs(tmp_path)
    yield programs
    programs.runner.close()


def test_nothing_leaks(run: Programs) -> None:
    before = run("state")
    assert before[0] == 0
    assert run("leak")[0] == 0
    assert run("state") == before
    assert run("leak", "x")[0] == 0
    assert run("state", "y") == (0, before[1].replace("']", "', 'y']", 1), "")


def test_a_warning_is_new_for_each_command(run: Programs) -> None:
    first = run("warn")
    assert "UserWarning: once" in first[2]
    assert run("warn") == first


def test_what_is_said_once_is_said_to_each_command(run: Programs) -> None:
    wrong = {"TRANSOM_CACHE": "nil"}
    first = run("said_once", env=wrong)
    assert "but got 'nil'; using none" in first[2]
    assert run("said_once", env=wrong) == first


def test_streams(run: Programs) -> None:
    assert run("outputs", text="in") == (
        0,
        "raw out\nout\nIN\n",  # as with a process: text waits in a buffer
        "err\nraw err\n",
    )
    assert run("outputs", merged=True)[1] == "err\nraw out\nraw err\nout\n\n"


def test_statuses(run: Programs) -> None:
    assert run("status", "0")[0] == 0
    assert run("status", "257")[0] == 1
    assert run("message") == (1, "", "a message\n")
    assert run("interrupted")[0] == 130
    status, out, err = run("fails")
    assert (status, out) == (1, "")
    assert err.endswith("ValueError: wrong\n")


def test_a_crash_is_a_signal_and_no_more(run: Programs) -> None:
    status, _, err = run("aborts")
    assert status == -signal.SIGABRT
    assert "Fatal Python error: Aborted" in err
    assert 'leaks.py", line' in err
    assert run("status", "0")[0] == 0
    assert run("ends")[0] == 3
    assert run("status", "4")[0] == 4


def test_a_command_that_hangs_is_stopped(run: Programs) -> None:
    run("status", "0")  # imports take a while
    with pytest.raises(TimedOut):
        run("hangs", seconds=0.2)
    shown = (run.folder / "err2").read_text()
    assert "Timeout" in shown
    assert "in hangs" in shown
    assert run("status", "0", seconds=60.0)[0] == 0


def test_one_process_for_all(run: Programs) -> None:
    run("status", "0")
    first = run.runner.process_id
    run("status", "0", env={"LEAK": "x"})
    assert run.runner.process_id == first
    # Variables that only count when Python starts.
    run("status", "0", env={"PYTHONUTF8": "1"})
    assert run.runner.process_id != first


def test_ends_with_its_parent() -> None:
    code = (
        "from transom.tools.in_process.runner import Runner\n"
        "import os\n"
        "runner = Runner()\n"
        "process = runner._process_for(os.environ)\n"
        "print(process.pid, flush=True)\n"
        "os._exit(0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    number = int(done.stdout)
    for _ in range(100):
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            return
        signal.sigtimedwait([], 0.1)
    pytest.fail("the process is still there")


def test_programs_are_console_scripts() -> None:
    found = programs(["lit"])
    assert found["lit"] == "lit.main:main"
    assert found["transom-opt"] == "transom.tools.transom_opt:main"
    assert found["filecheck"] == found["FileCheck"] == found["transom-filecheck"]
    with pytest.raises(
        UnknownProgram,
        match="expected an installed console script, but there is no 'transom-nil'",
    ):
        programs(["transom-nil"])
