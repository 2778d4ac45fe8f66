"""
Conversion patterns from ops of `cmsis_nn` to calls of the library (`tir.extern`).

```mlir
%y = cmsis_nn.max_pool %x kernel [2, 2] strides [2, 2] : …
==>
%scratch = tir.alloc {alignment = 16} : memref<0xi8>
%ctx = tir.struct(%scratch, %c0) : !tir.struct<"cmsis_nn_context", (memref<0xi8>, i32)>
…
%status = tir.extern "arm_max_pool_s8"(scratch ref %ctx, ref %params, …) status 0 : …
```

Scratch memory is a `tir.alloc`, which the memory planner sees, of the size that
`cores` says of the core. Every status is checked.
"""

from abc import abstractmethod
from collections.abc import Sequence
from math import prod
from typing import Any, TypeVar

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from transom.dialects import tir
from transom.lowering.conversion import ConversionPattern, Refusal
from transom.targets.cmsis_nn import ops
from transom.targets.cmsis_nn.call_site import CallPattern, CallSite
from transom.targets.cmsis_nn.cores import (
    Conv,
    Core,
    avg_pool_scratch,
    conv_scratch,
    depthwise_scratch,
    fully_connected_scratch,
)

OpT = TypeVar("OpT", bound=ops.CmsisNnOp)


def sizes_of(op: ops.WindowedConvOp) -> Conv:
    """What decides how a convolution is computed."""
    batch, height, width, channels = op.operand_type(0).get_shape()
    _, rows, columns, inner = op.operand_type(1).get_shape()
    top, left, _, _ = op.padding.get_values()
    return Conv(
        batch,
        (height, width),
        channels,
        (rows, columns),
        inner,
        op.declared_type().get_shape()[3],
        (top, left),
        tuple[int, int](op.dilations.get_values()),
    )


def scratch_of(op: ops.WindowedConvOp, core: Core) -> int | None:
    """Bytes of scratch memory; None where only the library's getter knows them."""
    is_depthwise = isinstance(op, ops.DepthwiseConvOp)
    return (depthwise_scratch if is_depthwise else conv_scratch)(sizes_of(op), core)


UNKNOWN_SCRATCH = "only the library itself knows how much scratch memory it takes"


class CallConvolution(CallPattern[OpT]):
    """Base of calls of convolutions."""

    function: str
    params: str

    def multiple(self, conv: Conv) -> Sequence[int]:
        """What stands behind the offsets in the parameters."""
        return ()

    def write(self, op: OpT, site: CallSite) -> Refusal | None:
        assert isinstance(op, ops.WindowedConvOp), "the roots of subclasses"
        conv = sizes_of(op)
        size = scratch_of(op, self.core)
        if size is None:
            return Refusal(UNKNOWN_SCRATCH)
        x, weights, bias, multipliers, shifts = site.ins
        params = site.struct(
            self.params,
            (
                *op.offsets.get_values(),
                *self.multiple(conv),
                site.tile(*op.strides.get_values()),
                site.tile(*conv.padding),
                site.tile(*conv.dilations),
                site.activation(*op.activation.get_values()),
            ),
        )
        site.call(
            self.function,
            (
                site.ref(site.context(site.scratch(size), size), "scratch"),
                site.ref(params),
                site.ref(
                    site.struct("per_channel_quant_params", (multipliers, shifts))
                ),
                site.ref(site.shape_struct(op.operand_type(0))),
                x,
                site.ref(site.shape_struct(op.operand_type(1))),
                weights,
                site.ref(site.dims(1, 1, 1, conv.outputs)),
                bias,
                site.ref(site.shape_struct(op.declared_type())),
                site.written,
            ),
        )
        return None


class CallConv(CallConvolution[ops.ConvOp]):
    root = ops.ConvOp
    function = "arm_convolve_wrapper_s8"
    params = "conv_params"


class CallDepthwiseConv(CallConvolution[ops.DepthwiseConvOp]):
    root = ops.DepthwiseConvOp
    function = "arm_depthwise_conv_wrapper_s8"
    params = "dw_conv_params"

    def multiple(self, conv: Conv) -> Sequence[int]:
        return (conv.outputs // conv.channels,)


class CallDense(CallPattern[OpT]):
    """Base of calls of fully connected layers."""

    function: str

    @abstractmethod
    def offsets(self, op: OpT) -> Sequence[int]:
        """Of the input, the weights and the result."""

    @abstractmethod
    def quantization(self, op: OpT, site: CallSite) -> SSAValue:
        """The struct of multipliers and shifts."""

    def write(self, op: OpT, site: CallSite) -> Refusal | None:
        x, weights, bias = site.ins[:3]
        rows, depth = op.operand_type(0).get_shape()
        outputs, _ = op.operand_type(1).get_shape()
        offsets = self.offsets(op)
        size = fully_connected_scratch(outputs, self.core)
        buffer = site.scratch(size // 4, i32)
        if size:
            # The vector code reads sums over the kernel from the scratch memory.
            site.call(
                "arm_vector_sum_s8",
                (
                    tir.Argument(buffer, "write"),
                    depth,
                    outputs,
                    weights,
                    *offsets[:2],
                    bias,
                ),
            )
        activation = site.activation(*op.activation.get_values())
        site.call(
            self.function,
            (
                site.ref(site.context(buffer, size), "read_write"),
                site.ref(site.struct("fc_params", (*offsets, activation))),
                site.ref(self.quantization(op, site)),
                site.ref(site.dims(rows, 1, 1, depth)),
                x,
                site.ref(site.dims(depth, 1, 1, outputs)),
                weights,
                site.ref(site.dims(1, 1, 1, outputs)),
                bias,
                site.ref(site.dims(rows, 1, 1, outputs)),
                site.written,
            ),
        )
        return None


class CallFullyConnected(CallDense[ops.FullyConnectedOp]):
    root = ops.FullyConnectedOp
    function = "arm_fully_connected_s8"

    def offsets(self, op: ops.FullyConnectedOp) -> Sequence[int]:
        return op.offsets.get_values()

    def quantization(self, op: ops.FullyConnectedOp, site: CallSite) -> SSAValue:
        return site.struct("per_tensor_quant_params", op.scale.get_values())


class CallFullyConnectedPerChannel(CallDense[ops.FullyConnectedPerChannelOp]):
    root = ops.FullyConnectedPerChannelOp
    function = "arm_fully_connected_per_channel_s8"

    def offsets(self, op: ops.FullyConnectedPerChannelOp) -> Sequence[int]:
        in_offset, out_offset = op.offsets.get_values()
        return in_offset, 0, out_offset

    def quantization(
        self, op: ops.FullyConnectedPerChannelOp, site: CallSite
    ) -> SSAValue:
        return site.struct("per_channel_quant_params", site.ins[3:5])


class CallPool(CallPattern[OpT]):
    """Base of calls of pools."""

    function: str

    def scratch(self, channels: int) -> int:
        """Bytes of scratch memory."""
        return 0

    def write(self, op: OpT, site: CallSite) -> Refusal | None:
        assert isinstance(op, ops.PoolOp), "the roots of subclasses"
        size = self.scratch(op.declared_type().get_shape()[3])
        top, left, _, _ = op.padding.get_values()
        rows, columns = op.kernel.get_values()
        params = (
            site.tile(*op.strides.get_values()),
            site.tile(top, left),
            site.activation(*op.activation.get_values()),
        )
        site.call(
            self.function,
            (
                site.ref(site.context(site.scratch(size), size), "scratch"),
                site.ref(site.struct("pool_params", params)),
                site.ref(site.shape_struct(op.operand_type(0))),
                site.ins[0],
                site.ref(site.dims(1, rows, columns, 1)),
                site.ref(site.shape_struct(op.declared_type())),
                site.written,
            ),
        )
        return None


class CallMaxPool(CallPool[ops.MaxPoolOp]):
    root = ops.MaxPoolOp
    function = "arm_max_pool_s8"


class CallAvgPool(CallPool[ops.AvgPoolOp]):
    root = ops.AvgPoolOp
    function = "arm_avgpool_s8"

    def scratch(self, channels: int) -> int:
        return avg_pool_scratch(channels, self.core)


class CallSoftmax(CallPattern[ops.SoftmaxOp]):
    root = ops.SoftmaxOp

    def write(self, op: ops.SoftmaxOp, site: CallSite) -> Refusal | None:
        site.call(
            "arm_softmax_s8",
            (
                site.ins[0],
                *op.declared_type().get_shape(),
                *op.scale.get_values(),
                op.diff_min.value.data,
                site.written,
            ),
            has_status=False,
        )
        return None


class CallPair(CallPattern[OpT]):
    """Base of calls on two tensors."""

    @abstractmethod
    def call(
        self,
        op: OpT,
        site: CallSite,
        memory: Sequence[tir.Argument | SSAValue],
        size: int,
    ) -> None:
        """Call the function on so many elements of both operands and the result."""

    def write(self, op: OpT, site: CallSite) -> Refusal | None:
        assert isinstance(op, ops.PairOp), "the roots of subclasses"
        shape = op.declared_type().get_shape()
        if not op.is_per_pixel:
            self.call(op, site, (*site.ins, site.written), prod(shape))
            return None
        lhs, rhs = site.ins
        zero = site.constant(0)
        with (
            site.loop(shape[0]) as n,
            site.loop(shape[1]) as y,
            site.loop(shape[2]) as x,
        ):
            pixel = site.pixel(lhs, (n, y, x)), site.pixel(rhs, (n, zero, zero))
            written = tir.Argument(site.pixel(site.out, (n, y, x)), "write")
            self.call(op, site, (*pixel, written), shape[3])
        return None


class CallAdd(CallPair[ops.AddOp]):
    root = ops.AddOp

    def call(
        self,
        op: ops.AddOp,
        site: CallSite,
        memory: Sequence[tir.Argument | SSAValue],
        size: int,
    ) -> None:
        *inputs, result = memory
        a_offset, b_offset, out_offset = op.offsets.get_values()
        a_multiplier, b_multiplier, out_multiplier = op.multipliers.get_values()
        a_shift, b_shift, out_shift = op.shifts.get_values()
        site.call(
            "arm_elementwise_add_s8",
            (
                *inputs,
                *(a_offset, a_multiplier, a_shift),
                *(b_offset, b_multiplier, b_shift),
                op.left_shift.value.data,
                result,
                *(out_offset, out_multiplier, out_shift),
                *op.activation.get_values(),
                size,
            ),
        )


class CallMul(CallPair[ops.MulOp]):
    root = ops.MulOp

    def call(
        self,
        op: ops.MulOp,
        site: CallSite,
        memory: Sequence[tir.Argument | SSAValue],
        size: int,
    ) -> None:
        *inputs, result = memory
        a_offset, b_offset, out_offset = op.offsets.get_values()
        site.call(
            "arm_elementwise_mul_s8",
            (
                *inputs,
                *(a_offset, b_offset),
                result,
                *(out_offset, *op.scale.get_values()),
                *op.activation.get_values(),
                size,
            ),
        )


def call_patterns(core: Core) -> tuple[ConversionPattern[Any], ...]:
    """The patterns of all ops, for a core."""
    return (
        CallAdd(core),
        CallAvgPool(core),
        CallConv(core),
        CallDepthwiseConv(core),
        CallFullyConnected(core),
        CallFullyConnectedPerChannel(core),
        CallMaxPool(core),
        CallMul(core),
        CallSoftmax(core),
    )
