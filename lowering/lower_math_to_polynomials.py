"""
Compute functions of `math` by polynomials instead of calls of the C library.

```mlir
%y = math.tanh %x : vector<8xf32>
==>
%low = arith.constant dense<-9.01> : vector<8xf32>
%below = arith.cmpf ogt, %low, %x : vector<8xf32>
%clamped = arith.select %below, %low, %x : vector<8xi1>, vector<8xf32>
…
%y = arith.divf %top, %bottom : vector<8xf32>
```

So vectors stay vectors. It takes `cos`, `erf`, `exp`, `exp2`, `expm1`, `log`, `log10`,
`log1p`, `log2`, `powf`, `sin` and `tanh` on f32 and smaller floats, which are computed
in f32; on f64 they stay as they are. The errors that each has, and how large they can
be, are in `docs/math.md`. At special values results are those of C; but what `exp` and
`exp2` give below `2**-125.5` is zero.

`sin` and `cos` of large numbers call the C library, in a branch that is taken if any
lane holds one.

With `fma`, products are rounded together with the sum that they are part of, as one
instruction of the target does it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, Float32Type, ModuleOp
from xdsl.ir import Operation

from transom.lowering.conversion import (
    ConversionPattern,
    ConversionRewriter,
    ConversionTarget,
    Operands,
    Refusal,
    apply_partial_conversion,
)
from transom.lowering.math_polynomials import FUNCTIONS, Lanes, Writer
from transom.passes.kernel_pass import KernelPass


class ExpandFunction(ConversionPattern[Operation]):
    """One function of f32; f16 and bf16 are computed in f32."""

    def __init__(
        self, root: type[Operation], function: Callable[..., Lanes], has_fma: bool
    ) -> None:
        self.root = root
        self.function = function
        self.has_fma = has_fma

    def match_and_rewrite(
        self, op: Operation, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        writer = Writer(rewriter, self.has_fma)
        args = [Lanes(writer, value) for value in operands]
        element = args[0].element
        if not isinstance(element, AnyFloat) or element.bitwidth > 32:
            return Refusal(f"expected a float of at most 32 bits, but got '{element}'")
        if not isinstance(element, Float32Type):
            args = [arg.single() for arg in args]
        result = self.function(*args)
        if not isinstance(element, Float32Type):
            result = result.rounded_to(element)
        rewriter.replace(op, (), (result.value,))


@dataclass(frozen=True)
class LowerMathToPolynomialsPass(KernelPass):
    name = "lower-math-to-polynomials"

    fma: bool = False

    def concerns(self, kernel: Operation) -> bool:
        return any(type(op) in FUNCTIONS for op in kernel.walk())

    def apply_to_kernels(self, ctx: Context, module: ModuleOp) -> None:
        patterns = [
            ExpandFunction(root, function, self.fma)
            for root, function in FUNCTIONS.items()
        ]
        apply_partial_conversion(module, ConversionTarget(), patterns)
