"""
The base of passes that look at one kernel at a time, and need not look twice.

What such a pass makes of a kernel is kept by content (`transom.cache`): the kernel
without names, the text of the pass and the code of its package. A kernel that was seen
before, by any process, is replaced by what became of it; the pass runs on the others,
while those are declarations.

Kernels with locations are never kept: what is made of them says where it comes from.
The kernels that conversions make have none, as their calls have them.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation, Region
from xdsl.passes import ModulePass

from transom.cache import content_key, count, foundation, identity_of, store
from transom.dialects.compact_form import NoCompactForm, decode, encode
from transom.dialects.diagnostics import OpError
from transom.dialects.symbols import set_symbol_name, symbol_name, symbols_of
from transom.dialects.verified_functions import mark_verified
from transom.dialects.verifier import verify_module
from transom.passes.owned_functions import is_kernel
from transom.passes.pass_options import format_pass

NAMELESS = StringAttr("kernel")


@dataclass(frozen=True)
class KernelPass(ModulePass):
    """
    A pass that treats each kernel alone.

    What it makes of a `tir.func` must depend on nothing but that kernel, the options of
    the pass and its code: on no other op or attribute of the module, no name and no
    location, no environment. It may change what is not in a kernel as it likes.
    """

    is_kept: ClassVar[bool] = True
    """Whether results are kept; a pass that is as fast as a look-up says no."""

    def concerns(self, kernel: Operation) -> bool:
        """Whether the pass may change a kernel; what it does not change is not kept."""
        return True

    @abstractmethod
    def apply_to_kernels(self, ctx: Context, module: ModuleOp) -> None:
        """Do the work of the pass on a module, some of whose kernels have no body."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not self.is_kept or not store().keeps:
            self.apply_to_kernels(ctx, op)
            return
        found, missing = self._look_up(ctx, op)
        for kernel in found:
            kernel.hide()
        try:
            self.apply_to_kernels(ctx, op)
        finally:
            for kernel in found:
                kernel.show()
        self._keep(op, missing)

    def _look_up(
        self, ctx: Context, module: ModuleOp
    ) -> "tuple[list[_Found], dict[str, str]]":
        """The kernels whose results are known, and the names and keys of the others."""
        package = type(self).__module__.partition(".")[0]
        made_by = (format_pass(self), identity_of(package), foundation())
        found: list[_Found] = []
        missing: dict[str, str] = {}
        for op in module.body.ops:
            name = symbol_name(op)
            if name is None or not is_kernel(op) or not self.concerns(op):
                continue
            form = nameless_form(op, to_hash=True)
            if form is None:
                count(self.name, refused=1)
                continue
            key = content_key((*made_by, form))
            result = store().get(self.name, key)
            new = None if result is None else read_kernel(ctx, result, name)
            if new is None:
                missing[name] = key
            else:
                found.append(_Found(op, new))
        return found, missing

    def _keep(self, module: ModuleOp, missing: dict[str, str]) -> None:
        """Keep what became of kernels, under their keys."""
        symbols = dict(symbols_of(module)) if missing else {}
        for name, key in missing.items():
            result = symbols.get(name)
            form = None
            if result is not None and is_kernel(result):
                form = form_to_keep(result)
            if form is None:
                count(self.name, refused=1)
            else:
                store().put(self.name, key, form)


class _Found(NamedTuple):
    """A kernel, and what the pass would make of it."""

    kernel: Operation
    result: Operation

    def hide(self) -> None:
        """Leave a declaration."""
        self.kernel.detach_region(0)
        self.kernel.add_region(Region())

    def show(self) -> None:
        """Put the result in the kernel's place."""
        block = self.kernel.parent
        assert block is not None, "the pass leaves declarations alone"
        block.insert_op_before(self.result, self.kernel)
        self.kernel.detach()
        self.kernel.erase()
        mark_verified(self.result)


def nameless_form(
    kernel: Operation, to_hash: bool = False, with_places: bool = False
) -> bytes | None:
    """
    The compact form of a kernel without its name, or None if it has none; if it may be
    `with_places`, the locations in it are left out.
    """
    name = kernel.properties["sym_name"]
    kernel.properties["sym_name"] = NAMELESS
    try:
        return encode(kernel, to_hash, with_places)
    except NoCompactForm:
        return None
    finally:
        kernel.properties["sym_name"] = name


def form_to_keep(kernel: Operation) -> bytes | None:
    """
    The compact form of a kernel that was made, or None for one that is not kept: an
    entry verifies, so that what is found need not be verified again.
    """
    try:
        verify_module(kernel)
    except OpError:  # whoever verifies the module will tell
        return None
    return nameless_form(kernel)


def read_kernel(ctx: Context, form: bytes, name: str) -> Operation | None:
    """
    The kernel of a compact form, under a name; None if it can not be read, as where
    this context lacks a dialect.
    """
    try:
        kernel = decode(ctx, form)
    except Exception:  # whatever is wrong with it, it can be made again
        return None
    set_symbol_name(kernel, name)
    return kernel
