"""
What takes the place of a composite that a target computes as a whole.

A pass of hook `graph_pipeline` finds the parts again, and puts an op of its own there:

```python
match = match_in(composite, dense)
parts = [outside(composite, match.value(name)) for name in "xwb"]
replace_composite(composite, DenseOp(*parts))
```
"""

from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from transom.dialects import graph
from transom.dialects.diagnostics import OpError
from transom.passes.graph_patterns.match import Match
from transom.passes.graph_patterns.pattern import Pattern


def match_in(composite: graph.CompositeOp, pattern: Pattern) -> Match:
    """
    The match of a pattern at the one result of a composite.

    Raises `OpError` at a composite that holds something else.
    """
    last = composite.body.block.last_op
    assert last is not None, "composites yield"
    results = [value.owner for value in last.operands]
    reason = f"expected one result, but got {len(results)}"
    if len(results) == 1 and isinstance(results[0], Operation):
        match = pattern.match(results[0])
        if match is not None:
            return match
        reason = pattern.mismatch(results[0]).reason
    label = composite.composite.data
    raise OpError(composite, f"no pattern of '{label}' is in it: {reason}")


def outside(composite: graph.CompositeOp, inner: SSAValue) -> SSAValue:
    """
    A value in a composite as one in front of it: an operand, or a copy of the constant,
    the weight or whatever else computes it.
    """
    if isinstance(inner, BlockArgument):
        return composite.operands[inner.index]
    owner = inner.owner
    assert isinstance(owner, Operation), "what is no argument is a result"
    operands = {value: outside(composite, value) for value in owner.operands}
    copy = owner.clone(operands)
    copy.location = owner.location
    Rewriter.insert_op(copy, InsertPoint.before(composite))
    return copy.results[owner.results.index(inner)]


def replace_composite(composite: graph.CompositeOp, new: Operation) -> None:
    """
    Put an op in the place of a composite, with its location and its attributes.

    Results of the op get the types of those of the composite: where a value is stored,
    and how, is in the type.
    """
    new.location = composite.location
    new.attributes = {**composite.attributes, **new.attributes}
    Rewriter.insert_op(new, InsertPoint.before(composite))
    for old, result in zip(composite.results, tuple(new.results), strict=True):
        Rewriter.replace_value_with_new_type(result, old.type)
    Rewriter.replace_op(composite, (), new.results)
