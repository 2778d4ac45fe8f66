"""
The page about CMSIS-NN: its commands run, and print what it says.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cmsis_nn_library import library_path
from cortex_m import need_tools

import transom
from transom.testing import check_phases

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "cmsis-nn.md").read_text()
COMMANDS = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)


def run(command: str, folder: Path) -> str:
    """What a command prints; tools of this environment come first."""
    environment = dict(os.environ)
    # What `make` that runs the tests hands on makes `make` of the page tell more.
    for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
        environment.pop(name, None)
    environment["PATH"] = (
        f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    )
    done = subprocess.run(
        ["bash", "-e", "-c", command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder with the example and what it needs, to be written to."""
    shutil.copytree(ROOT / "examples" / "cortex_m", tmp_path / "examples" / "cortex_m")
    (tmp_path / "targets").symlink_to(ROOT / "targets")
    return tmp_path


def test_the_tutorial(tree: Path):
    """The program is built, and prints what the page says."""
    need_tools()
    expected = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    assert run(COMMANDS[0], tree).endswith(expected[0])


@pytest.mark.parametrize("number", range(1, len(COMMANDS)))
def test_commands(number: int, tree: Path):
    folder = tree / "examples" / "cortex_m"
    run(COMMANDS[number], folder)
    if "-o net.c" in COMMANDS[number]:
        assert "arm_convolve_wrapper_s8(" in (folder / "net.c").read_text()


def test_two_devices():
    """Three targets on two devices; the numbers are those of the library later on."""
    module = transom.load(ROOT / "examples" / "two_devices" / "model.mlir")
    libraries = [library_path()]
    check_phases(module, absolute=0.02, libraries=libraries, phases=["placed"])
    later = transom.lower(module, to="partitioned")
    check_phases(later, libraries=libraries)
