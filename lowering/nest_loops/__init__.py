"""
How a nest becomes loops: `NestLoops` is what `convert-tir-to-scf` is made of.
"""

from transom.lowering.nest_loops.emitter import Emitter, Index
from transom.lowering.nest_loops.loops import NestLoops

__all__ = ["Emitter", "Index", "NestLoops"]
