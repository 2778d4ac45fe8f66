"""
Lowering of graph functions to kernels and calls: the machinery that the built-in
lowering and those of targets share.

A target *owns* the private functions that were made for it (`graph-outline-regions`):
one block of graph ops with a place. Each `graph.fused`, `graph.composite` or single op
of such a function becomes a kernel, each call of the function becomes calls of its
kernels on values, in destination-passing style:

```mlir
%y = func.call @main_region_0(%x) : …  ==>  %d = tensor.empty() : tensor<4xf32>
                                            %y = tir.call @add_relu_1f2e3d4c(%x : …)
                                                   outs(%d : tensor<4xf32>)
```

The function itself stays, with `target.lowered_to`, so that its kernels can be lowered
again. Kernels are content: two that compute the same for the same place are one, named
by what it does and a hash; locations and origins are on the calls.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, SymbolRefAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from transom.cache import content_key, count, foundation, identity_of, store
from transom.dialects import graph, tir
from transom.dialects.symbols import set_symbol_name, symbols_of
from transom.dialects.target import (
    LOWERED_TO,
    PlaceAttr,
    TargetAttr,
    get_config,
    place_of,
    set_place,
    target_of,
)
from transom.dialects.verified_functions import mark_verified
from transom.lowering.bufferize.constants import Constants
from transom.lowering.host_body import HostBody
from transom.lowering.kernels import Kernel, forget_origin, isolate, stem_of
from transom.lowering.shape_functions import (
    SIZES,
    check_shape_function,
    count_data_sizes,
    shape_function,
    size_kernel,
    sized_op,
)
from transom.passes.kernel_pass import form_to_keep, read_kernel
from transom.passes.owned_functions import is_region


class FunctionLowering(ModulePass):
    """
    Base of passes that lower the functions of a target.

    A subclass says which functions it owns and how kernels are made of graph functions.
    What is not overridden is the same for all: keys and the cache, names, the form of
    calls, sizes of results and checks at run time, and what is kept.
    """

    drops: ClassVar[tuple[str, ...]] = ("location of tir.func",)
    """Lost on purpose, for audits: kernels are content that others may share."""

    HOST_OPS: ClassVar[tuple[type[Operation], ...]] = (
        graph.ConstantOp,
        graph.WeightRefOp,
        graph.CopyOp,
        graph.ReshapeOp,
    )
    """Ops that main does itself: they cost no kernel."""

    IS_LAST: ClassVar[bool] = False
    """
    Whether no other lowering comes after it, so that main's own constants become
    weights as well.
    """

    def is_done_by_main(self, op: Operation, target: TargetAttr | None) -> bool:
        """Whether main does an op itself, or else calls a kernel for it."""
        return isinstance(op, self.HOST_OPS)

    def owns(self, func: FuncOp) -> bool:
        """Whether the pass lowers a function. By default: every region."""
        return is_region(func)

    @abstractmethod
    def lower_kernels(
        self, ctx: Context, module: ModuleOp, target: TargetAttr | None
    ) -> None:
        """
        Turn each `func.func` of a module, a graph function on tensors, into one
        `tir.func` of the same name: inputs first, then one output per result.

        Called once per target that functions are compiled for, in the order in which
        these appear; `target` is None where neither a place nor its device says one.
        The module holds nothing else. Raises `OpError` when an op can not be lowered.
        Depends on nothing but the functions, their places, the target, the options of
        the pass, and the code that `code_identity` names.
        """

    def code_identity(self, target: TargetAttr | None) -> Sequence[str]:
        """
        What the code is that lowers kernels for a target: a part of their keys, so that
        none is found that other code has made.

        A subclass that runs code of other packages adds theirs. By default: that of
        transom, and of the package of the pass.
        """
        return (identity_of(type(self).__module__.partition(".")[0]), foundation())

    def shape_function(self, kernel: Kernel) -> FuncOp | None:
        """
        The host function of the sizes of a kernel's results that depend on data: from
        the kernel's inputs, as tensors without names of sizes, to one index for each
        size in the order of their numbers. It is private, and named by its caller.

        By default None: what the op says of its sizes becomes a kernel, and the
        function calls it.
        """
        return None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.body.ops:
            if isinstance(inner, ModuleOp):
                self.apply(ctx, inner)
        functions = [f for f in op.body.ops if isinstance(f, FuncOp)]
        functions = [
            func
            for func in functions
            if not func.is_declaration and LOWERED_TO not in func.attributes
        ]
        owned = [func for func in functions if self.owns(func)]
        kernels = {func: list(self._kernels_of(func)) for func in owned}
        all_kernels = [k for found in kernels.values() for k in found]
        sizes = [k.sizes for k in all_kernels if isinstance(k.sizes, Kernel)]
        self._make(ctx, op, [*all_kernels, *sizes])
        self._make_shape_functions(op, [k for k in all_kernels if k.sizes is not None])
        others = [func for func in functions if not is_region(func)]
        regions = {func.sym_name.data: func for func in owned}
        constants: list[graph.ConstantOp] = []
        for call in [c for f in others for c in f.walk() if isinstance(c, CallOp)]:
            region = regions.get(call.callee.string_value())
            if region is not None:
                made = {kernel.op: kernel for kernel in kernels[region]}
                constants += HostBody(call, made).emit(region)
        if self.IS_LAST:
            hosts = [func for func in others if func not in kernels]
            inner = (op for func in hosts for op in func.walk())
            constants = [op for op in inner if isinstance(op, graph.ConstantOp)]
        make_weights(op, constants)
        for func, found in kernels.items():
            names = dict.fromkeys(kernel.name for kernel in found)
            func.attributes[LOWERED_TO] = ArrayAttr(SymbolRefAttr(n) for n in names)

    def _kernels_of(self, func: FuncOp) -> Iterator[Kernel]:
        place, target = place_of(func), target_of(func)
        assert place is not None, "owned functions have a place"
        made_by = (str(target), *self.code_identity(target))
        for op in func.body.block.ops:
            if not isinstance(op, ReturnOp) and not self.is_done_by_main(op, target):
                kernel = isolate(op, place)
                kernel.target = target
                if (sized := sized_op(kernel)) is not None:
                    kernel.data_sizes = count_data_sizes(sized)
                    kernel.sizes = self.shape_function(kernel) or size_kernel(kernel)
                for part in (kernel, kernel.sizes):
                    if isinstance(part, Kernel):
                        text = str(part.source)
                        part.content = content_key((self.name, repr(self), text))
                        part.key = content_key((part.content, *made_by))
                yield kernel

    def _make(self, ctx: Context, module: ModuleOp, kernels: Sequence[Kernel]) -> None:
        """Add the kernels to the module that it does not have, from the cache if so."""
        symbols = dict(symbols_of(module))
        wanted: dict[str, Kernel] = {}
        for kernel in kernels:
            kernel.name = name_of(kernel, symbols, wanted)
            wanted[kernel.name] = kernel
        made: dict[str, Operation | None] = {
            name: self._found(ctx, kernel)
            for name, kernel in wanted.items()
            if name not in symbols
        }
        missing = [wanted[name] for name, found in made.items() if found is None]
        lowered = {k.sym_name.data: k for k in self._lowered(ctx, missing)}
        for name, found in made.items():
            module.body.block.add_op(found or lowered[name])
            if found is None:
                self._keep(wanted[name], lowered[name])
            else:
                mark_verified(found)

    def _make_shape_functions(
        self, module: ModuleOp, kernels: Sequence[Kernel]
    ) -> None:
        """Add the shape functions of kernels to the module that it does not have."""
        symbols = dict(symbols_of(module)) if kernels else {}
        for kernel in kernels:
            name = kernel.name + SIZES
            if name in symbols:
                continue
            if isinstance(kernel.sizes, Kernel):
                function = shape_function(name, kernel, kernel.sizes)
            else:
                assert kernel.sizes is not None, "asked for these kernels"
                function = kernel.sizes
                check_shape_function(function, kernel)
                set_symbol_name(function, name)
            symbols[name] = function
            host = get_config(module).host
            set_place(function, kernel.place if host is None else PlaceAttr.get(host))
            module.body.block.add_op(function)

    def _found(self, ctx: Context, kernel: Kernel) -> Operation | None:
        """The lowered kernel, if the cache has it."""
        form = store().get(self.name, kernel.key)
        return None if form is None else read_kernel(ctx, form, kernel.name)

    def _keep(self, kernel: Kernel, lowered: tir.FuncOp) -> None:
        form = form_to_keep(lowered)
        if form is None:
            count(self.name, refused=1)
        else:
            store().put(self.name, kernel.key, form)

    def _lowered(self, ctx: Context, kernels: Sequence[Kernel]) -> Iterator[tir.FuncOp]:
        groups: dict[TargetAttr | None, list[Kernel]] = {}
        for kernel in kernels:
            groups.setdefault(kernel.target, []).append(kernel)
        for target, group in groups.items():
            yield from self._lowered_for(ctx, target, group)

    def _lowered_for(
        self, ctx: Context, target: TargetAttr | None, kernels: Sequence[Kernel]
    ) -> Iterator[tir.FuncOp]:
        scratch = ModuleOp([])
        for kernel in kernels:
            source = kernel.source.clone()
            set_symbol_name(source, kernel.name)
            source.location = kernel.op.location
            scratch.body.block.add_op(source)
        self.lower_kernels(ctx, scratch, target)
        places = {kernel.name: kernel.place for kernel in kernels}
        for lowered in tuple(scratch.body.block.ops):
            assert isinstance(lowered, tir.FuncOp), "what lower_kernels promises"
            lowered.detach()
            forget_origin(lowered)
            set_place(lowered, places[lowered.sym_name.data])
            yield lowered


def name_of(
    kernel: Kernel, symbols: Mapping[str, Operation], others: Mapping[str, Kernel]
) -> str:
    """
    What a kernel does and the start of its content's hash: the same in every module,
    but where something else has that name.
    """
    stem = stem_of(kernel.source)
    for digits in range(8, len(kernel.content), 8):
        name = f"{stem}_{kernel.content[:digits]}"
        other = others.get(name)
        is_free = isinstance(symbols.get(name), tir.FuncOp | None)
        if is_free and (other is None or other.content == kernel.content):
            return name
    raise AssertionError("some start of the hash is of this kernel alone")


def make_weights(module: ModuleOp, made: Iterable[graph.ConstantOp]) -> None:
    """Turn constants of main, as far as they are read, into weights of the module."""
    constants = Constants(module)
    for op in made:
        if op.result.uses:
            name = constants.weight(op.value, op)
            new = graph.WeightRefOp(name, op.result.type)
            new.location = op.location
            new.attributes |= op.attributes
            Rewriter.replace_op(op, new)
        else:
            Rewriter.erase_op(op)
    constants.insert()
