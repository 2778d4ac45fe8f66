"""
The graph dialect: whole-array NumPy.

Every result is compared with its type, so that a size that an op cannot know before it
runs, such as that of two `?` that broadcast, is checked when it does.
"""

from typing import Any, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation

from transom.dialects.dtypes import numpy_dtype
from transom.interpreters.evaluators import Evaluator, Evaluators, Values
from transom.interpreters.graph_contraction import CONTRACTION
from transom.interpreters.graph_elementwise import ELEMENTWISE
from transom.interpreters.graph_movement import MOVEMENT
from transom.interpreters.graph_pooling import POOLING
from transom.interpreters.graph_reduction import REDUCTION
from transom.interpreters.graph_structure import STRUCTURE
from transom.interpreters.interpreter import Frame
from transom.interpreters.memref import check_static_sizes


def _checked(evaluate: Evaluator) -> Evaluator:
    """The evaluator, with its results compared with their types."""

    def checked(frame: Frame, op: Operation, args: Values) -> Values:
        values = evaluate(frame, op, args)
        for value, result in zip(values, op.results, strict=True):
            type = result.type
            if isinstance(type, TensorType):
                dtype = numpy_dtype(cast(Any, type).element_type)
                assert value.dtype == dtype, f"{op.name} computed {value.dtype}"
                check_static_sizes(value, type)
        return values

    return checked


_PARTS: tuple[Evaluators, ...] = (
    CONTRACTION,
    ELEMENTWISE,
    MOVEMENT,
    POOLING,
    REDUCTION,
    STRUCTURE,
)

GRAPH = Evaluators(
    {op: _checked(evaluate) for part in _PARTS for op, evaluate in part.items()}
)
