"""
Elements that a printer left out, so that a terminal stays readable.

```mlir
%w = arith.constant dense<__elided__> : tensor<64x64xf32>
```

The text says so where the elements would be, and does not parse.
"""

ELIDED = "__elided__"
"""Stands in place of elements; no element is written like this."""

REFUSAL = (
    f"expected elements, but '{ELIDED}' says that they were left out when this was "
    "printed; print it again without '--elide-elements-larger'"
)
"""What a parser says of it."""
