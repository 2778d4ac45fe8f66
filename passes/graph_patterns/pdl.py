"""
Patterns from the `pdl` dialect, so that they can stand in IR files.

```mlir
pdl.pattern @conv_relu : benefit(1) {
  %x = pdl.operand
  %w = pdl.operand
  %groups = pdl.attribute = 1 : i64
  %t = pdl.type
  %conv = pdl.operation "graph.conv2d" (%x, %w : !pdl.value, !pdl.value) {"groups" = %groups} -> (%t : !pdl.type)
  %y = pdl.result 0 of %conv
  %relu = pdl.operation "graph.relu" (%y : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %relu with "acme.conv_relu"
}
```

The external rewrite is the label of what is found. It may have attributes as arguments,
and the ops that nothing in the pattern reads, which are further roots.
A `pdl.rewrite` with a body is not for patterns that are only looked for. What `pdl.apply_native_constraint` names is a
function of the one who reads the pattern.
"""  # noqa: E501

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from xdsl.dialects import pdl
from xdsl.ir import Attribute, Operation, SSAValue

from transom.dialects.diagnostics import OpError, did_you_mean
from transom.passes.graph_outline_regions import CLONED_OPS
from transom.passes.graph_patterns.match import Match
from transom.passes.graph_patterns.pattern import Pattern
from transom.passes.graph_patterns.terms import (
    OpTerm,
    PatternError,
    Term,
    Where,
    each,
    op,
    rest,
    value,
)

Constraints = Mapping[str, Callable[..., bool]]
"""What native constraints hold of: values, ops, attributes or types, by their names."""


class LabelledPattern(NamedTuple):
    """A pattern, and the name of what it finds."""

    pattern: Pattern
    label: str | None
    arguments: tuple[Attribute, ...] = ()
    """The attributes that the external rewrite is called with."""


def pattern_of_pdl(
    source: pdl.PatternOp, constraints: Constraints | None = None
) -> LabelledPattern:
    """
    The pattern that a `pdl.pattern` describes.

    Raises `OpError` at what such a pattern cannot say.
    """
    return _Reader(source, constraints or {}).read()


class _Reader:
    """Reads one `pdl.pattern`."""

    def __init__(self, source: pdl.PatternOp, constraints: Constraints) -> None:
        self.source = source
        self.constraints = constraints
        self.terms: dict[SSAValue, Term] = {}
        self.names: dict[SSAValue, str] = {}

    def read(self) -> LabelledPattern:
        ops = list(self.source.body.block.ops)
        rewrite = ops[-1]
        assert isinstance(rewrite, pdl.RewriteOp), "verified"
        if rewrite.body.blocks:
            raise OpError(
                rewrite,
                "expected 'pdl.rewrite' with the name of what is found, such as "
                "'pdl.rewrite %root with \"acme.conv\"', but it has a body",
            )
        demands: list[Where] = []
        for number, part in enumerate(ops[:-1]):
            for result in part.results:
                hint = result.name_hint or "v"
                taken = hint in self.names.values()
                self.names[result] = f"{hint}_{number}" if taken else hint
            if isinstance(part, pdl.OperationOp):
                self.terms[part.op] = self._operation(part)
            elif isinstance(part, pdl.ApplyNativeConstraintOp):
                demands.append(self._constraint(part))
            elif not isinstance(part, _KNOWN):
                raise OpError(
                    part, f"expected no '{part.name}' in a pattern to look for"
                )
        demands += self._equal_types()
        roots = self._roots(rewrite)
        label = None if rewrite.name_ is None else rewrite.name_.data
        try:
            pattern = Pattern(*roots, where=demands)
        except PatternError as e:
            raise OpError(self.source, str(e)) from e
        arguments: list[Attribute] = []
        for argument in rewrite.external_args:
            source = argument.owner
            if isinstance(source, pdl.AttributeOp) and source.value is not None:
                arguments.append(source.value)
            elif not isinstance(source, pdl.OperationOp):
                problem = "expected attributes and ops as arguments of the rewrite"
                raise OpError(rewrite, problem)
        return LabelledPattern(pattern, label, tuple(arguments))

    def _roots(self, rewrite: pdl.RewriteOp) -> list[Term]:
        """The root that is rewritten, and the ops that nothing in the pattern reads."""
        unread = [
            value
            for value, term in self.terms.items()
            if isinstance(term, OpTerm)
            and isinstance(value.type, pdl.OperationType)
            and not any(self._is_read(use.operation) for use in value.uses)
        ]
        root = rewrite.root
        if root is None:
            if len(unread) != 1:
                raise OpError(rewrite, "expected the root that 'pdl.rewrite' replaces")
            root = unread[0]
        return [self.terms[root], *(self.terms[v] for v in unread if v is not root)]

    @staticmethod
    def _is_read(reader: Operation) -> bool:
        return isinstance(reader, pdl.ResultOp | pdl.ResultsOp) and any(
            isinstance(use.operation, pdl.OperationOp) for use in reader.results[0].uses
        )

    def _operation(self, source: pdl.OperationOp) -> OpTerm:
        if source.opName is None:
            raise OpError(source, "expected the name of the op")
        operands = [self._operand(v, source) for v in source.operand_values]
        attributes: dict[str, object] = {}
        for name, found in zip(
            source.attributeValueNames, source.attribute_values, strict=True
        ):
            attributes[name.data] = self._attribute(found)
        demands = [*self._result_types(source), *self._attribute_types(source)]
        if not source.operand_values:
            # Without operands PDL leaves them open.
            operands = [rest()]
        try:
            return op(
                source.opName.data,
                *operands,
                name=self.names[source.op],
                attributes=attributes,
                commutative=False,
                copied=source.opName.data in _CLONED,
                where=demands,
            )
        except PatternError as e:
            raise OpError(source, str(e)) from e

    def _operand(self, used: SSAValue, reader: Operation) -> Term:
        if used in self.terms:
            return self.terms[used]
        source = used.owner
        name = self.names[used]
        match source:
            case pdl.OperandOp():
                term: Term = value(name, where=self._type_demands(source.value_type))
            case pdl.OperandsOp():
                term = each(value(name))
            case pdl.ResultOp():
                parent = self.terms[source.parent_]
                assert isinstance(parent, OpTerm), "made of an operation"
                index = source.index.value.data
                term = parent if index == 0 else parent.result(index, name)
            case _:
                raise OpError(reader, f"expected no operands of '{used.type}'")
        self.terms[used] = term
        return term

    def _attribute(self, used: SSAValue) -> object:
        source = used.owner
        assert isinstance(source, pdl.AttributeOp), "verified"
        if source.value is not None:
            return source.value
        return Where("there", lambda a: a is not None)

    @staticmethod
    def _attribute_types(source: pdl.OperationOp) -> list[Where]:
        """The demands on the types of attributes."""
        demands: list[Where] = []
        for name, used in zip(
            source.attributeValueNames, source.attribute_values, strict=True
        ):
            assert isinstance(used.owner, pdl.AttributeOp), "verified"
            type = used.owner.value_type
            wanted = None if type is None else _fixed_type(type)
            if wanted is not None:
                demands.append(_attribute_of(name.data, wanted))
        return demands

    def _result_types(self, source: pdl.OperationOp) -> list[Where]:
        demands: list[Where] = []
        if any(isinstance(v.type, pdl.RangeType) for v in source.type_values):
            return demands
        count = len(source.type_values)
        if count:
            demands.append(
                Where(f"{count} results", lambda op, n=count: len(op.results) == n)
            )
        for index, used in enumerate(source.type_values):
            wanted = _fixed_type(used)
            if wanted is not None:
                demands.append(
                    Where(
                        f"result {index} of type '{wanted}'",
                        lambda op, i=index, t=wanted: op.results[i].type == t,
                    )
                )
        return demands

    @staticmethod
    def _type_demands(used: SSAValue | None) -> list[Where]:
        wanted = None if used is None else _fixed_type(used)
        if wanted is None:
            return []
        return [Where(f"type '{wanted}'", lambda v: v.type == wanted)]

    def _equal_types(self) -> list[Where]:
        """Types that are open, and used in several places, are the same there."""
        demands: list[Where] = []
        for source in self.source.body.block.ops:
            if not isinstance(source, pdl.TypeOp) or source.constantType is not None:
                continue
            users = dict.fromkeys(use.operation for use in source.result.uses)
            places = [p for u in users for p in self._typed(u, source.result)]
            if len(places) > 1:
                demands.append(_of_one_type(places))
        return demands

    def _typed(self, user: Operation, used: SSAValue) -> list[tuple[str, int | None]]:
        """The names of values of a type, or of ops with the number of the result."""
        if isinstance(user, pdl.OperandOp):
            return [(self.names[user.value], None)] if user.value in self.terms else []
        if isinstance(user, pdl.OperationOp):
            name = self.names[user.op]
            return [(name, i) for i, t in enumerate(user.type_values) if t is used]
        return []

    def _constraint(self, source: pdl.ApplyNativeConstraintOp) -> Where:
        name = source.constraint_name.data
        holds = self.constraints.get(name)
        if holds is None:
            near = did_you_mean(name, self.constraints)
            raise OpError(source, f"unknown constraint '{name}'{near}")
        getters = [self._getter(v, source) for v in source.args]
        negated = bool(source.is_negated.value.data)

        def test(match: Match) -> bool:
            return bool(holds(*(get(match) for get in getters))) != negated

        return Where(f"'{name}'" + (" not" if negated else "") + " to hold", test)

    def _getter(self, used: SSAValue, source: Operation) -> Callable[[Match], Any]:
        """How an argument of a constraint is had from a match."""
        owner = used.owner
        match owner:
            case pdl.OperandOp():
                name = self.names[used]
                return lambda match: match.value(name)
            case pdl.OperationOp():
                name = self.names[used]
                return lambda match: match.op(name)
            case pdl.ResultOp():
                name, index = self.names[owner.parent_], owner.index.value.data
                return lambda match: match.op(name).results[index]
            case pdl.AttributeOp() if owner.value is not None:
                fixed = owner.value
                return lambda match: fixed
            case pdl.AttributeOp():
                return self._attribute_getter(used, source)
            case pdl.TypeOp() if owner.constantType is not None:
                constant = owner.constantType
                return lambda match: constant
            case _:
                raise OpError(
                    source, f"expected no argument that comes from '{_name(owner)}'"
                )

    def _attribute_getter(
        self, used: SSAValue, source: Operation
    ) -> Callable[[Match], Any]:
        for use in used.uses:
            user = use.operation
            if isinstance(user, pdl.OperationOp):
                number = list(user.attribute_values).index(used)
                key = user.attributeValueNames.data[number].data
                name = self.names[user.op]
                return lambda match: match.op(name).properties.get(key)
        raise OpError(source, "expected an attribute of an op of the pattern")


_CLONED = frozenset(op.name for op in CLONED_OPS)

_KNOWN = (
    pdl.AttributeOp,
    pdl.OperandOp,
    pdl.OperandsOp,
    pdl.ResultOp,
    pdl.TypeOp,
    pdl.TypesOp,
)
"""What is read where it is used."""


def _name(owner: object) -> str:
    return owner.name if isinstance(owner, Operation) else "a block"


def _fixed_type(used: SSAValue) -> Attribute | None:
    """The type that a `pdl.type` says, None for an open one."""
    owner = used.owner
    return owner.constantType if isinstance(owner, pdl.TypeOp) else None


def _attribute_of(name: str, wanted: Attribute) -> Where:
    return Where(
        f"{name} of type '{wanted}'",
        lambda op: getattr(op.properties.get(name), "type", None) == wanted,
    )


def _of_one_type(places: Sequence[tuple[str, int | None]]) -> Where:
    def same(match: Match) -> bool:
        types = {
            v.type if index is None else match.op(name).results[index].type
            for name, index in places
            for v in match.values(name)
        }
        return len(types) <= 1

    names = " and ".join(f"'{name}'" for name in dict.fromkeys(n for n, _ in places))
    return Where(f"{names} of one type", same)
