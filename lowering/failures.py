"""
How compiled code reports failure: a function without results returns a status.

Zero is success. Every op that can fail has a number, counted in module order; equal
texts share one. A call of an artifact is such an op, as the numbers that foreign code
returns mean nothing here. The module keeps the texts as `executor.messages`, so that a
run time can say what went wrong.

A private kernel that calls no function has numbers of its own, counted in the kernel,
so that its code is the same in every module; each call turns them into the module's.

```mlir
func.func @f(%c: i1) {                        llvm.func @f(%c: i1) -> i32 {
  cf.assert %c, "sizes differ"                  llvm.cond_br %c, ^ok, ^failed
  func.return                           ==>   ^failed:
}                                               llvm.return 1
                                              ^ok:
                                                llvm.return 0
                                              }
```
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias, cast

from xdsl.dialects import cf, func, memref
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp, StringAttr, i32
from xdsl.ir import Attribute, Operation, SSAValue

from transom.dialects import executor, llvm, tir
from transom.dialects.executor import MESSAGES
from transom.dialects.walking import walk_ops
from transom.lowering.conversion import ConversionRewriter

OUT_OF_MEMORY = "out of memory"

WRONG_STATUS = re.compile(r"'[^']*' did not return -?\d+")
"""What is said of a C function; stubs of kernels have the text alone."""

Allocation = memref.AllocOp | executor.AllocOp
Function = func.FuncOp | tir.FuncOp

FAIL_OR_CALL: frozenset[type[Operation]] = frozenset(
    (
        cf.AssertOp,
        executor.AllocOp,
        executor.CallOp,
        func.CallOp,
        memref.AllocOp,
        tir.CallOp,
        tir.ExternOp,
    )
)
"""The ops that `failure_text` and `callee_of` know."""

Status: TypeAlias = int | SSAValue[Attribute] | Callable[[ConversionRewriter], SSAValue]
"""A status, or what makes it where it is needed."""


def failure_text(op: Operation) -> str | None:
    """What an op says when it fails; None for an op that cannot."""
    match op:
        case cf.AssertOp():
            return op.msg.data
        case tir.ExternOp() if op.status is not None:
            return f"'{op.callee.data}' did not return {op.expected_status}"
        case memref.AllocOp() | executor.AllocOp():
            return OUT_OF_MEMORY
        case _:
            return None


def told_of(text: str, function: str) -> str:
    """
    A text as the module has it: about a C function also which function has called it.
    """
    return f"{text}, in '@{function}'" if WRONG_STATUS.fullmatch(text) else text


def callee_of(op: Operation) -> str | None:
    """The function that an op calls for its status."""
    match op:
        case func.CallOp() | executor.CallOp():
            return op.callee.string_value()
        case tir.CallOp():
            return op.callee_name
        case _:
            return None


def functions_of(module: ModuleOp) -> Iterator[Function]:
    for op in module.body.ops:
        if isinstance(op, func.FuncOp | tir.FuncOp):
            yield op


def returns_status(function: Operation | None) -> bool:
    """Whether a function says by its result if it failed."""
    match function:
        case func.FuncOp():
            return not function.function_type.outputs.data
        case tir.FuncOp() | executor.ArtifactOp():
            return True
        case _:
            return False


def enclosing_function(op: Operation) -> Operation | None:
    """The function that an op is in."""
    parent = op.parent_op()
    while parent is not None and not isinstance(
        parent, func.FuncOp | tir.FuncOp | llvm.FuncOp
    ):
        parent = parent.parent_op()
    return parent


def failing_or_calling(function: Operation) -> list[Operation]:
    """The ops in a function that may fail, or call another, in order."""
    return [op for op in walk_ops(function) if type(op) in FAIL_OR_CALL]


def has_own_numbers(function: Function) -> bool:
    """Whether a function numbers its failures itself."""
    return (
        isinstance(function, tir.FuncOp)
        and function.sym_visibility.data == "private"
        and bool(function.body.blocks)
        and all(callee_of(op) is None for op in failing_or_calling(function))
    )


def failure_texts(function: Function) -> list[str]:
    """What the ops of a function say when they fail, each text once, in order."""
    texts = map(failure_text, failing_or_calling(function))
    return list(dict.fromkeys(text for text in texts if text is not None))


class Failures:
    """The status codes of a module, and the functions that may return one."""

    def __init__(self, module: ModuleOp) -> None:
        self.messages: list[str] = []
        known = module.attributes.get(MESSAGES)
        if isinstance(known, ArrayAttr):
            texts = cast("ArrayAttr[Attribute]", known)
            self.messages += [m.data for m in texts if isinstance(m, StringAttr)]
        self.codes: dict[Operation, int] = {}
        numbers = {text: n for n, text in enumerate(self.messages, 1)}
        calls: dict[str, set[str]] = {}
        self.fallible: set[str] = set()
        self.translations: dict[str, list[int]] = {}
        """For functions with own numbers, the module's number of each from 1 on."""
        artifacts = {
            op.sym_name.data
            for op in module.body.ops
            if isinstance(op, executor.ArtifactOp)
        }
        for function in functions_of(module):
            name = function.sym_name.data
            callees = calls.setdefault(name, set())
            own_numbers: dict[str, int] = {}
            if not function.body.blocks:
                self.fallible.add(name)
            if has_own_numbers(function):
                own = failure_texts(function)
                self.translations[name] = [
                    self._number(told_of(text, name), numbers) for text in own
                ]
                own_numbers = {text: n for n, text in enumerate(own, 1)}
            for op in failing_or_calling(function):
                text = failure_text(op)
                if (callee := callee_of(op)) is not None:
                    callees.add(callee)
                    if callee in artifacts:
                        text = f"artifact '{callee}' failed"
                if text is None:
                    continue
                number = self._number(told_of(text, name), numbers)
                self.codes[op] = own_numbers.get(text, number)
                self.fallible.add(name)
        self.spread(calls)

    def _number(self, text: str, numbers: dict[str, int]) -> int:
        """The module's number of a text."""
        if text not in numbers:
            self.messages.append(text)
            numbers[text] = len(self.messages)
        return numbers[text]

    def spread(self, calls: dict[str, set[str]]) -> None:
        """Add the callers of functions that may fail, until there are no more."""
        changed = True
        while changed:
            changed = False
            for name, callees in calls.items():
                unknown = callees - calls.keys()
                if name not in self.fallible and (unknown or callees & self.fallible):
                    self.fallible.add(name)
                    changed = True

    def record(self, module: ModuleOp) -> None:
        """Keep the texts in the module."""
        if self.messages:
            texts = ArrayAttr([StringAttr(text) for text in self.messages])
            module.attributes[MESSAGES] = texts

    def check(
        self, op: Operation, good: SSAValue, rewriter: ConversionRewriter
    ) -> None:
        """Return the code of `op` from its function unless `good` holds."""
        self.require_status(op, rewriter)
        leave_unless(rewriter, good, self.codes[op])

    def translated(self, callee: str, status: SSAValue) -> Status:
        """The module's number for what a call has returned."""
        numbers = self.translations.get(callee)
        if numbers is None or numbers == list(range(1, len(numbers) + 1)):
            return status
        if len(numbers) == 1:
            return numbers[0]
        return lambda rewriter: _chosen(status, numbers, rewriter)

    def require_status(self, op: Operation, rewriter: ConversionRewriter) -> None:
        """Refuse an op whose function has no status to report a failure by."""
        if not returns_status(enclosing_function(op)):
            rewriter.refuse(
                "expected a function without results, which returns a status, around "
                "an op that may fail"
            )


def status_constant(value: int) -> llvm.ConstantOp:
    """A status as a constant that is not inserted yet."""
    return llvm.ConstantOp(IntegerAttr(value, i32), i32)


def _chosen(
    status: SSAValue, numbers: Sequence[int], rewriter: ConversionRewriter
) -> SSAValue:
    """The number at the position, from 1, that a status says."""
    result: SSAValue = rewriter.insert(status_constant(numbers[-1])).result
    for own, number in enumerate(numbers[:-1], 1):
        position = rewriter.insert(status_constant(own)).result
        is_own = rewriter.insert(llvm.ICmpOp(status, position, "eq")).res
        constant = rewriter.insert(status_constant(number)).result
        result = rewriter.insert(llvm.SelectOp(is_own, constant, result)).res
    return result


def _as_value(status: Status, rewriter: ConversionRewriter) -> SSAValue:
    if isinstance(status, int):
        return rewriter.insert(status_constant(status)).result
    return status(rewriter) if callable(status) else status


def leave_unless(
    rewriter: ConversionRewriter,
    good: SSAValue,
    status: Status,
) -> None:
    """Return a status, made where it is returned, unless `good` holds."""
    failed, follow = rewriter.new_block(), rewriter.new_block()
    nothing: Sequence[SSAValue] = ()
    rewriter.insert(llvm.CondBrOp(good, follow, nothing, failed, nothing))
    with rewriter.at_end(failed):
        rewriter.insert(llvm.ReturnOp(_as_value(status, rewriter)))
    rewriter.append_blocks((failed,))
    rewriter.continue_in(follow)
