"""
How loops cut a range into tiles whose number of points is known at run time only.
"""

import math


def sizes_of_unknown(tile: int, width: int) -> list[int]:
    """
    The tiles of a range of which only the points at run time are known: whole ones,
    then smaller ones for what each size has left, so that few points are alone. Each
    size divides the one before: a tile starts at a multiple of its size.
    """
    if width > 1:
        part = max(1, width // 4)
    else:
        part = max(d for d in range(1, math.isqrt(tile) + 1) if tile % d == 0)
    return sorted({tile, width, part, 1}, reverse=True)
