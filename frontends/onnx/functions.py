"""
Operators that ONNX defines by a function of other operators.

The body of a function is looked up in the operator's schema, for the opset of the model
and, where the body depends on them, for the types of the inputs; what it takes and
gives has the names of the model (onnx/docs/IR.md, "Functions").
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from transom.frontends.onnx.node import Unsupported

if TYPE_CHECKING:
    from onnx import AttributeProto, GraphProto, NodeProto, TypeProto

MAX_NODES = 4096
"""Nodes of a body."""

TypeOf = Callable[[str], "TypeProto"]
"""The type of a value by its name. Raises `Unsupported` if it is not known."""


@dataclass(frozen=True)
class Body:
    """The nodes that stand for one node."""

    nodes: "tuple[NodeProto, ...]"
    opset: int


def expand(
    proto: "NodeProto",
    domain: str,
    opsets: Mapping[str, int],
    type_of: TypeOf,
    prefix: str,
) -> Body | None:
    """
    The body of a node's operator, or None if that has none.

    `opsets` has the versions of domains, that of ONNX under an empty name. Names of its
    own start with `prefix`. Raises `Unsupported` for what ONNX cannot say
    in nodes.
    """
    from onnx import FunctionProto, defs

    opset = opsets.get(domain, 1)
    try:
        schema = defs.get_schema(proto.op_type, opset, domain)
    except defs.SchemaError:
        return None
    _check_attributes(proto, schema)
    data = _body_of(schema, proto, opset, type_of)
    if not data:
        return None
    function = FunctionProto()
    function.ParseFromString(data)
    if len(function.node) > MAX_NODES:
        raise Unsupported(f"expected at most {MAX_NODES} nodes in its function")
    versions = {entry.domain: entry.version for entry in function.opset_import}
    names = _Names(proto, function, prefix)
    attributes = _attributes(proto, schema)
    nodes = tuple(_instance(node, names, attributes) for node in function.node)
    return Body(nodes, versions.get("", opsets[""]))


def _check_attributes(proto: "NodeProto", schema: Any) -> None:
    """Raise `Unsupported` for attributes that the operator does not have."""
    from onnx import AttributeProto

    for attribute in proto.attribute:
        known = schema.attributes.get(attribute.name)
        if known is None:
            raise Unsupported(f"attribute '{attribute.name}' is not supported")
        if attribute.ref_attr_name or known.type.value != attribute.type:
            kind = AttributeProto.AttributeType.Name(known.type.value)
            raise Unsupported(f"expected attribute '{attribute.name}' of type {kind}")


def _body_of(
    schema: Any, proto: "NodeProto", opset: int, type_of: TypeOf
) -> bytes | None:
    """The function of a schema, serialized."""
    if schema.has_function:
        return _latest(
            schema.function_opset_versions,
            opset,
            schema.get_function_with_opset_version,
        )
    if not schema.has_context_dependent_function:
        return None
    complete = type(proto)()
    complete.CopyFrom(proto)
    del complete.attribute[:]
    complete.attribute.extend(_attributes(proto, schema).values())
    types = [type_of(name).SerializeToString() if name else b"" for name in proto.input]
    data = complete.SerializeToString()
    return _latest(
        schema.context_dependent_function_opset_versions,
        opset,
        lambda version: schema.get_context_dependent_function_with_opset_version(
            version, data, types
        ),
    )


def _latest(
    versions: Sequence[int], opset: int, get: Callable[[int], bytes]
) -> bytes | None:
    """The newest body that an opset allows."""
    from onnx.shape_inference import InferenceError

    found = [version for version in versions if version <= opset]
    try:
        return get(max(found)) if found else None
    except (RuntimeError, InferenceError):  # it cannot be made for these types
        return None


def _attributes(proto: "NodeProto", schema: Any) -> "dict[str, AttributeProto]":
    """The attributes of a node, with the defaults of its schema."""
    found = {a.name: a for a in proto.attribute}
    for name, attribute in schema.attributes.items():
        default = attribute.default_value
        if name not in found and default.name:
            found[name] = default
    return found


class _Names:
    """The names of a function's values in the model."""

    def __init__(self, proto: "NodeProto", function: Any, prefix: str) -> None:
        self.prefix = prefix
        self.known: dict[str, str] = {"": ""}
        for formals, actuals in (
            (function.input, proto.input),
            (function.output, proto.output),
        ):
            for index, formal in enumerate(formals):
                actual = actuals[index] if index < len(actuals) else ""
                if actual or formals is function.input:
                    self.known[formal] = actual

    def __call__(self, name: str) -> str:
        return self.known.setdefault(name, self.prefix + name)


def _instance(
    node: "NodeProto",
    names: Callable[[str], str],
    attributes: "Mapping[str, AttributeProto]",
) -> "NodeProto":
    """A node of a body with the names of the model, and the caller's attributes."""
    made = type(node)()
    made.CopyFrom(node)
    del made.input[:], made.output[:], made.attribute[:]
    made.input.extend(map(names, node.input))
    made.output.extend(map(names, node.output))
    for attribute in node.attribute:
        given = attribute
        if attribute.ref_attr_name:
            given = attributes.get(attribute.ref_attr_name)
            if given is None:
                continue
        copy = type(attribute)()
        copy.CopyFrom(given)
        copy.name = attribute.name
        if copy.HasField("g"):
            _instantiate_graph(copy.g, names, attributes)
        made.attribute.append(copy)
    return made


def _instantiate_graph(
    source: "GraphProto",
    names: Callable[[str], str],
    attributes: "Mapping[str, AttributeProto]",
) -> None:
    """Do the same to a graph of a node, which has names of its own."""
    own = {value.name for value in source.input}
    own |= {tensor.name for tensor in source.initializer}
    own |= {name for node in source.node for name in node.output}

    def outer(name: str) -> str:
        return name if name in own else names(name)

    nodes = [_instance(node, outer, attributes) for node in source.node]
    del source.node[:]
    source.node.extend(nodes)
    for value in source.output:
        value.name = outer(value.name)
