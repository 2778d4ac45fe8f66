"""
The body of a function: statements and control flow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from xdsl.dialects import cf, func, scf
from xdsl.ir import Block, Operation, SSAValue

from transom.dialects import executor, tir
from transom.dialects.diagnostics import OpError
from transom.lowering.emit_c.calls import CALLS
from transom.lowering.emit_c.expressions import OR, Expression
from transom.lowering.emit_c.memory_ops import MEMORY_OPS
from transom.lowering.emit_c.scalars import Unsupported
from transom.lowering.emit_c.scope import Scope, number_text
from transom.lowering.emit_c.unit import Unit, function_name

RETURNS = (func.ReturnOp, tir.ReturnOp)


class FunctionWriter:
    """Writes the body of one function into a scope."""

    def __init__(self, unit: Unit, scope: Scope, *, fails: bool) -> None:
        self.unit = unit
        self.scope = scope
        self.fails = fails
        """The function returns a status."""
        self.variables: set[str] = set()
        """Names of variables that are assigned to."""

    def block(self, block: Block) -> None:
        """All ops of a block but its terminator, unless that leaves the function."""
        for op in block.ops:
            try:
                self.op(op)
            except Unsupported as e:
                raise OpError(op, str(e)) from None

    def op(self, op: Operation) -> None:
        """One op."""
        scope = self.scope
        if isinstance(op, scf.YieldOp | scf.ConditionOp | scf.ReduceOp):
            return  # the op around takes what it passes
        if isinstance(op, RETURNS):
            self.leave(op)
            return
        if write := CONTROL_FLOW.get(type(op)) or CALLS.get(type(op)):
            write(self, op)
            return
        if access := MEMORY_OPS.get(type(op)):
            access(self.unit, scope, op)
            return
        if any(not self.unit.is_number(operand.type) for operand in op.operands):
            raise OpError(op, f"no C form for '{op.name}'")
        operands = [scope.number(operand) for operand in op.operands]
        results = scope.scalars.results(op, operands)
        if results is None:
            raise OpError(op, f"no C form for '{op.name}'")
        for value, expression in zip(op.results, results, strict=True):
            scope.define(op, value, expression)

    def leave(self, op: Operation) -> None:
        """Return from the function."""
        if op.operands:
            (value,) = self.scope.texts(op.operands)
            self.scope.line(f"return {value};")
        elif self.fails:
            self.scope.line("return 0;")

    def fail(self, op: Operation, condition: str, message: str) -> None:
        """Leave the function with a status if a condition holds."""
        with self.scope.braces(f"if ({condition})"):
            self.scope.line(f"return {self.unit.status(op, message)};")

    # Values that change.

    def declare(
        self, value: SSAValue, wanted: str, initial: Expression | None
    ) -> Expression:
        """A variable that is assigned to."""
        name = self.scope.name_for(value, wanted)
        type = self.scope.scalars.scalar(value.type).type
        end = "" if initial is None else f" = {initial.text}"
        self.scope.line(f"{type} {name}{end};")
        self.variables.add(name)
        return Expression(name)

    def assign(self, targets: Sequence[Expression], values: Sequence[SSAValue]) -> None:
        """Assign all at once: no value sees another's new one."""
        sources = [self.scope.number(value) for value in values]
        changed: list[str] = []
        for position, (target, source) in enumerate(zip(targets, sources, strict=True)):
            if source.text == target.text:
                continue
            later = sources[position + 1 :]
            if any(re.search(rf"\b{target.text}\b", s.text) for s in later):
                type = self.scope.scalars.scalar(values[position].type).type
                name = self.scope.names.new(f"next_{target.text}")
                self.scope.line(f"const {type} {name} = {source.text};")
                changed.append(f"{target.text} = {name};")
            else:
                self.scope.line(assignment(target, source))
        for line in changed:
            self.scope.line(line)

    # Control flow.

    def write_for(self, op: Operation) -> None:
        assert isinstance(op, scf.ForOp)
        scope = self.scope
        index = scope.scalars.scalar(op.body.block.args[0].type)
        lower, upper, step = (scope.atom(v) for v in (op.lb, op.ub, op.step))
        initial = [scope.number(value) for value in op.iter_args]
        scope.settle()
        carried = self.carried(op, initial)
        with scope.loop_name() as name:
            stride = f"++{name}" if step == 1 else f"{name} += {number_text(step)}"
            head = (
                f"for ({index.type} {name} = {number_text(lower)}; "
                f"{name} < {number_text(upper)}; {stride})"
            )
            with scope.braces(head):
                scope.put(op.body.block.args[0], Expression(name))
                self.block(op.body.block)
                self.take_yield(op.body.block, carried, op.results)

    def carried(self, op: scf.ForOp, initial: Sequence[Expression]) -> list[Expression]:
        """
        Variables for what a loop carries; those that nothing reads are left out. What
        nothing else reads goes on in the variable that it is in.
        """
        carried: list[Expression] = []
        arguments = zip(
            op.body.block.args[1:], op.results, op.iter_args, initial, strict=True
        )
        for argument, result, start, value in arguments:
            if argument.first_use is None and result.first_use is None:
                carried.append(Expression(""))
                continue
            if value.text in self.variables and start.has_one_use():
                variable = value
            else:
                variable = self.declare(argument, "acc", value)
            self.scope.put(argument, variable)
            self.scope.put(result, variable)
            carried.append(variable)
        return carried

    def take_yield(
        self,
        block: Block,
        targets: Sequence[Expression],
        results: Sequence[SSAValue],
    ) -> None:
        """Assign what a block yields to the variables that are there for it."""
        last = block.last_op
        if last is None or not targets:
            return
        pairs = [
            (target, value)
            for target, value in zip(targets, last.operands, strict=True)
            if target.text
        ]
        self.assign([t for t, _ in pairs], [v for _, v in pairs])

    def write_parallel(self, op: Operation) -> None:
        """One point after the other."""
        assert isinstance(op, scf.ParallelOp)
        if op.initVals:
            raise OpError(op, "no C form for a parallel loop that reduces")
        scope = self.scope
        block = op.body.block
        bounds = [
            [scope.atom(v) for v in vs]
            for vs in (op.lowerBound, op.upperBound, op.step)
        ]
        scope.settle()

        def loops(dim: int) -> None:
            if dim == len(block.args):
                self.block(block)
                return
            lower, upper, step = (number_text(values[dim]) for values in bounds)
            type = scope.scalars.scalar(block.args[dim].type).type
            with scope.loop_name() as name:
                head = (
                    f"for ({type} {name} = {lower}; {name} < {upper}; {name} += {step})"
                )
                with scope.braces(head):
                    scope.put(block.args[dim], Expression(name))
                    loops(dim + 1)

        loops(0)

    def write_if(self, op: Operation) -> None:
        assert isinstance(op, scf.IfOp)
        scope = self.scope
        condition = scope.number(op.cond)
        scope.settle()
        results = [self.result_variable(value) for value in op.results]
        with scope.braces(f"if ({condition.text})"):
            self.block(op.true_region.block)
            self.take_yield(op.true_region.block, results, op.results)
        otherwise = op.false_region.blocks.first
        if otherwise is not None and (results or len(otherwise.ops) > 1):
            scope.lines.pop()
            with scope.braces("} else"):
                self.block(otherwise)
                self.take_yield(otherwise, results, op.results)

    def result_variable(self, value: SSAValue) -> Expression:
        """A variable that each way through an op assigns."""
        if value.first_use is None:
            return Expression("")
        variable = self.declare(value, "r", None)
        self.scope.put(value, variable)
        return variable

    def write_switch(self, op: Operation) -> None:
        assert isinstance(op, scf.IndexSwitchOp)
        scope = self.scope
        value = scope.number(op.arg)
        scope.settle()
        results = [self.result_variable(result) for result in op.results]
        with scope.braces(f"switch ({value.text})"):
            cases = [f"case {case}" for case in op.cases.get_values()]
            regions = [*op.case_regions, op.default_region]
            for case, region in zip([*cases, "default"], regions, strict=True):
                with scope.braces(f"{case}:"):
                    self.block(region.block)
                    self.take_yield(region.block, results, op.results)
                    scope.line("break;")

    def write_while(self, op: Operation) -> None:
        assert isinstance(op, scf.WhileOp)
        scope = self.scope
        before, after = op.before_region.block, op.after_region.block
        initial = [scope.number(value) for value in op.arguments]
        scope.settle()
        results = [self.result_variable(value) for value in op.results]
        carried: list[Expression] = []
        for argument, value in zip(before.args, initial, strict=True):
            variable = self.declare(argument, "acc", value)
            scope.put(argument, variable)
            carried.append(variable)
        with scope.braces("for (;;)"):
            self.block(before)
            condition = before.last_op
            assert isinstance(condition, scf.ConditionOp), "verified"
            goes_on = scope.number(condition.condition)
            passed: list[Expression] = []
            for argument, value in zip(after.args, condition.args, strict=True):
                expression = scope.number(value)
                passed.append(scope.variable(argument, expression, "next"))
            with scope.braces(f"if (!{goes_on.at(OR + 8)})"):
                for result, value in zip(results, passed, strict=True):
                    if result.text:
                        scope.line(f"{result.text} = {value.text};")
                scope.line("break;")
            self.block(after)
            self.take_yield(after, carried, before.args)

    def write_assert(self, op: Operation) -> None:
        assert isinstance(op, cf.AssertOp)
        condition = self.scope.number(op.arg)
        self.scope.settle()
        self.fail(op, f"!({condition.text})", op.msg.data)

    # Calls.

    def callee(self, op: Operation) -> Operation | None:
        """What a call calls."""
        assert isinstance(
            op, func.CallOp | tir.CallOp | executor.CallOp | executor.ShapeCallOp
        )
        return self.unit.functions.get(op.callee.string_value())

    def callee_name(self, callee: Operation) -> str:
        """The C name of a function of the module."""
        return self.unit.symbol(function_name(callee))


def assignment(target: Expression, source: Expression) -> str:
    """A statement that gives a variable its next value."""
    if source.update is not None and source.update[0] == target.text:
        _, operator, rest = source.update
        return f"{target.text} {operator}= {rest};"
    return f"{target.text} = {source.text};"


CONTROL_FLOW: dict[type[Operation], Callable[[FunctionWriter, Operation], None]] = {
    cf.AssertOp: FunctionWriter.write_assert,
    scf.ForOp: FunctionWriter.write_for,
    scf.IfOp: FunctionWriter.write_if,
    scf.IndexSwitchOp: FunctionWriter.write_switch,
    scf.ParallelOp: FunctionWriter.write_parallel,
    scf.WhileOp: FunctionWriter.write_while,
}
