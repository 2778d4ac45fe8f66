"""
`transom-run`: execute a module at any phase, and compare its outputs.

```text
transom-run model.mlir --input x.npy --expected y.npy
transom-run model.mlir --input x=4x4xf32=1 --input random:0
transom-opt model.mlir --to=planned | transom-run - --input random:0 --interpret
```

A module before phase `machine` is finished to machine code, or interpreted with
`--interpret`. Exit status: 0 done and equal, 1 the input is wrong or outputs differ, 2
the command line is wrong.
"""

import argparse
import faulthandler
import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from transom.tools.interrupts import interruptible_imports

with interruptible_imports():
    import numpy as np
    from xdsl.dialects.builtin import ModuleOp

    import transom
    from transom.c_functions import EXTERNS
    from transom.compiler import signature_of
    from transom.dialects.diagnostics import OpError, handling
    from transom.dialects.target import get_config
    from transom.dialects.verifier import verify_module
    from transom.driver import (
        EXECUTORS,
        PHASES,
        executor_of,
        load,
        place_in_pools,
    )
    from transom.entry import entry_signature, find_main, select_entry
    from transom.interpreters.entry import InputError as InterpreterInputError
    from transom.interpreters.interpreter import MAX_STEPS
    from transom.interpreters.weights import WeightStore
    from transom.passes.pipeline import PassObserver, PassObservers, PipelineError
    from transom.program_making import Making
    from transom.registry import new_context
    from transom.runtime.comparison import compare_all
    from transom.runtime.files import write_whole
    from transom.runtime.jit import JitError
    from transom.runtime.program import ProgramError
    from transom.runtime.signature import Array, InputError, Signature
    from transom.runtime.values import Words
    from transom.targets.bind_devices import parse_device
    from transom.targets.references import interpreter_of
    from transom.targets.resolve_devices import ShowHost, resolve_hosts
    from transom.tools.exit_status import exit_status
    from transom.tools.input_files import STDIN, read_stdin
    from transom.tools.memory_limit import memory_limited
    from transom.tools.output_files import write_stdout
    from transom.tools.pass_observers import CurrentPass
    from transom.tools.plugin_problems import (
        STRICT,
        STRICT_HELP,
        all_plugins_usable,
        warning_of_plugins,
    )
    from transom.tools.program_arguments import (
        ProgramParser,
        add_choices,
        add_data_folders,
        add_devices,
        add_error_format,
        add_in_pools,
        add_memory_limit,
        add_traceback,
        error_format,
        use_choices,
    )
    from transom.tools.reporter import Reporter
    from transom.tools.size_arguments import add_sizes, sizes_of
    from transom.tools.watched_calls import Watch

PROGRAM = "transom-run"

SHOWN_ELEMENTS = 6
"""Elements of an output that are printed."""


def arguments() -> ProgramParser:
    """The command line."""
    parser = ProgramParser(
        PROGRAM, "execute a module at any phase, and compare its outputs"
    )
    add = parser.add_argument
    add("--version", action="version", version=f"{PROGRAM} {transom.__version__}")
    add("file", help="IR text or an ONNX model; - is standard input")
    add("-f", "--format", choices=("mlir", "onnx"), help="whatever the suffix says")
    add("--function", help="the function to run (default: main)")
    add(
        "--input",
        action="append",
        default=[],
        metavar="VALUE",
        help="[NAME=]VALUE: FILE.npy, FILE.npz, 4x4xf32=1, 3xf32=1,2,3 or random:SEED; "
        "once per input, in order where no name is given; one random:SEED is for all "
        "inputs without another",
    )
    add(
        "--expected",
        action="append",
        default=[],
        metavar="VALUE",
        help="what an output must be, as for --input",
    )
    add("--rtol", type=float, help="relative tolerance (default: by element type)")
    add("--atol", type=float, help="absolute tolerance (default: by element type)")
    add("--interpret", action="store_true", help="use the reference evaluation")
    add(
        "--max-steps",
        type=int,
        help=f"scalar steps before interpretation is refused (default: {MAX_STEPS})",
    )
    add("-O", type=int, default=2, choices=range(4), help="effort of LLVM's passes")
    add_choices(add)
    add(
        "--library",
        action="append",
        default=[],
        metavar="FILE",
        help="a shared library of C functions that kernels call",
    )
    add(
        "--externs",
        default=EXTERNS[0],
        choices=EXTERNS,
        help="what runs C functions: native code, or the reference evaluations that "
        "targets bring (default: %(default)s)",
    )
    add(
        "--poison-memory",
        action="store_true",
        help="fill memory with garbage where nothing is in it, to show wrong plans",
    )
    add(
        "--executor",
        choices=EXECUTORS,
        help="what runs main: machine code, a graph or bytecode "
        "(default: what the module says, or aot)",
    )
    add_in_pools(add)
    add(
        "--profile",
        action="store_true",
        help="print the time of each kernel call (with --executor=graph or vm)",
    )
    add(
        "--repeat",
        type=int,
        metavar="N",
        help="with --profile, run N times after a first that is not counted: the least "
        "and the median time of each call; outputs are those of the last run",
    )
    add(
        "--dump-intermediates",
        metavar="DIR",
        help="write what each kernel call writes to a folder (with --executor=graph "
        "or vm)",
    )
    add_data_folders(add)
    add_sizes(add)
    add_devices(add)
    add_memory_limit(add)
    add_error_format(add)
    add_traceback(add)
    add(STRICT, action="store_true", help=STRICT_HELP)
    add("-o", "--output", metavar="FILE.npz", help="write the outputs to a file")
    add("-q", "--quiet", action="store_true", help="print differences only")
    return parser


def flags() -> Collection[str]:
    """All options."""
    return arguments().flags


def run(args: argparse.Namespace, reporter: Reporter, current: CurrentPass) -> bool:
    """Do what the command line says; True if no output differs."""
    check_choices(args)
    if args.output and not args.output.endswith(".npz"):
        raise PipelineError(f"expected a file ending in .npz, but got '{args.output}'")
    ctx = new_context()
    devices = [parse_device(text, ctx) for text in args.devices]
    if args.file == "-":
        from transom.dialects.parser import parse_ir

        if args.format == "onnx":
            raise PipelineError(
                "expected a file: an ONNX model is not read from a pipe"
            )
        content = read_stdin()
        reporter.sources.texts[STDIN] = content.decode("utf-8", "replace")
        module = parse_ir(ctx, content, STDIN)
        resolve_hosts(module)
        sizes_of(args).bound(module, "mlir")
    else:
        folders: list[str] = args.data_folders
        sizes = sizes_of(args)
        module = load(
            args.file,
            ctx=ctx,
            format=args.format,
            data_folders=folders,
            shapes=sizes.shapes,
            dims=sizes.dims,
        )
    for device in devices:
        device.apply(ctx, module)
    use_choices(module, args)
    place_in_pools(module, args.in_pools)
    verify_module(module)
    args.executor = executor_of(module, args.executor)
    watched = args.profile or args.dump_intermediates
    if watched and (args.executor == "aot" or args.interpret):
        raise PipelineError(
            "expected --executor=graph or vm with --profile and --dump-intermediates"
        )
    if args.interpret:
        signature, execute = interpreted(module, args)
    else:
        signature, execute = compiled(
            module, args, PassObservers((ShowHost(reporter.emit), current))
        )
    inputs = Words(args.input).arrays(signature.inputs, complete=True)
    expected = Words(args.expected).arrays(signature.outputs, complete=False)
    outputs = execute(inputs)
    if args.output:
        write_npz(args.output, outputs)
    differences = compare_all(outputs, expected, args.rtol, args.atol)
    lines: list[str] = []
    if not args.quiet:
        lines += [described(name, array) for name, array in outputs.items()]
    lines += map(str, differences)
    if args.expected:
        wrong = len(differences)
        lines.append(
            f"{len(expected)} outputs compared: all equal within tolerance"
            if not wrong
            else f"{wrong} of {len(expected)} outputs differ"
        )
    write_stdout("".join(f"{line}\n" for line in lines))
    return not differences


def check_choices(args: argparse.Namespace) -> None:
    """Nothing on the command line is without effect."""
    native = ("executor", "library", "poison_memory", "threads")
    for name in native if args.interpret else ():
        if getattr(args, name) not in (None, False, []):
            flag = f"--{name.replace('_', '-')}"
            raise PipelineError(f"expected --interpret or {flag}, but got both")
    if args.max_steps is not None and not args.interpret:
        raise PipelineError("expected --interpret with --max-steps")
    if args.repeat is not None and not args.profile:
        raise PipelineError("expected --profile with --repeat")
    if args.repeat is not None and args.repeat < 1:
        raise PipelineError(f"expected --repeat of 1 or more, but got {args.repeat}")


def folder_of(file: str) -> Path:
    """The folder that paths in a file are relative to."""
    return Path.cwd() if file == "-" else Path(file).parent


Execute = Callable[[dict[str, Array]], dict[str, Array]]


def interpreted(
    module: ModuleOp, args: argparse.Namespace
) -> tuple[Signature, Execute]:
    """How to run a module by the reference evaluation."""
    if get_config(module).phase == PHASES[-1].name:
        raise OpError(
            module,
            f"a module at phase '{PHASES[-1].name}' is not interpreted; "
            "run it without --interpret",
        )
    main = find_main(module, args.function)
    signature = signature_of(entry_signature(main))
    interpreter = interpreter_of(
        module,
        weights=WeightStore(module, folder_of(args.file), args.data_folders),
        max_steps=MAX_STEPS if args.max_steps is None else args.max_steps,
    )

    def execute(inputs: dict[str, Array]) -> dict[str, Array]:
        values = [inputs[spec.name] for spec in signature.inputs]
        results = interpreter.run(main.sym_name.data, values)
        names = [spec.name for spec in signature.outputs]
        return dict(zip(names, results, strict=True))

    return signature, execute


def compiled(
    module: ModuleOp, args: argparse.Namespace, observer: PassObserver
) -> tuple[Signature, Execute]:
    """How to run a module as machine code."""
    if get_config(module).phase != PHASES[-1].name:
        select_entry(module, args.function)
    making = Making(
        args.executor,
        opt_level=args.O,
        data_folders=args.data_folders,
        base=folder_of(args.file),
        externs=args.externs,
        poison_memory=args.poison_memory,
        observer=observer,
    )
    program = making.program(module.clone(), new_context(), args.library)
    watch = Watch(args.dump_intermediates) if args.executor != "aot" else None

    def execute(inputs: dict[str, Array]) -> dict[str, Array]:
        if args.library and sys.stderr is sys.__stderr__:
            faulthandler.enable()  # a crash of the library says that code ran
        if watch is None or not (args.profile or args.dump_intermediates):
            return program.run(inputs)
        if args.repeat is None:
            watch.start()
            outputs = program.run(inputs, observer=watch)
            report = watch.report()
        else:
            outputs = program.run(inputs)
            for _ in range(args.repeat):
                watch.start()
                outputs = program.run(inputs, observer=watch)
            report = watch.report_of_runs()
        if args.profile:
            write_stdout(report)
        return outputs

    return program.signature, execute


def described(name: str, array: Array) -> str:
    """One line about an output."""
    flat = array.reshape(-1)
    shown = ", ".join(_text(value) for value in flat[:SHOWN_ELEMENTS])
    if flat.size > SHOWN_ELEMENTS:
        shown += ", …"
    shape = "x".join(map(str, (*array.shape, array.dtype.name)))
    return f"{name}: {shape} = [{shown}]"


def _text(value: Any) -> str:
    if value.dtype == np.bool_:
        return str(bool(value)).lower()
    if np.issubdtype(value.dtype, np.integer):
        return str(int(value))
    return f"{float(value):.6g}"


def write_npz(path: str, outputs: dict[str, Array]) -> None:
    """Write arrays to a file, whole or not at all."""
    named: dict[str, Any] = outputs
    write_whole(path, lambda file: np.savez(file, **named))


def main(args: Sequence[str] | None = None) -> int:
    """Exit status: 0 done and equal, 1 the input is wrong or differs, 2 the command."""
    words = sys.argv[1:] if args is None else args
    reporter = Reporter(PROGRAM, error_format(words) == "json")
    current = CurrentPass()

    def body() -> bool:
        parsed = arguments().parse_words(words)
        if parsed.strict_plugins and not all_plugins_usable(reporter):
            return False
        with (
            memory_limited(parsed.memory_limit),
            handling(reporter.emit),
            warning_of_plugins(reporter),
        ):
            return run(parsed, reporter, current)

    user_errors = (InputError, InterpreterInputError, ProgramError, JitError)
    return exit_status(reporter, words, body, *user_errors, current=current)


if __name__ == "__main__":
    sys.exit(main())
