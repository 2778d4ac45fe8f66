"""
The `toy_vm` dialect: a virtual machine that runs programs on whole tensors.
"""

from xdsl.ir import Dialect
from xdsl.irdl import irdl_attr_definition
from xdsl.passes import ModulePass
from xdsl.universe import Universe

from transom.dialects.target import TargetAttr


@irdl_attr_definition
class ToyVmAttr(TargetAttr):
    """
    The virtual machine.

    ```mlir
    #toy_vm.target
    ```
    """

    name = "toy_vm.target"


ToyVm = Dialect("toy_vm", [], [ToyVmAttr])


def _convert_graph_to_toy_vm() -> type[ModulePass]:
    from toy_vm.convert_graph_to_toy_vm import ConvertGraphToToyVmPass

    return ConvertGraphToToyVmPass


UNIVERSE = Universe(
    all_dialects={"toy_vm": lambda: ToyVm},
    all_passes={"convert-graph-to-toy-vm": _convert_graph_to_toy_vm},
)
