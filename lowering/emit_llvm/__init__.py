"""
Write a module of the `llvm` dialect as LLVM IR text.

xDSL's writer drops what a compiler of fast code lives on: attributes of functions and
arguments, alignment, volatile and nontemporal accesses, fast-math flags, bf16, indirect
calls. This one writes all of it, prints floats exactly, gives the same text for the
same module, and stops with an `OpError` at an op that has no form in LLVM IR.

```mlir
llvm.func @f(%x: f32) -> f32 {            define float @f(float %0) {
  %y = llvm.fadd %x, %x : f32             bb0:
  llvm.return %y : f32              ==>     %1 = fadd float %0, %0
}                                           ret float %1
                                          }
```
"""

from transom.lowering.emit_llvm.module import to_llvm_text
from transom.lowering.emit_llvm.objects import (
    SYMBOL,
    KernelText,
    ObjectTexts,
    to_object_texts,
)

__all__ = ["SYMBOL", "KernelText", "ObjectTexts", "to_llvm_text", "to_object_texts"]
