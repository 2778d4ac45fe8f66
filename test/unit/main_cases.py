"""
Random main functions on tensors, for tests of what becomes of main: kernel calls of all
effects, views, slices, branches, loops that swap what they carry, returned inputs and
weights, values that are returned twice, calls of functions.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from hypothesis import strategies as st

Shape = tuple[int | str, ...]
"""Sizes; a name is that of the one symbolic size."""

N = "N"
PLACE = 'target.for = #target.place<@host, #llvm_cpu.target<cpu = "host">, ?>'
SHAPES: tuple[Shape, ...] = ((6,), (2, 3), (3, 2), (4,), (), (N, 2), (N,))
INPUTS: tuple[Shape, ...] = ((6,), (2, 3), (4,), (N, 2), (N,), (N, 2), (6,), (6,))


def tensor(shape: Shape) -> str:
    """The type of a tensor of integers."""
    sizes = "".join("?x" if size == N else f"{size}x" for size in shape)
    return f"tensor<{sizes}i32>"


def described(shape: Shape) -> str:
    """The same as the type of an argument, where its size has a name and bounds."""
    text = tensor(shape)
    if N not in shape:
        return text
    return text[:-1] + ', #graph.desc<dims = ["N" : 1 to 4]>>'


def suffix(shape: Shape) -> str:
    """What names of kernels end with."""
    return "_".join(map(str, shape)) or "scalar"


def _kernel(name: str, shape: Shape, arguments: str, values: str, yields: str) -> str:
    """
    A kernel of loops over equally shaped memrefs. What it only reads it reads
    backwards, which tells whether that is overwritten while it is read.
    """
    memref = tensor(shape).replace("tensor", "memref")
    effects = [a.split() for a in arguments.split(", ")]
    signature = ", ".join(f"{effect} %{a}: {memref}" for effect, a in effects)
    lines = [
        f"tir.func @{name}_{suffix(shape)}({signature}) attributes {{{PLACE}}} {{",
        "%zero = arith.constant 0 : index",
        "%one = arith.constant 1 : index",
        "%c3 = arith.constant 3 : i32",
        "%c7 = arith.constant 7 : i32",
    ]
    for axis, size in enumerate(shape):
        lines += [
            f"%axis{axis} = arith.constant {axis} : index",
            f"%size{axis} = memref.dim %a, %axis{axis} : {memref}"
            if size == N
            else f"%size{axis} = arith.constant {size} : index",
            f"scf.for %i{axis} = %zero to %size{axis} step %one {{",
            f"%last{axis} = arith.subi %size{axis}, %one : index",
            f"%j{axis} = arith.subi %last{axis}, %i{axis} : index",
        ]
    forwards, backwards = (
        ", ".join(f"%{letter}{axis}" for axis in range(len(shape))) for letter in "ij"
    )
    for effect, a in effects:
        if effect != "write":
            at = backwards if effect == "read" else forwards
            lines.append(f"%{a}v = memref.load %{a}[{at}] : {memref}")
    lines.append(values)
    written = [a for effect, a in effects if effect != "read"]
    for value, a in zip(yields.split(", "), written, strict=True):
        lines.append(f"memref.store {value}, %{a}[{forwards}] : {memref}")
    lines += ["}"] * len(shape) + ["tir.return", "}\n"]
    return "\n".join(lines)


def kernels(main: str) -> str:
    """The kernels that a text calls."""
    text: list[str] = []
    for shape in SHAPES:
        scaled = "%x = arith.muli %av, %c3 : i32\n    %r = arith.addi %x, %c7 : i32"
        mixed = "%x = arith.muli %av, %c3 : i32\n    %r = arith.subi %x, %bv : i32"
        both = mixed + "\n    %s = arith.xori %r, %bv : i32"
        for name, arguments, values, yields in (
            ("one", "read a, write o", scaled, "%r"),
            ("two", "read a, read b, write o", mixed, "%r"),
            ("pair", "read a, read b, write o, write p", both, "%r, %s"),
            ("update", "read a, read_write b", mixed, "%r"),
        ):
            if f"@{name}_{suffix(shape)}(" in main:
                text.append(_kernel(name, shape, arguments, values, yields))
    return "".join(text)


def module(main: str) -> str:
    """The text of a module around a main function."""
    text = HELPER + main if "@helper" in main else main
    return DEVICE + kernels(text) + WEIGHTS + text


DEVICE = 'target.device @host {targets = [#llvm_cpu.target<cpu = "host">]}\n'


WEIGHTS = """
graph.weight @weight_6 = dense<[9, 8, 7, 6, 5, 4]> : tensor<6xi32>
graph.weight @weight_4 = dense<[-1, -2, -3, -4]> : tensor<4xi32>
"""

HELPER = """
func.func private @helper(%x: tensor<?xi32>, %y: tensor<6xi32>)
    -> (tensor<?xi32>, tensor<6xi32>, tensor<6xi32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xi32>
  %d = tensor.empty(%n) : tensor<?xi32>
  %e = tensor.empty() : tensor<6xi32>
  %a = tir.call @one_N(%x : tensor<?xi32>) outs(%d : tensor<?xi32>)
  %b = tir.call @one_6(%y : tensor<6xi32>) outs(%e : tensor<6xi32>)
  %c = tir.call @two_6(%b : tensor<6xi32>, %y : tensor<6xi32>)
      outs(%e : tensor<6xi32>)
  func.return %a, %c, %b : tensor<?xi32>, tensor<6xi32>, tensor<6xi32>
}
"""


@dataclass
class Writer:
    """Writes the body of main; `values` are the tensors that can be used."""

    draw: st.DrawFn
    lines: list[str] = field(default_factory=list[str])
    values: list[tuple[str, Shape]] = field(default_factory=list[tuple[str, Shape]])
    count: int = 0
    depth: int = 0

    def fresh(self, prefix: str = "v") -> str:
        self.count += 1
        return f"%{prefix}{self.count}"

    def line(self, text: str) -> None:
        self.lines.append("  " * (self.depth + 1) + text)

    def define(self, shape: Shape, text: str) -> str:
        """A new value, computed by `text`."""
        name = self.fresh()
        self.line(f"{name} = {text}")
        self.values.append((name, shape))
        return name

    def pick(self, *shapes: Shape) -> tuple[str, Shape] | None:
        """A value of one of some shapes (of any without them), mostly a new one."""
        found = [v for v in self.values if not shapes or v[1] in shapes]
        recent = found[-3:] if self.draw(st.integers(0, 3)) else found
        return self.draw(st.sampled_from(recent)) if found else None

    def size(self) -> str:
        """The symbolic size, taken from a value that has it."""
        name, shape = self.draw(st.sampled_from([v for v in self.values if N in v[1]]))
        axis, size = self.fresh("c"), self.fresh("n")
        self.line(f"{axis} = arith.constant {shape.index(N)} : index")
        self.line(f"{size} = tensor.dim {name}, {axis} : {tensor(shape)}")
        return size

    def empty(self, shape: Shape) -> str:
        size = self.size() if N in shape else ""
        name = self.fresh("e")
        self.line(f"{name} = tensor.empty({size}) : {tensor(shape)}")
        return name

    # Statements

    def statement(self) -> None:
        leaf = [
            self.call,
            self.call,
            self.update,
            self.pair,
            self.view,
            self.slice,
            self.insert,
            self.constant,
            self.elements,
            self.helper,
        ]
        nested = [self.branch, self.loop, self.loop, self.while_loop]
        choices = leaf + (nested if self.depth < 2 else [])
        self.draw(st.sampled_from(choices))()

    def block(self) -> None:
        for _ in range(self.draw(st.integers(0, 3))):
            self.statement()

    def call(self) -> None:
        value = self.pick()
        assert value is not None
        name, shape = value
        second = self.pick(shape)
        assert second is not None
        t = tensor(shape)
        out = self.empty(shape)
        if self.draw(st.booleans()):
            self.define(
                shape,
                f"tir.call @one_{suffix(shape)}({name} : {t}) outs({out} : {t})",
            )
        else:
            self.define(
                shape,
                f"tir.call @two_{suffix(shape)}({name} : {t}, {second[0]} : {t}) "
                f"outs({out} : {t})",
            )

    def update(self) -> None:
        value = self.pick()
        assert value is not None
        name, shape = value
        target = self.pick(shape)
        assert target is not None
        t = tensor(shape)
        self.define(
            shape,
            f"tir.call @update_{suffix(shape)}({name} : {t}) outs({target[0]} : {t})",
        )

    def pair(self) -> None:
        value = self.pick()
        assert value is not None
        name, shape = value
        second = self.pick(shape)
        assert second is not None
        t = tensor(shape)
        out, other = self.empty(shape), self.pick(shape)
        assert other is not None
        result = self.fresh()
        self.line(
            f"{result}:2 = tir.call @pair_{suffix(shape)}({name} : {t}, "
            f"{second[0]} : {t}) outs({out} : {t}, {other[0]} : {t})"
        )
        self.values += [(f"{result}#0", shape), (f"{result}#1", shape)]

    def view(self) -> None:
        value = self.pick((6,), (2, 3), (3, 2), (N, 2), (N,))
        assert value is not None
        name, shape = value
        if shape == (6,):
            new = self.draw(st.sampled_from([(2, 3), (3, 2)]))
            if self.draw(st.booleans()):
                self.reshape(name, shape, new)
                return
            self.define(
                new,
                f"tensor.expand_shape {name} [[0 : i64, 1 : i64]] output_shape "
                f"[{new[0]}, {new[1]}] : {tensor(shape)} into {tensor(new)}",
            )
        elif N not in shape:
            self.define(
                (6,),
                f"tensor.collapse_shape {name} [[0 : i64, 1 : i64]] : "
                f"{tensor(shape)} into {tensor((6,))}",
            )
        else:
            cast = self.fresh()
            encoded = described(shape)
            self.line(f"{cast} = tensor.cast {name} : {tensor(shape)} to {encoded}")
            self.define(shape, f"tensor.cast {cast} : {encoded} to {tensor(shape)}")

    def reshape(self, name: str, shape: Shape, new: Shape) -> None:
        sizes: list[str] = []
        for size in new:
            sizes.append(self.fresh("c"))
            self.line(f"{sizes[-1]} = arith.constant {size} : index")
        where = self.fresh("s")
        self.line(
            f"{where} = tensor.from_elements {', '.join(sizes)} : "
            f"tensor<{len(new)}xindex>"
        )
        self.define(
            new,
            f"tensor.reshape {name}({where}) : ({tensor(shape)}, "
            f"tensor<{len(new)}xindex>) -> {tensor(new)}",
        )

    def slice(self) -> None:
        choices: dict[Shape, list[tuple[str, Shape]]] = {
            (6,): [("[1] [4] [1]", (4,)), ("[0] [4] [1]", (4,)), ("[0] [6] [1]", (6,))],
            (2, 3): [("[0, 1] [2, 2] [1, 1]", (2, 2))],
            (3, 2): [("[0, 0] [3, 2] [1, 1]", (3, 2)), ("[2, 1] [1, 1] [1, 1]", ())],
            (N, 2): [("[0, 1] [SIZE, 1] [1, 1]", (N,))],
        }
        value = self.pick(*choices)
        if value is None:
            return
        name, shape = value
        where, new = self.draw(st.sampled_from(choices[shape]))
        if "SIZE" in where:
            where = where.replace("SIZE", self.size())
        text = f"tensor.extract_slice {name}{where} : {tensor(shape)} to {tensor(new)}"
        if new in SHAPES:
            self.define(new, text)
            return
        part = self.fresh()
        self.line(f"{part} = {text}")
        into = self.pick((2, 3), (3, 2))
        if into is not None:
            self.define(
                into[1],
                f"tensor.insert_slice {part} into {into[0]}[0, 0] [2, 2] [1, 1] : "
                f"{tensor(new)} into {tensor(into[1])}",
            )

    def insert(self) -> None:
        source, target = self.pick((4,)), self.pick((6,))
        if source is not None and target is not None and self.draw(st.booleans()):
            self.define(
                (6,),
                f"tensor.insert_slice {source[0]} into {target[0]}[2] [4] [1] : "
                f"{tensor((4,))} into {tensor((6,))}",
            )
            return
        value, target = self.pick(), self.pick((6,), (4,))
        assert value is not None and target is not None
        scalar, index = self.element(*value), self.fresh("c")
        self.line(f"{index} = arith.constant 2 : index")
        self.define(
            target[1],
            f"tensor.insert {scalar} into {target[0]}[{index}] : {tensor(target[1])}",
        )

    def element(self, name: str, shape: Shape) -> str:
        """The first element of a tensor."""
        index, scalar = self.fresh("c"), self.fresh("x")
        self.line(f"{index} = arith.constant 0 : index")
        indices = ", ".join([index] * len(shape))
        self.line(f"{scalar} = tensor.extract {name}[{indices}] : {tensor(shape)}")
        return scalar

    def constant(self) -> None:
        shape = self.draw(st.sampled_from([(6,), (4,)]))
        if self.draw(st.booleans()):
            self.define(shape, f"graph.weight_ref @weight_{shape[0]} : {tensor(shape)}")
        else:
            values = list(range(prod(shape)))
            self.define(shape, f"arith.constant dense<{values}> : {tensor(shape)}")

    def elements(self) -> None:
        value = self.pick()
        assert value is not None
        scalar = self.element(*value)
        if self.draw(st.booleans()):
            shape = self.draw(st.sampled_from([(), (2, 3), (N, 2)]))
            sizes = f"[{self.size()}]" if N in shape else ""
            self.define(shape, f"tensor.splat {scalar}{sizes} : {tensor(shape)}")
        else:
            self.define(
                (4,),
                f"tensor.from_elements {', '.join([scalar] * 4)} : {tensor((4,))}",
            )

    def helper(self) -> None:
        x, y = self.pick((N,)), self.pick((6,))
        assert x is not None and y is not None
        result, t, u = self.fresh(), tensor((N,)), tensor((6,))
        self.line(
            f"{result}:3 = func.call @helper({x[0]}, {y[0]}) : ({t}, {u}) -> "
            f"({t}, {u}, {u})"
        )
        self.values += [
            (f"{result}#0", (N,)),
            (f"{result}#1", (6,)),
            (f"{result}#2", (6,)),
        ]

    # Control flow

    def carried(self) -> list[tuple[str, Shape]]:
        """Values for a loop or branch, undefined ones too."""
        found: list[tuple[str, Shape]] = []
        alike = self.draw(st.booleans())
        for _ in range(self.draw(st.integers(1, 3))):
            value = self.pick(found[0][1]) if found and alike else self.pick()
            assert value is not None
            if value in found:  # a swap of one value with itself is none
                value = self.pick(value[1])
                assert value is not None
            found.append(value)
        return found

    def yields(
        self, shapes: list[Shape], arguments: Sequence[tuple[str, Shape]] = ()
    ) -> list[str]:
        """Values of these shapes; often what is carried in another order."""
        names: list[str] = []
        alike = [name for name, shape in arguments if shape == shapes[0]]
        if len(alike) == len(shapes) > 1 and self.draw(st.booleans()):
            return self.draw(st.permutations(alike))
        for shape in shapes:
            value = self.pick(shape)
            assert value is not None
            names.append(value[0])
        return names

    def region(
        self, shapes: list[Shape], op: str, arguments: Sequence[tuple[str, Shape]] = ()
    ) -> None:
        """Statements, then an op that yields values of these shapes."""
        self.depth += 1
        self.block()
        names = ", ".join(self.yields(shapes, arguments))
        types = ", ".join(map(tensor, shapes))
        self.line(f"{op} {names} : {types}")
        self.depth -= 1

    def results(self, shapes: list[Shape]) -> str:
        name = self.fresh()
        self.values += [
            (f"{name}#{i}" if len(shapes) > 1 else name, shape)
            for i, shape in enumerate(shapes)
        ]
        return f"{name}:{len(shapes)}" if len(shapes) > 1 else name

    def condition(self) -> str:
        """A bit of the first element of a value."""
        value = self.pick()
        assert value is not None
        scalar = self.element(*value)
        one, bit, zero = self.fresh("c"), self.fresh("b"), self.fresh("b")
        self.line(f"{one} = arith.constant 1 : i32")
        self.line(f"{bit} = arith.andi {scalar}, {one} : i32")
        self.line(f"{zero} = arith.cmpi eq, {bit}, {one} : i32")
        return zero

    def branch(self) -> None:
        condition = self.condition()
        shapes = [shape for _, shape in self.carried()]
        outer, at = list(self.values), len(self.lines)
        self.region(shapes, "scf.yield")
        self.values = list(outer)
        self.line("} else {")
        self.region(shapes, "scf.yield")
        self.values = outer
        self.line("}")
        types = ", ".join(map(tensor, shapes))
        opening = f"{self.results(shapes)} = scf.if {condition} -> ({types}) {{"
        self.lines.insert(at, "  " * (self.depth + 1) + opening)

    def loop(self) -> None:
        start, stop, step = (self.fresh("c") for _ in range(3))
        self.line(f"{start} = arith.constant 0 : index")
        self.line(f"{stop} = arith.constant {self.draw(st.integers(0, 3))} : index")
        self.line(f"{step} = arith.constant 1 : index")
        initial = self.carried()
        shapes = [shape for _, shape in initial]
        arguments = [(self.fresh("a"), shape) for shape in shapes]
        outer, at = list(self.values), len(self.lines)
        self.values += arguments
        self.region(shapes, "scf.yield", arguments)
        self.values = outer
        self.line("}")
        pairs = ", ".join(
            f"{a} = {v}" for (a, _), (v, _) in zip(arguments, initial, strict=True)
        )
        types = ", ".join(map(tensor, shapes))
        opening = (
            f"{self.results(shapes)} = scf.for {self.fresh('i')} = {start} to {stop} "
            f"step {step} iter_args({pairs}) -> ({types}) {{"
        )
        self.lines.insert(at, "  " * (self.depth + 1) + opening)

    def while_loop(self) -> None:
        """A loop that counts, and shuffles what it carries in both of its regions."""
        zero, one, stop = (self.fresh("c") for _ in range(3))
        self.line(f"{zero} = arith.constant 0 : index")
        self.line(f"{one} = arith.constant 1 : index")
        self.line(f"{stop} = arith.constant {self.draw(st.integers(0, 2))} : index")
        initial = self.carried()
        shapes = [shape for _, shape in initial]
        arguments = [(self.fresh("a"), shape) for shape in shapes]
        passed = [
            (self.fresh("a"), shape) for shape in self.draw(st.permutations(shapes))
        ]
        count, more, after, following = (self.fresh("k") for _ in range(4))
        outer, at = list(self.values), len(self.lines)
        indent = "  " * (self.depth + 1)
        self.depth += 1
        self.values = outer + arguments
        self.block()
        self.line(f"{more} = arith.cmpi slt, {count}, {stop} : index")
        names = ", ".join(self.yields([s for _, s in passed], arguments))
        types = ", ".join(tensor(shape) for _, shape in passed)
        self.line(f"scf.condition({more}) {count}, {names} : index, {types}")
        self.depth -= 1
        heads = ", ".join(f"{a} : {tensor(s)}" for a, s in passed)
        self.line("} do {")
        self.line(f"^bb0({after} : index, {heads}):")
        self.depth += 1
        self.values = outer + passed
        self.block()
        self.line(f"{following} = arith.addi {after}, {one} : index")
        names = ", ".join(self.yields(shapes, passed))
        inner = ", ".join(map(tensor, shapes))
        self.line(f"scf.yield {following}, {names} : index, {inner}")
        self.depth -= 1
        self.line("}")
        self.values = outer
        pairs = ", ".join(
            f"{a} = {v}" for (a, _), (v, _) in zip(arguments, initial, strict=True)
        )
        name = self.fresh()
        self.values = outer + [
            (f"{name}#{i}", shape) for i, (_, shape) in enumerate(passed, 1)
        ]
        opening = (
            f"{name}:{len(passed) + 1} = scf.while ({count} = {zero}, {pairs}) : "
            f"(index, {inner}) -> (index, {types}) {{"
        )
        self.lines.insert(at, indent + opening)


@st.composite
def mains(draw: st.DrawFn) -> str:
    """The text of a random function `@main` on the shapes of `INPUTS`."""
    writer = Writer(draw)
    parameters: list[str] = []
    for number, shape in enumerate(INPUTS):
        parameters.append(f"%in{number}: {described(shape)}")
        if N in shape:
            writer.define(
                shape,
                f"tensor.cast %in{number} : {described(shape)} to {tensor(shape)}",
            )
        else:
            writer.values.append((f"%in{number}", shape))
    for _ in range(draw(st.integers(2, 10))):
        writer.statement()
    results = writer.values[-draw(st.integers(1, 6)) :]
    results += draw(st.lists(st.sampled_from(writer.values), max_size=2))
    names = ", ".join(name for name, _ in results)
    types = ", ".join(tensor(shape) for _, shape in results)
    return (
        f"func.func @main({', '.join(parameters)}) -> ({types}) {{\n"
        + "\n".join(writer.lines)
        + f"\n  func.return {names} : {types}\n}}\n"
    )
