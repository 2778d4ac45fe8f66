"""Runs of `transom-opt` on a text, with passes of a test among the registered ones."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from xdsl.passes import ModulePass

from transom.passes.pipeline import PassRegistry
from transom.registry import Registry, registry
from transom.tools import opt_driver, transom_opt

SUMS = """\
func.func @f(%x: i32) -> i32 {
  %a = arith.addi %x, %x : i32
  %b = arith.addi %x, %x : i32
  %c = arith.muli %a, %b : i32
  func.return %c : i32
}
"""


@dataclass(frozen=True)
class Result:
    status: int
    out: str
    err: str


@dataclass(frozen=True)
class Opt:
    """The program, in a folder of the test's own."""

    folder: Path
    capsys: pytest.CaptureFixture[str]
    monkeypatch: pytest.MonkeyPatch

    def __post_init__(self) -> None:
        self.monkeypatch.chdir(self.folder)

    def __call__(self, text: str, *args: str, file: str = "a.mlir") -> Result:
        """Run it on a text that is put into a file, or on what a file has (`-`)."""
        Path(file).write_text(text)
        return self.on(file, *args)

    def on(self, *args: str) -> Result:
        """Run it with arguments alone."""
        status = transom_opt.main(list(args))
        captured = self.capsys.readouterr()
        return Result(status, captured.out, captured.err)

    def register(self, *passes: type[ModulePass]) -> None:
        """Register passes until the end of the test, for the program alone."""
        known = registry()
        factories: dict[str, Callable[[], type[ModulePass]]] = {
            name: known.passes[name] for name in known.passes
        }
        factories |= {cls.name: lambda cls=cls: cls for cls in passes}
        fresh = Registry(
            dialects=known.dialects,
            passes=PassRegistry(factories),
            emitters=known.emitters,
            readers=known.readers,
        )
        self.monkeypatch.setattr(opt_driver, "registry", lambda: fresh)
