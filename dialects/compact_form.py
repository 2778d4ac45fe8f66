"""
A compact form of an op: the same content as its text, much faster to write and read.

It is JSON: tables of op names, attributes as text, and kinds of ops (name, properties,
attributes, types of results, numbers of operands and regions), then the ops in order as
kinds and the numbers of their operands. It has no locations: an op that has some is
refused, unless they may be lost, and so is one that uses values or blocks out of order.
A form to be hashed leaves out what is not content: the names of values and the order of
attributes.
"""

import json
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    AnyFloat,
    IndexType,
    IntegerType,
    LocationAttr,
    MemRefType,
    UnregisteredOp,
    VectorType,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from transom.dialects.collection import rare_collection
from transom.dialects.parser import parse_attribute_text

MAX_ATTRIBUTES = 1 << 15
"""Texts of attributes that are remembered before all are forgotten."""

MAX_TEXT = 1 << 10
"""The longest of them."""

PLAIN_TYPES = (AnyFloat, IndexType, IntegerType, MemRefType, VectorType)
"""Types that hold no floats: equal ones have equal texts. (0.0 and -0.0 are equal.)"""


@cache
def _is_plain(kind: type[Attribute]) -> bool:
    """`isinstance` is slow for classes that are none of these."""
    return issubclass(kind, PLAIN_TYPES)


Table: TypeAlias = dict[Any, int]


class NoCompactForm(ValueError):
    """An op that the compact form cannot say; the message tells why."""


class _Writer:
    """Writes one op with all that it holds."""

    def __init__(self, to_hash: bool, with_places: bool) -> None:
        self.to_hash = to_hash
        self.with_places = with_places
        self.names: Table = {}
        self.texts: Table = {}
        self.kinds: Table = {}
        self.by_identity: dict[int, tuple[Attribute, int]] = {}
        self.by_value: dict[Attribute, int] = {}
        self.values: dict[SSAValue, int] = {}
        self.hints: list[tuple[int, str]] = []
        self.stream: list[int] = []

    def attribute(self, attribute: Attribute) -> int:
        """The number of an attribute: equal numbers have equal texts."""
        known = self.by_identity.get(id(attribute))
        if known is not None:
            return known[1]
        is_plain = _is_plain(type(attribute))
        number = self.by_value.get(attribute) if is_plain else None
        if number is None:
            text = _text_of(attribute)
            number = self.texts.setdefault(text, len(self.texts))
            if is_plain:
                self.by_value[attribute] = number
        self.by_identity[id(attribute)] = (attribute, number)
        return number

    def define(self, values: Sequence[SSAValue]) -> None:
        for value in values:
            number = self.values[value] = len(self.values)
            if not self.to_hash and value.name_hint is not None:
                self.hints.append((number, value.name_hint))

    def dictionary(self, attributes: dict[str, Attribute]) -> tuple[int, ...]:
        """The numbers of names and attributes."""
        return tuple(
            number
            for name in (sorted(attributes) if self.to_hash else attributes)
            for number in (
                self.names.setdefault(name, len(self.names)),
                self.attribute(attributes[name]),
            )
        )

    def op(self, op: Operation) -> None:
        if not self.with_places and _is_known(op.location):
            raise NoCompactForm(f"'{op.name}' has a location")
        if op.successors or isinstance(op, UnregisteredOp):
            raise NoCompactForm(f"'{op.name}' has successors or is not registered")
        kind = (
            self.names.setdefault(op.name, len(self.names)),
            self.dictionary(op.properties),
            self.dictionary(op.attributes),
            tuple([self.attribute(result.type) for result in op.results]),
            len(op.operands),
            len(op.regions),
        )
        self.stream.append(self.kinds.setdefault(kind, len(self.kinds)))
        try:
            self.stream += [self.values[value] for value in op.operands]
        except KeyError:
            raise NoCompactForm(
                f"an operand of '{op.name}' is not defined before it"
            ) from None
        for region in op.regions:
            self.region(region)
        self.define(op.results)

    def region(self, region: Region) -> None:
        blocks = tuple(region.blocks)
        if len(blocks) > 1:
            raise NoCompactForm("a region has several blocks")
        self.stream.append(len(blocks))
        for block in blocks:
            if not self.with_places and any(
                _is_known(argument.location) for argument in block.args
            ):
                raise NoCompactForm("a block argument has a location")
            self.stream.append(len(block.args))
            self.stream += [self.attribute(argument.type) for argument in block.args]
            self.define(block.args)
            ops = tuple(block.ops)
            self.stream.append(len(ops))
            for op in ops:
                self.op(op)


def _is_known(location: LocationAttr) -> bool:
    return location is not UNKNOWN_LOC and location != UNKNOWN_LOC


def encode(op: Operation, to_hash: bool = False, with_places: bool = False) -> bytes:
    """
    The compact form of an op and of all in it; that of its content only, to be hashed.

    An op `with_places` may have locations, which are left out.

    Raises `NoCompactForm`.
    """
    writer = _Writer(to_hash, with_places)
    writer.op(op)
    tables = [list(writer.names), list(writer.texts), list(writer.kinds)]
    form = [*tables, writer.hints, writer.stream]
    return json.dumps(form, separators=(",", ":")).encode()


def decode(ctx: Context, data: bytes) -> Operation:
    """
    The op of a compact form. `ctx` has the dialects of its ops and attributes.

    Raises an error of any kind for what `encode` has not written.
    """
    names, texts, kinds, hints, stream = json.loads(data)
    attributes = [_attribute_of(ctx, text) for text in texts]
    reader = _Reader([_Kind.of(ctx, k, names, attributes) for k in kinds], attributes)
    with rare_collection():
        op = reader.op(iter(stream))
    for number, hint in hints:
        reader.values[number].name_hint = hint
    return op


class _Kind(NamedTuple):
    """What ops of a kind have in common."""

    cls: type[Operation]
    properties: dict[str, Attribute]
    attributes: dict[str, Attribute]
    result_types: list[Attribute]
    operands: range
    regions: range

    @staticmethod
    def of(
        ctx: Context, kind: list[Any], names: list[str], attributes: list[Attribute]
    ) -> "_Kind":
        def dictionary(numbers: list[int]) -> dict[str, Attribute]:
            pairs = zip(numbers[::2], numbers[1::2], strict=True)
            return {names[name]: attributes[value] for name, value in pairs}

        name: int = kind[0]
        properties, discardable, results, operands, regions = kind[1:]
        return _Kind(
            ctx.get_op(names[name]),
            dictionary(properties),
            dictionary(discardable),
            [attributes[number] for number in results],
            range(operands),
            range(regions),
        )


class _Reader:
    """Makes the ops of a stream."""

    def __init__(self, kinds: list[_Kind], attributes: list[Attribute]) -> None:
        self.kinds = kinds
        self.attributes = attributes
        self.values: list[SSAValue] = []

    def op(self, stream: Iterator[int]) -> Operation:
        kind = self.kinds[next(stream)]
        values = self.values
        operands = [values[next(stream)] for _ in kind.operands]
        op = kind.cls.create(
            operands=operands,
            result_types=kind.result_types,
            properties=kind.properties,
            attributes=kind.attributes,
            regions=[self.region(stream) for _ in kind.regions],
        )
        values += op.results
        return op

    def region(self, stream: Iterator[int]) -> Region:
        if not next(stream):
            return Region()
        types = [self.attributes[next(stream)] for _ in range(next(stream))]
        block = Block(arg_types=types)
        self.values += block.args
        block.add_ops([self.op(stream) for _ in range(next(stream))])
        return Region(block)


# Attributes as text.


class _Texts:
    """
    Attributes that were read from text or printed, which need not be done again. They
    are alive, so that one is not another.
    """

    def __init__(self) -> None:
        self.read: dict[str, Attribute] = {}
        self.by_identity: dict[int, tuple[Attribute, str]] = {}

    def add(self, attribute: Attribute, text: str) -> None:
        if len(text) <= MAX_TEXT:
            self.by_identity[id(attribute)] = attribute, text


_texts = _Texts()


def _known() -> _Texts:
    """What is remembered, if that is not too much."""
    global _texts
    if max(len(_texts.read), len(_texts.by_identity)) >= MAX_ATTRIBUTES:
        _texts = _Texts()
    return _texts


def _attribute_of(ctx: Context, text: str) -> Attribute:
    """The attribute of a text; they are immutable, so that equal ones may be one."""
    known = _known()
    attribute = known.read.get(text)
    if attribute is None:
        attribute = known.read[text] = parse_attribute_text(ctx, text)
        known.add(attribute, text)
    return attribute


def _text_of(attribute: Attribute) -> str:
    known = _known()
    found = known.by_identity.get(id(attribute))
    if found is not None:
        return found[1]
    text = str(attribute)
    known.add(attribute, text)
    return text
