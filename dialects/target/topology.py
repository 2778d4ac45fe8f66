"""
The machine: devices, memories, and the links between memories.
"""

import math
from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    f64,
    i64,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Operation, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import (
    IRDLOperation,
    eq,
    irdl_attr_definition,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import SymbolOpInterface, SymbolUserOpInterface
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from transom.dialects.keyed_syntax import (
    KeyedSymbolOp,
    parse_keyed_properties,
    print_keyed_properties,
)
from transom.dialects.symbols import expect_symbol
from transom.dialects.target.places import TargetAttr

DEFAULT_ALIGNMENT = 64
"""Alignment in bytes of a memory that does not say its own."""

MAX_BYTES = 2**63 - 1


class Planner(StrEnum):
    """Who gives buffers of a memory their offsets."""

    SHARED = "shared"
    TARGET = "target"


@irdl_attr_definition
class PlannerAttr(EnumAttribute[Planner], SpacedOpaqueSyntaxAttribute):
    """
    Who plans a memory: the shared planner, or the target that owns it.
    """

    name = "target.planner"


class MemoriesAreDeclared(SymbolUserOpInterface):
    """The memories that an op of the topology names are declared."""

    def verify(self, op: Operation) -> None:
        if isinstance(op, DeviceOp):
            names = [ref.root_reference.data for ref in op.memory_refs]
        else:
            assert isinstance(op, LinkOp), "only devices and links name memories"
            names = [op.source_name, op.destination_name]
        for name in names:
            expect_symbol(op, name, MemoryOp, "memory")


@irdl_op_definition
class DeviceOp(KeyedSymbolOp):
    """
    A device: the targets that can compile for it in order of preference, and the
    memories that it can read and write, its default memory first. Memories that its
    targets bring are `brought`: it reaches them too, but none is its default. What is
    known of its speed serves the choice of places: `flops` per second, `bandwidth` in
    bytes per second, `launch` in seconds for each function that it is given.

    ```mlir
    target.memory @dram {alignment = 64}
    target.device @cpu {
      targets = [#llvm_cpu.target<cpu = "znver4">], memories = [@dram],
      flops = 1.0e+11, bandwidth = 2.0e+10
    }
    ```
    """

    name = "target.device"

    targets = prop_def(ArrayAttr[TargetAttr])
    memories = opt_prop_def(ArrayAttr[SymbolRefAttr])
    brought = opt_prop_def(ArrayAttr[SymbolRefAttr])
    flops = opt_prop_def(FloatAttr[Float64Type])
    bandwidth = opt_prop_def(FloatAttr[Float64Type])
    launch = opt_prop_def(FloatAttr[Float64Type])

    traits = traits_def(SymbolOpInterface(), MemoriesAreDeclared())

    def __init__(
        self, name: str, targets: Sequence[TargetAttr], memories: Sequence[str] = ()
    ) -> None:
        refs = ArrayAttr(SymbolRefAttr(memory) for memory in memories)
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "targets": ArrayAttr(targets),
                "memories": refs if memories else None,
            }
        )

    @property
    def listed_memory_refs(self) -> tuple[SymbolRefAttr, ...]:
        """The memories that the module lists, its default one first."""
        return () if self.memories is None else self.memories.data

    @property
    def memory_refs(self) -> tuple[SymbolRefAttr, ...]:
        """All memories that it reaches, those that its targets bring last."""
        brought = () if self.brought is None else self.brought.data
        return self.listed_memory_refs + brought

    @property
    def flops_per_second(self) -> float | None:
        """How fast it computes, if that is known."""
        return None if self.flops is None else self.flops.value.data

    @property
    def bytes_per_second(self) -> float | None:
        """How fast it reads and writes its memory, if that is known."""
        return None if self.bandwidth is None else self.bandwidth.value.data

    @property
    def launch_seconds(self) -> float:
        """What each function that it is given costs beside its work."""
        return 0.0 if self.launch is None else self.launch.value.data

    def supports(self, target: TargetAttr) -> bool:
        """Whether code for a target runs here: it equals or subsumes one of ours."""
        return any(target == t or target.subsumes(t) for t in self.targets.data)

    def verify_(self) -> None:
        if not self.targets.data:
            raise VerifyException(
                f"expected at least one target of device '@{self.sym_name.data}'"
            )
        _verify_distinct(self.targets.data, "target")
        _verify_distinct(self.memory_refs, "memory")
        for key, given in (("flops", self.flops), ("bandwidth", self.bandwidth)):
            speed = 1.0 if given is None else given.value.data
            if not (math.isfinite(speed) and speed > 0):
                raise VerifyException(f"expected {key} > 0, but got {speed}")
        if not (math.isfinite(self.launch_seconds) and self.launch_seconds >= 0):
            raise VerifyException(
                f"expected launch >= 0, but got {self.launch_seconds}"
            )


@irdl_op_definition
class MemoryOp(KeyedSymbolOp):
    """
    A memory: its size in bytes (absent: unbounded), the alignment in bytes of its start
    and of what is planned into it (absent: 64), and who plans it (absent: shared).

    ```mlir
    target.memory @sram {size = 65536, alignment = 16, planned_by = target}
    ```
    """

    name = "target.memory"

    size = opt_prop_def(IntegerAttr.constr(type=eq(i64)))
    alignment = opt_prop_def(IntegerAttr.constr(type=eq(i64)))
    planned_by = opt_prop_def(PlannerAttr)

    traits = traits_def(SymbolOpInterface())

    def __init__(
        self,
        name: str,
        size: int | None = None,
        alignment: int | None = None,
        planned_by: Planner | None = None,
    ) -> None:
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "size": None if size is None else IntegerAttr(size, i64),
                "alignment": None if alignment is None else IntegerAttr(alignment, i64),
                "planned_by": None if planned_by is None else PlannerAttr(planned_by),
            }
        )

    @property
    def size_bytes(self) -> int | None:
        """The size, or None if it is unbounded."""
        return None if self.size is None else self.size.value.data

    @property
    def alignment_bytes(self) -> int:
        """The alignment of the memory's start and of what is planned into it."""
        if self.alignment is None:
            return DEFAULT_ALIGNMENT
        return self.alignment.value.data

    @property
    def planner(self) -> Planner:
        """Who gives buffers their offsets."""
        return Planner.SHARED if self.planned_by is None else self.planned_by.data

    def verify_(self) -> None:
        size, alignment = self.size_bytes, self.alignment_bytes
        if size is not None and size <= 0:
            raise VerifyException(f"expected a size > 0, but got {size}")
        verify_alignment(alignment)


class IsOnlyLink(SymbolUserOpInterface):
    """The memories of a link are declared, and no other link joins them."""

    def verify(self, op: Operation) -> None:
        MemoriesAreDeclared().verify(op)
        assert isinstance(op, LinkOp), "only links have this trait"
        earlier = op.prev_op
        while earlier is not None:
            if isinstance(earlier, LinkOp) and earlier.ends == op.ends:
                raise VerifyException(
                    f"the link from '@{op.source_name}' to '@{op.destination_name}' "
                    "is declared twice"
                )
            earlier = earlier.prev_op


@irdl_op_definition
class LinkOp(IRDLOperation):
    """
    What it costs to copy from one memory to another: bandwidth in bytes per second, and
    latency in seconds (absent: none). Where no link is, no copy is possible.

    ```mlir
    target.memory @dram
    target.memory @sram {size = 65536}
    target.link @dram -> @sram {bandwidth = 1.0e+09, latency = 1.0e-07}
    ```
    """

    name = "target.link"

    source = prop_def(SymbolRefAttr)
    destination = prop_def(SymbolRefAttr)
    bandwidth = prop_def(FloatAttr[Float64Type])
    latency = opt_prop_def(FloatAttr[Float64Type])

    traits = traits_def(IsOnlyLink())

    def __init__(
        self,
        source: str,
        destination: str,
        bandwidth: float,
        latency: float | None = None,
    ) -> None:
        super().__init__(
            properties={
                "source": SymbolRefAttr(source),
                "destination": SymbolRefAttr(destination),
                "bandwidth": FloatAttr(bandwidth, f64),
                "latency": None if latency is None else FloatAttr(latency, f64),
            }
        )

    @property
    def source_name(self) -> str:
        """The symbol of the memory that is read."""
        return self.source.root_reference.data

    @property
    def destination_name(self) -> str:
        """The symbol of the memory that is written."""
        return self.destination.root_reference.data

    @property
    def ends(self) -> tuple[str, str]:
        """The memories, in the direction of the copy."""
        return (self.source_name, self.destination_name)

    def seconds(self, size: int) -> float:
        """The time to copy `size` bytes."""
        latency = 0.0 if self.latency is None else self.latency.value.data
        return latency + size / self.bandwidth.value.data

    def verify_(self) -> None:
        bandwidth = self.bandwidth.value.data
        if not (math.isfinite(bandwidth) and bandwidth > 0):
            raise VerifyException(f"expected a bandwidth > 0, but got {bandwidth}")
        latency = 0.0 if self.latency is None else self.latency.value.data
        if not (math.isfinite(latency) and latency >= 0):
            raise VerifyException(f"expected a latency >= 0, but got {latency}")
        if self.source == self.destination:
            raise VerifyException(
                f"expected a link between two memories, but got '{self.source}' twice"
            )

    @classmethod
    def parse(cls, parser: Parser) -> "LinkOp":
        start = parser.pos
        source = parser.parse_symbol_name()
        parser.parse_punctuation("->")
        destination = parser.parse_symbol_name()
        ends = ("source", "destination")
        properties, attributes = parse_keyed_properties(parser, cls, ends, start)
        properties["source"] = SymbolRefAttr(source)
        properties["destination"] = SymbolRefAttr(destination)
        return cls.create(properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.source)
        printer.print_string(" -> ")
        printer.print_attribute(self.destination)
        print_keyed_properties(printer, self, ("source", "destination"))


def verify_alignment(alignment: int) -> None:
    """Raise `VerifyException` unless an alignment in bytes is a power of two."""
    if alignment <= 0 or alignment & (alignment - 1):
        raise VerifyException(
            f"expected an alignment that is a power of two, but got {alignment}"
        )


def _verify_distinct(values: Iterable[Attribute], what: str) -> None:
    seen: set[Attribute] = set()
    for value in values:
        if value in seen:
            raise VerifyException(f"{what} '{value}' is listed twice")
        seen.add(value)
