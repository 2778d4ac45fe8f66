"""
The hooks of `cmsis_nn`: what the library computes is claimed in its quantised form,
becomes ops with channels last, and these become calls.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.transforms.canonicalize import CanonicalizePass

from transom.lowering.conversion import ConversionPattern
from transom.passes.pipeline import Pipeline
from transom.targets.cmsis_nn.calls import FUNCTIONS
from transom.targets.cmsis_nn.claims import claims_for
from transom.targets.cmsis_nn.dialect import CmsisNnAttr
from transom.targets.cmsis_nn.evaluators import CMSIS_NN
from transom.targets.cmsis_nn.patterns import call_patterns
from transom.targets.cmsis_nn.select_ops import CmsisNnSelectOpsPass
from transom.targets.hooks import AnyClaim, Reference, TargetHooks


class CmsisNnTarget(TargetHooks[CmsisNnAttr]):
    """A core with CMSIS-NN."""

    attr_type = CmsisNnAttr

    def claims(self, target: CmsisNnAttr) -> Sequence[AnyClaim]:
        return claims_for(target.core)

    def graph_pipeline(self, target: CmsisNnAttr) -> Pipeline:
        """Ops of the library, without transposes between them."""
        select = CmsisNnSelectOpsPass(target.has_dsp, target.has_mve)
        return Pipeline("func.func", (select, CanonicalizePass()))

    def patterns(self, target: CmsisNnAttr) -> Sequence[ConversionPattern[Any]]:
        return call_patterns(target.core)

    def pass_options(self, target: CmsisNnAttr) -> Mapping[str, Mapping[str, int]]:
        """
        Stacks are small: scratch memory is planned with all other. What is left beside
        the calls only moves bytes, in loops that any compiler takes.
        """
        return {
            "tir-choose-schedule": {"vector-bytes": 0},
            "tir-lift-scratch": {"threshold": 0},
        }

    def reference(self, target: CmsisNnAttr) -> Reference:
        return Reference(ops=CMSIS_NN, externs=FUNCTIONS)
