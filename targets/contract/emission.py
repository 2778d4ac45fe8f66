"""
The contract of hook `emit`: code for the kernels of a target, and no change.
"""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import cast

from xdsl.dialects.builtin import ModuleOp

from transom.dialects.symbols import symbol_name
from transom.dialects.target import TargetAttr
from transom.passes.owned_functions import is_kernel, owned_by
from transom.targets.contract.asking import kind_of
from transom.targets.contract.frozen import attribute_change, freeze, is_same
from transom.targets.contract.rules import (
    EMIT_CHANGED,
    EMIT_MISSING,
    EMIT_TWICE,
    EMIT_TYPE,
    EMIT_UNKNOWN,
    Origin,
)
from transom.targets.contract.snapshot import name_of_symbol
from transom.targets.hooks import Emitted


class EmissionContract:
    """
    Checks what hook `emit` returns, and that it changes nothing.

    It is made before the hook is asked; `check` gets the answer.
    """

    def __init__(self, module: ModuleOp, target: TargetAttr) -> None:
        self.module = module
        self.origin = Origin("emit", target)
        owned = owned_by(module, target)
        self.kernels = {name_of_symbol(op): op for op in owned if is_kernel(op)}
        self.attributes = dict(module.attributes)
        self.before = [freeze(op) for op in module.body.ops]

    def check(self, emitted: object) -> tuple[Emitted, ...] | None:
        """
        What was emitted, or None if the hook leaves that to LLVM.

        Raises `OpError` at the op that has changed, or the kernel that is missing.
        """
        self._check_unchanged()
        if emitted is None:
            return None
        items = self._checked(emitted)
        seen: set[str] = set()
        for name in (name for item in items for name in item.functions):
            if name not in self.kernels:
                raise self.origin.error(EMIT_UNKNOWN, self.module, name=name)
            if name in seen:
                raise self.origin.error(EMIT_TWICE, self.kernels[name], name=name)
            seen.add(name)
        for name, kernel in self.kernels.items():
            if name not in seen:
                raise self.origin.error(EMIT_MISSING, kernel, name=name)
        return items

    def _check_unchanged(self) -> None:
        change = attribute_change(self.attributes, self.module.attributes)
        if change is not None:
            what = f"the module has changed: {change}"
            raise self.origin.error(EMIT_CHANGED, self.module, what=what)
        for old, new in zip_longest(self.before, self.module.body.ops):
            if old is None or new is None or not is_same(old, new):
                op = new or (old and old.op)
                assert op is not None, "one of both is there"
                name = symbol_name(op)
                label = f"'{op.name}'" if name is None else f"'@{name}'"
                what = f"{label} has changed"
                raise self.origin.error(EMIT_CHANGED, op, what=what)

    def _checked(self, emitted: object) -> tuple[Emitted, ...]:
        self._expect(isinstance(emitted, list | tuple), "a list of 'Emitted'", emitted)
        items = cast("Sequence[object]", emitted)
        for item in items:
            self._expect(isinstance(item, Emitted), "a list of 'Emitted'", item)
            assert isinstance(item, Emitted), "checked above"
            names = cast(object, item.functions)
            is_list = isinstance(names, list | tuple)
            expected = "names as 'functions'"
            self._expect(is_list, expected, names)
            for name in cast("Sequence[object]", names):
                self._expect(isinstance(name, str), expected, name)
            format, payload = cast(object, item.format), cast(object, item.payload)
            is_format = isinstance(format, str) and bool(format)
            self._expect(is_format, "a name as 'format'", format)
            is_payload = isinstance(payload, bytes | str)
            self._expect(is_payload, "bytes or text as 'payload'", payload)
            self._expect(bool(payload), "a 'payload' that is not empty", payload)
            self._check_workspace(item)
        return tuple(cast("Sequence[Emitted]", items))

    def _check_workspace(self, item: Emitted) -> None:
        expected = "a mapping of bytes >= 0 by function as 'workspace'"
        workspace = cast(object, item.workspace)
        self._expect(isinstance(workspace, Mapping), expected, workspace)
        for name, size in cast("Mapping[object, object]", workspace).items():
            self._expect(name in item.functions, expected, name)
            is_size = isinstance(size, int) and not isinstance(size, bool) and size >= 0
            self._expect(is_size, expected, size)

    def _expect(self, holds: bool, expected: str, found: object) -> None:
        if not holds:
            found = kind_of(found)
            raise self.origin.error(
                EMIT_TYPE, self.module, expected=expected, found=found
            )
