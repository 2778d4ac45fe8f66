"""
Dialect conversion: the base of everything that changes the level of IR.

A `ConversionTarget` says what may be left, `ConversionPattern`s say how ops are
replaced, a `TypeConverter` says how types change. The driver converts a module in one
pass, or leaves it as it was and says, for every op that is in the way, why. It carries
locations and discardable attributes over.

```python
target = ConversionTarget()
target.add_illegal_dialect("graph")
apply_full_conversion(module, target, (ConvertAdd(), ConvertRelu()))
```

After mlir/docs/DialectConversion.md; `docs/conversion.md` teaches it by an example.
"""

from transom.lowering.conversion.apply import (
    analyze_conversion,
    apply_full_conversion,
    apply_partial_conversion,
)
from transom.lowering.conversion.pattern import (
    ConversionPattern,
    Operands,
    PatternError,
    PatternSet,
    Refusal,
    RefusalError,
    name_of_op,
    operand_range,
    operand_segments,
    result_segments,
)
from transom.lowering.conversion.report import (
    AuditError,
    BudgetError,
    ConversionError,
    ConversionReport,
    Dropped,
    Failure,
    Refused,
)
from transom.lowering.conversion.rewriter import ConversionRewriter
from transom.lowering.conversion.target import ConversionTarget, Legality
from transom.lowering.conversion.type_converter import Signature, TypeConverter

__all__ = [
    "AuditError",
    "BudgetError",
    "ConversionError",
    "ConversionPattern",
    "ConversionReport",
    "ConversionRewriter",
    "ConversionTarget",
    "Dropped",
    "Failure",
    "Legality",
    "Operands",
    "PatternError",
    "PatternSet",
    "Refusal",
    "RefusalError",
    "Refused",
    "Signature",
    "TypeConverter",
    "analyze_conversion",
    "apply_full_conversion",
    "apply_partial_conversion",
    "name_of_op",
    "operand_range",
    "operand_segments",
    "result_segments",
]
