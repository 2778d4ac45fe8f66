"""
Programs for Cortex-M, built with GNU's compiler and run by QEMU on the boards that have
the cores; tests are skipped where these are not installed.
"""

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from cmsis_nn_library import REFERENCE

from transom.tools import transom_compile, transom_opt

EXAMPLE = Path(__file__).parents[2] / "examples" / "cortex_m"
GUARD = 64


class Board(NamedTuple):
    """What code for a core is compiled with, and what runs it."""

    triple: str
    flags: Sequence[str]
    machine: str


BOARDS = {
    "cortex-m3": Board("thumbv7m-none-eabi", (), "mps2-an385"),
    "cortex-m4": Board(
        "thumbv7em-none-eabihf",
        ("-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"),
        "mps2-an386",
    ),
    "cortex-m7": Board(
        "thumbv7em-none-eabihf", ("-mfloat-abi=hard", "-mfpu=fpv5-d16"), "mps2-an500"
    ),
    "cortex-m55": Board(
        "thumbv8.1m.main-none-eabihf", ("-mfloat-abi=hard",), "mps3-an547"
    ),
}


def need_tools() -> None:
    """Skip the test if a tool is missing."""
    for tool in ("arm-none-eabi-gcc", "qemu-system-arm"):
        if shutil.which(tool) is None:
            pytest.skip(f"needs {tool}")


def device_text(cpu: str) -> str:
    """The device of a board, for `--device`."""
    own = f'#llvm_cpu.target<cpu = "{cpu}", triple = "{BOARDS[cpu].triple}">'
    return f'mcu={{targets = [#cmsis_nn.target<cpu = "{cpu}">, {own}]}}'


def build_library(model: Path, cpu: str, folder: Path) -> None:
    """`libnet.a` and `net.h` of a model, in a folder."""
    arguments = [str(model), "--device", device_text(cpu), "--emit=static"]
    status = transom_compile.main([*arguments, "--name=net", "-o", str(folder)])
    assert status == 0, "the library is made"


def build_c(model: Path, cpu: str, folder: Path) -> None:
    """`net.c` of a model, in a folder: kernels and main in C."""
    c = '#c_source.target<index_bits = 32, headers = ["arm_nnfunctions.h"]>'
    device = f'mcu={{targets = [#cmsis_nn.target<cpu = "{cpu}">, {c}]}}'
    arguments = [str(model), "--device", device, "--to=executable"]
    emitted = ["-t", 'c-source{prefix="net_" index-bits=32}', "-o", f"{folder}/net.c"]
    assert transom_opt.main([*arguments, *emitted]) == 0, "the file is written"


def run_on_board(sources: Sequence[Path], cpu: str, folder: Path) -> str:
    """
    What a program prints that is linked with the functions of CMSIS-NN. The program has
    to exit with status 0.
    """
    board, program = BOARDS[cpu], folder / "program.elf"
    command = [
        *("arm-none-eabi-gcc", f"-mcpu={cpu}", *board.flags, "-O2", "-Wall", "-Werror"),
        *("--specs=rdimon.specs", "-nostartfiles", "-T", EXAMPLE / "cortex_m.ld"),
        *(f"-I{folder}", f"-I{REFERENCE}", EXAMPLE / "startup.c", *sources),
        *(REFERENCE / "arm_nnfunctions.c", "-lm"),
        *("-o", program, "-Wl,--gc-sections"),
    ]
    subprocess.run(command, check=True)
    emulator = [
        *("qemu-system-arm", "-M", board.machine, "-nographic", "-monitor", "none"),
        *("-serial", "none", "-semihosting-config", "enable=on,target=native"),
        *("-kernel", str(program)),
    ]
    done = subprocess.run(
        emulator, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def main_text(
    inputs: Mapping[str, npt.NDArray[np.int8]],
    outputs: Mapping[str, Sequence[int]],
    in_c: bool = False,
) -> str:
    """
    A program that runs the library `net` on inputs and prints each output in a line.
    Memory is full of garbage before, and must not be written beside the pool. With
    `in_c` the library is a file of C.
    """
    header, size = '"net.h"', "NET_POOL_MAIN_WORKSPACE_BYTES"
    call = [
        f"    const struct net_inputs in = {{{_fields(inputs)}}};",
        f"    struct net_outputs out = {{{_fields(outputs)}}};",
        "    const struct net_pools pools = {.main_workspace = memory + GUARD};",
        "    const int32_t status = net_run(&in, &out, &pools);",
    ]
    if in_c:
        header, size = '"net.c"', "NET_MAIN_WORKSPACE_SIZE"
        passed = [*inputs, *outputs, "(int8_t *)memory + GUARD"]
        call = [f"    const int32_t status = net_main({', '.join(passed)});"]
    arrays = [
        f"static const int8_t {name}[] = {{{', '.join(map(str, x.reshape(-1)))}}};"
        for name, x in inputs.items()
    ]
    arrays += [
        f"static int8_t {name}[{int(np.prod(shape))}];"
        for name, shape in outputs.items()
    ]
    prints = [f"    print({name}, sizeof {name});" for name in outputs]
    return "\n".join(
        [
            "#include <stdio.h>",
            "#include <string.h>",
            f"#include {header}",
            f"enum {{ GUARD = {GUARD} }};",
            "static _Alignas(64) uint8_t",
            f"    memory[{size} + 2 * GUARD];",
            *arrays,
            "static void print(const int8_t *values, size_t count) {",
            '    for (size_t k = 0; k < count; ++k) printf("%d ", values[k]);',
            '    puts("");',
            "}",
            "int main(void) {",
            "    memset(memory, 0x5A, sizeof memory);",
            *call,
            '    if (status != 0) return printf("status %d\\n", (int)status), 2;',
            "    for (int k = 0; k < GUARD; ++k)",
            "        if (memory[k] != 0x5A || memory[sizeof memory - 1 - k] != 0x5A)",
            '            return puts("memory beside the pool is written"), 3;',
            *prints,
            "    return 0;",
            "}",
            "",
        ]
    )


def _fields(names: Mapping[str, object]) -> str:
    return ", ".join(f".{name} = {name}" for name in names)


def numbers(text: str) -> list[Any]:
    """The printed outputs."""
    return [np.array(line.split(), np.int8) for line in text.splitlines()]
