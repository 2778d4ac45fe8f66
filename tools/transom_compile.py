"""
`transom-compile`: make a program or a C library of a model.

```text
transom-compile model.onnx --dim N=1..8 -o build/
transom-compile model.mlir --emit=static --emit=shared --name=mlp -o build/
transom-compile model.mlir --device 'cpu=#llvm_cpu.target<cpu = "cortex-a72">' \\
    --emit=static -o build/
```

`program` is a file for `transom.runtime.load`; the others are a C library with a
header, which takes all memory from its caller. Exit status: 0 done, 1 the input is
wrong, 2 the command line is wrong.
"""

import argparse
import re
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from transom.tools.interrupts import interruptible_imports

with interruptible_imports():
    from xdsl.dialects.builtin import ModuleOp

    import transom
    from transom.c_library import EMITTED, allocates, library_of, write_library
    from transom.dialects.diagnostics import handling, report
    from transom.dialects.target import get_config
    from transom.driver import (
        EXECUTORS,
        PHASES,
        executor_of,
        load,
        place_in_pools,
    )
    from transom.entry import select_entry
    from transom.kernel_code import lower_to_machine
    from transom.passes.pipeline import PassObservers, PipelineError
    from transom.program_making import Making
    from transom.registry import new_context
    from transom.runtime.archive import save
    from transom.targets.bind_devices import parse_device
    from transom.targets.resolve_devices import ShowHost
    from transom.tools.exit_status import exit_status
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

TOOL = "transom-compile"

PROGRAM = "program"
"""What is emitted by default: a file for transom's runtime."""


def arguments() -> ProgramParser:
    """The command line."""
    parser = ProgramParser(TOOL, "make a program or a C library of a model")
    add = parser.add_argument
    add("--version", action="version", version=f"{TOOL} {transom.__version__}")
    add("file", help="IR text or an ONNX model")
    add("-f", "--format", choices=("mlir", "onnx"), help="whatever the suffix says")
    add("-o", "--output", metavar="DIR", required=True, help="where files are written")
    add(
        "--emit",
        action="append",
        choices=(PROGRAM, *EMITTED),
        help=f"what to write, maybe several (default: {PROGRAM})",
    )
    add(
        "--executor",
        choices=EXECUTORS,
        help="what runs main of a program: machine code, a graph or bytecode "
        "(default: what the module says, or aot)",
    )
    add("--name", help="what files and C functions are named (default: as the file)")
    add_in_pools(add)
    add("--function", help="the function to compile (default: main)")
    add("--cc", metavar="COMPILER", help="what links shared libraries and objects")
    add("-O", type=int, default=2, choices=range(4), help="effort of LLVM's passes")
    add_choices(add)
    add_data_folders(add)
    add_sizes(add)
    add_devices(add)
    add_memory_limit(add)
    add_error_format(add)
    add_traceback(add)
    add(STRICT, action="store_true", help=STRICT_HELP)
    return parser


def flags() -> Collection[str]:
    """All options."""
    return arguments().flags


OF_C = frozenset({"c", "dl", "gcc", "gomp", "m", "pthread", "rt", "util"})
"""Libraries that C programs are linked to as `-lNAME`."""


def warn_of_name(name: str, module: ModuleOp) -> None:
    """Say that a library has the name of one that C programs are linked to."""
    if name in OF_C:
        message = (
            f"'lib{name}' is what '-l{name}' means to C compilers; choose another name "
            "with --name"
        )
        report("warning", module, message)


def default_name(file: str) -> str:
    """A C identifier that is like the name of a file."""
    name = re.sub(r"\W", "_", Path(file).stem, flags=re.ASCII)
    return f"_{name}" if name[:1].isdigit() else name


def run(args: argparse.Namespace, reporter: Reporter, current: CurrentPass) -> bool:
    """Do what the command line says."""
    ctx = new_context()
    devices = [parse_device(text, ctx) for text in args.devices]
    sizes = sizes_of(args)
    module = load(
        args.file,
        ctx=ctx,
        format=args.format,
        data_folders=args.data_folders,
        shapes=sizes.shapes,
        dims=sizes.dims,
    )
    for device in devices:
        device.apply(ctx, module)
    use_choices(module, args)
    place_in_pools(module, args.in_pools)
    if get_config(module).phase != PHASES[-1].name:
        select_entry(module, args.function)
    observer = PassObservers((ShowHost(reporter.emit), current))
    kinds = list(dict.fromkeys(args.emit or [PROGRAM]))
    executor = executor_of(module, args.executor)
    if executor != "aot" and kinds != [PROGRAM]:
        raise PipelineError(
            f"expected executor 'aot' for a C library, but got '{executor}'"
        )
    making = Making(
        executor,
        opt_level=args.O,
        data_folders=args.data_folders,
        base=Path(args.file).parent,
        runs_here=False,
        observer=observer,
    )
    code = making.code(module, ctx)
    name = args.name or default_name(args.file)
    folder = Path(args.output)
    library = None
    if kinds != [PROGRAM]:
        if allocates(code) and get_config(module).phase != PHASES[-1].name:
            # It was found, but only what is lowered tells where that is.
            lower_to_machine(module, ctx, args.O, runs_here=False)
        library = library_of(module, code, name)
        warn_of_name(name, module)
    written: list[Path] = []
    for kind in kinds:
        if kind == PROGRAM or library is None:
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"{name}.transom"
            save(code, path)
            written.append(path)
        else:
            written += write_library(library, folder, kind, args.cc)
    write_stdout("".join(f"{path}\n" for path in dict.fromkeys(written)))
    return True


def main(args: Sequence[str] | None = None) -> int:
    """Exit status: 0 done, 1 the input is wrong, 2 the command line."""
    words = sys.argv[1:] if args is None else args
    reporter = Reporter(TOOL, error_format(words) == "json")
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

    return exit_status(reporter, words, body, current=current)


if __name__ == "__main__":
    sys.exit(main())
