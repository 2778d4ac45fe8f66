"""
CPUs and their features, as sets: what a CPU has, and which CPU is near.

The tables come from LLVM (`generate_cpus.py`); nothing here needs it.
"""

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

BASELINE_CPU_PREFIXES = ("generic", "x86-64")
"""CPUs that stand for a level of an architecture; features may be added to them."""

_VERSION = re.compile(r"(arm)?v\d")
"""Features that are versions of an architecture, such as `v8.1m.main`."""

TUNING = re.compile(
    r"(aggressive|all$|allow-|avoid|branch|call-saved|cheap|disable|dont-|enable-|"
    r"execute-only|exynos|expand-fp|false-deps|fast|fix-|fuse|harden|idiv|inline-asm|"
    r"lea-|loop-align|long-calls|lvi-|macrofusion|muxed|mve\dbeat|neon-fpmovs|neonfp|"
    r"no-|nonpipelined|outline|pad-|prefer|prof-|read-tp|reserve|ret-addr|retpoline|"
    r"sbb-|seses|slow|soft-float|splat|store-pair|strict-align|tagged|tuning|use-|"
    r"vldn-align|vmlx|vzeroupper|wide-stride|zcz|32bit$|\d\dbit-mode|thumb-mode|"
    r"big-endian|aapcs|atomics-32|armv|iwmmxt|xscale|noarm|thumb2)"
)
"""Names of features that change how code is made, not what it may use."""


@dataclass(frozen=True)
class Architecture:
    """
    An instruction set with its CPUs and features.

    `free` are features that every CPU takes: what the base CPU has, and what only
    tunes code. The other texts have a line for each name: what a feature implies, and
    what a CPU has, without what is implied.
    """

    name: str
    triple: str
    base: str
    free: str
    implies: str
    cpus: str

    @cached_property
    def free_features(self) -> frozenset[str]:
        """Features that may be switched on for any CPU."""
        return frozenset(self.free.split())

    @cached_property
    def implied(self) -> Mapping[str, frozenset[str]]:
        """Each other feature with all that it implies, itself included."""
        direct = _parse(self.implies)
        return {name: _closure((name,), direct) for name in direct}

    @cached_property
    def cpu_features(self) -> Mapping[str, frozenset[str]]:
        """Each CPU with all features that it has and not every CPU takes."""
        return {
            cpu: _closure(tops, self.implied) for cpu, tops in _parse(self.cpus).items()
        }

    def knows_feature(self, name: str) -> bool:
        """Whether LLVM has such a feature."""
        return name in self.implied or name in self.free_features

    def feature_names(self) -> tuple[str, ...]:
        """All features, in the order of their names."""
        return tuple(sorted({*self.implied, *self.free_features}))

    def features(self, cpu: str, changes: Iterable[str]) -> frozenset[str]:
        """
        What code for a CPU may use, after changes such as `+avx2`, `-avx512f` in order.

        A feature brings what it implies, and takes with it what implies it. Those that
        every CPU takes are left out.
        """
        found = set(self.cpu_features[cpu])
        for change in changes:
            sign, name = change[0], change[1:]
            if sign == "+":
                found |= self.implied.get(name, frozenset())
            else:
                found -= {f for f, implied in self.implied.items() if name in implied}
        return frozenset(found)

    def given_up(self, changes: Iterable[str]) -> frozenset[str]:
        """
        What every CPU has and is switched off by changes, but what only tunes code.
        """
        off = {change[1:] for change in changes if change.startswith("-")}
        return frozenset(
            name for name in off & self.free_features if not TUNING.match(name)
        )

    def lacking(self, cpu: str, feature: str) -> frozenset[str]:
        """
        What keeps a feature from being switched on for a CPU; empty if nothing does.

        An x86 CPU has what it has. The other architectures sell cores with optional
        parts, but a part needs the version of the architecture that it came with.
        """
        if cpu.startswith(BASELINE_CPU_PREFIXES):
            return frozenset()
        lacking = self.implied.get(feature, frozenset()) - self.cpu_features[cpu]
        if self.name == "x86_64":
            return lacking
        return frozenset(filter(_VERSION.match, lacking))

    def nearest_cpu(self, cpu: str, feature: str) -> str | None:
        """The CPU that has a feature too, and lacks and adds least otherwise."""
        mine = self.cpu_features[cpu]
        having = [
            (len(mine - features), len(features - mine), -_likeness(cpu, name), name)
            for name, features in self.cpu_features.items()
            if feature in features
        ]
        return min(having)[-1] if having else None


def _likeness(name: str, other: str) -> float:
    return difflib.SequenceMatcher(None, name, other).ratio()


def _parse(text: str) -> Mapping[str, tuple[str, ...]]:
    lines = (line.partition(":") for line in text.splitlines())
    return {name: tuple(words.split()) for name, _, words in lines}


def _closure(
    names: Iterable[str], implied: Mapping[str, Iterable[str]]
) -> frozenset[str]:
    found: set[str] = set()
    unseen = list(names)
    while unseen:
        name = unseen.pop()
        if name not in found:
            found.add(name)
            unseen.extend(implied.get(name, ()))
    return frozenset(found)


@lru_cache(maxsize=1)
def architectures() -> Mapping[str, Architecture]:
    """All architectures by name, the most common ones first; loaded on first use."""
    from transom.targets.llvm_cpu.cpus import ARCHITECTURES

    return ARCHITECTURES


_SPELLINGS: Mapping[str, str] = {"amd64": "x86_64", "arm64": "aarch64"}


def architecture_of_triple(triple: str) -> Architecture | None:
    """The architecture that the first part of a triple names, or None."""
    first = triple.partition("-")[0]
    name = _SPELLINGS.get(first, first)
    if name.startswith(("arm", "thumb")):
        name = "arm"
    return architectures().get(name)


def architecture_of_cpu(cpu: str) -> Architecture | None:
    """The first architecture, of the most common ones, that has a CPU; or None."""
    known = architectures().values()
    return next((arch for arch in known if cpu in arch.cpu_features), None)
