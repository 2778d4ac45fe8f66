"""
Constants of functions as weights of the module: there is one way to read memory that
nobody writes.
"""

from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp, StringAttr
from xdsl.ir import Operation

from transom.dialects import graph
from transom.lowering.bufferize.types import AnyTensor


@dataclass
class Constants:
    """Weights to add to a module, one for each value."""

    module: ModuleOp
    weights: list[graph.WeightOp] = field(default_factory=list[graph.WeightOp])
    _names: dict[DenseIntOrFPElementsAttr, str] = field(
        default_factory=dict[DenseIntOrFPElementsAttr, str]
    )
    _taken: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        for op in self.module.body.ops:
            name = op.get_attr_or_prop("sym_name")
            if isinstance(name, StringAttr):
                self._taken.add(name.data)

    def weight(self, value: DenseIntOrFPElementsAttr, user: Operation) -> str:
        """The name of the weight of a value, a new one at its first use."""
        name = self._names.get(value)
        if name is None:
            name = self._fresh()
            self._names[value] = name
            weight = graph.WeightOp(name, cast(AnyTensor, value.type), value)
            weight.location = user.location
            self.weights.append(weight)
        return name

    def _fresh(self) -> str:
        number = len(self._names)
        while (name := f"constant_{number}") in self._taken:
            number += 1
        self._taken.add(name)
        return name

    def insert(self) -> None:
        """Put the new weights at the start of the module."""
        first = self.module.body.block.first_op
        if first is None:
            self.module.body.block.add_ops(self.weights)
        else:
            self.module.body.block.insert_ops_before(self.weights, first)
