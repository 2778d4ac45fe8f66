"""
The `woofles` dialect: the attribute of the target.
"""

from transom.dialects.target import Range, TargetAttr
from xdsl.dialects.builtin import I64, IntegerAttr
from xdsl.ir import Dialect
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.universe import Universe


@irdl_attr_definition
class WooflesAttr(TargetAttr):
    """
    A CPU whose library computes `lanes` columns of a product at a time.

    ```mlir
    #woofles.target<lanes = 8>
    ```
    """

    name = "woofles.target"
    lanes: IntegerAttr[I64] = param_def()

    def verify(self) -> None:
        Range(1, 64).verify("lanes", self.lanes.value.data)


Woofles = Dialect("woofles", [], [WooflesAttr])
UNIVERSE = Universe(all_dialects={"woofles": lambda: Woofles})
