"""
The operators of ONNX by name: how each is said in `graph`.
"""

from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue

from transom.frontends.onnx import (
    activations,
    bits,
    einsum,
    elementwise,
    layers,
    movement,
    padding,
    places,
    pools,
    quantization,
    recurrent,
    reductions,
    resizing,
    sampling,
    selection,
    signals,
    windows,
)
from transom.frontends.onnx.node import Node

Handler = Callable[[Node], SSAValue | Sequence[SSAValue]]
"""Builds what a node computes: one value, or one for each output."""

HANDLERS: dict[str, Handler] = {
    **activations.HANDLERS,
    **bits.HANDLERS,
    **einsum.HANDLERS,
    **elementwise.HANDLERS,
    **layers.HANDLERS,
    **movement.HANDLERS,
    **padding.HANDLERS,
    **places.HANDLERS,
    **pools.HANDLERS,
    **quantization.HANDLERS,
    **recurrent.HANDLERS,
    **reductions.HANDLERS,
    **selection.HANDLERS,
    **resizing.HANDLERS,
    **sampling.HANDLERS,
    **signals.HANDLERS,
    **windows.HANDLERS,
}
