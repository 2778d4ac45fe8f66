"""
`transom-opt`: read IR, lower it to a phase, run passes on it, print it.

```text
transom-opt model.mlir -p 'graph-fold-constants,func.func(cse)'
transom-opt model.mlir --to=planned --print-ir-after-change
```

Exit status: 0 done, 1 the input is wrong, 2 the command line is wrong.
"""

import argparse
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import cast

from xdsl.dialects.builtin import LocationAttr, ModuleOp
from xdsl.ir import Attribute
from xdsl.utils.arg_spec import parse_spec
from xdsl.utils.exceptions import (
    ArgSpecParseError,
    DiagnosticException,
    ParseError,
    ShrinkException,
)
from xdsl.utils.frontend import Frontend
from xdsl.xdsl_opt_main import xDSLOptMain

import transom
from transom.dialects.diagnostics import (
    Diagnostic,
    OpError,
    Sources,
    did_you_mean,
    file_location,
    handling,
)
from transom.dialects.parser import allow_deep_recursion
from transom.dialects.verifier import verify_module
from transom.driver import PHASES, lower_in_place
from transom.passes.pipeline import (
    PassObserver,
    PassObservers,
    Pipeline,
    PipelineError,
    parse_pipeline,
)
from transom.registry import registry
from transom.runtime.files import write_whole
from transom.targets.resolve_devices import HostNote
from transom.tools import expected_diagnostics, listings
from transom.tools.opt_arguments import add_arguments, normalize
from transom.tools.output_files import write_stdout
from transom.tools.pass_observers import (
    CurrentPass,
    PrintIR,
    TimePasses,
    VerifyEach,
    ir_text,
)
from transom.tools.readers import MlirReader, OnnxReader
from transom.tools.round_trip import verify_roundtrip

PROGRAM = "transom-opt"

SPLIT_MARKER = re.compile(rb"^// -----.*\n?", re.MULTILINE)


@dataclass(frozen=True)
class Chunk:
    """A part of the input that is a module of its own."""

    content: bytes
    line_offset: int


class TransomOptMain(xDSLOptMain):
    """xDSL's driver with transom's parser, pipelines, phases and diagnostics."""

    version_format = f"{PROGRAM} {transom.__version__} on xdsl {{xdsl_version}}"

    nested_pipeline: Pipeline
    sources: Sources

    def __init__(self, args: Sequence[str] | None = None) -> None:
        # `--disable-verify` would switch off verifiers of the whole process.
        post_init = Attribute.__post_init__
        try:
            super().__init__("transom modular optimizer driver", args)
        finally:
            Attribute.__post_init__ = post_init
        self.sources = Sources()
        self.diagnostics: list[Diagnostic] = []
        self.current = CurrentPass()
        self.times = TimePasses()

    # What is registered

    def register_all_dialects(self) -> None:
        for name, factory in registry().dialects.items():
            self.ctx.register_dialect(name, factory)

    def register_all_passes(self) -> None:
        self.available_passes.update(registry().passes)

    def register_all_targets(self) -> None:
        self.available_targets.update(registry().emitters)

    def register_all_frontends(self) -> None:
        self.available_frontends.update(registry().readers)
        self.available_frontends["mlir"] = lambda: MlirReader
        self.available_frontends["onnx"] = lambda: OnnxReader

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        arg_parser.prog = PROGRAM
        super().register_all_arguments(arg_parser)
        add_arguments(arg_parser)

    def setup_pipeline(self) -> None:
        phases = [phase.name for phase in PHASES]
        to = self.args.to
        if to is not None and to not in phases:
            raise PipelineError(f"unknown phase '{to}'{did_you_mean(to, phases)}")
        for name in (*self.args.print_ir_before, *self.args.print_ir_after):
            if name not in self.available_passes:
                near = did_you_mean(name, self.available_passes)
                raise PipelineError(f"unknown pass '{name}'{near}")
        self.nested_pipeline = parse_pipeline(
            self.args.passes, self.available_passes, self.ctx
        )

    # Running

    def run(self) -> None:
        if not self.run_file():
            sys.exit(1)

    def run_file(self) -> bool:
        """Do what the command line says. True if the input was right."""
        if (listing := self._listing()) is not None:
            write_stdout(listing)
            return True
        name = self.get_input_name()
        outputs: list[str] = []
        good = True
        for chunk in self.read_chunks(name):
            text = self.process(chunk, name)
            if text is None:
                good = False
            else:
                outputs.append(text)
        if self.args.time_passes:
            sys.stderr.write(self.times.report())
        if self.args.verify_diagnostics:
            good = self._all_expected(name)
        self.write("// -----\n".join(outputs), good)
        return good

    def process(self, chunk: Chunk, name: str) -> str | None:
        """The output for one chunk, or None after a diagnostic."""
        module: ModuleOp | None = None
        start = _start_of(name, chunk)
        try:
            with handling(self.emit):
                module = self.read(chunk, name)
                self.transform(module)
                return self.output_resulting_program(module)
        except OpError as e:
            if module is None and self.args.parsing_diagnostics:
                write_stdout(e.diagnostic().render(self.sources) + "\n")
                return ""
            self.emit(e.diagnostic())
        except DiagnosticException as e:  # of a pass or emitter that is not ours
            self.emit(Diagnostic("error", start, self._attributed(str(e))))
        except (PipelineError, ShrinkException, OSError):
            raise
        except Exception as e:  # plug-in boundary: passes, readers, emitters of others
            if self.args.traceback:
                raise
            self.emit(Diagnostic("error", start, self._bug(e)))
        return None

    def read(self, chunk: Chunk, name: str) -> ModuleOp:
        """Parse a chunk by the reader of its suffix, or that of `-f`."""
        spec = parse_spec(self.args.frontend or _suffix(name))
        if spec.name == "mlir":
            reader: Frontend = MlirReader(
                self.args.no_implicit_module, chunk.line_offset
            )
        elif spec.name == "onnx":
            reader = OnnxReader(tuple(self.args.data_folders))
        else:
            cls = cast(
                Callable[[], type[Frontend]], self.available_frontends[spec.name]
            )
            reader = cls().from_spec(spec)
        try:
            return reader.parse(self.ctx, BytesIO(chunk.content), name)
        except ParseError as e:  # of a reader that is not ours
            file, line, column = e.span.get_location()
            where = file_location(file, line + chunk.line_offset, column)
            raise OpError(where, e.msg) from None

    def transform(self, module: ModuleOp) -> None:
        """Verify, lower to the phase of `--to`, run the passes of `-p`."""
        if not self.args.disable_verify:
            verify_module(module)
        observer = self.observer()
        if self.args.to is not None:
            lower_in_place(module, self.args.to, ctx=self.ctx, observer=observer)
        self.nested_pipeline.apply(self.ctx, module, observer)
        if not self.args.disable_verify:
            verify_module(module)
        if self.args.verify_roundtrip:
            verify_roundtrip(self.ctx, module)

    def output_resulting_program(self, prog: ModuleOp) -> str:
        self.current.name = None
        text = super().output_resulting_program(prog)
        return text.rstrip("\n") + "\n" if text else text

    # Input and output

    def get_input_name(self) -> str:
        file = self.args.input_file
        return "<stdin>" if file in (None, "-") else file

    def read_chunks(self, name: str) -> list[Chunk]:
        """The input, in pieces if it is to be split. Raises `OSError`."""
        kind = parse_spec(self.args.frontend or _suffix(name)).name
        if kind not in self.available_frontends:
            known = did_you_mean(kind, self.available_frontends)
            raise PipelineError(f"{name}: unknown kind of file '{kind}'{known}")
        if kind == "onnx":  # which is large, and read by its own reader
            if name == "<stdin>":
                raise PipelineError(
                    "expected a file for '-f onnx': its weights stay there"
                )
            return [Chunk(b"", 0)]
        if name == "<stdin>":
            content = sys.stdin.buffer.read()
        else:
            content = Path(name).read_bytes()
        self.sources.texts[name] = content.decode("utf-8", "replace")
        if not self.args.split_input_file:
            return [Chunk(content, 0)]
        return list(split(content))

    def write(self, text: str, good: bool) -> None:
        """Write to `-o`, whole and only if all is good, or to standard output."""
        if self.args.output_file in (None, "-"):
            write_stdout(text)
        elif good:
            write_whole(self.args.output_file, text)

    def emit(self, diagnostic: Diagnostic) -> None:
        """Show a diagnostic, or keep it to be matched with what is expected."""
        if self.args.verify_diagnostics:
            self.diagnostics.append(diagnostic)
        else:
            sys.stderr.write(diagnostic.render(self.sources) + "\n")

    def observer(self) -> PassObserver:
        """All that watches passes, by the flags given."""
        args = self.args
        observers: list[PassObserver] = [self.current]
        if not args.verify_diagnostics:  # it would have to be expected everywhere
            observers.append(HostNote(self.emit))
        if args.time_passes:
            observers.append(self.times)
        observers.append(
            PrintIR(
                sys.stderr,
                lambda op: ir_text(op, args.print_debuginfo, args.print_op_generic),
                lambda name: args.print_ir_before_all or name in args.print_ir_before,
                lambda name: (
                    args.print_ir_after_all
                    or args.print_between_passes
                    or name in args.print_ir_after
                ),
                args.print_ir_after_change,
                args.print_ir_after_failure,
                args.print_ir_module_scope,
            )
        )
        if args.verify_each and not args.disable_verify:
            observers.append(VerifyEach())
        return PassObservers(tuple(observers))

    # Messages

    def _listing(self) -> str | None:
        if self.args.show_phases:
            return listings.phases()
        if self.args.list_passes:
            return listings.passes(self.available_passes)
        if self.args.show_dialects:
            return listings.dialects(registry().dialects)
        return None

    def _all_expected(self, name: str) -> bool:
        expectations = expected_diagnostics.expectations_in(
            self.sources.texts.get(name, ""), name
        )
        problems = expected_diagnostics.compare(
            expectations, self.diagnostics, self.args.only_expected_diagnostics
        )
        sys.stderr.write("".join(f"{problem}\n" for problem in problems))
        return not problems

    def _attributed(self, message: str) -> str:
        if self.current.name is None:
            return message
        return f"pass '{self.current.name}' failed: {message}"

    def _bug(self, error: Exception) -> str:
        frames = (
            inspect.getinnerframes(error.__traceback__) if error.__traceback__ else []
        )
        where = (
            f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}"
            if frames
            else ""
        )
        message = str(error).split("\n")[0]
        return self._attributed(
            f"{type(error).__name__}: {message}{where}; "
            "this is a bug, '--traceback' shows more"
        )


def split(content: bytes) -> Iterator[Chunk]:
    """The pieces between lines that start with `// -----`."""
    start = 0
    for marker in SPLIT_MARKER.finditer(content):
        yield Chunk(content[start : marker.start()], content.count(b"\n", 0, start))
        start = marker.end()
    yield Chunk(content[start:], content.count(b"\n", 0, start))


def _suffix(name: str) -> str:
    """The kind of a file by its name; what has no suffix is IR text."""
    return Path(name).suffix.removeprefix(".") or "mlir"


def _start_of(name: str, chunk: Chunk) -> LocationAttr:
    return file_location(name, chunk.line_offset + 1, 1)


def main(args: Sequence[str] | None = None) -> int:
    """Exit status: 0 done, 1 the input is wrong, 2 the command line is wrong."""
    allow_deep_recursion()
    try:
        driver = TransomOptMain(normalize(sys.argv[1:] if args is None else args))
        for problem in registry().problems:
            kind = "error" if driver.args.strict_plugins else "warning"
            print(f"{PROGRAM}: {kind}: {problem}", file=sys.stderr)
        if registry().problems and driver.args.strict_plugins:
            return 1
        return 0 if driver.run_file() else 1
    except SystemExit as e:  # of argparse: 0 after --help, 2 after its own message
        return e.code if isinstance(e.code, int) else 0
    except PipelineError as e:
        print(f"{PROGRAM}: error: {e}", file=sys.stderr)
        return 2
    except OpError as e:  # of the comments for --verify-diagnostics
        print(e, file=sys.stderr)
        return 1
    except (ArgSpecParseError, ValueError) as e:  # of a spec for -t or -f
        print(f"{PROGRAM}: error: {e}", file=sys.stderr)
        return 2
    except ShrinkException:
        print("Success, can shrink")
        return 0
    except BrokenPipeError:  # the reader of our output has gone
        return 1
    except OSError as e:
        where = "<stdout>" if e.filename is None else e.filename
        print(f"{PROGRAM}: error: {where}: {e.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
