"""
Remove private symbols that nothing uses.

Fusing, outlining and sharing of kernels leave functions and weights without users. A
use in an attribute or a type counts, such as that of `@sram` in a place; private
functions that call only each other are unused. Devices and memories describe the
machine and stay. Where a pipeline shows only some functions, uses in the others count.

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
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from transom.dialects.symbols import dead_symbols, symbol_name
from transom.passes.owned_functions import shown_now, whole_copy


@dataclass(frozen=True)
class TargetRemoveDeadSymbolsPass(ModulePass):
    name = "target-remove-dead-symbols"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for module in [m for m in op.walk() if isinstance(m, ModuleOp)]:
            for symbol in dead_symbols_of(module):
                symbol.detach()
                symbol.erase()


def dead_symbols_of(module: ModuleOp) -> list[Operation]:
    """The symbols of a module that neither what is shown of it uses nor the rest."""
    if shown_now(module).sees_all:
        return dead_symbols(module)
    dead = {symbol_name(symbol) for symbol in dead_symbols(whole_copy(module))}
    return [symbol for symbol in module.body.ops if symbol_name(symbol) in dead]
