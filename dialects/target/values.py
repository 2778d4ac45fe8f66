"""
Checks of the values of target attributes, with the nearest legal value in the message.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.utils.exceptions import VerifyException

from transom.dialects.diagnostics import did_you_mean


@dataclass(frozen=True)
class Range:
    """
    The whole numbers that a parameter may have, for use in `verify` of an attribute.

    Both ends are included and legal. `step` counts from the lower end; with
    `power_of_two` the numbers are powers of two instead; `or_zero` adds 0.
    """

    lower: int
    upper: int
    step: int = 1
    power_of_two: bool = False
    or_zero: bool = False

    def __post_init__(self) -> None:
        assert self.lower <= self.upper, "a range is not empty"
        assert self._legal(self.lower) == self.lower, "the lower end is legal"
        assert self._legal(self.upper) == self.upper, "the upper end is legal"

    def nearest(self, value: int) -> int:
        """The legal number that differs least, the smaller of two."""
        below = self._legal(min(max(value, self.lower), self.upper))
        candidates = [below]
        above = 2 * below if self.power_of_two else below + self.step
        if above <= self.upper:
            candidates.append(above)
        if self.or_zero:
            candidates.insert(0, 0)
        return min(candidates, key=lambda candidate: abs(candidate - value))

    def verify(self, key: str, value: int) -> None:
        """Raise `VerifyException` unless the value of a key is legal."""
        nearest = self.nearest(value)
        if nearest != value:
            raise VerifyException(
                f"expected '{key}' to be {self}, but got {value}; "
                f"the nearest is {nearest}"
            )

    def _legal(self, value: int) -> int:
        """The greatest legal number up to one that lies between the ends."""
        if self.power_of_two:
            return 1 << (value.bit_length() - 1)
        return value - (value - self.lower) % self.step

    def __str__(self) -> str:
        kind = ""
        if self.power_of_two:
            kind = "a power of two "
        elif self.step != 1:
            multiple = self.lower % self.step == 0
            kind = f"a multiple of {self.step} " if multiple else ""
        zero = "0 or " if self.or_zero else ""
        steps = f" in steps of {self.step}" if self.step != 1 and not kind else ""
        return f"{zero}{kind}from {self.lower} to {self.upper}{steps}"


def verify_names(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    """
    Raise `VerifyException` unless each name is known and given once.

    The message offers the nearest name, or lists those that there are.
    """
    known = tuple(known)
    seen: set[str] = set()
    for name in names:
        if name not in known:
            raise VerifyException(f"unknown {what} '{name}'{did_you_mean(name, known)}")
        if name in seen:
            raise VerifyException(f"{what} '{name}' is listed twice")
        seen.add(name)
