"""
`builtin`: casts that a conversion left are the identity.
"""

from xdsl.dialects.builtin import UnrealizedConversionCastOp

from transom.interpreters.evaluators import Evaluators, Values
from transom.interpreters.interpreter import Frame

BUILTIN = Evaluators()


@BUILTIN.of(UnrealizedConversionCastOp)
def cast(frame: Frame, op: UnrealizedConversionCastOp, args: Values) -> Values:
    if len(args) != len(op.results):
        raise ValueError("expected as many results as operands")
    return args
