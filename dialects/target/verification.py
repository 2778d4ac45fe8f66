"""
Rules of the module as a whole: its discardable attributes, and its places.
"""

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation
from xdsl.traits import OpTrait
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from transom.dialects.diagnostics import did_you_mean
from transom.dialects.discardable import (
    DiscardableAttributes,
    Rule,
    RuleError,
    verify_class,
    verify_on_function,
    verify_on_module,
)
from transom.dialects.symbols import held_attributes, ops_in_scope, walk_holders
from transom.dialects.target.candidates import CANDIDATES, CandidateAttr
from transom.dialects.target.configuration import (
    CONFIG,
    FOR,
    LOWERED_TO,
    PHASE,
    ConfigAttr,
    verify_phase,
)
from transom.dialects.target.places import AnyOfAttr, PlaceAttr
from transom.dialects.target.refusals import REFUSED, RefusalAttr
from transom.dialects.target.topology import DeviceOp, MemoryOp


class PlacesExist(OpTrait):
    """
    A place that names a declared device has one of its targets and memories; a place
    names no undeclared memory where memories are declared. A device may be undeclared.
    """

    def verify(self, op: Operation) -> None:
        assert isinstance(op, ModuleOp), "only modules have this trait"
        if not _declares(op):
            return
        checker = PlaceChecker(op)
        for user in ops_in_scope(op):
            if user is op or not isinstance(user, ModuleOp):  # which has the trait
                checker.verify(user)


def _declares(module: ModuleOp) -> bool:
    return any(isinstance(op, DeviceOp | MemoryOp) for op in module.ops)


class PlaceChecker:
    """Checks places against the devices and memories that a module declares."""

    devices: dict[str, DeviceOp]
    memories: dict[str, MemoryOp]
    _seen: dict[int, tuple[Attribute, str | None]]

    def __init__(self, module: ModuleOp) -> None:
        self.devices = {
            op.sym_name.data: op for op in module.ops if isinstance(op, DeviceOp)
        }
        self.memories = {
            op.sym_name.data: op for op in module.ops if isinstance(op, MemoryOp)
        }
        self._seen = {}

    def verify(self, op: Operation) -> None:
        """Raise `RuleError` at an op that holds a place which cannot be."""
        seen = self._seen
        for attribute in held_attributes(op):
            # By identity: to hash a type costs more than to look at its parts.
            known = seen.get(id(attribute))
            if known is None:
                known = attribute, self._wrong_place_in(attribute)
                seen[id(attribute)] = known
            if known[1] is not None:
                raise RuleError(op, known[1])

    def _wrong_place_in(self, attribute: Attribute) -> str | None:
        places = (a for a in walk_holders(attribute) if isinstance(a, PlaceAttr))
        return next(filter(None, map(self.wrong, places)), None)

    def wrong(self, place: PlaceAttr) -> str | None:
        """What is wrong with a place, or None."""
        memory, target = place.memory_name, place.target
        if memory is not None and self.memories and memory not in self.memories:
            near = did_you_mean(f"@{memory}", (f"@{name}" for name in self.memories))
            return f"unknown memory '@{memory}' in '{place}'{near}"
        device = self.devices.get(place.device_name or "")
        if device is None:
            return None
        if target is not None and not device.supports(target):
            targets = ", ".join(f"'{t}'" for t in device.targets.data)
            return (
                f"expected a target of device '@{place.device_name}' ({targets}), "
                f"but got '{target}'"
            )
        reached = [ref.root_reference.data for ref in device.memory_refs]
        if memory is not None and memory not in reached:
            memories = ", ".join(f"'@{name}'" for name in reached) or "none"
            return (
                f"expected a memory of device '@{place.device_name}' ({memories}), "
                f"but got '@{memory}'"
            )
        return None


def unbound_places(module: ModuleOp) -> list[tuple[Operation, PlaceAttr]]:
    """
    The places that name a device which the module does not declare, and what has them.

    A set of places that names a declared device, or none, is not among them.
    """
    declared = {op.sym_name.data for op in module.ops if isinstance(op, DeviceOp)}

    def is_bound(place: PlaceAttr) -> bool:
        return place.device_name is None or place.device_name in declared

    def unbound_in(attribute: Attribute) -> tuple[PlaceAttr, ...]:
        found: list[PlaceAttr] = []
        optional: list[PlaceAttr] = []
        for part in walk_holders(attribute):
            if isinstance(part, AnyOfAttr) and any(map(is_bound, part.places.data)):
                optional += part.places.data
            elif isinstance(part, PlaceAttr) and not is_bound(part):
                found.append(part)
        return tuple(p for p in found if all(p is not other for other in optional))

    # By identity, as above.
    seen: dict[int, tuple[Attribute, tuple[PlaceAttr, ...]]] = {}
    result: list[tuple[Operation, PlaceAttr]] = []
    for op in ops_in_scope(module):
        if op is not module and isinstance(op, ModuleOp):
            continue
        for attribute in held_attributes(op):
            known = seen.get(id(attribute))
            if known is None:
                known = seen[id(attribute)] = (attribute, unbound_in(attribute))
            result += [(op, place) for place in known[1]]
    return result


def _verify_config(op: Operation, value: Attribute) -> None:
    verify_on_module(op, CONFIG)
    verify_class(CONFIG, value, ConfigAttr)


def _verify_for(op: Operation, value: Attribute) -> None:
    verify_on_function(op, FOR)
    verify_class(FOR, value, PlaceAttr)


def _verify_phase(op: Operation, value: Attribute) -> None:
    verify_on_function(op, PHASE)
    if not isinstance(value, StringAttr):
        raise VerifyException(f"expected a string for '{PHASE}', but got '{value}'")
    verify_phase(value.data)


def _verify_lowered_to(op: Operation, value: Attribute) -> None:
    verify_on_function(op, LOWERED_TO)
    if not isa(value, ArrayAttr[SymbolRefAttr]):
        raise VerifyException(
            f"expected a list of symbols for '{LOWERED_TO}', but got '{value}'"
        )


def _verify_refused(op: Operation, value: Attribute) -> None:
    if not isa(value, ArrayAttr[RefusalAttr]):
        raise VerifyException(
            f"expected a list of '#{RefusalAttr.name}' for '{REFUSED}', "
            f"but got '{value}'"
        )


def _verify_candidates(op: Operation, value: Attribute) -> None:
    if not isa(value, ArrayAttr[CandidateAttr]):
        raise VerifyException(
            f"expected a list of '#{CandidateAttr.name}' for '{CANDIDATES}', "
            f"but got '{value}'"
        )


_RULES: tuple[tuple[str, Rule], ...] = (
    (CANDIDATES, _verify_candidates),
    (CONFIG, _verify_config),
    (FOR, _verify_for),
    (LOWERED_TO, _verify_lowered_to),
    (PHASE, _verify_phase),
    (REFUSED, _verify_refused),
)

# Traits of a foreign op: whatever loads the dialect gets its rules.
ModuleOp.traits.add_trait(DiscardableAttributes("target", _RULES))
ModuleOp.traits.add_trait(PlacesExist())
