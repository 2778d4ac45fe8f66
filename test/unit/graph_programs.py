"""
Random graph programs with inputs, for property tests of what passes compute.

Every choice is drawn, so that hypothesis can shrink a failure. Programs are numerically
tame: magnitudes are tracked and clamped, and what is not continuous (comparisons, casts
to integers, the place of a maximum) is only asked of values that every order of
evaluation gives exactly.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import graph_program_movement as movement
import graph_program_ops as ops
from graph_program_builder import (
    PLACE,
    Array,
    Builder,
    Choices,
    Drawn,
    Mismatch,
)
from hypothesis import strategies as st
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from transom.dialects import graph
from transom.dialects.target import set_place
from transom.runtime.comparison import Difference, Tolerance, compare, tolerance_of

Make = Callable[[Builder], None]

MAKERS: tuple[Make, ...] = (
    *(ops.binary,) * 5,
    *(ops.unary, ops.smooth) * 3,
    *(ops.reduce, ops.softmax, ops.layer_norm, ops.matmul, ops.conv2d) * 2,
    *(ops.cast, ops.compare, ops.select, ops.clamp) * 2,
    *(movement.reshape, movement.transpose, movement.broadcast, movement.concat) * 2,
    *(ops.argsort, ops.bitcast),
    *(ops.arg_reduce, ops.batch_norm, ops.bitwise, ops.cumulate, ops.invert, ops.leaky),
    *(ops.angle, ops.iota, ops.pool, ops.power, ops.quantize, ops.quotient, ops.shift),
    *(
        movement.gather,
        movement.gather_elements,
        movement.pad,
        movement.scatter,
        movement.slice_,
    ),
    movement.use_constant,
)
"""What adds an op or some to a program, the usual ones more often."""


ABSOLUTE = {"float64": 1e-9, "float32": 1e-4, "float16": 0.1, "bfloat16": 0.5}
"""Tolerances that fit the magnitudes of programs, whose sums cancel."""


def differences(
    found: Mapping[str, Array], expected: Mapping[str, Array]
) -> list[Difference]:
    """Which outputs differ by more than rounding makes them."""
    compared = (
        compare(name, found[name], array, tolerance(str(array.dtype)))
        for name, array in expected.items()
    )
    return [difference for difference in compared if difference is not None]


def tolerance(dtype: str) -> Tolerance:
    """How far numbers of a dtype may be off."""
    known = tolerance_of(dtype)
    return replace(known, absolute=ABSOLUTE.get(dtype, known.absolute))


@dataclass
class Program:
    """A module whose `main` has a place, and inputs for it by name."""

    module: ModuleOp
    inputs: dict[str, Array]

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Hypothesis would print the ops field by field, which has no end."""
        printer.text(f"{self.module}\n{self.inputs}")


def build(choices: Choices, steps: int = 10) -> Program:
    """A program of at most about so many ops."""
    b = Builder(choices)
    for _ in range(choices.number(1, 3)):
        b.add_input()
    for _ in range(choices.number(1, steps)):
        try:
            choices.pick(MAKERS)(b)
        except (Mismatch, VerifyException):
            continue
    return finished(b)


@st.composite
def programs(draw: st.DrawFn, steps: int = 10) -> Program:
    """Random programs."""
    return build(Drawn(draw(st.data())), steps)


def finished(b: Builder) -> Program:
    """The program; values that nothing reads are results, and some others."""
    block, choices = b.block, b.choices
    results = [choices.pick(b.values).value for _ in range(choices.number(0, 2))]
    results += [
        known.value
        for known in b.values
        if not known.value.uses
        and known.value not in results
        and not isinstance(known.value.owner, Block)
    ]
    if not results:
        results = [b.values[-1].value]
    for _ in range(choices.pick((0, 0, 0, 1, 2))):
        moved = group_some(b, results)
        results = [moved.get(value, value) for value in results]
    block.add_op(ReturnOp(*results))
    func = FuncOp(
        "main",
        (list(block.arg_types), [value.type for value in results]),
        Region(block),
        arg_attrs=_names("x", len(block.args)),
        res_attrs=_names("y", len(results)),
    )
    set_place(func, PLACE)
    b.module.body.block.add_op(func)
    return Program(b.module, b.inputs)


def _names(stem: str, count: int) -> ArrayAttr[DictionaryAttr]:
    return ArrayAttr(
        DictionaryAttr({"graph.name": StringAttr(f"{stem}{i}")}) for i in range(count)
    )


def group_some(b: Builder, results: Sequence[SSAValue]) -> dict[SSAValue, SSAValue]:
    """Put some neighbouring ops into a group, and give what has moved where."""
    everything = list(b.block.ops)
    starts = [i for i, op in enumerate(everything) if _can_be_grouped(op)]
    if not starts:
        return {}
    first = b.choices.pick(starts)
    inside = everything[first : first + b.choices.number(1, 5)]
    while not _can_be_grouped(inside[-1]):
        inside.pop()
    if not all(isinstance(op, graph.GraphOp) for op in inside):
        return {}
    return group(inside, b.choices, results)


def _can_be_grouped(op: Operation) -> bool:
    return isinstance(op, graph.GraphOp) and not isinstance(op, graph.WeightRefOp)


def group(
    ops: Sequence[Operation], choices: Choices, wanted: Sequence[SSAValue]
) -> dict[SSAValue, SSAValue]:
    """
    Put neighbouring ops into a group, and give what is in the place of their results.
    Its results are those that are read or wanted, and some that are of no use.
    """
    members = set(ops)
    inputs = list(
        dict.fromkeys(v for op in ops for v in op.operands if v.owner not in members)
    )
    if inputs and choices.number(0, 3) == 0:
        inputs.append(inputs[0])  # the same operand twice
    outputs: list[SSAValue] = [
        result
        for op in ops
        for result in op.results
        if any(use.operation not in members for use in result.uses)
        or result in wanted
        or choices.number(0, 3) == 0
    ]
    if inputs and choices.number(0, 5) == 0:
        outputs.append(inputs[0])
    if outputs and choices.number(0, 5) == 0:
        outputs.append(outputs[0])
    body = Block(arg_types=[value.type for value in inputs])
    inner = dict(zip(inputs, body.args, strict=True))
    types = [value.type for value in outputs]
    kind = choices.number(0, 2)
    if kind == 0:
        made: graph.GroupOp = graph.FusedOp(inputs, types, Region(body))
    elif kind == 1:
        made = graph.CompositeOp("test.some", inputs, types, Region(body))
    else:
        made = graph.RegionOp(PLACE, inputs, types, Region(body))
    block = ops[0].parent
    assert block is not None
    block.insert_op_before(made, ops[0])
    moved = dict(zip(outputs, made.results, strict=True))
    for old, new in moved.items():
        if old not in inner:
            old.replace_uses_with_if(new, lambda use: use.operation not in members)
    for op in ops:
        op.detach()
        op.operands = [inner.get(v, v) for v in op.operands]
        body.add_op(op)
    body.add_op(graph.YieldOp(*(inner.get(value, value) for value in outputs)))
    return {old: new for old, new in moved.items() if old not in inner}
