"""
What hooks say of single ops: claims and costs.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar, cast

from xdsl.ir import Operation

from transom.dialects.diagnostics import OpError
from transom.dialects.target import TargetAttr
from transom.lowering.conversion import Refusal
from transom.passes.graph_outline_regions import is_computed
from transom.passes.graph_patterns import Match, Matcher
from transom.targets.contract.asking import kind_of
from transom.targets.contract.frozen import name_of
from transom.targets.contract.rules import (
    MEMBER_ELSEWHERE,
    MEMBER_NOT_COMPUTED,
    RAISED,
    WRONG_CLAIM,
    WRONG_COST,
    WRONG_MEMBERS,
    Origin,
)
from transom.targets.hooks import Accepted, Claim, PatternClaim
from transom.targets.registry import hooks_of

T = TypeVar("T")


def answer_of(claim: Claim, op: Operation, target: TargetAttr) -> Accepted | Refusal:
    """
    What a claim of a target says of an op.

    Raises `OpError` at the op if it is no answer.
    """
    return _checked(lambda: claim.answer(op), op, Origin("claims", target))


def _checked(
    ask: Callable[[], object], op: Operation, origin: Origin
) -> Accepted | Refusal:
    answer = _asked(ask, op, origin)
    if isinstance(answer, Accepted):
        _check_cost(answer.seconds, op, origin)
    elif not isinstance(answer, Refusal):
        raise origin.error(WRONG_CLAIM, op, found=kind_of(answer))
    return answer


def members_of(claim: Claim, op: Operation, target: TargetAttr) -> Sequence[Operation]:
    """
    The ops of a claim that ends in an op, none where its pattern does not match.

    Raises `OpError` at the op for members that cannot be.
    """
    origin = Origin("claims", target)
    answer = cast(object, _asked(lambda: claim.members(op), op, origin))
    expected = f"ops as members of the claim of '{name_of(op)}'"
    _expect(isinstance(answer, list | tuple), expected, answer, op, origin)
    members = cast("Sequence[object]", answer)
    for member in members:
        _expect(isinstance(member, Operation), expected, member, op, origin)
    ops = cast("Sequence[Operation]", members)
    if ops and op not in ops:
        expected = f"'{name_of(op)}' among the members of its claim"
        found = ", ".join(f"'{name_of(member)}'" for member in ops)
        raise origin.error(WRONG_MEMBERS, op, expected=expected, found=found)
    for member in ops:
        if member.parent is not op.parent:
            fields = {"member": name_of(member), "op": name_of(op)}
            raise origin.error(MEMBER_ELSEWHERE, op, **fields)
    _check_computed(ops, op, origin)
    return ops


def answers_of(
    claim: PatternClaim, op: Operation, target: TargetAttr, matcher: Matcher
) -> Iterator[tuple[Match, Accepted | Refusal]]:
    """
    What a claim of a target says of each match of its pattern that ends in an op; of
    several on the same ops, of the first that is accepted, or else of the first.

    Raises `OpError` at the op if it is no answer.
    """
    origin = Origin("claims", target)
    matches = _asked(lambda: list(claim.pattern.matches(op, matcher)), op, origin)
    said: dict[tuple[Operation, ...], tuple[Match, Accepted | Refusal]] = {}
    for match in matches:
        ops = (*match.ops, *match.copied)
        if ops in said and isinstance(said[ops][1], Accepted):
            continue
        _check_computed(ops, op, origin)
        answer = _checked(lambda match=match: claim.answer(match), op, origin)
        if match.taps and not claim.taps and isinstance(answer, Accepted):
            inner = match.taps[0].owner
            assert isinstance(inner, Operation), "matched by its op"
            answer = Refusal(f"'{inner.name}' in it is read by others as well")
        if ops not in said or isinstance(answer, Accepted):
            said[ops] = match, answer
    yield from said.values()


def _check_computed(ops: Sequence[Operation], op: Operation, origin: Origin) -> None:
    for member in ops:
        if not is_computed(member):
            fields = {"member": name_of(member), "op": name_of(op)}
            raise origin.error(MEMBER_NOT_COMPUTED, op, **fields)


def _expect(
    holds: bool, expected: str, found: object, op: Operation, origin: Origin
) -> None:
    if not holds:
        found = kind_of(found)
        raise origin.error(WRONG_MEMBERS, op, expected=expected, found=found)


def cost_of(op: Operation, target: TargetAttr) -> float | None:
    """
    The seconds that the hooks of a target say an op takes, or None if it is not known.

    Raises `OpError` at the op if that is no number >= 0.
    """
    origin = Origin("cost", target)
    hooks = hooks_of(target)
    seconds = _asked(lambda: hooks.cost(op, target), op, origin)
    _check_cost(seconds, op, origin)
    return seconds


def _check_cost(seconds: object, op: Operation, origin: Origin) -> None:
    if seconds is None:
        return
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not is_number or not 0 <= cast(float, seconds) < math.inf:
        raise origin.error(WRONG_COST, op, found=kind_of(seconds))


def _asked(ask: Callable[[], T], op: Operation, origin: Origin) -> T:
    try:
        return ask()
    except OpError:
        raise
    except Exception as e:  # plug-in boundary: hooks are others' code
        error = f"{type(e).__name__}: {e}"
        raise origin.error(RAISED, op, error=error) from e
