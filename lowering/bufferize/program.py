"""
From a function on tensors to the question which of its values may share storage.

Each tensor value has a home: a variable of a `StorageProgram`, or nothing if its
content is undefined (`tensor.empty`). A view lives in the home of what it views.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import SymbolTable

from transom.dialects.diagnostics import OpError
from transom.lowering.bufferize.storage import Affinity, Move, StorageProgram
from transom.lowering.bufferize.types import (
    AnyMemRef,
    is_tensor,
    memref_type,
    tensor_type,
)
from transom.passes.memory.sizes import Shape, SizeAnalysis


@dataclass
class Variable:
    """
    A tensor that is stored. `values` are all of it; `result` says which result of the
    function it is.
    """

    type: AnyMemRef
    shape: Shape
    origin: Operation
    values: list[SSAValue] = field(default_factory=list[SSAValue])
    mentions: list[Operation] = field(default_factory=list[Operation])
    result: int | None = None


@dataclass(frozen=True)
class Home:
    """Where a tensor is: all of a variable, or a part of it; None if undefined."""

    variable: int | None
    whole: bool = True


@dataclass
class FunctionProgram:
    """
    The question, and how its parts belong to the function.

    `points` are where moves happen: right before the op. `moved` are the values moved
    there, by tag. `copied` are slices that are copied, as their users want rows.
    """

    func: func.FuncOp
    sizes: SizeAnalysis
    storage: StorageProgram = field(default_factory=StorageProgram)
    variables: list[Variable] = field(default_factory=list[Variable])
    homes: dict[SSAValue, Home] = field(default_factory=dict[SSAValue, Home])
    points: dict[Operation, int] = field(default_factory=dict[Operation, int])
    moved: dict[Operation, tuple[SSAValue, ...]] = field(
        default_factory=dict[Operation, tuple[SSAValue, ...]]
    )
    affinities: list[Affinity] = field(default_factory=list[Affinity])
    copied: set[Operation] = field(default_factory=set[Operation])
    results: tuple[Shape, ...] = ()
    """The sizes of the tensors among the function's results."""


@dataclass
class Callees:
    """Functions that were bufferised before: they can be called, their sizes known."""

    module: ModuleOp
    done: dict[str, FunctionProgram] = field(default_factory=dict[str, FunctionProgram])

    def find(self, call: func.CallOp) -> func.FuncOp:
        """The function that is called."""
        symbol = SymbolTable.lookup_symbol(self.module, call.callee)
        if not isinstance(symbol, func.FuncOp):
            name = call.callee.string_value()
            raise OpError(call, f"expected '@{name}' to be a 'func.func'")
        return symbol


Handler = Callable[["Builder", Operation, int], int]
"""Visits an op after a point; the point that the next one follows."""


class Builder:
    """Walks a function, and asks `handlers` about each op with tensors."""

    program: FunctionProgram
    sizes: SizeAnalysis
    storage: StorageProgram
    callees: Callees
    handlers: Mapping[type[Operation], Handler]
    depth: int

    def __init__(
        self,
        program: FunctionProgram,
        callees: Callees,
        handlers: Mapping[type[Operation], Handler],
    ) -> None:
        self.program = program
        self.sizes = program.sizes
        self.storage = program.storage
        self.callees = callees
        self.handlers = handlers
        self.depth = 0

    def define(
        self,
        value: SSAValue,
        origin: Operation,
        *,
        constant: bool = False,
    ) -> int:
        """A variable for a value, which is all of it."""
        variable = self.storage.variable(constant=constant)
        type = memref_type(tensor_type(value.type), origin)
        shape = self.sizes.shape(value)
        self.program.variables.append(Variable(type, shape, origin, [value]))
        self.program.homes[value] = Home(variable)
        return variable

    def home(self, value: SSAValue, user: Operation) -> Home:
        """Where a value is, which `user` mentions."""
        home = self.program.homes[value]
        if home.variable is not None:
            self.mention(home.variable, user)
        return home

    def share(self, value: SSAValue, other: SSAValue) -> None:
        """Two names of one variable: a loop's result is what it carries."""
        self.sizes.set_shape(value, self.sizes.shape(other))
        home = self.program.homes[value] = self.program.homes[other]
        assert home.variable is not None, "what a loop carries is stored"
        self.program.variables[home.variable].values.append(value)

    def mention(self, variable: int, user: Operation) -> None:
        self.program.variables[variable].mentions.append(user)

    def read(self, values: Iterable[SSAValue], user: Operation) -> list[int]:
        """The variables of the tensors among `values`."""
        homes = [self.home(v, user) for v in values if is_tensor(v.type)]
        variables = [home.variable for home in homes]
        assert None not in variables, "what is read has a home"
        return [v for v in variables if v is not None]

    def move(
        self, op: Operation, pairs: Sequence[tuple[int, SSAValue]], at: int
    ) -> int:
        """Values to variables, right before `op`; undefined values leave them so."""
        moves: list[Move] = []
        undefined: list[int] = []
        for tag, (target, source) in enumerate(pairs):
            self.mention(target, op)
            home = self.home(source, op)
            if home.variable is None:
                undefined.append(target)
                continue
            moves.append(Move(target, home.variable, tag, home.whole))
            if home.whole:
                self.prefer(target, home.variable)
        if not moves and not undefined:
            return at
        at = self.storage.point((at,), moves=moves, undefined=undefined)
        self.program.points[op] = at
        self.program.moved[op] = tuple(source for _, source in pairs)
        return at

    def prefer(self, left: int, right: int, weight: int = 100) -> None:
        """Two variables that had better share, the more the deeper the loop."""
        self.program.affinities.append(
            Affinity(weight * 10 ** min(self.depth, 8), left, right)
        )

    def visit_ops(self, block: Block, at: int) -> int:
        """All ops of a block but the terminator."""
        for op in block.ops:
            if op is not block.last_op:
                at = self.visit(op, at)
        return at

    def visit(self, op: Operation, at: int) -> int:
        self.sizes.visit(op)
        handler = self.handlers.get(type(op))
        if handler is not None:
            return handler(self, op, at)
        if _has_tensors(op):
            raise OpError(
                op,
                f"expected an op that can be bufferised, but got '{op.name}'; kernels "
                "are made of ops of 'graph' and 'linalg', of those whose class derives "
                "'graph.GraphOp', and of what is in a 'graph.fused'",
            )
        return at


def _has_tensors(op: Operation) -> bool:
    """Whether an op, or one inside it, has a tensor."""
    return any(
        is_tensor(value.type)
        for inner in op.walk()
        for value in (*inner.operands, *inner.results)
    )
