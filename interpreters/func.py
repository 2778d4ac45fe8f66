"""
`func`: calls. Terminators need no evaluator.
"""

from xdsl.dialects import func

from transom.dialects.diagnostics import OpError
from transom.interpreters.evaluators import Evaluators, Values
from transom.interpreters.interpreter import Frame

FUNC = Evaluators()


@FUNC.of(func.CallOp)
def call(frame: Frame, op: func.CallOp, args: Values) -> Values:
    name = op.callee.string_value()
    callee = frame.interpreter.symbol(op, name)
    if not isinstance(callee, func.FuncOp):
        raise OpError(op, f"expected a 'func.func', but '{name}' is a '{callee.name}'")
    if callee.is_declaration:
        extern = frame.interpreter.externs.get(name)
        if extern is None:
            raise OpError(op, f"no reference evaluation for the external '{name}'")
        results = extern(*args)
        return (results,) if len(op.results) == 1 else results or ()
    return frame.interpreter.call(callee, args)
