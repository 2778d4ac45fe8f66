"""
What schedules are chosen for.
"""

from dataclasses import dataclass


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

    def step_cost(self, points: int, vectors: int) -> int:
        """
        What a step of a sum over `points` by `vectors` takes, in multiply-adds.

        As many loads go on beside them; sums that are too few wait for each other.
        """
        return max(points * vectors, points + vectors, self.chains)

    def can_mask(self, element_bytes: int) -> bool:
        """Whether a part of a vector can be loaded and stored."""
        return 0 < self.mask_bytes <= element_bytes
