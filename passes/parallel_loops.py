"""
The parallel loops of a kernel that a team of threads can run.
"""

from collections.abc import Iterator

from xdsl.dialects import cf, memref, scf
from xdsl.ir import Operation, Region

from transom.dialects import tir

FAILS = (cf.AssertOp, memref.AllocOp, tir.CallOp, tir.ExternOp)
"""Ops that may end a kernel with a status, which the steps of a loop do not have."""


def outermost_loops(op: Operation) -> list[scf.ParallelOp]:
    """The parallel loops in an op that are in no other, in order."""
    return list(_outermost(op.regions))


def _outermost(regions: "tuple[Region, ...]") -> Iterator[scf.ParallelOp]:
    for region in regions:
        for block in region.blocks:
            for op in block.ops:
                if isinstance(op, scf.ParallelOp):
                    yield op
                else:
                    yield from _outermost(op.regions)


def is_forkable(loop: scf.ParallelOp) -> bool:
    """Whether threads can run the steps of a loop: it gives nothing and cannot fail."""
    return not loop.results and not any(isinstance(op, FAILS) for op in loop.walk())
