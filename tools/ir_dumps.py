"""
Dumps of the IR around passes: to a stream, or as a tree of files.

```text
// -----// IR Dump After GraphFuse (graph-fuse) //----- //
builtin.module {…

DIR/builtin_module_no-symbol-name/func_func_f/0_0_cse.mlir
DIR/builtin_module_no-symbol-name/1_dce.mlir
DIR/index.txt
```

The numbers of a file are those of `mlir-opt` that dumps all: for each op, from the
module down to the one that the pass ran on, how many passes had run on it before.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO
from urllib.parse import quote

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from transom.dialects.symbols import symbol_name
from transom.dialects.target import get_config
from transom.passes.owned_functions import shown_now, whole_copy
from transom.passes.pipeline import PassObserver
from transom.runtime.files import write_whole
from transom.tools.ir_printing import PrintOptions, ir_text

Chooses = Callable[[str], bool]
"""Says whether something is done for the pass of a name."""


def nothing(name: str) -> bool:
    """Chooses no pass."""
    return False


@dataclass(frozen=True)
class Wanted:
    """
    Which dumps are wanted.

    `only_changes` asks for those after a pass that changed something, whatever its
    name; what `after` chooses is dumped always.
    """

    before: Chooses = nothing
    after: Chooses = nothing
    only_changes: bool = False
    on_failure: bool = False
    module_scope: bool = False


class DumpSink:
    """Where dumps go. Does nothing itself."""

    def unchanged(self, pass_: ModulePass, op: Operation) -> None:
        """Told of each pass whose dump is left out because it changed nothing."""

    def ran(self, op: Operation) -> None:
        """Told of each pass before its dumps."""

    def dump(
        self, when: str, pass_: ModulePass, op: Operation, shown: Operation
    ) -> None:
        """Write down `shown`; the pass ran on `op`. `when`: Before, After or Failed."""

    def phase(self, name: str, module: ModuleOp) -> None:
        """Told that a module has reached a phase."""


@dataclass
class IrDumps(PassObserver):
    """Dumps the IR around passes."""

    sink: DumpSink
    wanted: Wanted
    _texts: list[str] = field(default_factory=list[str], init=False)
    _phase: str | None = None

    def before(self, pass_: ModulePass, op: Operation) -> None:
        self.check_phase(op)
        if self.wanted.before(pass_.name):
            self._dump("Before", pass_, op)
        if self.wanted.only_changes:
            self._texts.append(ir_text(op, EXACTLY))

    def after(self, pass_: ModulePass, op: Operation) -> None:
        self.sink.ran(op)
        unchanged = False
        if self.wanted.only_changes:
            unchanged = self._texts.pop() == ir_text(op, EXACTLY)
        if self.wanted.after(pass_.name) or (
            self.wanted.only_changes and not unchanged
        ):
            self._dump("After", pass_, op)
        elif unchanged:
            self.sink.unchanged(pass_, op)

    def failed(self, pass_: ModulePass, op: Operation) -> None:
        self.sink.ran(op)
        if self.wanted.only_changes:
            self._texts.pop()
        if self.wanted.on_failure:
            self._dump("Failed", pass_, op)

    def check_phase(self, op: Operation) -> None:
        """Tell the sink if the module has reached a phase since the last time."""
        module = op.get_toplevel_object()
        if not isinstance(module, ModuleOp):
            return
        reached = get_config(module).phase
        if reached is not None and reached != self._phase:
            self.sink.phase(reached, _whole(module))
        self._phase = reached

    def _dump(self, when: str, pass_: ModulePass, op: Operation) -> None:
        module = op.get_toplevel_object()
        shown: Operation = op
        if self.wanted.module_scope and isinstance(module, ModuleOp):
            shown = _whole(module)
        self.sink.dump(when, pass_, op, shown)


def _whole(module: ModuleOp) -> ModuleOp:
    """A module with what the pipeline at hand hides of it."""
    return module if shown_now(module).sees_all else whole_copy(module)


EXACTLY = PrintOptions(debuginfo=True)
"""Prints all that a pass may change."""


@dataclass
class StreamSink(DumpSink):
    """Dumps one after the other, each under a line that says what it is."""

    stream: IO[str]
    options: PrintOptions
    phases: bool = False
    """Whether to mark where a phase is reached."""

    def dump(
        self, when: str, pass_: ModulePass, op: Operation, shown: Operation
    ) -> None:
        cls = type(pass_).__name__.removesuffix("Pass")
        title = f"After {cls} Failed" if when == "Failed" else f"{when} {cls}"
        title = f"IR Dump {title} ({pass_.name})"
        if (name := symbol_name(op)) is not None:
            title += f" ('{op.name}' operation: @{name})"
        self._write(
            f"// -----// {title} //----- //\n{ir_text(shown, self.options)}\n\n"
        )

    def phase(self, name: str, module: ModuleOp) -> None:
        if self.phases:
            self._write(f"// -----// Phase '{name}' //----- //\n\n")

    def _write(self, text: str) -> None:
        self.stream.write(text)
        self.stream.flush()


@dataclass
class TreeSink(DumpSink):
    """
    A file per dump, in a folder per op, and `index.txt` with a line per pass.

    Files of earlier runs stay where they are; the index says which ones are of this.
    """

    folder: Path
    options: PrintOptions
    _counts: dict[str, int] = field(default_factory=dict[str, int], init=False)
    _index: list[str] = field(default_factory=list[str], init=False)

    def ran(self, op: Operation) -> None:
        key = "/".join(_folders(op))
        self._counts[key] = self._counts.get(key, -1) + 1

    def unchanged(self, pass_: ModulePass, op: Operation) -> None:
        self._note(f"{self._path(op, pass_.name)}: unchanged, not written")

    def dump(
        self, when: str, pass_: ModulePass, op: Operation, shown: Operation
    ) -> None:
        if when == "Before":
            # As if it had run, so that both dumps have the same number.
            counts = dict(self._counts)
            self.ran(op)
            path = self._path(op, f"{pass_.name}_before")
            self._counts = counts
        else:
            path = self._path(op, pass_.name + "_failed" * (when == "Failed"))
        self._write(path, shown)
        self._note(path)

    def phase(self, name: str, module: ModuleOp) -> None:
        self.ran(module)
        path = self._path(module, f"phase-{name}")
        self._write(path, module)
        self._note(f"{path}: phase '{name}' is reached")

    def _path(self, op: Operation, name: str) -> str:
        folders = _folders(op)
        keys = ("/".join(folders[: depth + 1]) for depth in range(len(folders)))
        # As in mlir-opt: an op that is only around has a number from then on.
        numbers = [str(self._counts.setdefault(key, 0)) for key in keys]
        return f"{'/'.join(folders)}/{'_'.join(numbers)}_{name}.mlir"

    def _write(self, path: str, op: Operation) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, ir_text(op, self.options) + "\n")

    def _note(self, line: str) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._index.append(f"{line}\n")
        write_whole(self.folder / "index.txt", "".join(self._index))


def _folders(op: Operation) -> tuple[str, ...]:
    """The folder of an op, outermost part first: `builtin_module_no-symbol-name`."""
    found: list[str] = []
    inner: Operation | None = op
    while inner is not None:
        symbol = inner.get_attr_or_prop("sym_name")
        name = symbol.data if isinstance(symbol, StringAttr) else "no-symbol-name"
        found.append(_safe(f"{inner.name.replace('.', '_')}_{name}"))
        inner = inner.parent_op()
    return tuple(reversed(found))


def _safe(name: str) -> str:
    """A name that is one part of a path, and no other's."""
    return quote(name, safe="$")
