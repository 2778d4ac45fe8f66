"""
The `linalg` dialect: structured ops on tensors and memrefs, as other compilers write
them.

xDSL's ops plus those it lacks, and those whose text it does not read or print as
`mlir-opt` does. Loaded in place of xDSL's. On tensors it is grouped into kernels by
`linalg-group-kernels`; `convert-graph-to-tir` and `convert-linalg-to-tir` make nests of
it, `convert-tir-to-linalg` makes it of nests.
"""

from xdsl.dialects import linalg as upstream
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.dialects.linalg.ops import FillOp, GenericOp, IndexOp, YieldOp
from xdsl.ir import Dialect, Operation
from xdsl.traits import Pure

from transom.dialects.linalg import destination, pointwise, products, windows
from transom.dialects.linalg.destination import (
    BroadcastOp,
    MapOp,
    ReduceOp,
    TransposeOp,
)
from transom.dialects.linalg.structure import (
    PARALLEL,
    REDUCTION,
    BodyYields,
    Structure,
    StructureMemoryEffect,
    YieldsElements,
    element_of,
    is_on_tensors,
    shape_of,
    structure_of,
)

__all__ = [
    "PARALLEL",
    "REDUCTION",
    "BroadcastOp",
    "FillOp",
    "GenericOp",
    "IndexOp",
    "IteratorType",
    "IteratorTypeAttr",
    "Linalg",
    "LinalgStructuredOperation",
    "MapOp",
    "ReduceOp",
    "Structure",
    "TransposeOp",
    "YieldOp",
    "element_of",
    "is_on_tensors",
    "shape_of",
    "structure_of",
]

OPERATIONS: tuple[type[Operation], ...] = (
    *destination.OPERATIONS,
    *pointwise.OPERATIONS,
    *products.OPERATIONS,
    *windows.OPERATIONS,
)
"""The ops that xDSL lacks or that replace one of its own."""

REPLACED = {op.name for op in OPERATIONS}

Linalg = Dialect(
    "linalg",
    [
        *(op for op in upstream.Linalg.operations if op.name not in REPLACED),
        *OPERATIONS,
    ],
    [*upstream.Linalg.attributes],
)

IndexOp.traits.add_trait(Pure())
YieldOp.traits.add_trait(YieldsElements())
for _op in Linalg.operations:
    if issubclass(_op, LinalgStructuredOperation):
        _op.traits.add_trait(StructureMemoryEffect())
        _op.traits.add_trait(BodyYields())
