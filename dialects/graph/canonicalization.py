"""
Algebraic simplifications, applied by `canonicalize`.
"""

from xdsl.ir import Operation
from xdsl.pattern_rewriter import RewritePattern

PATTERNS: dict[type[Operation], tuple[RewritePattern, ...]] = {}
