"""
The `target` dialect: where things run and where they are stored.

Target attributes say what can compile for a device; `target.device`, `target.memory`
and `target.link` declare the machine; places name a device, a target and a memory.
`target.config` on the module and `target.for` on a function are discardable attributes.
A place may name a device before it is declared.
"""

from xdsl.ir import Dialect

from transom.dialects.target.places import AnyOfAttr, PlaceAttr, TargetAttr

Target = Dialect("target", [], [AnyOfAttr, PlaceAttr])

__all__ = ["AnyOfAttr", "PlaceAttr", "Target", "TargetAttr"]
