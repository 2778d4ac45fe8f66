"""
Reorder the kernel calls of main so that less memory lives at once.

Any order that keeps operands before their users is right: calls on values change
nothing else. Blocks of a few calls are ordered in the best way, by dynamic programming
over the sets of calls that are done. Larger ones take the best of two list schedules:
forward, of the calls that are ready the one that leaves least alive; and backward,
where what a call needs moves as close to it as can be. The order stays unless a better
one is found.

```mlir
%w = tir.call @fill() …                 %a = tir.call @conv(%x : …) …
%a = tir.call @conv(%x : …) …    ==>    %w = tir.call @fill() …
%b = tir.call @mul(%a, %w : …) …        %b = tir.call @mul(%a, %w : …) …
```

What has regions or effects, or is no call, copy, view or arithmetic, stays where it is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from transom.dialects import graph, tir
from transom.dialects.executor import element_bytes
from transom.passes.function_pass import FunctionPass
from transom.passes.memory.flow_graph import bits
from transom.passes.memory.sizes import shaped_type
from transom.passes.statistics import Statistic

REORDERED = Statistic("reordered-blocks", "blocks whose calls have another order")

MAX_EXACT = 12
"""Calls of a block for which all orders are looked at."""

VIEWS = (
    tensor.CastOp,
    tensor.CollapseShapeOp,
    tensor.ExpandShapeOp,
    tensor.ExtractSliceOp,
    tensor.InsertSliceOp,
    tensor.ReshapeOp,
)


MOVED = (
    *VIEWS,
    tensor.EmptyOp,
    tensor.DimOp,
    graph.CopyOp,
    graph.WeightRefOp,
    graph.ConstantOp,
)
"""Ops beside calls and arithmetic that change nothing."""


@dataclass(frozen=True)
class TirReorderForMemoryPass(FunctionPass):
    name = "tir-reorder-for-memory"
    statistics: ClassVar[tuple[Statistic, ...]] = (REORDERED,)

    def apply_to(self, ctx: Context, func: FuncOp) -> None:
        for block in func.body.blocks:
            for run in _runs(block):
                _Run(run).reorder()


def _runs(block: Block) -> list[list[Operation]]:
    """Ops one after the other that may change places."""
    runs: list[list[Operation]] = [[]]
    for op in block.ops:
        if _may_move(op):
            runs[-1].append(op)
        else:
            runs.append([])
    return [run for run in runs if sum(map(_is_call, run)) > 1]


def _may_move(op: Operation) -> bool:
    if isinstance(op, tir.CallOp):
        given = (*op.ins, *op.outs, *op.scratch)
        return len(op.results) == len(op.outs) and all(
            not isinstance(v.type, MemRefType) for v in given
        )
    return not op.regions and (isinstance(op, MOVED) or op.name.startswith("arith."))


def _is_call(op: Operation) -> bool:
    return isinstance(op, tir.CallOp | graph.CopyOp)


@dataclass
class _Run:
    """A run of ops; calls are numbered in their order."""

    ops: Sequence[Operation]
    calls: list[Operation] = field(init=False)
    sizes: list[int] = field(default_factory=list[int], init=False)
    """Bytes of each storage that calls make."""
    makes: list[int] = field(init=False)
    """For each call the storages that it writes, as a bit set."""
    uses: list[int] = field(init=False)
    """For each call the storages that it reads."""
    needs: list[int] = field(init=False)
    """For each call those that have to come before it."""
    kept: int = 0
    """Storages that are read behind the run."""

    def __post_init__(self) -> None:
        self.calls = [op for op in self.ops if _is_call(op)]
        number = {op: n for n, op in enumerate(self.calls)}
        self._members = set(self.ops)
        self._storage: dict[SSAValue, int] = {}
        self._parents: list[int] = []
        self._assign()
        self.makes = [self._storages(op.results) for op in self.calls]
        self.uses = [self._storages(self._read(op)) for op in self.calls]
        self.needs = [self._needed(op, number) for op in self.calls]
        for op in self.ops:
            for result in op.results:
                outside = [u for u in result.uses if u.operation not in self._members]
                if outside:
                    self.kept |= self._storages([result])
                if any(isinstance(u.operation, ReturnOp) for u in outside):
                    for storage in bits(self._storages([result])):
                        self.sizes[storage] = 0  # the caller has it

    # Storages

    def _assign(self) -> None:
        """A storage for each result of a call; views and parts are in another's."""
        for op in self.ops:
            for result in op.results:
                if not isinstance(result.type, TensorType):
                    continue
                if _is_call(op) or isinstance(op, tensor.EmptyOp):
                    self._storage[result] = len(self.sizes)
                    self._parents.append(len(self.sizes))
                    self.sizes.append(_bytes(result))
                elif isinstance(op, VIEWS):
                    tensors = [o for o in op.operands[:2] if o in self._storage]
                    if tensors:
                        self._storage[result] = self._storage[tensors[-1]]
                    if isinstance(op, tensor.InsertSliceOp) and len(tensors) == 2:
                        self._join(*(self._storage[t] for t in tensors))

    def _find(self, storage: int) -> int:
        while self._parents[storage] != storage:
            storage = self._parents[storage]
        return storage

    def _join(self, part: int, whole: int) -> None:
        part, whole = self._find(part), self._find(whole)
        if part != whole:
            self._parents[part] = whole
            self.sizes[whole] = max(self.sizes[whole], self.sizes[part])

    def _storages(self, values: Sequence[SSAValue]) -> int:
        mask = 0
        for value in values:
            if value in self._storage:
                mask |= 1 << self._find(self._storage[value])
        return mask

    def _read(self, op: Operation) -> Sequence[SSAValue]:
        """What an op reads; an output without content is not read."""
        return [o for o in op.operands if not isinstance(o.owner, tensor.EmptyOp)]

    def _needed(self, op: Operation, number: dict[Operation, int]) -> int:
        mask, work, seen = 0, list(op.operands), set[SSAValue]()
        while work:
            value = work.pop()
            owner = value.owner
            if value in seen or not isinstance(owner, Operation):
                continue
            seen.add(value)
            if owner in number:
                mask |= 1 << number[owner]
            elif owner in self._members:
                work += owner.operands
        return mask

    # Orders

    def reorder(self) -> None:
        """Put the ops into a better order, if one is found."""
        original = list(range(len(self.calls)))
        best = min(self._orders(original), key=self._peak)
        if self._peak(best) >= self._peak(original):
            return
        REORDERED.add()
        block, after = self.ops[0].parent, self.ops[-1].next_op
        assert block is not None and after is not None, "blocks have terminators"
        placed: set[Operation] = set()

        def place(op: Operation) -> None:
            if op in placed:
                return
            placed.add(op)
            for operand in op.operands:
                if isinstance(operand.owner, Operation) and operand.owner in members:
                    place(operand.owner)
            op.detach()
            block.insert_op_before(op, after)

        members = self._members
        for call in best:
            place(self.calls[call])
        for op in self.ops:
            place(op)

    def _orders(self, original: list[int]) -> list[list[int]]:
        if len(original) <= MAX_EXACT:
            return [original, self._best_order()]
        return [original, self._forward(), self._backward()]

    def _live(self, done: int) -> int:
        """The storages that hold something needed, when some calls are done."""
        made, wanted = 0, self.kept
        for call in range(len(self.calls)):
            if done >> call & 1:
                made |= self.makes[call]
            else:
                wanted |= self.uses[call]
        return made & wanted

    def _bytes_in(self, storages: int) -> int:
        return sum(self.sizes[storage] for storage in bits(storages))

    def _during(self, done: int, call: int) -> int:
        """The bytes that live while a call runs after others."""
        return self._bytes_in(self._live(done) | self.makes[call] | self.uses[call])

    def _peak(self, order: Sequence[int]) -> int:
        done, peak = 0, 0
        for call in order:
            peak = max(peak, self._during(done, call))
            done |= 1 << call
        return peak

    def _best_order(self) -> list[int]:
        """The least peak of all orders, by the sets of calls that are done."""
        best: dict[int, tuple[int, list[int]]] = {0: (0, [])}
        for _ in self.calls:
            following: dict[int, tuple[int, list[int]]] = {}
            for done, (peak, order) in best.items():
                for call in range(len(self.calls)):
                    if done >> call & 1 or self.needs[call] & ~done:
                        continue
                    entry = (max(peak, self._during(done, call)), [*order, call])
                    key = done | 1 << call
                    if key not in following or entry < following[key]:
                        following[key] = entry
            best = following
        ((_, order),) = best.values()
        return order

    def _forward(self) -> list[int]:
        return self._listed(
            lambda done, call: not self.needs[call] & ~done,
            lambda done, call: self._bytes_in(self._live(done | 1 << call)),
        )

    def _backward(self) -> list[int]:
        everything = (1 << len(self.calls)) - 1
        users = [0] * len(self.calls)
        for call, needs in enumerate(self.needs):
            for need in bits(needs):
                users[need] |= 1 << call
        order = self._listed(
            lambda left, call: not users[call] & ~left,
            lambda left, call: self._bytes_in(
                self._live(everything & ~left & ~(1 << call))
            ),
            last_first=True,
        )
        return order[::-1]

    def _listed(
        self,
        is_ready: Callable[[int, int], bool],
        cost: Callable[[int, int], int],
        last_first: bool = False,
    ) -> list[int]:
        """Of what is ready the cheapest, ties in the order that there is."""
        order: list[int] = []
        done = 0
        for _ in self.calls:
            ready = [
                call
                for call in range(len(self.calls))
                if not done >> call & 1 and is_ready(done, call)
            ]
            picked = min(
                ready, key=lambda c, d=done: (cost(d, c), -c if last_first else c)
            )
            order.append(picked)
            done |= 1 << picked
        return order


def _bytes(value: SSAValue) -> int:
    """The bytes of a tensor; sizes that are open count as one."""
    type = shaped_type(value)
    assert type is not None, "only tensors have storage"
    count = element_bytes(type.element_type) or 1
    for size in type.get_shape():
        count *= 1 if size == DYNAMIC_INDEX else size
    return count
