"""
Fresh environments for tests of projects that are installed beside transom: nothing is
fetched, third-party packages are those of the environment that runs the tests.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("LICENSE", "README.md", "pyproject.toml", "transom")
"""What a wheel of transom is made of, with what the links in it lead to."""

INSTALL = ("install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index")


@dataclass(frozen=True)
class Environment:
    """An environment of its own in a folder."""

    folder: Path
    parent: "Environment | None" = None
    """Whose packages and programs it finds as well."""

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    @property
    def packages(self) -> Path:
        """Where its packages are."""
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        return self.folder / "lib" / version / "site-packages"

    def install(self, project: Path) -> None:
        """Install a project, from a copy, as its user would."""
        copy = self.folder / "projects" / project.name
        shutil.copytree(project, copy, ignore=shutil.ignore_patterns("__pycache__"))
        self.pip(*INSTALL, str(copy))

    def pip(self, *args: str) -> None:
        """Run pip, that of the environment that runs the tests."""
        python = str(self.python)
        command = [sys.executable, "-m", "pip", "--python", python, *args]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def run(self, *args: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run Python in it, with its programs on the path."""
        around = () if self.parent is None else (self.parent,)
        programs = [str(made.folder / "bin") for made in (self, *around)]
        path = os.pathsep.join((*programs, os.environ["PATH"]))
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        return subprocess.run(
            [self.python, *args],
            capture_output=True,
            text=True,
            check=False,
            cwd=cwd,
            env={**environment, "PATH": path},
        )


def new_environment(folder: Path, parent: Environment | None = None) -> Environment:
    """An environment that finds what is in a parent, and third-party packages."""
    command = [sys.executable, "-m", "venv", "--without-pip", folder]
    subprocess.run(command, check=True)
    made = Environment(folder, parent)
    paths = [Path(sysconfig.get_path("purelib"))]
    if parent is not None:
        paths.insert(0, parent.packages)
    (made.packages / "parents.pth").write_text("".join(f"{p}\n" for p in paths))
    return made


def with_transom(folder: Path) -> Environment:
    """An environment with transom, installed from a wheel."""
    made = new_environment(folder)
    sources = folder / "projects" / "transom"
    sources.mkdir(parents=True)
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(
                ROOT / part,
                sources / part,
                ignore=shutil.ignore_patterns("__pycache__"),
            )
        else:
            shutil.copy(ROOT / part, sources)
    made.pip(*INSTALL, str(sources))
    return made
