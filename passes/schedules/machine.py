"""
What schedules are chosen for.
"""

import math
from dataclasses import dataclass

from transom.dialects.tir.dot import DotInstructions

L2_BYTES = 16
"""What comes from the cache of the core in the time of a multiply-add of vectors."""

L3_BYTES = 8
"""The same from behind it."""


@dataclass(frozen=True)
class Machine:
    """Facts of a target that loops depend on; sizes in bytes."""

    vector_bytes: int
    register_count: int
    l1_bytes: int
    l2_bytes: int
    mask_bytes: int
    """The smallest element of which a part of a vector can be loaded and stored; 0 if
    there is none."""
    chains: int
    """How many multiply-adds that do not wait for each other fill the unit."""
    dot: DotInstructions = DotInstructions.NONE
    """For sums of products of small integers."""

    def step_cost(
        self, points: int, vectors: int, vector_bytes: int, steps: int
    ) -> float:
        """
        What a step of a sum over `points` by `vectors` takes, in multiply-adds.

        As many loads go on beside them; sums that are too few wait for each other. The
        vectors of all steps come from where they fit: all points of the next tile read
        them again.
        """
        step_bytes = vectors * vector_bytes
        arrival = step_bytes / self._bytes_per_add(steps * step_bytes)
        return max(points * vectors, points + vectors, self.chains, arrival)

    def _bytes_per_add(self, panel_bytes: int) -> float:
        """What arrives from the cache that holds a panel in the time of one."""
        if panel_bytes <= self.l1_bytes // 2:
            return math.inf
        # What passes beside a panel needs room as well.
        fits = panel_bytes <= self.l2_bytes * 3 // 4
        return L2_BYTES if fits else L3_BYTES

    def can_mask(self, element_bytes: int) -> bool:
        """Whether a part of a vector can be loaded and stored."""
        return 0 < self.mask_bytes <= element_bytes
