"""
Inputs and outputs of a program in its pools, at offsets that callers are told.

An entry keeps its arguments: what is decided is where their caller may put them, so
that they share bytes with what does not live then. They are planned by the copies that
main would make of them, which are taken away afterwards:

```mlir
func.func @main(%x: …, %y: …) {            func.func @main(%x: …, %y: …) attributes {
  %a = tir.alloc : …                         executor.places = {
  tir.copy %x, %a : …                          inputs = {x = [@p, 0, 64]},
  tir.call @k(%a : …) outs(%b : …)   ==>       outputs = {y = [@p, 64, 64]}}
  tir.copy %b, %y : …                      } {
                                             tir.call @k(%x : …) outs(%y : …)
```

An input is there from the start until main reads it for the last time, an output from
when main first writes it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from transom.dialects import tir
from transom.dialects.diagnostics import OpError
from transom.dialects.executor import (
    INPUTS,
    OUTPUTS,
    PLACES,
    SIGNATURE,
    PoolPlace,
    SignatureAttr,
    bounded_results,
    places_of,
    static_bytes,
)
from transom.dialects.graph.desc import dim_symbols
from transom.passes.memory.buffers import RESULT


class Argument(NamedTuple):
    """An argument of an entry, as its callers know it."""

    name: str
    type: TensorType[Attribute]
    value: SSAValue
    is_output: bool

    @property
    def key(self) -> tuple[str, str]:
        """How `places_of` calls it."""
        return (OUTPUTS if self.is_output else INPUTS, self.name)


def arguments_of(entry: func.FuncOp) -> Iterator[Argument]:
    """The inputs and outputs of an entry, in order; other functions have none."""
    signature = entry.attributes.get(SIGNATURE)
    if not isinstance(signature, SignatureAttr):
        return
    inputs, outputs = signature.inputs, signature.outputs
    attributes = entry.arg_attrs
    for number, value in enumerate(entry.body.block.args):
        if number < len(inputs):
            yield Argument(*inputs[number], value, is_output=False)
            continue
        found = None if attributes is None else attributes.data[number].data.get(RESULT)
        # The sizes of results that depend on data are one more.
        if isinstance(found, IntegerAttr) and found.value.data < len(outputs):
            yield Argument(*outputs[found.value.data], value, is_output=True)


@dataclass(frozen=True)
class _StandIn:
    """A buffer in the place of an argument, with the ops that come with it."""

    argument: Argument
    alloc: tir.AllocOp
    copy: tir.CopyOp
    sizes: Sequence[Operation]


class ArgumentCopies:
    """The copies of arguments in the entries of a module, until they are taken away."""

    def __init__(
        self, module: ModuleOp, *, inputs: bool = True, outputs: bool = True
    ) -> None:
        """
        Make copies of these arguments, and of all that have a place, which is kept.

        Raises `OpError` for an output whose size depends on data.
        """
        self.entries: list[tuple[func.FuncOp, list[_StandIn]]] = []
        for op in module.body.ops:
            if isinstance(op, func.FuncOp) and SIGNATURE in op.attributes:
                self.entries.append((op, self._copied(op, inputs, outputs)))

    def _copied(
        self, entry: func.FuncOp, inputs: bool, outputs: bool
    ) -> list[_StandIn]:
        places = places_of(entry)
        wanted = [
            argument
            for argument in arguments_of(entry)
            if (outputs if argument.is_output else inputs) or argument.key in places
        ]
        signature = cast(SignatureAttr, entry.attributes[SIGNATURE])
        bounded = [signature.outputs[n][0] for n in bounded_results(entry)]
        for argument in wanted:
            if argument.is_output and argument.name in bounded:
                raise OpError(
                    entry,
                    f"expected a size of output '{argument.name}' that is known before "
                    "it is computed, to give it a place in a pool",
                )
        return _copies(entry, wanted, places)

    def remove(self) -> None:
        """
        Take the copies away, and say the places that a plan has given to them.

        Raises `OpError` for an argument that has none, and names the size that has no
        bound.
        """
        for entry, copies in self.entries:
            places: dict[str, dict[str, Attribute]] = {}
            for copy in copies:
                kind, name = copy.argument.key
                places.setdefault(kind, {})[name] = _place(entry, copy)
            for copy in copies:
                copy.copy.detach()
                copy.copy.erase()
                copy.alloc.result.replace_all_uses_with(copy.argument.value)
                for op in (copy.alloc, *reversed(copy.sizes)):
                    op.detach()
                    op.erase()
            if places:
                entry.attributes[PLACES] = DictionaryAttr(
                    {kind: DictionaryAttr(found) for kind, found in places.items()}
                )


def _copies(
    entry: func.FuncOp,
    arguments: Sequence[Argument],
    places: Mapping[tuple[str, str], PoolPlace],
) -> list[_StandIn]:
    block = entry.body.block
    first, last = block.first_op, block.last_op
    assert first is not None and last is not None, "functions return"
    found: list[_StandIn] = []
    for argument in arguments:
        type = cast("MemRefType[Attribute]", argument.value.type)
        sizes: list[Operation] = []
        dims: list[SSAValue] = []
        for axis, extent in enumerate(type.get_shape()):
            if extent == DYNAMIC_INDEX:
                source, source_axis = _size_of(entry, argument, axis)
                number = arith.ConstantOp(IntegerAttr.from_index_int_value(source_axis))
                dim = memref.DimOp(source, number.result)
                sizes += [number, dim]
                dims.append(dim.results[0])
        place = places.get(argument.key)
        alloc = tir.AllocOp(
            type,
            dims,
            pool=None if place is None else place.pool,
            offset=None if place is None else place.offset,
            reserves=None if place is None or not dims else place.size,
        )
        alloc.result.name_hint = argument.value.name_hint
        _replace_accesses(argument.value, alloc.result)
        if argument.is_output:
            copy = tir.CopyOp(alloc.result, argument.value)
        else:
            copy = tir.CopyOp(argument.value, alloc.result)
        for op in (*sizes, alloc, copy):
            op.location = entry.location
        block.insert_ops_before([*sizes, alloc], first)
        block.insert_op_before(copy, last if argument.is_output else first)
        found.append(_StandIn(argument, alloc, copy, sizes))
    return found


def _size_of(entry: func.FuncOp, argument: Argument, axis: int) -> tuple[SSAValue, int]:
    """Where a size of an argument is known from: an input with that name, or itself."""
    symbol = dim_symbols(argument.type)[axis]
    for other in arguments_of(entry):
        if symbol is not None and not other.is_output:
            for number, found in enumerate(dim_symbols(other.type)):
                if found is not None and found.name == symbol.name:
                    return other.value, number
    return argument.value, axis


def _replace_accesses(value: SSAValue, new: SSAValue) -> None:
    """Let all but questions for sizes use another value."""
    for use in tuple(value.uses):
        if not isinstance(use.operation, memref.DimOp):
            use.operation.operands[use.index] = new


def _place(entry: func.FuncOp, copy: _StandIn) -> ArrayAttr[Attribute]:
    alloc, argument = copy.alloc, copy.argument
    if alloc.pool is None or alloc.offset is None:
        symbols = dim_symbols(argument.type)
        names = [s.name for s in symbols if s is not None and s.upper is None]
        listed = ", ".join(f"'{name}'" for name in dict.fromkeys(names)) or "its sizes"
        how = f"; '--dim {names[0]}=1..8' gives some" if names else ""
        what = "output" if argument.is_output else "input"
        raise OpError(
            entry,
            f"expected bounds of {listed}, to give {what} '{argument.name}' a place in "
            f"a pool{how}",
        )
    if alloc.reserves is not None:
        size = alloc.reserves.value.data
    else:
        size = static_bytes(alloc.result.type)
    numbers = (IntegerAttr(alloc.offset.value.data, i64), IntegerAttr(size, i64))
    return ArrayAttr([alloc.pool, *numbers])
