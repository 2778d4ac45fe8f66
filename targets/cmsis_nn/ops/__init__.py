"""
Operators of CMSIS-NN on tensors: int8 activations with channels last (`[N, H, W, C]`).

Each op is one call of the library, with its parameters as the library has them:
offsets, multipliers and shifts of a requantisation, the range of results. Results are
those of the library bit by bit (`arithmetic`). They are made of quantised composites by
`cmsis-nn-select-ops`, and lowered to calls by the target's patterns.
"""

from transom.targets.cmsis_nn.ops.base import WHOLE_RANGE, CmsisNnOp
from transom.targets.cmsis_nn.ops.elements import AddOp, MulOp, PairOp, SoftmaxOp
from transom.targets.cmsis_nn.ops.pooling import AvgPoolOp, MaxPoolOp, PoolOp
from transom.targets.cmsis_nn.ops.products import (
    ConvOp,
    DepthwiseConvOp,
    FullyConnectedOp,
    FullyConnectedPerChannelOp,
    PerChannelOp,
    WindowedConvOp,
)

__all__ = [
    "WHOLE_RANGE",
    "AddOp",
    "AvgPoolOp",
    "CmsisNnOp",
    "ConvOp",
    "DepthwiseConvOp",
    "FullyConnectedOp",
    "FullyConnectedPerChannelOp",
    "MaxPoolOp",
    "MulOp",
    "PairOp",
    "PerChannelOp",
    "PoolOp",
    "SoftmaxOp",
    "WindowedConvOp",
]
