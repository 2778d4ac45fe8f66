"""
Canonicalizations of the `tir` dialect.
"""

from __future__ import annotations

from xdsl.pattern_rewriter import RewritePattern

NEST_PATTERNS: tuple[RewritePattern, ...] = ()
BLOCK_PATTERNS: tuple[RewritePattern, ...] = ()
ALLOC_PATTERNS: tuple[RewritePattern, ...] = ()
COPY_PATTERNS: tuple[RewritePattern, ...] = ()
