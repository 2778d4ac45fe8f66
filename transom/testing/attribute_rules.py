"""
Rules of a target attribute: it can be written and read, and is verified by value.
"""

import math
from collections.abc import Collection, Iterator, Sequence
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    FloatAttr,
    IntAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import ParseError, VerifyException

from transom.dialects.diagnostics import OpError
from transom.dialects.parser import parse_attribute_text
from transom.dialects.target import DeviceOp, PlaceAttr, TargetAttr
from transom.testing.phases import reread

NONSENSE = "no such value"


def round_trip_problems(target: TargetAttr, ctx: Context) -> Iterator[str]:
    """What is wrong with the text of an attribute, alone and inside of others."""
    place = PlaceAttr.get("device", target, None)
    for attribute in (target, place):
        text = str(attribute)
        try:
            again = parse_attribute_text(ctx, text)
        except ParseError as e:
            yield f"'{text}' does not parse: {e.args[-1]}"
            return
        if again != attribute or hash(again) != hash(attribute):
            yield f"'{text}' parses to '{again}', which is not equal"
        elif str(again) != text:
            yield f"'{text}' is printed as '{again}' after it was parsed"
    device = DeviceOp("device", [target])
    try:
        reread(ModuleOp([device]), ctx)
    except (OpError, VerifyException) as e:
        yield f"the text of a device with '{target}': {e}"


def value_problems(target: TargetAttr, unverified: Collection[str]) -> Iterator[str]:
    """
    Parameters that take any value, and verifiers that raise what is no
    `VerifyException`. `unverified` names those that really may have any value.
    """
    keys = target.keys()
    for key in sorted(set(unverified) - set(keys)):
        yield f"parameter '{key}' is said to be unverified, but there is none"
    for key, value in keys.items():
        wrong = absurd_values(value)
        refused = False
        for candidate in wrong:
            try:
                target.with_keys({key: candidate})
            except VerifyException as e:
                refused = True
                if not str(e).strip():
                    yield f"parameter '{key}' refuses '{candidate}' without a reason"
            except Exception as e:  # plug-in boundary: verifiers of others
                refused = True
                yield (
                    f"parameter '{key}' with '{candidate}' raises "
                    f"{type(e).__name__}: {e}; expected a 'VerifyException'"
                )
        if wrong and not refused and key not in unverified:
            tried = ", ".join(f"'{candidate}'" for candidate in wrong)
            yield (
                f"parameter '{key}' takes any value, such as {tried}; verify it, or "
                f"say 'unverified=[\"{key}\"]'"
            )


def absurd_values(value: Attribute) -> Sequence[Attribute]:
    """Values of the kind of a parameter that hardly any parameter may have."""
    match value:
        case IntegerAttr():
            return tuple(
                IntegerAttr.new([IntAttr(number), value.type])
                for number in (-1, 0, _largest(value))
            )
        case IntAttr():
            return (IntAttr(-1), IntAttr(0), IntAttr(1 << 62))
        case FloatAttr():
            return tuple(FloatAttr(x, value.type) for x in (-1.0, math.inf, math.nan))
        case StringAttr():
            return (StringAttr(""), StringAttr(NONSENSE))
        case ArrayAttr():
            items = value.data
            inner = absurd_values(items[0]) if items else (StringAttr(NONSENSE),)
            return tuple(ArrayAttr([item]) for item in inner)
        case _:
            return ()


def _largest(value: IntegerAttr) -> int:
    """A number of the type of another that is far too large."""
    range = getattr(value.type, "value_range", None)
    if range is None:
        return 1 << 62
    _, end = cast("tuple[int, int]", range())
    return min(end, 1 << 63) - 1
