"""
The function of a module that a program runs.
"""

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp

from transom.dialects import tir
from transom.dialects.diagnostics import OpError, did_you_mean
from transom.dialects.executor import SIGNATURE, SignatureAttr
from transom.dialects.symbols import lookup
from transom.dialects.target import PHASES, get_config
from transom.lowering.bufferize.signatures import SHAPES, is_entry
from transom.lowering.bufferize.signatures import signature_of as tensor_signature


def find_main(module: ModuleOp, name: str | None = None) -> FuncOp:
    """
    The function to run: that of this name; without a name `@main`, or else the only one
    that is public.

    Raises `OpError` if there is none.
    """
    functions = {
        op.sym_name.data: op for op in module.body.block.ops if isinstance(op, FuncOp)
    }
    wanted = name or "main"
    if wanted in functions:
        return functions[wanted]
    if name is not None:
        if isinstance(op := lookup(module, name), tir.FuncOp):
            raise OpError(
                op, f"'@{name}' is a kernel; a function that calls it can be run"
            )
        near = did_you_mean(name, functions)
        raise OpError(module, f"the module has no function '@{name}'{near}")
    public = [func for func in functions.values() if is_entry(func)]
    if len(public) == 1:
        return public[0]
    raise OpError(
        module, f"expected '@main' or one public function, but got {len(public)}"
    )


def entry_signature(main: FuncOp) -> SignatureAttr:
    """
    Names and types of what a function takes and gives, at any phase.

    Raises `OpError` for one that takes anything but tensors.
    """
    attr = main.attributes.get(SIGNATURE)
    return attr if isinstance(attr, SignatureAttr) else tensor_signature(main)


def select_entry(module: ModuleOp, name: str | None = None) -> None:
    """
    Make the function to run the only one that users of the module call.

    Other functions become private, but the one that computes sizes of its results: they
    are compiled if it needs them. Raises `OpError` if there is no such function, or it
    can not be an entry.
    """
    main = find_main(module, name)
    called = main.sym_name.data
    if main.is_declaration:
        raise OpError(main, f"expected a body of '@{called}', but it is declared only")
    reached = get_config(module).phase
    if reached is None or PHASES.index(reached) < PHASES.index("planned"):
        signature = entry_signature(main)
        if not signature.inputs and not signature.outputs:
            raise OpError(main, f"expected '@{called}' to take or give tensors")
    for op in module.body.block.ops:
        if isinstance(op, FuncOp) and op.sym_name.data not in (called, called + SHAPES):
            op.sym_visibility = StringAttr("private")
    main.properties.pop("sym_visibility", None)
