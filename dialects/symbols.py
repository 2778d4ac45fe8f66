"""
Symbols: finding their definitions and all their uses, renaming, removing dead ones.

A use may stand in any attribute or type: a place, an encoding, a memory space, a
function's type, the type of a result or a block argument.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cache
from operator import attrgetter
from typing import NamedTuple, TypeVar, cast
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Data, Operation, ParametrizedAttribute, SSAValue
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import VerifyException

from transom.dialects.diagnostics import did_you_mean
from transom.dialects.walking import held_by

OpT = TypeVar("OpT", bound=Operation)


class SymbolUse(NamedTuple):
    """A reference to a symbol from an attribute or type of an op."""

    user: Operation
    """The op; for the type of a block argument, the op that holds the block."""

    ref: SymbolRefAttr

    @property
    def name(self) -> str:
        """The symbol that is looked up where the user stands."""
        return self.ref.root_reference.data


def symbol_name(op: Operation) -> str | None:
    """The name that an op defines, if it is a symbol."""
    name = op.properties.get("sym_name")
    if name is None:
        name = op.attributes.get("sym_name")
    # `isinstance` is slow for what is none: most ops are no symbols.
    return name.data if name is not None and isinstance(name, StringAttr) else None


def set_symbol_name(op: Operation, name: str) -> None:
    """Give a symbol another name, without a change of its uses."""
    holder = op.properties if "sym_name" in op.properties else op.attributes
    holder["sym_name"] = StringAttr(name)


def symbol_table_of(op: Operation) -> Operation | None:
    """The op that defines the symbols which `op` refers to: itself or one around it."""
    table: Operation | None = op
    while table is not None and not table.has_trait(SymbolTable):
        table = table.parent_op()
    return table


# Derived from the IR: an entry is checked on use, and rebuilt when it is wrong.
_TABLES: WeakKeyDictionary[Operation, dict[str, Operation]] = WeakKeyDictionary()


def lookup(op: Operation, name: str) -> Operation | None:
    """
    The symbol that `name` stands for where `op` is, or None.

    Takes constant time unless symbols were added, removed or renamed.
    """
    table = symbol_table_of(op)
    if table is None:
        return None
    found = _TABLES.get(table, {}).get(name)
    if found is not None and found.parent_op() is table and symbol_name(found) == name:
        return found
    symbols = _TABLES[table] = dict(symbols_of(table))
    return symbols.get(name)


def expect_symbol(op: Operation, name: str, kind: type[OpT], what: str) -> OpT:
    """
    The symbol that `name` stands for where `op` is, an op of class `kind`.

    Raises `VerifyException` if there is none (`unknown pool '@w'; did you mean '@ws'?`)
    or it is of another class.
    """
    found = lookup(op, name)
    if isinstance(found, kind):
        return found
    if found is not None:
        raise VerifyException(f"expected a {what}, but '@{name}' is a '{found.name}'")
    table = symbol_table_of(op)
    symbols = () if table is None else symbols_of(table)
    names = [f"@{other}" for other, symbol in symbols if isinstance(symbol, kind)]
    raise VerifyException(f"unknown {what} '@{name}'{did_you_mean(f'@{name}', names)}")


def symbols_of(table: Operation) -> Iterator[tuple[str, Operation]]:
    """The symbols of a symbol table in order."""
    for region in table.regions:
        for block in region.blocks:
            for op in block.ops:
                if (name := symbol_name(op)) is not None:
                    yield name, op


def walk_attributes(attribute: Attribute) -> Iterator[Attribute]:
    """An attribute and all that it is made of, outermost first."""
    stack = [attribute]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(_parts(current)))


def walk_holders(attribute: Attribute) -> Iterator[Attribute]:
    """As `walk_attributes`, without what holds no symbols and nothing that could."""
    stack = [] if _is_leaf(type(attribute)) else [attribute]
    while stack:
        current = stack.pop()
        yield current
        for part in reversed(_parts(current)):
            if not _is_leaf(type(part)):
                stack.append(part)


def _parts(attribute: Attribute) -> tuple[Attribute, ...]:
    return _parts_getter(type(attribute))(attribute)


@cache
def _parts_getter(
    kind: type[Attribute],
) -> Callable[[Attribute], tuple[Attribute, ...]]:
    """How to get the parts of attributes of a class."""
    if issubclass(kind, ParametrizedAttribute):
        names = [name for name, _ in kind.get_irdl_definition().parameters]
        if len(names) > 1:
            return attrgetter(*names)
        return lambda attribute: tuple([getattr(attribute, name) for name in names])
    if issubclass(kind, ArrayAttr):
        return attrgetter("data")
    if issubclass(kind, DictionaryAttr):
        return lambda attribute: tuple(cast("DictionaryAttr", attribute).data.values())
    return lambda attribute: ()


@cache
def _is_leaf(kind: type[Attribute]) -> bool:
    """Whether attributes of a class hold no symbols and nothing that could."""
    if issubclass(kind, Data):
        return kind not in (ArrayAttr, DictionaryAttr)
    return kind in (FloatAttr, IndexType, IntegerAttr, IntegerType, UnitAttr)


def attributes_of(op: Operation) -> list[Attribute]:
    """
    The attributes and types that an op itself holds, not those of ops inside it; those
    that cannot hold a symbol are left out.
    """
    return [a for a in held_attributes(op) if not _is_leaf(type(a))]


def held_attributes(op: Operation) -> list[Attribute]:
    """All attributes and types that an op itself holds, not those of ops inside it."""
    found = [*op.properties.values(), *op.attributes.values()]
    found += [result.type for result in op.results]
    for region in op.regions:
        for block in region.blocks:
            found += [arg.type for arg in block.args]
    return found


def ops_in_scope(table: Operation) -> Iterator[Operation]:
    """A symbol table and all ops in it, without what nested symbol tables hold."""
    stack = [table]
    while stack:
        op = stack.pop()
        yield op
        if op.regions and (op is table or not op.has_trait(SymbolTable)):
            stack += held_by(op)


def walk_symbol_uses(root: Operation) -> Iterator[SymbolUse]:
    """
    All references to symbols in an op and the ops inside it, in order.

    Symbol tables inside are left out: names mean their own symbols there.
    """
    # By identity: equal types are mostly one object, and to hash them costs more.
    seen: dict[int, tuple[Attribute, tuple[SymbolRefAttr, ...]]] = {}
    for op in ops_in_scope(root):
        if op is not root and op.has_trait(SymbolTable):
            continue
        for attribute in held_attributes(op):
            known = seen.get(id(attribute))
            if known is None:
                parts = walk_holders(attribute)
                refs = tuple(a for a in parts if isinstance(a, SymbolRefAttr))
                known = seen[id(attribute)] = (attribute, refs)
            for ref in known[1]:
                yield SymbolUse(op, ref)


def map_attribute(
    attribute: Attribute, function: Callable[[Attribute], Attribute]
) -> Attribute:
    """An attribute with `function` applied to it and all its parts, innermost first."""
    old = _parts(attribute)
    new = tuple(map_attribute(part, function) for part in old)
    if any(a is not b for a, b in zip(old, new, strict=True)):
        if isinstance(attribute, ParametrizedAttribute):
            attribute = type(attribute).new(new)
        elif isinstance(attribute, DictionaryAttr):
            attribute = DictionaryAttr(dict(zip(attribute.data, new, strict=True)))
        else:
            assert isinstance(attribute, ArrayAttr), "no other attribute has parts"
            attribute = ArrayAttr(new)
    return function(attribute)


def replace_attributes(
    ops: Iterable[Operation], function: Callable[[Attribute], Attribute]
) -> None:
    """
    Apply `function` to every attribute and type of ops, and to all parts of them,
    innermost first. It returns its argument itself where nothing changes.
    """
    seen: dict[int, tuple[Attribute, Attribute]] = {}

    def mapped(attribute: Attribute) -> Attribute:
        known = seen.get(id(attribute))
        if known is None:
            known = attribute, map_attribute(attribute, function)
            seen[id(attribute)] = known
        return known[1]

    def retype(value: SSAValue) -> None:
        new_type = mapped(value.type)
        if new_type is not value.type:
            # In place, so that uses, names and locations stay.
            value._type = new_type  # pyright: ignore[reportPrivateUsage]

    for op in ops:
        for holder in (op.properties, op.attributes):
            for key, attribute in holder.items():
                holder[key] = mapped(attribute)
        for result in op.results:
            retype(result)
        for region in op.regions:
            for block in region.blocks:
                for arg in block.args:
                    retype(arg)


def rename_symbol(table: Operation, old: str, new: str) -> None:
    """
    Rename a symbol of a symbol table and all its uses, in attributes and types.

    Raises ValueError if there is no symbol `old`, or already one called `new`.
    """
    symbols = dict(symbols_of(table))
    if old not in symbols:
        raise ValueError(f"expected a symbol '@{old}' to rename")
    if new in symbols:
        raise ValueError(f"expected no symbol '@{new}' before '@{old}' is renamed")

    def renamed(attribute: Attribute) -> Attribute:
        if not isinstance(attribute, SymbolRefAttr):
            return attribute
        if attribute.root_reference.data != old:
            return attribute
        return SymbolRefAttr(new, attribute.nested_references)

    scope = ops_in_scope(table)
    own = (op for op in scope if op is table or not op.has_trait(SymbolTable))
    replace_attributes(own, renamed)
    set_symbol_name(symbols[old], new)


def fresh_symbol(table: Operation, stem: str) -> str:
    """`stem`, or the first of `stem_0`, `stem_1`, … that is no symbol of the table."""
    return fresh_name(stem, {name for name, _ in symbols_of(table)})


def fresh_name(stem: str, taken: AbstractSet[str]) -> str:
    """`stem`, or the first of `stem_0`, `stem_1`, … that is not taken."""
    candidates = itertools.chain((stem,), (f"{stem}_{i}" for i in itertools.count()))
    return next(name for name in candidates if name not in taken)


PRIVATE_OPS = ("executor.artifact", "graph.weight")
"""Symbol ops that are private without saying so."""


def is_private(op: Operation) -> bool:
    """Whether a symbol is of no use to anybody outside its symbol table."""
    visibility = op.properties.get(
        "sym_visibility", op.attributes.get("sym_visibility")
    )
    if visibility is None:
        return op.name in PRIVATE_OPS
    return visibility == StringAttr("private")


def dead_symbols(table: Operation) -> list[Operation]:
    """
    The private symbols that nothing alive uses, in order.

    Alive are the ops that are no symbols, symbols that are not private, and what these
    use; private functions that call only each other are dead.
    """
    symbols = dict(symbols_of(table))
    private = {name: op for name, op in symbols.items() if is_private(op)}
    alive: set[str] = set()
    unseen = {use.name for use in _uses_of_roots(table, private)}
    while unseen:
        name = unseen.pop()
        if name in private and name not in alive:
            alive.add(name)
            unseen.update(use.name for use in walk_symbol_uses(private[name]))
    return [op for name, op in private.items() if name not in alive]


def _uses_of_roots(
    table: Operation, private: Mapping[str, Operation]
) -> Iterator[SymbolUse]:
    for attribute in attributes_of(table):
        for part in walk_attributes(attribute):
            if isinstance(part, SymbolRefAttr):
                yield SymbolUse(table, part)
    for region in table.regions:
        for block in region.blocks:
            for op in block.ops:
                name = symbol_name(op)
                if name is None or private.get(name) is not op:
                    yield from walk_symbol_uses(op)
