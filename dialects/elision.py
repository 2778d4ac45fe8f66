"""
What a printer left out, so that a terminal stays readable.

```mlir
%w = arith.constant dense<__elided__> : tensor<64x64xf32>
```

The text says so where the elements would be, or a long string, and does not parse.
"""

ELIDED = "__elided__"
"""Stands in place of them; no element and no string is written like this."""

REFUSAL = (
    f"expected what '{ELIDED}' stands for, which was left out when this was printed; "
    "print it again without '--elide-elements-larger'"
)
"""What a parser says of it."""
