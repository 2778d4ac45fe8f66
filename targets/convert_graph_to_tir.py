"""
Convert `graph` to `tir`: the built-in lowering of graph functions.

Each group of ops of a function with a place becomes a kernel whose ops are nests, and
main calls the kernels. The patterns of transom are joined by those that plug-ins bring
(`transom.conversions`), and for the functions of a target by those of its hooks.

```mlir
%y = func.call @main_region_0(%x) : …  ==>  %y = tir.call @relu_0123abcd(%x) outs(%d)

                                            tir.func @relu_0123abcd(read %x, write %y) {
                                              tir.nest dims [parallel 4] …
```

Afterwards the functions that the pass owns carry `target.lowered_to`, nobody calls
them, and in their place main holds `tir.call`, views, and shape arithmetic.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from transom.dialects.target import TargetAttr
from transom.lowering.conversion import ConversionPattern
from transom.lowering.convert_graph_to_tir import GraphToTirLowering
from transom.targets.registry import conversions_for, hooks_of, plugin_identities


@dataclass(frozen=True)
class ConvertGraphToTirPass(GraphToTirLowering):
    name = "convert-graph-to-tir"

    IS_LAST = True

    def patterns_for(
        self, target: TargetAttr | None
    ) -> Sequence[ConversionPattern[Any]]:
        own = () if target is None else hooks_of(target).patterns(target)
        return (*own, *conversions_for(self.name))

    def code_identity(self, target: TargetAttr | None) -> Sequence[str]:
        targets = () if target is None else (target,)
        return (*super().code_identity(target), *plugin_identities(targets))
