"""
`linalg`: structured ops, point by point of their reductions.

The parallel loops are axes of arrays, the reductions Python loops in lexicographic
order, so that a body may be any function of what the outputs hold.
"""

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import ShapedType

from transom.dialects import linalg
from transom.dialects.diagnostics import OpError
from transom.interpreters.evaluators import Array, Evaluators, Value, Values
from transom.interpreters.interpreter import Frame
from transom.interpreters.nest_accesses import Access, Variables, picked

LINALG = Evaluators()


@LINALG.of(linalg.IndexOp)
def index(frame: Frame, op: linalg.IndexOp, args: Values) -> Values:
    return (frame.indices[op.dim.value.data],)


@LINALG.of(linalg.LinalgStructuredOperation)
def structured(
    frame: Frame, op: linalg.LinalgStructuredOperation, args: Values
) -> Values:
    structure = frame.interpreter.constant(op, lambda: linalg.structure_of(op))
    assert structure is not None, "the class has one"
    count = len(structure.inputs)
    outputs = [
        output.copy() if structure.on_tensors else output for output in args[count:]
    ]
    _Run(frame, structure, args[:count], outputs).run()
    return tuple(outputs) if structure.on_tensors else ()


class _Run:
    """One execution of a structured op."""

    def __init__(
        self,
        frame: Frame,
        structure: linalg.Structure,
        inputs: Sequence[Value],
        outputs: Sequence[Array],
    ) -> None:
        self.frame = frame
        self.structure = structure
        self.inputs = inputs
        self.outputs = outputs
        self.extents = self._extents()
        self.variables = Variables(self.extents, ())
        self.parallel = structure.loops(linalg.PARALLEL)
        self.reduction = structure.loops(linalg.REDUCTION)
        self.points = tuple(self.extents[loop] for loop in self.parallel)
        if len(self.parallel) + len(self.reduction) < structure.rank:
            raise OpError(structure.op, "expected parallel and reduction loops")
        for map in structure.out_maps:
            if map.used_dims() != set(self.parallel):
                raise OpError(
                    structure.op,
                    "expected all parallel loops and no others in the maps of outputs, "
                    f"but got '{map}'",
                )

    def _extents(self) -> tuple[int, ...]:
        """The size of each loop, the same for all that it runs along."""
        structure = self.structure
        arrays = (*self.inputs, *self.outputs)
        sizes: dict[int, int] = {}
        for loop, operand, axis in structure.extents():
            size = int(np.shape(arrays[operand])[axis])
            if sizes.setdefault(loop, size) != size:
                raise ValueError(
                    f"expected loop {loop} to be of size {sizes[loop]} for operand "
                    f"{operand} too, but got {size}"
                )
        return tuple(sizes[loop] for loop in range(structure.rank))

    def run(self) -> None:
        """Execute the op; the outputs are written."""
        if 0 in self.points:
            return
        structure = self.structure
        self.frame.interpreter.check_size(structure.op, self.points)
        region = structure.body.parent
        assert region is not None, "bodies are in regions"
        ins = [
            _Elements(self, value, number)
            if isinstance(structure.inputs[number].type, ShapedType)
            else value
            for number, value in enumerate(self.inputs)
        ]
        outs = [
            _Elements(self, array, len(ins) + number)
            for number, array in enumerate(self.outputs)
        ]
        outer = self.frame.indices
        held = [out.read(self._indices({}), {}) for out in outs]
        for point in itertools.product(
            *(range(self.extents[r]) for r in self.reduction)
        ):
            at = dict(zip(self.reduction, point, strict=True))
            indices = self.frame.indices = self._indices(at)
            seen = [
                read.read(indices, at) if isinstance(read, _Elements) else read
                for read in ins
            ]
            arguments = (*seen, *held)[: len(structure.body.args)]
            left = self.frame.region(region, arguments).values
            # Not views of outputs, which are written while others are still read.
            held = [value.copy() if np.ndim(value) else value for value in left]
        self.frame.indices = outer
        for out, value in zip(outs, held, strict=True):
            out.write(self._indices({}), value)

    def _indices(self, at: Mapping[int, int]) -> list[Value]:
        """The value of each loop: a number, or one along an axis."""
        indices: list[Value] = [
            np.int64(at.get(i, 0)) for i in range(len(self.extents))
        ]
        for place, loop in enumerate(self.parallel):
            behind = (1,) * (len(self.parallel) - place - 1)
            indices[loop] = np.arange(self.extents[loop]).reshape(-1, *behind)
        return indices


class _Elements:
    """The elements of an operand."""

    def __init__(self, run: _Run, array: Array, number: int) -> None:
        self.access = Access(array, run.structure.maps[number].results, run.variables)
        self.loops, self.points = run.reduction, run.points
        self.view: Array | None = None
        if 0 not in run.extents:
            self.view = self.access.strided((*run.reduction, *run.parallel))

    def read(self, indices: Sequence[Value], at: Mapping[int, int]) -> Value:
        """What the body sees; each parallel loop is an axis."""
        if self.view is None:
            return self.access.gathered(indices)
        return picked(self.view, [at.get(loop, 0) for loop in self.loops])[()]

    def write(self, indices: Sequence[Value], value: Value) -> None:
        """Write an element for each point of the parallel loops."""
        places = self.access.indices(indices)
        at = tuple(np.broadcast_to(place, self.points) for place in places)
        self.access.array[at] = np.broadcast_to(value, self.points if at else ())
