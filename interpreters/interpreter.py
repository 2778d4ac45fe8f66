"""
Run a module: the oracle that every phase and every lowering is compared with.

Graph ops, tensor ops and nests are evaluated with whole-array NumPy. From the phase
`scheduled` on kernels are scalar loops, which are walked op by op; that is for small
shapes, and refused above a number of steps.

Evaluation is straight from the definitions and shares no code with folding, inference
or lowering. Every op of a floating-point type rounds once: f16 and bf16 are computed in
f32, f32 functions in f64; contractions and sums of floats accumulate in f64. Integers
wrap. Memory that was never written holds NaN, or a pattern that is easy to spot.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnregisteredOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator

from transom.dialects.diagnostics import OpError, did_you_mean
from transom.dialects.dtypes import numpy_dtype
from transom.dialects.plugins import PluginError
from transom.interpreters.evaluators import (
    Array,
    Evaluator,
    Jump,
    Value,
    Values,
    dialect_table,
    find_evaluator,
)

MAX_STEPS = 10_000_000
"""Ops that are evaluated before a run is refused: about half a minute."""

MAX_BYTES = 1 << 32
"""Size of one value before a run is refused."""

MAX_CALLS = 100
"""Depth of calls before a run is refused."""

_MISTAKES = (ValueError, IndexError, OverflowError, ZeroDivisionError, MemoryError)
"""What NumPy raises when the module has no defined result."""

T = TypeVar("T")


class TooManySteps(OpError):
    """A run would take longer than it may."""


class Step(NamedTuple):
    """An op of a block with what running it needs."""

    op: Operation
    evaluate: Evaluator
    operands: tuple[int, ...]
    results: tuple[int, ...]


class Plan(NamedTuple):
    """A block, ready to run; the values of an environment are keyed by `id`."""

    arguments: tuple[int, ...]
    steps: tuple[Step, ...]
    terminator: Operation | None
    branch: Evaluator | None
    operands: tuple[int, ...]


class Exit(NamedTuple):
    """How a region was left."""

    terminator: Operation | None
    values: Values


class Interpreter:
    """
    Runs the functions of a module that verifies.

    `weights` gives the array of a `graph.weight`; by default a `WeightStore` that knows
    no files. `externs` are Python references of external C functions by name, called
    with the operands, `artifacts` those of code that is emitted already, by format,
    called with the op and its arguments. `evaluators` come before the tables of the
    dialects.
    """

    def __init__(
        self,
        module: ModuleOp,
        *,
        weights: Callable[[Any], Array] | None = None,
        externs: Mapping[str, Callable[..., Any]] | None = None,
        evaluators: Mapping[type[Operation], Evaluator] | None = None,
        artifacts: Mapping[str, Callable[[Any, Values], None]] | None = None,
        max_steps: int = MAX_STEPS,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self.module = module
        self.externs = dict(externs or {})
        self.artifacts = dict(artifacts or {})
        self.max_steps = max_steps
        self.max_bytes = max_bytes
        self.steps = 0
        """Ops evaluated in the current or last run."""
        self.storage: dict[object, Any] = {}
        """What ops share in one run, such as the bytes of a pool, by symbol."""
        self._weights = weights
        self._evaluators = evaluators or {}
        self._plans: dict[int, Plan] = {}
        self._constants: dict[Operation, Any] = {}
        self._by_class: dict[type[Operation], Evaluator | None] = {}
        self._depth = 0
        self._symbols = {
            name.data: op
            for op in module.body.block.ops
            if isinstance(name := op.get_attr_or_prop("sym_name"), StringAttr)
        }

    def run(self, name: str, inputs: Sequence[Any]) -> list[Array]:
        """
        The results of the function `name` on `inputs`, as new arrays.

        A kernel (`tir.func`), or a function on memrefs, gets an array for each
        argument; its results are the contents of those that it may write. Arguments
        that stand for a result of the whole program (`tir.result`) are not passed.

        Raises InputError if an input does not fit its argument, and OpError if the
        module cannot be evaluated.
        """
        from transom.interpreters.entry import entry_arguments, entry_results

        function = self._symbols.get(name)
        if function is None:
            raise ValueError(
                f"the module has no function '{name}'"
                f"{did_you_mean(name, self._symbols)}"
            )
        self.steps = 0
        self.storage = {}
        self._depth = 0
        arguments = entry_arguments(self, function, inputs)
        try:
            with np.errstate(all="ignore"):
                results = self.call(function, arguments)
        except RecursionError:
            raise OpError(function, "calls or regions nest too deeply") from None
        return entry_results(function, arguments, results)

    def call(self, function: Operation, arguments: Values) -> Values:
        """The values that the function returns; it writes to memrefs in place."""
        if self._depth >= MAX_CALLS:
            raise OpError(function, f"expected at most {MAX_CALLS} nested calls")
        self._depth += 1
        try:
            return Frame(self, {}).region(function.regions[0], arguments).values
        finally:
            self._depth -= 1

    def find(self, name: str) -> Operation | None:
        """The top-level op called `name`, if there is one."""
        return self._symbols.get(name)

    def symbol(self, op: Operation, name: str) -> Operation:
        """The top-level op called `name`, which `op` uses."""
        found = self._symbols.get(name)
        if found is None:
            hint = did_you_mean(name, self._symbols)
            raise OpError(op, f"the module has no symbol '{name}'{hint}")
        return found

    def weight(self, op: Operation) -> Array:
        """The elements of a `graph.weight`, which may not be written."""
        if self._weights is None:
            from transom.interpreters.weights import WeightStore

            self._weights = cast("Callable[[Any], Array]", WeightStore(self.module))
        return self._weights(op)

    def allocate(self, op: Operation, shape: Sequence[int], dtype: np.dtype[Any]):
        """A new array that holds nothing meaningful, for `op`."""
        self.check_size(op, shape, dtype.itemsize)
        array = np.empty(tuple(shape), dtype)
        array.fill(uninitialized(dtype))
        return array

    def check_size(
        self, op: Operation, shape: Sequence[int], itemsize: int = 8
    ) -> None:
        """Refuse a value of this shape if it is absurdly large."""
        if any(size < 0 for size in shape):
            raise OpError(op, f"expected sizes >= 0, but got {list(map(int, shape))}")
        size = math.prod(int(s) for s in shape) * itemsize
        if size > self.max_bytes:
            raise OpError(
                op,
                f"expected at most {self.max_bytes} bytes in a value, but a shape of "
                f"{list(map(int, shape))} needs {size}",
            )

    def count(self, op: Operation, steps: int) -> None:
        """Count steps that `op` takes or is about to take; raises `TooManySteps`."""
        if self.steps + steps > self.max_steps:
            raise TooManySteps(
                op,
                f"expected at most {self.max_steps} interpreted steps, but at least "
                f"{self.steps + steps} are needed",
            )
        self.steps += steps

    def constant(self, op: Operation, make: Callable[[], T]) -> T:
        """A value that depends on the op alone, made once."""
        if op not in self._constants:
            self._constants[op] = make()
        return self._constants[op]

    def plan(self, block: Block) -> Plan:
        """The block, ready to run."""
        plan = self._plans.get(id(block))
        if plan is None:
            plan = self._plans[id(block)] = self._make_plan(block)
        return plan

    def _make_plan(self, block: Block) -> Plan:
        ops = list(block.ops)
        last = ops.pop() if ops and ops[-1].has_trait(IsTerminator) else None
        return Plan(
            tuple(map(id, block.args)),
            tuple(
                Step(
                    op,
                    self._evaluator(op),
                    tuple(map(id, op.operands)),
                    tuple(map(id, op.results)),
                )
                for op in ops
            ),
            last,
            self._evaluator(last) if last and last.successors else None,
            tuple(map(id, last.operands)) if last else (),
        )

    def _evaluator(self, op: Operation) -> Evaluator:
        op_class = type(op)
        if op_class not in self._by_class:
            dialect = op_class.name.partition(".")[0]
            try:
                table = dialect_table(dialect)
            except PluginError as e:
                raise OpError(op, str(e)) from e
            found = find_evaluator(op_class, (self._evaluators, table))
            self._by_class[op_class] = found
        evaluator = self._by_class[op_class]
        if evaluator is None:
            name = op.op_name.data if isinstance(op, UnregisteredOp) else op.name
            raise OpError(op, f"no reference evaluation for '{name}'")
        return evaluator


@dataclass
class Frame:
    """
    One call of a function: the values that are known in it, by `id` of the `SSAValue`.

    In a nest `mask` says at which points the current region is really executed; None is
    at all of them.
    """

    interpreter: Interpreter
    environment: dict[int, Any]
    mask: Array | None = None
    indices: list[Value] = field(default_factory=list[Any])
    """In a nest: the value of each of its dims."""
    batch: tuple[int, ...] = ()
    """In a block whose points are evaluated at once: their axes, inner ones first."""
    batch_arguments: tuple[SSAValue, ...] = ()
    """The index of the block that each axis of the batch stands for."""

    def batch_axis(self, value: SSAValue) -> int | None:
        """The axis of the batch that a block's index stands for."""
        for axis, argument in enumerate(self.batch_arguments):
            if argument is value:
                return axis
        return None

    def values(self, block: Block, arguments: Values) -> Values:
        """What the only block of a region leaves it with."""
        left = self.block(block, arguments)
        assert isinstance(left, Exit), "a region of one block has no branches"
        return left.values

    def region(self, region: Region, arguments: Values) -> Exit:
        """Run a region from its first block until a terminator without successors."""
        block = region.blocks[0]
        while True:
            left = self.block(block, arguments)
            if not isinstance(left, Jump):
                return left
            block, arguments = left.block, left.arguments

    def evaluate(
        self,
        block: Block,
        arguments: Values,
        *,
        without: Sequence[Operation],
        values: Sequence[SSAValue],
    ) -> Values:
        """Some values of a block that is run without some ops."""
        whole = self.interpreter.plan(block)
        plan = whole._replace(
            steps=tuple(step for step in whole.steps if step.op not in without),
            operands=tuple(map(id, values)),
        )
        left = self.run(plan, arguments)
        assert isinstance(left, Exit), "a region of one block has no branches"
        return left.values

    def block(self, block: Block, arguments: Values) -> Exit | Jump:
        """Run one block."""
        return self.run(self.interpreter.plan(block), arguments)

    def run(self, plan: Plan, arguments: Values) -> Exit | Jump:
        """Run what was planned."""
        interpreter, environment = self.interpreter, self.environment
        interpreter.steps += len(plan.steps) + 1
        if interpreter.steps > interpreter.max_steps:
            where = plan.terminator or interpreter.module
            interpreter.count(where, 0)
        environment.update(zip(plan.arguments, arguments, strict=True))
        op = plan.terminator
        try:
            for op, evaluate, operands, results in plan.steps:
                values = evaluate(self, op, [environment[key] for key in operands])
                if len(results) == 1:
                    environment[results[0]] = values[0]
                else:
                    environment.update(zip(results, values, strict=True))
        except _MISTAKES as e:
            assert op is not None, "only steps are evaluated above"
            reason = " ".join(str(e).split()) or type(e).__name__
            raise OpError(op, f"cannot evaluate '{op.name}': {reason}") from e
        left = [environment[key] for key in plan.operands]
        if plan.branch is None:
            return Exit(plan.terminator, left)
        assert plan.terminator is not None, "it branches"
        (jump,) = plan.branch(self, plan.terminator, left)
        return jump


def dtype_of(op: Operation, element_type: Attribute) -> np.dtype[Any]:
    """The dtype of an element type of `op`; an OpError if NumPy has none."""
    try:
        return numpy_dtype(element_type)
    except ValueError as e:
        raise OpError(op, str(e)) from None


def uninitialized(dtype: np.dtype[Any]) -> Any:
    """What memory holds that was never written."""
    if dtype.kind in "iu":
        return np.array(0xA5A5A5A5A5A5A5A5, np.uint64).astype(dtype)
    return True if dtype.kind == "b" else np.nan
