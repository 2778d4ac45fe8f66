"""
What schedules are chosen for.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Machine:
    """Facts of a target that loops depend on; sizes in bytes."""

    vector_bytes: int
    register_count: int
