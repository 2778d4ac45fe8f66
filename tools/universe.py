"""
What transom publishes to `xdsl-opt` and other tools: the entry point `xdsl.universe`.
"""

from transom.registry import own_universe

UNIVERSE = own_universe()
