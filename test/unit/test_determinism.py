"""The same module gives the same text: again, in other processes, beside others."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

import transom
from transom.driver import declare_devices
from transom.registry import new_context

MODELS = sorted((Path(__file__).parents[1] / "models").glob("*.mlir"))
PHASES = ("partitioned", "tensor", "scheduled", "planned", "executable", "machine")
CPUS = ("x86-64-v2", "x86-64-v4")

ALL_TEXTS = """
import json, sys
from hashlib import sha256
from pathlib import Path
import transom
found = {}
for name in sys.argv[2:]:
    module = transom.load(name)
    for phase in json.loads(sys.argv[1]):
        module = transom.lower(module, phase)
        found[f"{Path(name).stem} {phase}"] = sha256(str(module).encode()).hexdigest()
print(json.dumps(found))
"""


def texts_of_a_process(seed: str, cache: str) -> dict[str, str]:
    """Hashes of the texts of all models at all phases, in a new process."""
    printed = subprocess.run(
        [sys.executable, "-c", ALL_TEXTS, json.dumps(PHASES), *map(str, MODELS)],
        env={**os.environ, "PYTHONHASHSEED": seed, "TRANSOM_CACHE": cache},
        check=True,
        stdout=subprocess.PIPE,
    ).stdout
    found: dict[str, str] = json.loads(printed)
    return found


def test_processes_agree_whatever_their_hash_seeds() -> None:
    """With a cache and without: what is found is what would be made."""
    first = texts_of_a_process("1", "off")
    assert len(first) == len(MODELS) * len(PHASES)
    assert texts_of_a_process("2", "memory") == first


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_twice_in_one_process(path: Path) -> None:
    module = transom.load(path)
    before = str(module)
    first, second = (str(transom.lower(module, "machine")) for _ in range(2))
    assert first == second
    assert str(module) == before


def for_cpu(path: Path, cpu: str) -> ModuleOp:
    """A model with a device of a CPU."""
    ctx = new_context()
    module = transom.load(path, ctx=ctx)
    declare_devices(module, {"cpu": f'#llvm_cpu.target<cpu = "{cpu}">'}, ctx)
    return module


def test_threads_for_two_targets_do_not_meet() -> None:
    """Each lowers all models for its CPU, while the other does for its own."""
    paths = [path for path in MODELS if path.stem in ("rows", "convolutions", "matmul")]
    assert len(paths) == 3

    def texts_for(cpu: str) -> list[str]:
        return [str(transom.lower(for_cpu(path, cpu), "machine")) for path in paths]

    expected = {cpu: texts_for(cpu) for cpu in CPUS}
    assert expected[CPUS[0]] != expected[CPUS[1]]
    found: dict[str, list[list[str]]] = {cpu: [] for cpu in CPUS}
    start = threading.Barrier(len(CPUS))

    def work(cpu: str) -> None:
        start.wait()
        for _ in range(2):
            found[cpu].append(texts_for(cpu))

    in_threads([lambda cpu=cpu: work(cpu) for cpu in CPUS])
    for cpu in CPUS:
        assert found[cpu] == [expected[cpu]] * 2


def test_threads_compile_the_same_program() -> None:
    """At once, from nothing: the same objects as one after the other."""
    path = next(path for path in MODELS if path.stem == "rows")
    expected = transom.compile(transom.load(path)).code.objects
    found: list[tuple[bytes, ...]] = []
    transom.cache.store().forget()

    def work() -> None:
        found.append(transom.compile(transom.load(path)).code.objects)

    in_threads([work] * 3)
    assert found == [expected] * 3


def in_threads(works: list[Callable[[], None]]) -> None:
    """Run all at once; what one raises is raised here."""
    errors: list[BaseException] = []

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as e:
            errors.append(e)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
