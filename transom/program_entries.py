"""
Programs that were compiled before, by the content of their modules.

Compiling a module that the cache knows (`transom.cache`, kind `program`) neither lowers
anything nor runs LLVM: an entry is the code of the program with all that it needs, but
for its weights. Those are kept as the ops that make them, and are taken by their own
hashes (`transom.interpreters.weights`) from the files of the module that is compiled.

Everything that takes part is in the key: the module with its names, the machine that
compiles, the effort of LLVM's passes, the code of transom, and that of every plug-in
that is not disabled, whether it is asked or not. Targets other than CPUs, and hooks and
conversions of others, may make numbers of the code from weights, such as scales: where
they take part, so do the elements of weights in files. A module of several blocks has
no entry, nor has a program with artifacts or a graph, which runs code of others, nor
one that something was said of when it was made (`report`): it is said each time.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from transom.cache import content_key, count, foundation, identity_of, store
from transom.dialects import graph, plugins
from transom.dialects.compact_form import NoCompactForm, decode, encode
from transom.dialects.diagnostics import OpError
from transom.dialects.target import DeviceOp
from transom.dialects.weight_files import base_folder, content_sha256
from transom.interpreters.weights import WeightStore
from transom.passes.memory.planning.exact import is_available
from transom.runtime.archive import ArchiveError, pack, unpack
from transom.runtime.jit import host_cpu, host_triple
from transom.runtime.program import Code
from transom.targets.llvm_cpu.dialect import HOST, LlvmCpuAttr
from transom.targets.registry import plugin_identities

PROGRAM = "program"
"""The kind of entry: the code of a program, by its module."""


def key_of(
    module: ModuleOp,
    opt_level: int,
    data_folders: Sequence[str] = (),
    base: Path | None = None,
) -> str | None:
    """
    The key of the program of a module, whose entry is selected and whose devices are
    declared; None if it has none. Weights are read as by `find_code`.
    """
    try:
        form = encode(module, to_hash=True, with_places=True)
    except NoCompactForm:
        count(PROGRAM, refused=1)
        return None
    packages = {type(op).__module__.partition(".")[0] for op in module.walk()}
    devices = [op for op in module.body.block.ops if isinstance(op, DeviceOp)]
    targets = [target for device in devices for target in device.targets]
    targets.append(LlvmCpuAttr.get(HOST))  # which compiles what is for no device
    taking_part = (plugin for plugin in plugins.installed() if not plugin.is_disabled)
    hooks = plugin_identities(targets)
    elements: list[str] = []
    is_own = all(isinstance(target, LlvmCpuAttr) for target in targets)
    if hooks or not is_own:  # our own code for CPUs reads no weight
        try:
            elements = elements_in_files(module, data_folders, base)
        except OpError:  # compiling tells why, if it needs them
            count(PROGRAM, refused=1)
            return None
    return content_key(
        (
            form,
            f"passes of level {opt_level}, exact plans {is_available()}",
            host_triple(),
            *host_cpu(),
            *map(identity_of, sorted(packages)),
            *hooks,
            *map(plugins.code_identity, taking_part),
            *elements,
            foundation(),
        )
    )


def elements_in_files(
    module: ModuleOp, data_folders: Sequence[str], base: Path | None
) -> list[str]:
    """
    Hashes of the elements of those weights in files whose text names no hash. Raises
    `OpError` if they cannot be read.
    """
    weights = WeightStore(module, base or base_folder(module), data_folders)
    return [
        content_sha256(weights(op))
        for op in module.body.block.ops
        if isinstance(op, graph.WeightOp)
        and isinstance(op.value, graph.FileAttr)
        and op.value.sha256 is None
    ]


def find_code(
    key: str,
    module: ModuleOp,
    ctx: Context,
    data_folders: Sequence[str] = (),
    base: Path | None = None,
    *,
    runs_here: bool = True,
) -> Code | None:
    """
    The code of a key, with weights relative to `base`, by default the folder of the
    module's file.

    None if there is none, or if it can not be had here: compiling tells why. Code that
    this machine cannot run is none, unless it does not have to.
    """
    entry = store().get(PROGRAM, key)
    if entry is None:
        return None
    head, _, packed = entry.partition(b"\n")
    names, form, can_run = json.loads(head)
    if runs_here and not can_run:
        return None
    try:
        weights = decode(ctx, form.encode())
        code = unpack(packed, f"{PROGRAM}/{key}")
    except (ArchiveError, ValueError):  # such as of a context that lacks a dialect
        return None
    assert isinstance(weights, ModuleOp), "a module of weights was kept"
    made = WeightStore(weights, base or base_folder(module), data_folders)
    ops = {op.sym_name.data: op for op in weights.ops if isinstance(op, graph.WeightOp)}
    try:
        constants = {name: made.for_code(ops[name]) for name in names}
    except OpError:
        return None
    return replace(code, constants=constants)


def keep_code(key: str, module: ModuleOp, code: Code) -> None:
    """Keep the code of a program, which was made of a module at phase `machine`."""
    from transom.compiler import can_run_here

    weights = ModuleOp(
        [op.clone() for op in module.body.ops if isinstance(op, graph.WeightOp)]
    )
    try:
        form = encode(weights, with_places=True)
    except NoCompactForm:
        form = None
    if form is None or code.artifacts or code.graph is not None:
        count(PROGRAM, refused=1)
        return
    head = json.dumps([list(code.constants), form.decode(), can_run_here(module)])
    packed = pack(replace(code, constants={}))
    store().put(PROGRAM, key, head.encode() + b"\n" + packed)
