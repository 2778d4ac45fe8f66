"""
Write functions of a module as C99, for compilers that LLVM has no back end for, and for
people to read.

What is written are the loops, numbers and memory that phases `scheduled` and
`executable` leave: `scf`, `arith`, `math`, `memref`, calls and C functions. Vectors
have no C form.

```mlir
tir.func @scale(read %x: memref<4xf32>, write %y: memref<4xf32>) {
  scf.for %i = %c0 to %c4 step %c1 {             int32_t scale(const float *restrict x,
    %v = memref.load %x[%i] : memref<4xf32>                    float *restrict y)
    %w = arith.addf %v, %v : f32          ==>    {
    memref.store %w, %y[%i] : memref<4xf32>          for (int64_t i = 0; i < 4; ++i) {
  }                                                      const float v = x[i];
  tir.return                                             y[i] = v + v;
}                                                    }
                                                     return 0;
                                                 }
```

A function returns 0, or a status if a check failed. A memref is the address of its
elements, then the sizes, strides and the offset that its type leaves open.
"""

from transom.lowering.emit_c.module import to_c_text
from transom.lowering.emit_c.names import identifier as c_identifier
from transom.lowering.emit_c.unit import Options

__all__ = ["Options", "c_identifier", "to_c_text"]
