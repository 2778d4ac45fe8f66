"""
Machines by name: their CPU, their system, and the caches that LLVM does not know of.
"""

from collections.abc import Mapping
from typing import NamedTuple

KIB = 1024
MIB = 1024 * KIB


class Preset(NamedTuple):
    """A machine; sizes are those next to one core, and behind it, in bytes."""

    cpu: str
    triple: str = ""
    """The system, where it is not the usual one of the architecture."""

    l1_bytes: int | None = None
    l2_bytes: int | None = None


_APPLE = "arm64-apple-macosx"
_HARD_FLOAT = "thumbv7em-none-eabihf"
_HELIUM = "thumbv8.1m.main-none-eabihf"

MACHINES: Mapping[str, Preset] = {
    "apple-m1": Preset("apple-m1", _APPLE, 128 * KIB, 12 * MIB),
    "apple-m2": Preset("apple-m2", _APPLE, 128 * KIB, 16 * MIB),
    "corstone-300": Preset("cortex-m55", _HELIUM, 32 * KIB, 0),
    "cortex-a53": Preset("cortex-a53"),
    "cortex-a55": Preset("cortex-a55"),
    "cortex-a72": Preset("cortex-a72"),
    "cortex-a76": Preset("cortex-a76", l1_bytes=64 * KIB),
    "graviton2": Preset("neoverse-n1", "", 64 * KIB, MIB),
    "graviton3": Preset("neoverse-v1", "", 64 * KIB, MIB),
    "graviton4": Preset("neoverse-v2", "", 64 * KIB, 2 * MIB),
    "raspberry-pi-3": Preset("cortex-a53", "", 32 * KIB, 512 * KIB),
    "raspberry-pi-4": Preset("cortex-a72", "", 32 * KIB, MIB),
    "raspberry-pi-5": Preset("cortex-a76", "", 64 * KIB, 512 * KIB),
    "stm32f4": Preset("cortex-m4", _HARD_FLOAT, 0, 0),
    "stm32h7": Preset("cortex-m7", _HARD_FLOAT, 16 * KIB, 0),
    "visionfive-2": Preset("sifive-u74", "", 32 * KIB, 2 * MIB),
    "x86-64-v2": Preset("x86-64-v2"),
    "x86-64-v3": Preset("x86-64-v3"),
    "x86-64-v4": Preset("x86-64-v4"),
}
"""Boards, instances of clouds, and levels and cores of their usual system."""
