"""
What `scf` and `cf` pass on: as many values as are taken, of the same types.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException


def expect_types(
    what: str, values: Sequence[SSAValue], types: Sequence[Attribute]
) -> None:
    """Raise `VerifyException` unless values have these types."""
    actual = [value.type for value in values]
    if len(actual) != len(types):
        raise VerifyException(f"expected {len(types)} {what}, but got {len(actual)}")
    for position, (got, expected) in enumerate(zip(actual, types, strict=True)):
        if got != expected:
            raise VerifyException(
                f"expected {what} of type '{expected}' at position {position}, but "
                f"got '{got}'"
            )


def _types(values: Sequence[SSAValue]) -> list[Attribute]:
    return [value.type for value in values]


def _end_of(block: Block, name: str) -> Operation:
    """The terminator of a block, which has to be of this name."""
    last = block.last_op
    if last is None or last.name != name:
        got = "none" if last is None else f"'{last.name}'"
        raise VerifyException(
            f"expected '{name}' at the end of a region, but got {got}"
        )
    return last


def _verify_arm(region: Region, results: Sequence[SSAValue]) -> None:
    """A region without arguments yields the results of its op."""
    expect_types("arguments of a region", region.block.args, ())
    last = region.block.last_op
    assert last is not None, "xDSL wants a yield"
    expect_types("yielded values", last.operands, _types(results))


def verify_if(op: Operation) -> None:
    """Both arms yield what the branch gives."""
    first, second = op.regions
    _verify_arm(first, op.results)
    if second.blocks:
        _verify_arm(second, op.results)
    elif op.results:
        raise VerifyException("expected an 'else' region that yields the results")


def verify_for(op: Operation) -> None:
    """The loop gives what it carries, and gets on."""
    expect_types("results", op.results, _types(op.operands[3:]))
    step = op.operands[2].owner
    if isinstance(step, Operation) and step.name == "arith.constant":
        value = step.get_attr_or_prop("value")
        if isinstance(value, IntegerAttr) and value.value.data <= 0:
            raise VerifyException(
                f"expected a step above 0, but got {value.value.data}"
            )


def verify_while(op: Operation) -> None:
    """What each region is given is what the other one, or the op, passes on."""
    before, after = (region.block for region in op.regions)
    expect_types("arguments of the first region", before.args, _types(op.operands))
    expect_types("arguments of the second region", after.args, _types(op.results))
    condition = _end_of(before, "scf.condition")
    expect_types("passed values", condition.operands[1:], _types(op.results))
    last = _end_of(after, "scf.yield")
    expect_types("yielded values", last.operands, _types(op.operands))


def verify_branch(op: Operation) -> None:
    """A branch passes what its block takes."""
    (successor,) = op.successors
    expect_types("passed values", op.operands, _types(successor.args))


def verify_conditional_branch(op: Operation) -> None:
    """Both ways pass what their block takes."""
    segments = op.properties["operandSegmentSizes"]
    assert isinstance(segments, DenseArrayBase), "verified before"
    _, count, _ = cast("DenseArrayBase[IntegerType]", segments).get_values()
    first, second = op.successors
    passed = op.operands[1:]
    expect_types("passed values", passed[:count], _types(first.args))
    expect_types("passed values", passed[count:], _types(second.args))


CONTROL_FLOW: Mapping[str, Callable[[Operation], None]] = {
    "cf.br": verify_branch,
    "cf.cond_br": verify_conditional_branch,
    "scf.for": verify_for,
    "scf.if": verify_if,
    "scf.while": verify_while,
}
