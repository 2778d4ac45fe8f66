"""
Convolutions and pools.

The second operand of a pool is read by nobody: its shape is that of the window.
"""

from typing import ClassVar

from xdsl.dialects import arith
from xdsl.irdl import irdl_op_definition

from transom.dialects.linalg.bodies import fold, multiply_add, sum_up
from transom.dialects.linalg.named import PlainWindowOp, WindowOp


@irdl_op_definition
class Conv1DOp(PlainWindowOp):
    """
    A convolution of a vector.

    ```mlir
    %y = linalg.conv_1d ins(%x, %w : tensor<8xf32>, tensor<3xf32>)
        outs(%c : tensor<6xf32>) -> tensor<6xf32>
    ```
    """

    name = "linalg.conv_1d"

    ACCESSES: ClassVar = ("x+q", "q", "x")
    REDUCED: ClassVar = "q"
    POINT: ClassVar = staticmethod(multiply_add)


@irdl_op_definition
class Conv1DNcwFcwOp(WindowOp):
    """
    A convolution along one dim, channels first.

    ```mlir
    %y = linalg.conv_1d_ncw_fcw {dilations = dense<1> : tensor<1xi64>,
        strides = dense<1> : tensor<1xi64>}
        ins(%x, %w : tensor<1x3x8xf32>, tensor<4x3x3xf32>)
        outs(%c : tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
    ```
    """

    name = "linalg.conv_1d_ncw_fcw"

    ACCESSES: ClassVar = ("n c x+q", "f c q", "n f x")
    REDUCED: ClassVar = "c q"
    POINT: ClassVar = staticmethod(multiply_add)


@irdl_op_definition
class Conv1DNwcWcfOp(WindowOp):
    """
    A convolution along one dim, channels last.

    ```mlir
    %y = linalg.conv_1d_nwc_wcf {dilations = dense<1> : tensor<1xi64>,
        strides = dense<1> : tensor<1xi64>}
        ins(%x, %w : tensor<1x8x3xf32>, tensor<3x3x4xf32>)
        outs(%c : tensor<1x6x4xf32>) -> tensor<1x6x4xf32>
    ```
    """

    name = "linalg.conv_1d_nwc_wcf"

    ACCESSES: ClassVar = ("n x+q c", "q c f", "n x f")
    REDUCED: ClassVar = "q c"
    POINT: ClassVar = staticmethod(multiply_add)


@irdl_op_definition
class Conv2DOp(PlainWindowOp):
    """
    A convolution of a matrix.

    ```mlir
    %y = linalg.conv_2d ins(%x, %w : tensor<8x8xf32>, tensor<3x3xf32>)
        outs(%c : tensor<6x6xf32>) -> tensor<6x6xf32>
    ```
    """

    name = "linalg.conv_2d"

    ACCESSES: ClassVar = ("y+p x+q", "p q", "y x")
    REDUCED: ClassVar = "p q"
    POINT: ClassVar = staticmethod(multiply_add)


@irdl_op_definition
class Conv2DNchwFchwOp(WindowOp):
    """
    A convolution of images, channels first.

    ```mlir
    %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>,
        strides = dense<1> : tensor<2xi64>}
        ins(%x, %w : tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>)
        outs(%c : tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
    ```
    """

    name = "linalg.conv_2d_nchw_fchw"

    ACCESSES: ClassVar = ("n c y+p x+q", "f c p q", "n f y x")
    REDUCED: ClassVar = "c p q"
    POINT: ClassVar = staticmethod(multiply_add)


@irdl_op_definition
class Conv2DNgchwFgchwOp(WindowOp):
    """
    A grouped convolution, channels first.

    ```mlir
    %y = linalg.conv_2d_ngchw_fgchw {dilations = dense<1> : tensor<2xi64>,
        strides = dense<1> : tensor<2xi64>}
        ins(%x, %w : tensor<1x2x3x8x8xf32>, tensor<4x2x3x3x3xf32>)
        outs(%c : tensor<1x2x4x6x6xf32>) -> tensor<1x2x4x6x6xf32>
    ```
    """

    name = "linalg.conv_2d_ngchw_fgchw"

    ACCESSES: ClassVar = ("n g c y+p x+q", "f g c p q", "n g f y x")
    REDUCED: ClassVar = "c p q"
    POINT: ClassVar = staticmethod(multiply_add)


@irdl_op_definition
class Conv2DNgchwGfchwOp(WindowOp):
    """
    A grouped convolution whose filters lead with the group.

    ```mlir
    %y = linalg.conv_2d_ngchw_gfchw {dilations = dense<1> : tensor<2xi64>,
        strides = dense<1> : tensor<2xi64>}
        ins(%x, %w : tensor<1x2x3x8x8xf32>, tensor<2x4x3x3x3xf32>)
        outs(%c : tensor<1x2x4x6x6xf32>) -> tensor<1x2x4x6x6xf32>
    ```
    """

    name = "linalg.conv_2d_ngchw_gfchw"

    ACCESSES: ClassVar = ("n g c y+p x+q", "g f c p q", "n g f y x")
    REDUCED: ClassVar = "c p q"
    POINT: ClassVar = staticmethod(multiply_add)


@irdl_op_definition
class Conv2DNhwcFhwcOp(WindowOp):
    """
    A convolution of images, channels last.

    ```mlir
    %y = linalg.conv_2d_nhwc_fhwc {dilations = dense<1> : tensor<2xi64>,
        strides = dense<1> : tensor<2xi64>}
        ins(%x, %w : tensor<1x8x8x3xf32>, tensor<4x3x3x3xf32>)
        outs(%c : tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
    ```
    """

    name = "linalg.conv_2d_nhwc_fhwc"

    ACCESSES: ClassVar = ("n y+p x+q c", "f p q c", "n y x f")
    REDUCED: ClassVar = "p q c"
    POINT: ClassVar = staticmethod(multiply_add)


@irdl_op_definition
class Conv2DNhwcHwcfOp(WindowOp):
    """
    The same with the filters last in the weights.

    ```mlir
    %y = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>,
        strides = dense<1> : tensor<2xi64>}
        ins(%x, %w : tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>)
        outs(%c : tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
    ```
    """

    name = "linalg.conv_2d_nhwc_hwcf"

    ACCESSES: ClassVar = ("n y+p x+q c", "p q c f", "n y x f")
    REDUCED: ClassVar = "p q c"
    POINT: ClassVar = staticmethod(multiply_add)


@irdl_op_definition
class Conv2DNhwgcGfhwcOp(WindowOp):
    """
    A grouped convolution, channels last.

    ```mlir
    %y = linalg.conv_2d_nhwgc_gfhwc {dilations = dense<1> : tensor<2xi64>,
        strides = dense<1> : tensor<2xi64>}
        ins(%x, %w : tensor<1x8x8x2x3xf32>, tensor<2x4x3x3x3xf32>)
        outs(%c : tensor<1x6x6x2x4xf32>) -> tensor<1x6x6x2x4xf32>
    ```
    """

    name = "linalg.conv_2d_nhwgc_gfhwc"

    ACCESSES: ClassVar = ("n y+p x+q g c", "g f p q c", "n y x g f")
    REDUCED: ClassVar = "p q c"
    POINT: ClassVar = staticmethod(multiply_add)


@irdl_op_definition
class Conv3DNdhwcDhwcfOp(WindowOp):
    """
    A convolution of volumes, channels last.

    ```mlir
    %y = linalg.conv_3d_ndhwc_dhwcf {dilations = dense<1> : tensor<3xi64>,
        strides = dense<1> : tensor<3xi64>}
        ins(%x, %w : tensor<1x8x8x8x3xf32>, tensor<3x3x3x3x4xf32>)
        outs(%c : tensor<1x6x6x6x4xf32>) -> tensor<1x6x6x6x4xf32>
    ```
    """

    name = "linalg.conv_3d_ndhwc_dhwcf"

    ACCESSES: ClassVar = ("n z+o y+p x+q c", "o p q c f", "n z y x f")
    REDUCED: ClassVar = "o p q c"
    POINT: ClassVar = staticmethod(multiply_add)


@irdl_op_definition
class Conv3DNcdhwFcdhwOp(WindowOp):
    """
    A convolution of volumes, channels first.

    ```mlir
    %y = linalg.conv_3d_ncdhw_fcdhw {dilations = dense<1> : tensor<3xi64>,
        strides = dense<1> : tensor<3xi64>}
        ins(%x, %w : tensor<1x3x8x8x8xf32>, tensor<4x3x3x3x3xf32>)
        outs(%c : tensor<1x4x6x6x6xf32>) -> tensor<1x4x6x6x6xf32>
    ```
    """

    name = "linalg.conv_3d_ncdhw_fcdhw"

    ACCESSES: ClassVar = ("n c z+o y+p x+q", "f c o p q", "n f z y x")
    REDUCED: ClassVar = "c o p q"
    POINT: ClassVar = staticmethod(multiply_add)


@irdl_op_definition
class DepthwiseConv1DNwcWcOp(WindowOp):
    """
    Each channel by itself, along one dim.

    ```mlir
    %y = linalg.depthwise_conv_1d_nwc_wc {dilations = dense<1> : tensor<1xi64>,
        strides = dense<1> : tensor<1xi64>}
        ins(%x, %w : tensor<1x8x4xf32>, tensor<3x4xf32>)
        outs(%c : tensor<1x6x4xf32>) -> tensor<1x6x4xf32>
    ```
    """

    name = "linalg.depthwise_conv_1d_nwc_wc"

    ACCESSES: ClassVar = ("n x+q c", "q c", "n x c")
    REDUCED: ClassVar = "q"
    POINT: ClassVar = staticmethod(multiply_add)


@irdl_op_definition
class DepthwiseConv2DNchwChwOp(WindowOp):
    """
    Each channel by itself, channels first.

    ```mlir
    %y = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : tensor<2xi64>,
        strides = dense<1> : tensor<2xi64>}
        ins(%x, %w : tensor<1x4x8x8xf32>, tensor<4x3x3xf32>)
        outs(%c : tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
    ```
    """

    name = "linalg.depthwise_conv_2d_nchw_chw"

    ACCESSES: ClassVar = ("n c y+p x+q", "c p q", "n c y x")
    REDUCED: ClassVar = "p q"
    POINT: ClassVar = staticmethod(multiply_add)


@irdl_op_definition
class DepthwiseConv2DNhwcHwcOp(WindowOp):
    """
    Each channel by itself, channels last.

    ```mlir
    %y = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>,
        strides = dense<1> : tensor<2xi64>}
        ins(%x, %w : tensor<1x8x8x4xf32>, tensor<3x3x4xf32>)
        outs(%c : tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
    ```
    """

    name = "linalg.depthwise_conv_2d_nhwc_hwc"

    ACCESSES: ClassVar = ("n y+p x+q c", "p q c", "n y x c")
    REDUCED: ClassVar = "p q"
    POINT: ClassVar = staticmethod(multiply_add)


@irdl_op_definition
class DepthwiseConv2DNhwcHwcmOp(WindowOp):
    """
    The same with several filters for each channel.

    ```mlir
    %y = linalg.depthwise_conv_2d_nhwc_hwcm {dilations = dense<1> : tensor<2xi64>,
        strides = dense<1> : tensor<2xi64>}
        ins(%x, %w : tensor<1x8x8x4xf32>, tensor<3x3x4x2xf32>)
        outs(%c : tensor<1x6x6x4x2xf32>) -> tensor<1x6x6x4x2xf32>
    ```
    """

    name = "linalg.depthwise_conv_2d_nhwc_hwcm"

    ACCESSES: ClassVar = ("n y+p x+q c", "p q c m", "n y x c m")
    REDUCED: ClassVar = "p q"
    POINT: ClassVar = staticmethod(multiply_add)


@irdl_op_definition
class PoolingNchwSumOp(WindowOp):
    """
    Sums of windows, channels first.

    ```mlir
    %y = linalg.pooling_nchw_sum {dilations = dense<1> : tensor<2xi64>,
        strides = dense<1> : tensor<2xi64>}
        ins(%x, %w : tensor<1x4x8x8xf32>, tensor<3x3xf32>)
        outs(%c : tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
    ```
    """

    name = "linalg.pooling_nchw_sum"

    ACCESSES: ClassVar = ("n c y+p x+q", "p q", "n c y x")
    REDUCED: ClassVar = "p q"
    POINT: ClassVar = staticmethod(sum_up)


@irdl_op_definition
class PoolingNchwMaxOp(WindowOp):
    """
    The largest of each window, channels first.

    ```mlir
    %y = linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>,
        strides = dense<1> : tensor<2xi64>}
        ins(%x, %w : tensor<1x4x8x8xf32>, tensor<3x3xf32>)
        outs(%c : tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
    ```
    """

    name = "linalg.pooling_nchw_max"

    ACCESSES: ClassVar = ("n c y+p x+q", "p q", "n c y x")
    REDUCED: ClassVar = "p q"
    POINT: ClassVar = staticmethod(fold(arith.MaximumfOp, arith.MaxSIOp))


@irdl_op_definition
class PoolingNhwcSumOp(WindowOp):
    """
    Sums of windows, channels last.

    ```mlir
    %y = linalg.pooling_nhwc_sum {dilations = dense<1> : tensor<2xi64>,
        strides = dense<1> : tensor<2xi64>}
        ins(%x, %w : tensor<1x8x8x4xf32>, tensor<3x3xf32>)
        outs(%c : tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
    ```
    """

    name = "linalg.pooling_nhwc_sum"

    ACCESSES: ClassVar = ("n y+p x+q c", "p q", "n y x c")
    REDUCED: ClassVar = "p q"
    POINT: ClassVar = staticmethod(sum_up)


@irdl_op_definition
class PoolingNhwcMaxOp(WindowOp):
    """
    The largest of each window, channels last.

    ```mlir
    %y = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>,
        strides = dense<1> : tensor<2xi64>}
        ins(%x, %w : tensor<1x8x8x4xf32>, tensor<3x3xf32>)
        outs(%c : tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
    ```
    """

    name = "linalg.pooling_nhwc_max"

    ACCESSES: ClassVar = ("n y+p x+q c", "p q", "n y x c")
    REDUCED: ClassVar = "p q"
    POINT: ClassVar = staticmethod(fold(arith.MaximumfOp, arith.MaxSIOp))


@irdl_op_definition
class PoolingNhwcMinOp(WindowOp):
    """
    The smallest of each window, channels last.

    ```mlir
    %y = linalg.pooling_nhwc_min {dilations = dense<1> : tensor<2xi64>,
        strides = dense<1> : tensor<2xi64>}
        ins(%x, %w : tensor<1x8x8x4xf32>, tensor<3x3xf32>)
        outs(%c : tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
    ```
    """

    name = "linalg.pooling_nhwc_min"

    ACCESSES: ClassVar = ("n y+p x+q c", "p q", "n y x c")
    REDUCED: ClassVar = "p q"
    POINT: ClassVar = staticmethod(fold(arith.MinimumfOp, arith.MinSIOp))


@irdl_op_definition
class PoolingNhwcMaxUnsignedOp(WindowOp):
    """
    The largest of each window, of unsigned numbers, channels last.

    ```mlir
    %y = linalg.pooling_nhwc_max_unsigned {dilations = dense<1> : tensor<2xi64>,
        strides = dense<1> : tensor<2xi64>}
        ins(%x, %w : tensor<1x8x8x4xf32>, tensor<3x3xf32>)
        outs(%c : tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
    ```
    """

    name = "linalg.pooling_nhwc_max_unsigned"

    ACCESSES: ClassVar = ("n y+p x+q c", "p q", "n y x c")
    REDUCED: ClassVar = "p q"
    POINT: ClassVar = staticmethod(fold(arith.MaximumfOp, arith.MaxUIOp, unsigned=True))


@irdl_op_definition
class PoolingNhwcMinUnsignedOp(WindowOp):
    """
    The smallest of each window, of unsigned numbers, channels last.

    ```mlir
    %y = linalg.pooling_nhwc_min_unsigned {dilations = dense<1> : tensor<2xi64>,
        strides = dense<1> : tensor<2xi64>}
        ins(%x, %w : tensor<1x8x8x4xf32>, tensor<3x3xf32>)
        outs(%c : tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
    ```
    """

    name = "linalg.pooling_nhwc_min_unsigned"

    ACCESSES: ClassVar = ("n y+p x+q c", "p q", "n y x c")
    REDUCED: ClassVar = "p q"
    POINT: ClassVar = staticmethod(fold(arith.MinimumfOp, arith.MinUIOp, unsigned=True))


@irdl_op_definition
class PoolingNcwSumOp(WindowOp):
    """
    Sums of windows along one dim, channels first.

    ```mlir
    %y = linalg.pooling_ncw_sum {dilations = dense<1> : tensor<1xi64>,
        strides = dense<1> : tensor<1xi64>}
        ins(%x, %w : tensor<1x4x8xf32>, tensor<3xf32>)
        outs(%c : tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
    ```
    """

    name = "linalg.pooling_ncw_sum"

    ACCESSES: ClassVar = ("n c x+q", "q", "n c x")
    REDUCED: ClassVar = "q"
    POINT: ClassVar = staticmethod(sum_up)


@irdl_op_definition
class PoolingNcwMaxOp(WindowOp):
    """
    The largest of each window along one dim, channels first.

    ```mlir
    %y = linalg.pooling_ncw_max {dilations = dense<1> : tensor<1xi64>,
        strides = dense<1> : tensor<1xi64>}
        ins(%x, %w : tensor<1x4x8xf32>, tensor<3xf32>)
        outs(%c : tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
    ```
    """

    name = "linalg.pooling_ncw_max"

    ACCESSES: ClassVar = ("n c x+q", "q", "n c x")
    REDUCED: ClassVar = "q"
    POINT: ClassVar = staticmethod(fold(arith.MaximumfOp, arith.MaxSIOp))


@irdl_op_definition
class PoolingNwcSumOp(WindowOp):
    """
    Sums of windows along one dim, channels last.

    ```mlir
    %y = linalg.pooling_nwc_sum {dilations = dense<1> : tensor<1xi64>,
        strides = dense<1> : tensor<1xi64>}
        ins(%x, %w : tensor<1x8x4xf32>, tensor<3xf32>)
        outs(%c : tensor<1x6x4xf32>) -> tensor<1x6x4xf32>
    ```
    """

    name = "linalg.pooling_nwc_sum"

    ACCESSES: ClassVar = ("n x+q c", "q", "n x c")
    REDUCED: ClassVar = "q"
    POINT: ClassVar = staticmethod(sum_up)


@irdl_op_definition
class PoolingNwcMaxOp(WindowOp):
    """
    The largest of each window along one dim, channels last.

    ```mlir
    %y = linalg.pooling_nwc_max {dilations = dense<1> : tensor<1xi64>,
        strides = dense<1> : tensor<1xi64>}
        ins(%x, %w : tensor<1x8x4xf32>, tensor<3xf32>)
        outs(%c : tensor<1x6x4xf32>) -> tensor<1x6x4xf32>
    ```
    """

    name = "linalg.pooling_nwc_max"

    ACCESSES: ClassVar = ("n x+q c", "q", "n x c")
    REDUCED: ClassVar = "q"
    POINT: ClassVar = staticmethod(fold(arith.MaximumfOp, arith.MaxSIOp))


OPERATIONS = (
    Conv1DOp,
    Conv1DNcwFcwOp,
    Conv1DNwcWcfOp,
    Conv2DOp,
    Conv2DNchwFchwOp,
    Conv2DNgchwFgchwOp,
    Conv2DNgchwGfchwOp,
    Conv2DNhwcFhwcOp,
    Conv2DNhwcHwcfOp,
    Conv2DNhwgcGfhwcOp,
    Conv3DNdhwcDhwcfOp,
    Conv3DNcdhwFcdhwOp,
    DepthwiseConv1DNwcWcOp,
    DepthwiseConv2DNchwChwOp,
    DepthwiseConv2DNhwcHwcOp,
    DepthwiseConv2DNhwcHwcmOp,
    PoolingNchwSumOp,
    PoolingNchwMaxOp,
    PoolingNhwcSumOp,
    PoolingNhwcMaxOp,
    PoolingNhwcMinOp,
    PoolingNhwcMaxUnsignedOp,
    PoolingNhwcMinUnsignedOp,
    PoolingNcwSumOp,
    PoolingNcwMaxOp,
    PoolingNwcSumOp,
    PoolingNwcMaxOp,
)
