"""
Remove private symbols that nothing uses.

Fusing, outlining and sharing of kernels leave functions and weights without users. A
use in an attribute or a type counts, such as that of `@sram` in a place; private
functions that call only each other are unused. Devices and memories describe the
machine and stay.

```mlir
graph.weight @w = dense<1.0> : tensor<f32>
func.func private @f() {                          ==>  func.func @main()
  %w = graph.weight_ref @w : tensor<f32>
  func.return
}
func.func @main()
```
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from transom.dialects.symbols import dead_symbols


@dataclass(frozen=True)
class TargetRemoveDeadSymbolsPass(ModulePass):
    name = "target-remove-dead-symbols"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for module in [m for m in op.walk() if isinstance(m, ModuleOp)]:
            for symbol in dead_symbols(module):
                symbol.detach()
                symbol.erase()
