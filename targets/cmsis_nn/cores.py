"""
What the cores that CMSIS-NN runs on have, and the scratch memory that its functions
need there: one formula for whoever emits a call and for whoever plans its memory.

Sizes are those that the library's `…_get_buffer_size_dsp` and `…_mve` give (7.0.0).
"""

from typing import NamedTuple


class Core(NamedTuple):
    """What decides between the variants of the library."""

    has_dsp: bool = False
    has_mve: bool = False


CORES = {
    "cortex-m0": Core(),
    "cortex-m3": Core(),
    "cortex-m4": Core(has_dsp=True),
    "cortex-m7": Core(has_dsp=True),
    "cortex-m33": Core(has_dsp=True),
    "cortex-m55": Core(has_dsp=True, has_mve=True),
}
"""The cores by name."""


class Conv(NamedTuple):
    """The sizes of a convolution that decide how it is computed."""

    batch: int
    input: tuple[int, int]
    """Height and width."""
    channels: int
    kernel: tuple[int, int]
    filter_channels: int
    """Input channels of one filter: those of a group."""
    outputs: int
    padding: tuple[int, int]
    """On top and left."""
    dilations: tuple[int, int]

    @property
    def taps(self) -> int:
        """Places of the kernel."""
        return self.kernel[0] * self.kernel[1]


def conv_scratch(conv: Conv, core: Core) -> int | None:
    """
    Bytes of `arm_convolve_wrapper_s8`; None where only the library's getter knows them.
    """
    if (
        conv.kernel == (1, 1)
        and conv.padding == (0, 0)
        and conv.dilations == (1, 1)
        and conv.filter_channels == conv.channels
    ):
        return 0
    if core.has_mve and conv.input[0] == 1:
        return None
    return 4 * rounded(conv.taps * conv.filter_channels, 16 if core.has_mve else 4)


def depthwise_scratch(conv: Conv, core: Core) -> int | None:
    """
    Bytes of `arm_depthwise_conv_wrapper_s8`; None where only the getter knows them.
    """
    if core.has_mve and conv.channels == 1:
        return None
    is_plain = (
        conv.channels == conv.outputs and conv.batch == 1 and conv.dilations == (1, 1)
    )
    if not is_plain or not core.has_dsp:
        return 0
    if core.has_mve:
        return 496 * conv.taps
    if conv.kernel == (3, 3) and max(conv.padding) <= 1:
        return 0
    return 2 * conv.channels * conv.taps


def fully_connected_scratch(outputs: int, core: Core) -> int:
    """Bytes of `arm_fully_connected_s8` and its kin: the sums of the kernel."""
    return 4 * outputs if core.has_mve else 0


def avg_pool_scratch(channels: int, core: Core) -> int:
    """Bytes of `arm_avgpool_s8`."""
    return 4 * channels if core.has_dsp and not core.has_mve else 0


def rounded(size: int, multiple: int) -> int:
    """The next multiple."""
    return -(-size // multiple) * multiple
