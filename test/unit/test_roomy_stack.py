"""Calls of a function with room take no memory from the system again and again."""

import inspect
import sys

import pytest

from transom.dialects.roomy_stack import with_room

CALLS = 500


def leaf() -> None:
    """A call in each turn of a loop."""


def faults_at(depth: int) -> int:
    """How often the system gave memory to a loop of calls, some calls deep."""
    import resource

    if depth:
        return faults_at(depth - 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(CALLS):
        leaf()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


@pytest.mark.skipif(sys.platform != "linux", reason="what is counted is Linux's")
def test_no_depth_takes_memory_in_each_turn() -> None:
    faults = with_room(lambda: [faults_at(depth) for depth in range(300)])()
    assert max(faults) < CALLS // 2


def test_it_is_called_as_before() -> None:
    @with_room
    def divided(a: int, *, by: int = 1) -> float:
        """A quotient."""
        return a / by

    assert divided(6, by=4) == 1.5
    assert divided.__doc__ == "A quotient."
    assert str(inspect.signature(divided)) == "(a: int, *, by: int = 1) -> float"
    with pytest.raises(ZeroDivisionError):
        divided(1, by=0)
