"""
The `toy_npu` dialect: a small accelerator that takes a few ops, computes in a
scratchpad of its own, and copies by DMA meanwhile.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pkgutil import resolve_name
from typing import ClassVar

from xdsl.dialects.builtin import I64, ArrayAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.universe import Universe

from toy_npu.ops import ComputeOp
from transom.dialects.target import Range, TargetAttr, verify_names

KIB = 1024

LANES = Range(1, 64, power_of_two=True)
SCRATCHPAD = Range(KIB, 1024 * KIB, step=KIB)
FEATURES = ("bf16", "gelu", "matmul")


def _values(lanes: int, kib: int, *features: str) -> Mapping[str, Attribute]:
    return {
        "lanes": IntegerAttr(lanes, i64),
        "scratchpad": IntegerAttr(kib * KIB, i64),
        "features": ArrayAttr(map(StringAttr, features)),
    }


@irdl_attr_definition
class ToyNpuAttr(TargetAttr):
    """
    An accelerator with vector `lanes`, a `scratchpad` in bytes, and optional features.

    ```mlir
    #toy_npu.target<preset = "small", features = ["matmul"]>
    ```
    """

    name = "toy_npu.target"

    DEFAULTS: ClassVar[Mapping[str, Attribute]] = _values(4, 64)
    PRESETS: ClassVar[Mapping[str, Mapping[str, Attribute]]] = {
        "large": _values(64, 1024, *FEATURES),
        "small": _values(8, 128),
    }

    lanes: IntegerAttr[I64] = param_def()
    scratchpad: IntegerAttr[I64] = param_def()
    features: ArrayAttr[StringAttr] = param_def()

    @classmethod
    def get(
        cls, lanes: int = 4, scratchpad: int = 64 * KIB, features: Sequence[str] = ()
    ) -> "ToyNpuAttr":
        """The target with these parameters."""
        return ToyNpuAttr(
            IntegerAttr(lanes, i64),
            IntegerAttr(scratchpad, i64),
            ArrayAttr(map(StringAttr, features)),
        )

    @property
    def feature_names(self) -> frozenset[str]:
        """The optional features that it has."""
        return frozenset(feature.data for feature in self.features)

    def subsumes(self, other: TargetAttr) -> bool:
        """Whether the other has all that code for this one uses."""
        return (
            isinstance(other, ToyNpuAttr)
            and self.lanes.value.data <= other.lanes.value.data
            and self.scratchpad.value.data <= other.scratchpad.value.data
            and self.feature_names <= other.feature_names
        )

    def verify(self) -> None:
        LANES.verify("lanes", self.lanes.value.data)
        SCRATCHPAD.verify("scratchpad", self.scratchpad.value.data)
        verify_names("feature", (f.data for f in self.features), FEATURES)


ToyNpu = Dialect("toy_npu", [ComputeOp], [ToyNpuAttr])

PASSES = {
    "convert-graph-to-toy-npu": "convert_graph_to_toy_npu:ConvertGraphToToyNpuPass",
    "toy-npu-merge-kernels": "merge_kernels:ToyNpuMergeKernelsPass",
    "toy-npu-plan-scratchpad": "plan_scratchpad:ToyNpuPlanScratchpadPass",
    "toy-npu-prefetch": "prefetch:ToyNpuPrefetchPass",
}
"""The passes of the target, loaded when first used."""

UNIVERSE = Universe(
    all_dialects={"toy_npu": lambda: ToyNpu},
    all_passes={
        name: partial(resolve_name, f"toy_npu.{where}")
        for name, where in PASSES.items()
    },
)
