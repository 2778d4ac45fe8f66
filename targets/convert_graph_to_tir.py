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

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from transom.dialects.diagnostics import OpError
from transom.dialects.target import TargetAttr
from transom.lowering.conversion import ConversionPattern
from transom.lowering.conversion.pattern import roots_of
from transom.lowering.convert_graph_to_tir import GraphToTirLowering
from transom.lowering.host_body import is_row_of_parts
from transom.targets.registry import (
    HooksError,
    conversions_for,
    hooks_of,
    plugin_identities,
)


@dataclass(frozen=True)
class ConvertGraphToTirPass(GraphToTirLowering):
    name = "convert-graph-to-tir"

    IS_LAST = True

    def lower_kernels(
        self, ctx: Context, module: ModuleOp, target: TargetAttr | None
    ) -> None:
        try:
            super().lower_kernels(ctx, module, target)
        except HooksError as e:
            raise OpError(module.body.block.first_op or module, str(e)) from None

    def is_done_by_main(self, op: Operation, target: TargetAttr | None) -> bool:
        """Also what only puts values one after the other, unless somebody lowers it."""
        if super().is_done_by_main(op, target):
            return True
        return is_row_of_parts(op) and not any(
            type(op) in roots_of(pattern.root) for pattern in self.patterns_for(target)
        )

    def patterns_for(
        self, target: TargetAttr | None
    ) -> Sequence[ConversionPattern[Any]]:
        own = () if target is None else hooks_of(target).patterns(target)
        return (*own, *conversions_for(self.name))

    def code_identity(self, target: TargetAttr | None) -> Sequence[str]:
        targets = () if target is None else (target,)
        return (*super().code_identity(target), *plugin_identities(targets))
