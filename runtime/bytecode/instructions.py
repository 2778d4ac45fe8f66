"""
The instructions: what each takes, and which types fit.

| instruction | |
|---|---|
| `arith.…`, `math.…` | numbers; `arith.cmpi.slt` and so on have a name per predicate |
| `move` | registers to others, all at once: what is passed to a block |
| `cf.br L`, `cf.cond_br L, M`, `cf.switch` | go on at another instruction |
| `cf.assert` | a message, if a bit is not set |
| `executor.…`, `memref.…` | memory, as the ops of the IR |
| `executor.call`, `func.call`, `func.return` | kernels; functions |
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from transom.runtime.bytecode.model import Bytecode, Instruction, KernelEntry
from transom.runtime.main_failures import MainError
from transom.runtime.main_scalars import (
    CASTS,
    FLOAT_BINARY,
    FLOAT_PREDICATES,
    FLOAT_UNARY,
    INTEGER_BINARY,
    INTEGER_PREDICATES,
    INTEGER_UNARY,
    POWERS,
    TERNARY,
)
from transom.runtime.main_values import DTYPES, PoolMemory, Type

INDEX = Type(DTYPES["int64"], None)
BIT = Type(DTYPES["bool"], None)


class Kind(Enum):
    """What a parameter is the number of."""

    COUNT = "count"
    """Of nothing: it is a number by itself."""
    FUNCTION = "function"
    KERNEL = "kernel"
    LABEL = "label"
    """Of an instruction of the function."""
    MESSAGE = "message"
    NUMBER = "number"
    POOL = "pool"
    WEIGHT = "weight"


@dataclass(frozen=True)
class Site:
    """An instruction with the types of its registers."""

    bytecode: Bytecode
    pools: Sequence[PoolMemory]
    instruction: Instruction
    outs: tuple[Type, ...]
    ins: tuple[Type, ...]
    results: tuple[Type, ...]
    """Those of the function."""

    def parameter(self, number: int) -> int:
        """A parameter."""
        return self.instruction.parameters[number]

    def number(self, number: int) -> int:
        """A parameter that is an integer of the table of numbers."""
        found = self.bytecode.numbers[self.parameter(number)]
        expect(found.type == INDEX, f"an int64 as parameter {number}", found.type)
        return int(found.value)

    def expect_counts(self, outs: int, ins: int) -> None:
        """Raise `MainError` unless there are so many registers."""
        expect(len(self.outs) == outs, f"{outs} results", len(self.outs))
        expect(len(self.ins) == ins, f"{ins} operands", len(self.ins))

    @property
    def out(self) -> Type:
        """The type of the only result."""
        expect(len(self.outs) == 1, "1 result", len(self.outs))
        return self.outs[0]


def expect(holds: bool, expected: str, found: object) -> None:
    """Raise `MainError` unless something holds."""
    if not holds:
        raise MainError(f"expected {expected}, but got {found}")


Check = Callable[[Site], None]


@dataclass(frozen=True)
class Form:
    """What an instruction looks like."""

    check: Check
    """Raises `MainError` unless the types fit."""
    parameters: tuple[Kind, ...] = ()
    repeated: tuple[Kind, ...] = ()
    """Parameters behind the others, any number of times."""
    goes_on: bool = True
    """Whether the next instruction may follow."""

    def kinds(self, count: int) -> tuple[Kind, ...] | None:
        """The kinds of so many parameters; None if there cannot be so many."""
        rest = count - len(self.parameters)
        if rest == 0 or (rest > 0 and self.repeated and not rest % len(self.repeated)):
            times = rest // len(self.repeated) if rest else 0
            return (*self.parameters, *self.repeated * times)
        return None


def _alike(count: int, is_fitting: Callable[[Type], bool], what: str) -> Check:
    """As many operands of one type, which is that of the result."""

    def check(site: Site) -> None:
        site.expect_counts(1, count)
        for type in site.ins:
            expect(type == site.out and is_fitting(type), f"'{site.out}', {what}", type)

    return check


def _is_integer(type: Type) -> bool:
    return type.is_integer


def _is_float(type: Type) -> bool:
    return type.is_float


def _compared(is_fitting: Callable[[Type], bool], what: str) -> Check:
    def check(site: Site) -> None:
        site.expect_counts(1, 2)
        a, b = site.ins
        expect(a == b and is_fitting(a), f"two {what} of one type", f"{a}, {b}")
        expect(site.out == BIT, "a bool as result", site.out)

    return check


FLOATS_FROM = frozenset({"arith.extf", "arith.fptosi", "arith.fptoui", "arith.truncf"})
FLOATS_TO = frozenset({"arith.extf", "arith.sitofp", "arith.truncf", "arith.uitofp"})


def _cast(name: str) -> Check:
    def check(site: Site) -> None:
        site.expect_counts(1, 1)
        (source,), result = site.ins, site.out
        expect(source.is_number and result.is_number, "numbers", f"{source}, {result}")
        if name == "arith.bitcast":
            sizes = source.dtype.itemsize, result.dtype.itemsize
            expect(sizes[0] == sizes[1], "as many bits", f"{source}, {result}")
            return
        expect(source.is_float == (name in FLOATS_FROM), f"'{name}' of it", source)
        expect(result.is_float == (name in FLOATS_TO), f"'{name}' to it", result)

    return check


def _power(site: Site) -> None:
    site.expect_counts(1, 2)
    base, exponent = site.ins
    expect(base == site.out and base.is_float, f"'{site.out}', a float", base)
    expect(exponent.is_integer, "an integer", exponent)


def _move(site: Site) -> None:
    expect(site.outs == site.ins, "the types of the results", _listed(site.ins))
    outs = site.instruction.outs
    expect(len(set(outs)) == len(outs), "results that differ", list(outs))


def _select(site: Site) -> None:
    site.expect_counts(1, 3)
    expect(site.ins[0] == BIT, "a bool", site.ins[0])
    for type in site.ins[1:]:
        expect(type == site.out, f"'{site.out}'", type)


def _assert(site: Site) -> None:
    site.expect_counts(0, 1)
    expect(site.ins[0] == BIT, "a bool", site.ins[0])


def _jump(site: Site) -> None:
    site.expect_counts(0, 0)


def _switch(site: Site) -> None:
    site.expect_counts(0, 1)
    expect(site.ins[0].is_integer, "an integer", site.ins[0])
    for number in site.instruction.parameters[1::2]:
        found = site.bytecode.numbers[number].type
        expect(found == site.ins[0], f"cases of type '{site.ins[0]}'", found)


def _memory(type: Type, rank: int | None = None) -> tuple[int | None, ...]:
    """The sizes of memory."""
    if type.shape is None:
        raise MainError(f"expected memory, but got '{type}'")
    if rank is not None:
        expect(len(type.shape) == rank, f"{rank} axes", f"'{type}'")
    return type.shape


def _indices(types: Sequence[Type], count: int) -> None:
    expect(len(types) == count, f"{count} indices", len(types))
    for type in types:
        expect(type == INDEX, "an int64", type)


def _same_elements(a: Type, b: Type) -> None:
    """Raise `MainError` unless memory of one type can be of the other."""
    shape = _memory(a)
    other = _memory(b, len(shape))
    fits = all(
        n is None or m is None or n == m for n, m in zip(shape, other, strict=True)
    )
    expect(fits and a.dtype == b.dtype, f"memory like '{a}'", f"'{b}'")


def _view(site: Site) -> None:
    _memory(site.out)
    _indices(site.ins, len(site.out.open_axes))
    pool = site.pools[site.parameter(0)]
    offset, reserved = site.number(1), site.number(2)
    expect(offset >= 0 <= reserved, "an offset and a size", f"{offset}, {reserved}")
    end, size = offset + reserved, pool.size
    expect(end <= size, f"the end within {size} bytes of '{pool.name}'", end)
    static = site.out.static_bytes
    expect(static in (None, reserved), f"{reserved} bytes", static)


def _alloc(site: Site) -> None:
    _memory(site.out)
    _indices(site.ins, len(site.out.open_axes))
    alignment = site.number(0)
    is_power = 0 < alignment <= 1 << 20 and not alignment & (alignment - 1)
    expect(is_power, "an alignment of a power of two", alignment)


def _free(site: Site) -> None:
    site.expect_counts(0, 1)
    _memory(site.ins[0])


def _copy(site: Site) -> None:
    site.expect_counts(0, 2)
    _same_elements(*site.ins)


def _constant(site: Site) -> None:
    site.expect_counts(1, 0)
    expect(site.out.static_bytes is not None, "memory of known sizes", site.out)


def _dim(site: Site) -> None:
    site.expect_counts(1, 2)
    _memory(site.ins[0])
    _indices((site.ins[1], site.out), 2)


def _load(site: Site) -> None:
    expect(len(site.ins) > 0, "memory", "nothing")
    memory, *indices = site.ins
    _indices(indices, len(_memory(memory)))
    wanted = Type(memory.dtype, None)
    expect(site.out == wanted, f"a result of type '{wanted}'", site.out)


def _store(site: Site) -> None:
    operands = list(site.ins)
    is_right = not site.outs and len(operands) > 1
    expect(is_right, "a number and memory", _listed(operands))
    value, memory, *indices = operands
    _indices(indices, len(_memory(memory)))
    expect(value == Type(memory.dtype, None), f"an element of '{memory}'", value)


def _memory_cast(site: Site) -> None:
    site.expect_counts(1, 1)
    _same_elements(site.out, site.ins[0])


def _byte_view(site: Site) -> None:
    expect(len(site.ins) > 1, "memory and an offset", _listed(site.ins))
    memory, *sizes = site.ins
    _memory(memory, 1)
    expect(memory.dtype.itemsize == 1, "bytes", memory)
    _memory(site.out)
    _indices(sizes, 1 + len(site.out.open_axes))


def _subview(site: Site) -> None:
    """Offsets, sizes and strides of all axes; parameters are axes left out."""
    expect(len(site.ins) > 0, "memory", "nothing")
    memory, *numbers = site.ins
    rank, dropped = len(_memory(memory)), site.instruction.parameters
    _indices(numbers, 3 * rank)
    in_order = list(dropped) == sorted(set(dropped)) and all(n < rank for n in dropped)
    expect(in_order, f"axes of {rank} in order", list(dropped))
    _memory(site.out, rank - len(dropped))
    expect(site.out.dtype == memory.dtype, f"elements of '{memory}'", site.out)


def _collapse(site: Site) -> None:
    """Parameters are how many axes become one."""
    site.expect_counts(1, 1)
    (memory,), counts = site.ins, site.instruction.parameters
    expect(sum(counts) == len(_memory(memory)), f"axes of '{memory}'", list(counts))
    expect(site.out.dtype == memory.dtype, f"elements of '{memory}'", site.out)
    _memory(site.out, len(counts))


def _expand(site: Site) -> None:
    expect(len(site.ins) > 0, "memory", "nothing")
    memory, *sizes = site.ins
    _memory(memory)
    _memory(site.out)
    _indices(sizes, len(site.out.open_axes))
    expect(site.out.dtype == memory.dtype, f"elements of '{memory}'", site.out)


def _kernel_call(site: Site) -> None:
    kernel: KernelEntry = site.bytecode.kernels[site.parameter(0)]
    site.expect_counts(0, len(kernel.types))
    for type, wanted in zip(site.ins, kernel.types, strict=True):
        expect(type == wanted, f"'{wanted}' for '{kernel.name}'", f"'{type}'")


def _function_call(site: Site) -> None:
    function = site.bytecode.functions[site.parameter(0)]
    wanted = function.argument_types
    expect(site.ins == wanted, f"operands {_listed(wanted)}", _listed(site.ins))
    results = function.results
    expect(site.outs == results, f"results {_listed(results)}", _listed(site.outs))


def _return(site: Site) -> None:
    expect(not site.outs, "no results", len(site.outs))
    wanted = site.results
    expect(site.ins == wanted, f"operands {_listed(wanted)}", _listed(site.ins))


def _listed(types: Sequence[Type]) -> str:
    return f"({', '.join(map(str, types))})"


LABEL = Kind.LABEL

FORMS: Mapping[str, Form] = {
    **{n: Form(_alike(2, _is_integer, "an integer")) for n in INTEGER_BINARY},
    **{n: Form(_alike(2, _is_float, "a float")) for n in FLOAT_BINARY},
    **{n: Form(_alike(1, _is_integer, "an integer")) for n in INTEGER_UNARY},
    **{n: Form(_alike(1, _is_float, "a float")) for n in FLOAT_UNARY},
    **{n: Form(_power) for n in POWERS},
    **{n: Form(_alike(3, _is_float, "a float")) for n in TERNARY},
    **{n: Form(_cast(n)) for n in CASTS},
    **{
        f"arith.cmpi.{n}": Form(_compared(_is_integer, "integers"))
        for n in INTEGER_PREDICATES
    },
    **{
        f"arith.cmpf.{n}": Form(_compared(_is_float, "floats"))
        for n in FLOAT_PREDICATES
    },
    "arith.select": Form(_select),
    "cf.assert": Form(_assert, (Kind.MESSAGE,)),
    "cf.br": Form(_jump, (LABEL,), goes_on=False),
    "cf.cond_br": Form(_assert, (LABEL, LABEL), goes_on=False),
    "cf.switch": Form(_switch, (LABEL,), (Kind.NUMBER, LABEL), goes_on=False),
    "executor.alloc": Form(_alloc, (Kind.NUMBER,)),
    "executor.call": Form(_kernel_call, (Kind.KERNEL,)),
    "executor.constant": Form(_constant, (Kind.WEIGHT,)),
    "executor.copy": Form(_copy),
    "executor.free": Form(_free),
    "executor.view": Form(_view, (Kind.POOL, Kind.NUMBER, Kind.NUMBER)),
    "func.call": Form(_function_call, (Kind.FUNCTION,)),
    "func.return": Form(_return, goes_on=False),
    "memref.cast": Form(_memory_cast),
    "memref.collapse_shape": Form(_collapse, (), (Kind.COUNT,)),
    "memref.dim": Form(_dim),
    "memref.expand_shape": Form(_expand),
    "memref.load": Form(_load),
    "memref.store": Form(_store),
    "memref.subview": Form(_subview, (), (Kind.COUNT,)),
    "memref.view": Form(_byte_view),
    "move": Form(_move),
}
"""All instructions, by name."""
