"""
Random programs: machine code and the interpreter, which share no code, agree.
"""

from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from llvm_cases import compiled, parse
from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType

from transom.dialects.dtypes import numpy_dtype
from transom.interpreters.interpreter import Interpreter

INTEGERS = ("i8", "i16", "i32", "i64")
FLOATS = ("f32", "f64", "f16", "bf16")

SAFE_INTEGER_OPS = (
    "arith.addi",
    "arith.subi",
    "arith.muli",
    "arith.andi",
    "arith.ori",
    "arith.xori",
    "arith.maxsi",
    "arith.minsi",
    "arith.maxui",
    "arith.minui",
)
FLOAT_OPS = (
    "arith.addf",
    "arith.subf",
    "arith.mulf",
    "arith.maximumf",
    "arith.minimumf",
    "arith.maxnumf",
    "arith.minnumf",
)
INTEGER_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt")
FLOAT_PREDICATES = (
    "oeq",
    "ogt",
    "oge",
    "olt",
    "ole",
    "one",
    "ord",
    "ueq",
    "ugt",
    "une",
)


@dataclass
class Program:
    """The lines of a function, and the names of the values of each type so far."""

    draw: Any
    lines: list[str] = field(default_factory=list[str])
    values: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    count: int = 0

    def value(self, type: str) -> str:
        """Some value of a type, a constant if there is none yet."""
        known = self.values.get(type)
        if known:
            return self.draw(st.sampled_from(known))
        if type == "i1":
            number = self.draw(st.sampled_from(("true", "false")))
            return self.define("i1", f"arith.constant {number}", "")
        if type in FLOATS:
            number = self.draw(st.sampled_from((0.0, -0.0, 1.5, -2.25, 100.0)))
            return self.define(type, f"arith.constant {number!r}", type)
        width = int(type[1:])
        number = self.draw(st.integers(-(1 << (width - 1)), (1 << (width - 1)) - 1))
        return self.define(type, f"arith.constant {number}", type)

    def define(self, type: str, op: str, types: str) -> str:
        """A new value."""
        name = f"%v{self.count}"
        self.count += 1
        self.lines.append(f"{name} = {op}{' : ' + types if types else ''}")
        self.values.setdefault(type, []).append(name)
        return name

    def step(self) -> None:
        """One more op, on what there is."""
        draw = self.draw
        match draw(st.integers(0, 8)):
            case 0 | 1:
                type = draw(st.sampled_from(INTEGERS))
                op = draw(st.sampled_from(SAFE_INTEGER_OPS))
                self.define(type, f"{op} {self.value(type)}, {self.value(type)}", type)
            case 2 | 3:
                type = draw(st.sampled_from(FLOATS))
                op = draw(st.sampled_from(FLOAT_OPS))
                self.define(type, f"{op} {self.value(type)}, {self.value(type)}", type)
            case 4:
                type = draw(st.sampled_from(INTEGERS))
                predicate = draw(st.sampled_from(INTEGER_PREDICATES))
                operands = f"{self.value(type)}, {self.value(type)}"
                self.define("i1", f"arith.cmpi {predicate}, {operands}", type)
            case 5:
                type = draw(st.sampled_from(FLOATS))
                predicate = draw(st.sampled_from(FLOAT_PREDICATES))
                operands = f"{self.value(type)}, {self.value(type)}"
                self.define("i1", f"arith.cmpf {predicate}, {operands}", type)
            case 6:
                type = draw(st.sampled_from((*INTEGERS, *FLOATS)))
                operands = f"{self.value('i1')}, {self.value(type)}, {self.value(type)}"
                self.define(type, f"arith.select {operands}", type)
            case 7:
                self.cast()
            case _:
                self.choose()

    def cast(self) -> None:
        """A cast that is defined for all values."""
        before, after = (
            self.draw(st.sampled_from((*INTEGERS, *FLOATS, "i1"))) for _ in range(2)
        )
        op = cast_of(before, after, self.draw(st.booleans()))
        if op is not None:
            value = self.value(before)
            self.define(after, f"{op} {value}", f"{before} to {after}")

    def choose(self) -> None:
        """A conditional with an op in each arm."""
        type = self.draw(st.sampled_from(INTEGERS))
        condition, a, b = self.value("i1"), self.value(type), self.value(type)
        first, second = (self.draw(st.sampled_from(SAFE_INTEGER_OPS)) for _ in range(2))
        name = f"%v{self.count}"
        self.count += 1
        self.lines.append(
            f"{name} = scf.if {condition} -> ({type}) {{\n"
            f"%t{name[2:]} = {first} {a}, {b} : {type}\n"
            f"scf.yield %t{name[2:]} : {type}\n"
            "} else {\n"
            f"%e{name[2:]} = {second} {b}, {a} : {type}\n"
            f"scf.yield %e{name[2:]} : {type}\n}}"
        )
        self.values.setdefault(type, []).append(name)


def width(type: str) -> int:
    return int(type.lstrip("bfi"))


def cast_of(before: str, after: str, signed: bool) -> str | None:
    """The op that casts between two types, if it is defined for all values."""
    if before == after:
        return None
    if before in FLOATS and after in FLOATS:
        if width(before) == width(after):
            return None
        return "arith.extf" if width(before) < width(after) else "arith.truncf"
    if before in FLOATS:
        return None
    if after in FLOATS:
        # From 64 bits to 16 there are two roundings, which may differ.
        if width(before) > 16 and width(after) < 64:
            return None
        return "arith.sitofp" if signed else "arith.uitofp"
    if width(before) > width(after):
        return "arith.trunci"
    return "arith.extsi" if signed else "arith.extui"


@st.composite
def programs(draw: Any) -> tuple[str, int]:
    """A function that writes its last values to memory, and how many."""
    program = Program(draw)
    for type in INTEGERS:
        program.values[type] = [f"%{type}"]
    for type in FLOATS:
        program.values[type] = [f"%{type}"]
    for _ in range(draw(st.integers(1, 25))):
        program.step()
    stores: list[str] = []
    outputs = [(type, values[-1]) for type, values in sorted(program.values.items())]
    for type, value in outputs:
        stores.append(f"memref.store {value}, %out_{type}[] : memref<{type}>")
    arguments = [f"%{type}: {type}" for type in (*INTEGERS, *FLOATS)]
    arguments += [f"%out_{type}: memref<{type}>" for type, _ in outputs]
    lines = "\n".join([*program.lines, *stores])
    return f"func.func @f({', '.join(arguments)}) {{\n{lines}\nfunc.return\n}}", len(
        outputs
    )


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(programs(), st.randoms(use_true_random=False))
def test_random_programs(program: tuple[str, int], random: Any) -> None:
    text, outputs = program
    module = parse(text)
    (function,) = module.body.ops
    assert isinstance(function, func.FuncOp)
    types = function.function_type.inputs.data
    inputs: list[Any] = []
    for type in types[: len(types) - outputs]:
        dtype = numpy_dtype(type)
        if dtype.kind in "iu":
            info = np.iinfo(dtype)
            inputs.append(dtype.type(random.randint(int(info.min), int(info.max))))
        else:
            inputs.append(np.array(random.uniform(-8, 8)).astype(dtype)[()])
    buffers = [
        np.zeros((), numpy_dtype(cast(MemRefType, type).element_type))
        for type in types[len(types) - outputs :]
    ]
    expected = Interpreter(module).run("f", [*inputs, *buffers])
    found = [b.copy() for b in buffers]
    # Numbers go by pointer: ctypes knows no short floats.
    assert (
        compiled(by_reference(text))("f", *[np.asarray(i) for i in inputs], *found) == 0
    )
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_array_equal(
            np.asarray(a).astype(np.float64 if a.dtype.kind not in "iub" else a.dtype),
            b.astype(np.float64 if b.dtype.kind not in "iub" else b.dtype),
            err_msg=text,
        )


def by_reference(text: str) -> str:
    """The same function with its numbers in memory."""
    head, _, body = text.partition(") {\n")
    loads = ""
    for type in (*INTEGERS, *FLOATS):
        head = head.replace(f"%{type}: {type},", f"%in_{type}: memref<{type}>,", 1)
        loads += f"%{type} = memref.load %in_{type}[] : memref<{type}>\n"
    return f"{head}) {{\n{loads}{body}"
