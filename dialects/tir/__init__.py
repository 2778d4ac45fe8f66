"""
The `tir` dialect: kernels in destination-passing style.

A kernel (`tir.func`) works on memrefs. `tir.nest` says a loop nest by what one point
computes; `tir.block` computes nests together; `#tir.schedule` says how they become
loops, which `convert-tir-to-scf` makes of them. Plain `scf`, `memref` and `arith` may
stand beside nests.
"""

from xdsl.ir import Dialect

import transom.dialects.arith_forms  # noqa: F401  # pyright: ignore[reportUnusedImport]  # takes effect when imported
from transom.dialects.tir import accesses, affine
from transom.dialects.tir.attributes import (
    AccessAttr,
    CombineAttr,
    CombineKind,
    DimAttr,
    DimKind,
    Effect,
    EffectAttr,
    StructType,
    TokenType,
)
from transom.dialects.tir.block import BlockOp
from transom.dialects.tir.call import CallOp
from transom.dialects.tir.callee import Callee
from transom.dialects.tir.dot import DotOp
from transom.dialects.tir.extern import (
    SYMBOL,
    Argument,
    ExternOp,
    StructOp,
    memrefs_behind,
)
from transom.dialects.tir.fork import ForkOp
from transom.dialects.tir.func import FuncOp, ReturnOp
from transom.dialects.tir.memory import (
    AllocOp,
    CopyAsyncOp,
    CopyOp,
    PrefetchOp,
    WaitOp,
)
from transom.dialects.tir.nest import (
    IndexOp,
    NestOp,
    YieldOp,
)
from transom.dialects.tir.nest_builder import In, Out, RegionBuilder
from transom.dialects.tir.schedule import ScheduleAttr
from transom.dialects.tir.schedule_entries import AheadAttr, TileAttr
from transom.dialects.tir.threads import THREADS, set_threads, threads_of
from transom.dialects.tir.types import compatible_types, signless

TIR = Dialect(
    "tir",
    [
        AllocOp,
        BlockOp,
        CallOp,
        CopyAsyncOp,
        CopyOp,
        ExternOp,
        DotOp,
        ForkOp,
        FuncOp,
        IndexOp,
        NestOp,
        PrefetchOp,
        ReturnOp,
        StructOp,
        WaitOp,
        YieldOp,
    ],
    [
        AccessAttr,
        AheadAttr,
        CombineAttr,
        DimAttr,
        EffectAttr,
        ScheduleAttr,
        StructType,
        TileAttr,
        TokenType,
    ],
)

__all__ = [
    "SYMBOL",
    "THREADS",
    "TIR",
    "AccessAttr",
    "AheadAttr",
    "AllocOp",
    "Argument",
    "BlockOp",
    "CallOp",
    "Callee",
    "CombineAttr",
    "CombineKind",
    "CopyAsyncOp",
    "CopyOp",
    "DimAttr",
    "DimKind",
    "DotOp",
    "Effect",
    "EffectAttr",
    "ExternOp",
    "ForkOp",
    "FuncOp",
    "In",
    "IndexOp",
    "NestOp",
    "Out",
    "PrefetchOp",
    "RegionBuilder",
    "ReturnOp",
    "ScheduleAttr",
    "StructOp",
    "StructType",
    "TileAttr",
    "TokenType",
    "WaitOp",
    "YieldOp",
    "accesses",
    "affine",
    "compatible_types",
    "memrefs_behind",
    "set_threads",
    "signless",
    "threads_of",
]
