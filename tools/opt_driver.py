"""
The driver of `transom-opt`: read, verify, run passes and phases, print.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import cast

from xdsl.dialects.builtin import LocationAttr, ModuleOp
from xdsl.ir import Attribute
from xdsl.universe import XDSL_UNIVERSE
from xdsl.utils.arg_spec import parse_spec
from xdsl.utils.exceptions import DiagnosticException, ParseError, ShrinkException
from xdsl.utils.frontend import Frontend
from xdsl.xdsl_opt_main import xDSLOptMain

import transom
from transom.dialects.diagnostics import (
    Diagnostic,
    OpError,
    did_you_mean,
    file_location,
    handling,
)
from transom.dialects.file_resources import ExternalResources
from transom.dialects.plugins import PluginError
from transom.dialects.verifier import verify_module
from transom.driver import PHASES
from transom.passes.op_placements import OpPlacement, add_untold, collecting
from transom.passes.pipeline import Pipeline, PipelineError
from transom.passes.pipeline import parse_pipeline as parse_pipeline_text
from transom.registry import OWN_READERS, registry
from transom.runtime.files import write_whole
from transom.targets.bind_devices import TargetBindDevicesPass, parse_device
from transom.targets.resolve_devices import resolve_hosts
from transom.tools import listings
from transom.tools.bugs import bug
from transom.tools.expected_diagnostics import compare
from transom.tools.input_files import STDIN, read_stdin
from transom.tools.ir_printing import print_options, program_text
from transom.tools.observer_arguments import check_observers
from transom.tools.opt_arguments import (
    Names,
    Step,
    add_arguments,
    normalize,
    pass_flags,
)
from transom.tools.opt_observers import CurrentPass, Observers
from transom.tools.output_files import write_stdout
from transom.tools.program_arguments import flags_of
from transom.tools.readers import MlirReader, OnnxReader
from transom.tools.reporter import Reporter
from transom.tools.reproducers import pipeline_of, reproducer_in
from transom.tools.round_trip import verify_roundtrip
from transom.tools.size_arguments import sizes_of
from transom.tools.spec_options import check_specs
from transom.tools.split_input import Chunk, split
from transom.tools.time_limit import TimeLimitError, time_limited
from transom.tools.weight_paths import folder_of, output_folder, rebase_weights

PROGRAM = "transom-opt"


def registered_names() -> Names:
    """What there is to be named on the command line."""
    return Names(
        passes=registry().passes,
        emitters=registry().emitters,
        readers=sorted({*registry().readers, *OWN_READERS}),
        phases=[phase.name for phase in PHASES],
    )


def own_flags(names: Names) -> tuple[str, ...]:
    """All options but those that run a pass."""
    return flags_of(add_arguments(argparse.ArgumentParser(), names, ""))


def flags() -> tuple[str, ...]:
    """All options."""
    names = registered_names()
    return (*own_flags(names), *pass_flags(names))


class TransomOptMain(xDSLOptMain):
    """xDSL's driver with transom's parser, pipelines, phases and diagnostics."""

    version_format = f"{PROGRAM} {transom.__version__} on xdsl {{xdsl_version}}"

    steps: tuple[Pipeline | str, ...]
    """What is done with each module, in order: a pipeline, or the name of a phase."""

    devices: tuple[TargetBindDevicesPass, ...]
    """Devices that each module gets first."""

    emitting: str | None = None
    """The emitter that is at work."""

    resources: ExternalResources
    """What tools wrote beside the IR of the current module."""

    def __init__(self, args: Sequence[str], reporter: Reporter) -> None:
        self.reporter = reporter
        self.diagnostics: list[Diagnostic] = []
        names = registered_names()
        # `--disable-verify` would switch off verifiers of the whole process.
        post_init = Attribute.__post_init__
        try:
            super().__init__(
                "Read IR, lower it to a phase, run passes on it, print it.",
                normalize(args, own_flags(names), names, PROGRAM),
            )
        finally:
            Attribute.__post_init__ = post_init
        self.current = CurrentPass()
        self.observers = Observers(
            self.args, self.available_passes, self.current, self.emit
        )

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
        add_arguments(arg_parser, registered_names(), self.version_format)

    def setup_pipeline(self) -> None:
        for name in (*self.args.print_ir_before, *self.args.print_ir_after):
            if name not in self.available_passes:
                near = did_you_mean(name, self.available_passes)
                raise PipelineError(f"unknown pass '{name}'{near}")
        if (problem := check_observers(self.args)) is not None:
            raise PipelineError(problem)
        if self.args.memory_report is not None:
            from transom.tools.memory_report import check_report_file

            check_report_file(self.args.memory_report)
        if self.args.explain_placement is not None:
            from transom.tools import placement_report

            placement_report.check_report_file(self.args.explain_placement)
        check_specs(self.args, self.available_targets, self.available_frontends)
        self.sizes = sizes_of(self.args)
        devices: list[str] = self.args.devices
        self.devices = tuple(parse_device(text, self.ctx) for text in devices)
        steps: list[Step] = self.args.steps
        self.steps = tuple(
            step.text
            if step.is_phase
            else parse_pipeline_text(step.text, self.available_passes, self.ctx)
            for step in steps
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
            self.observers.tell()
            if self.args.verify_diagnostics:
                good = self._all_expected(chunk, name) and good
            elif text is None:
                good = False
            if text is not None:
                outputs.append(text)
        self.observers.finish()
        self.write(f"{self.args.output_split_marker}\n".join(outputs), good)
        return good

    def process(self, chunk: Chunk, name: str) -> str | None:
        """The output for one chunk, or None after a diagnostic."""
        module: ModuleOp | None = None
        self.emitting = None
        start = file_location(name, chunk.line_offset + 1, 1)
        try:
            with handling(self.emit), time_limited(self.args.time_limit):
                with self.observers.measured("Parser"):
                    module = self.read(chunk, name)
                resolve_hosts(module)
                for device in self.devices:
                    device.apply(self.ctx, module)
                if self.args.show_phases:
                    return listings.phases_of(module, self.ctx)
                placements: list[OpPlacement] = []
                with self._placements_collected(placements):
                    self.transform(module)
                if self.args.explain_placement is not None:
                    self._report_placement(placements, self.args.explain_placement)
                if self.args.memory_report is not None:
                    self._report_memory(module, self.args.memory_report)
                with self.observers.measured("Output"):
                    return self.output_resulting_program(module)
        except OpError as e:
            if module is None and self.args.parsing_diagnostics:
                write_stdout(e.diagnostic().render(self.reporter.sources) + "\n")
                return ""
            self.emit(e.diagnostic())
        except PluginError as e:  # of a reader or emitter that is asked for
            self.emit(Diagnostic("error", start, str(e)))
        except DiagnosticException as e:  # of a pass or emitter that is not ours
            self.emit(Diagnostic("error", start, self._attributed(str(e))))
        except MemoryError:
            self.emit(Diagnostic("error", start, self._attributed("out of memory")))
        except TimeLimitError as e:
            self.emit(Diagnostic("error", start, self._attributed(str(e))))
        except (PipelineError, ShrinkException, OSError):
            raise
        except Exception as e:  # plug-in boundary: passes, readers, emitters of others
            if self.args.traceback:
                raise
            self.emit(self._bug(e, start))
        return None

    def _placements_collected(
        self, found: list[OpPlacement]
    ) -> AbstractContextManager[None]:
        if self.args.explain_placement is None:
            return nullcontext()
        return collecting(partial(add_untold, found))

    def _report_placement(self, found: list[OpPlacement], file: str) -> None:
        from transom.tools.placement_report import placement_report

        write_whole(file, placement_report(found, file))

    def _report_memory(self, module: ModuleOp, file: str) -> None:
        from transom.tools.memory_report import memory_report  # loads dialects

        write_whole(file, memory_report(module, file))

    def read(self, chunk: Chunk, name: str) -> ModuleOp:
        """Parse a chunk by the reader of its suffix, or that of `-f`."""
        spec = parse_spec(self.args.frontend or _suffix(name))
        self.resources = ExternalResources()
        if spec.name == "mlir":
            reader: Frontend = MlirReader(
                self.args.no_implicit_module, chunk.line_offset, self.resources
            )
        elif spec.name == "onnx":
            reader = OnnxReader(tuple(self.args.data_folders), self.sizes)
        else:
            cls = cast(
                Callable[[], type[Frontend]], self.available_frontends[spec.name]
            )
            reader = cls().from_spec(spec)
        try:
            module = reader.parse(self.ctx, BytesIO(chunk.content), name)
            self.sizes.bound(module, spec.name)
            return module
        except ParseError as e:  # of a reader that is not ours
            file, line, column = e.span.get_location()
            where = file_location(file, line + chunk.line_offset, column)
            raise OpError(where, e.msg) from None

    def transform(self, module: ModuleOp) -> None:
        """Verify, then take the steps in order, or those of a reproducer."""
        verify = not self.args.disable_verify
        if verify:
            verify_module(module)
        steps, verify_each = self.steps, verify and self.args.verify_each
        if self.args.run_reproducer:
            reproducer = reproducer_in(self.resources, module)
            passes = self.available_passes
            steps = (pipeline_of(reproducer, self.resources, self.ctx, passes),)
            verify_each = verify_each and reproducer.verify_each
        with self.observers.watching(self.ctx, module, verify_each) as run:
            for step in steps:
                run.take(step)
            if verify:
                verify_module(module)
        if self.args.verify_roundtrip:
            verify_roundtrip(self.ctx, module)

    def output_resulting_program(self, prog: ModuleOp) -> str:
        self.current.name = None
        if parse_spec(self.args.target).name == "mlir":
            old = folder_of(self.args.input_file)
            new = output_folder(self.args.output_file, old)
            rebase_weights(prog, old, new, self.emit)
            stream = sys.stdout if self.args.output_file in (None, "-") else None
            text = program_text(self.ctx, prog, print_options(self.args).on(stream))
        else:
            self.emitting = parse_spec(self.args.target).name
            text = super().output_resulting_program(prog)
            self.emitting = None
        return text.rstrip("\n") + "\n" if text else text

    # Input and output

    def get_input_name(self) -> str:
        file = self.args.input_file
        return STDIN if file in (None, "-") else file

    def read_chunks(self, name: str) -> list[Chunk]:
        """The input, in pieces if it is to be split. Raises `OSError`."""
        kind = parse_spec(self.args.frontend or _suffix(name)).name
        if kind not in self.available_frontends:
            known = did_you_mean(kind, self.available_frontends)
            raise PipelineError(
                f"{name}: unknown kind of file '{kind}'{known}; '-f' says what it is"
            )
        if kind == "onnx":  # which is large, and read by its own reader
            if name == STDIN:
                raise PipelineError(
                    "expected a file for '-f onnx': its weights stay there"
                )
            return [Chunk(b"")]
        content = read_stdin() if name == STDIN else Path(name).read_bytes()
        self.reporter.sources.texts[name] = content.decode("utf-8", "replace")
        marker: str | None = self.args.split_input_file
        return [Chunk(content)] if marker is None else list(split(content, marker))

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
            self.reporter.emit(diagnostic)

    # Messages

    def _listing(self) -> str | None:
        if self.args.show_phases and self.args.input_file is None:
            return listings.phases()
        if self.args.list_passes:
            return listings.passes(registry())
        if self.args.show_dialects:
            return listings.dialects(registry())
        if self.args.print_completion is not None:
            from transom.tools.completion import completion

            return completion(PROGRAM, registered_names(), self.args.print_completion)
        return None

    def _all_expected(self, chunk: Chunk, name: str) -> bool:
        """Compare what was kept of a chunk with its comments."""
        kept = tuple(self.diagnostics)
        self.diagnostics.clear()
        try:
            problems = compare(
                chunk.content.decode("utf-8", "replace"),
                name,
                kept,
                line_offset=chunk.line_offset,
                only_expected=self.args.verify_diagnostics == "only-expected",
                text_of=self.reporter.sources.text,
            )
        except OpError as e:  # of the comments
            problems = [e.diagnostic()]
        for problem in problems:
            self.reporter.emit(problem)
        return not problems

    def _bug(self, error: Exception, start: LocationAttr) -> Diagnostic:
        if self.emitting is None:
            return bug(error, self.current.name, start)
        verdict = "this is a bug"
        if self.emitting in XDSL_UNIVERSE.all_targets:
            verdict = (
                "it is xDSL's and takes few dialects; others are 'asm' and 'llvm-ir'"
            )
        found = bug(error, None, start, verdict)
        message = self._attributed(found.message)
        return Diagnostic("error", found.location, message)

    def _attributed(self, message: str) -> str:
        if self.emitting is not None:
            return f"emitter '{self.emitting}' failed: {message}"
        if self.current.name is None:
            return message
        return f"pass '{self.current.name}' failed: {message}"


def _suffix(name: str) -> str:
    """The kind of a file by its name; what has no suffix is IR text."""
    return Path(name).suffix.removeprefix(".") or "mlir"
