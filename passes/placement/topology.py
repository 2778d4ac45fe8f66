"""
Which memories devices reach, and how bytes get from one memory to another.
"""

from collections.abc import Sequence
from heapq import heappop, heappush

from xdsl.dialects.builtin import ModuleOp

from transom.dialects.target import DeviceOp, LinkOp, PlaceAttr
from transom.dialects.target.places import memory_space_name


class Topology:
    """The devices, memories and links of a module."""

    def __init__(self, module: ModuleOp) -> None:
        self.devices: dict[str, DeviceOp] = {}
        self.links: dict[str, list[LinkOp]] = {}
        for op in module.ops:
            if isinstance(op, DeviceOp):
                self.devices[op.sym_name.data] = op
            elif isinstance(op, LinkOp):
                self.links.setdefault(op.source_name, []).append(op)

    def reached(self, device: str | None) -> frozenset[str]:
        """The memories that a device reads and writes."""
        found = self.devices.get(device or "")
        refs = () if found is None else found.memory_refs
        return frozenset(ref.root_reference.data for ref in refs)

    def place_in(self, memory: str, preferred: str | None) -> PlaceAttr:
        """A place in a memory: on a device that reaches it, the preferred one if so."""
        for name in (preferred, *self.devices):
            if name is not None and memory in self.reached(name):
                return PlaceAttr.get(name, None, memory)
        return PlaceAttr.get(None, None, memory)

    def path(self, source: str, destination: str, size: int) -> Sequence[str] | None:
        """
        The memories on the fastest way for some bytes, without the source; None if no
        links lead there. Ties are broken by fewer copies, then by names.
        """
        queue: list[tuple[float, int, tuple[str, ...]]] = [(0.0, 0, (source,))]
        done: set[str] = set()
        while queue:
            seconds, hops, way = heappop(queue)
            here = way[-1]
            if here == destination:
                return way[1:]
            if here in done:
                continue
            done.add(here)
            for link in self.links.get(here, ()):
                there = link.destination_name
                if there not in done:
                    cost = seconds + link.seconds(size)
                    heappush(queue, (cost, hops + 1, (*way, there)))
        return None


def memory_of(place: PlaceAttr | None) -> str | None:
    """The memory of a place, if it says one."""
    return None if place is None else memory_space_name(place)
