"""
The `cmsis_nn` dialect: cores that CMSIS-NN is built for, and its operators on tensors.
"""

from collections.abc import Mapping
from typing import ClassVar

from xdsl.dialects.builtin import BoolAttr, DictionaryAttr, StringAttr
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from transom.dialects.target import TargetAttr, verify_names
from transom.targets.cmsis_nn.cores import CORES, Core
from transom.targets.cmsis_nn.ops import (
    AddOp,
    AvgPoolOp,
    ConvOp,
    DepthwiseConvOp,
    FullyConnectedOp,
    FullyConnectedPerChannelOp,
    MaxPoolOp,
    MulOp,
    SoftmaxOp,
)


@irdl_attr_definition
class CmsisNnAttr(TargetAttr):
    """
    A Cortex-M core that a build of CMSIS-NN (7.0.0 or later) is linked for.

    ```mlir
    #cmsis_nn.target<cpu = "cortex-m55">
    ```

    The library has three variants, chosen by what the core can do: portable C, DSP
    instructions, and vectors (MVE). `facts` says it of a core that was made with
    another choice, or of the library where it was built otherwise.

    ```mlir
    #cmsis_nn.target<cpu = "cortex-m55", facts = {has_mve = false}>
    ```
    """

    name = "cmsis_nn.target"

    DEFAULTS: ClassVar[Mapping[str, Attribute]] = {"facts": DictionaryAttr({})}

    cpu: StringAttr = param_def()
    facts: DictionaryAttr = param_def()

    @classmethod
    def get(cls, cpu: str, facts: Mapping[str, bool] | None = None) -> "CmsisNnAttr":
        """The target of this core."""
        said = {name: BoolAttr.from_bool(v) for name, v in (facts or {}).items()}
        return CmsisNnAttr(StringAttr(cpu), DictionaryAttr(said))

    @property
    def core(self) -> Core:
        """What the core has, by its name and by what is said of it."""
        known = CORES[self.cpu.data]
        said = {name: _truth(name, v) for name, v in self.facts.data.items()}
        has_mve = said.get("has_mve", known.has_mve)
        return Core(said.get("has_dsp", known.has_dsp or has_mve), has_mve)

    @property
    def has_dsp(self) -> bool:
        """Whether the library uses the DSP instructions of the core."""
        return self.core.has_dsp

    @property
    def has_mve(self) -> bool:
        """Whether the library uses the vectors of the core."""
        return self.core.has_mve

    def verify(self) -> None:
        verify_names("CPU", (self.cpu.data,), CORES)
        verify_names("fact", self.facts.data, Core._fields)
        core = self.core
        if core.has_mve and not core.has_dsp:
            raise VerifyException("expected 'has_dsp' of a core with 'has_mve'")


def _truth(name: str, value: Attribute) -> bool:
    if isa(value, BoolAttr):
        return bool(value.value.data)
    raise VerifyException(f"expected true or false for '{name}', but got '{value}'")


CmsisNn = Dialect(
    "cmsis_nn",
    [
        AddOp,
        AvgPoolOp,
        ConvOp,
        DepthwiseConvOp,
        FullyConnectedOp,
        FullyConnectedPerChannelOp,
        MaxPoolOp,
        MulOp,
        SoftmaxOp,
    ],
    [CmsisNnAttr],
)
