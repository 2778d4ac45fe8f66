"""
What the tests of the `graph` dialect share.
"""

from collections.abc import Callable, Sequence

from xdsl.context import Context
from xdsl.dialects import arith, builtin, func, scf, tensor, test
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser
from xdsl.utils.test_value import create_ssa_value

from transom.dialects import graph, target

Maker = Callable[[list[SSAValue]], graph.GraphOp]
"""An op on values."""

DIALECTS = (
    arith.Arith,
    builtin.Builtin,
    func.Func,
    graph.Graph,
    scf.Scf,
    target.Target,
    tensor.Tensor,
    test.Test,
)


def context() -> Context:
    """A context with the dialects that graph modules use."""
    ctx = Context()
    for dialect in DIALECTS:
        ctx.load_dialect(dialect)
    return ctx


def parse(text: str) -> ModuleOp:
    """The module of a text, which verifies."""
    module = Parser(context(), text).parse_module()
    module.verify()
    return module


def value(*shape: int | str | graph.Symbol | None, type: Attribute = f32) -> SSAValue:
    """A value of a tensor type."""
    return create_ssa_value(graph.tensor(shape, type))


def shape_of(op: graph.GraphOp, result: int = 0) -> tuple[int, ...]:
    """The shape of a result; -1 for a size that is not known."""
    type = op.results[result].type
    assert isinstance(type, TensorType)
    return tuple(-1 if n == graph.DYNAMIC else n for n in type.get_shape())


def sizes_of(
    op: graph.GraphOp, shapes: Sequence[Sequence[int]], result: int = 0
) -> tuple[int, ...]:
    """The shape of a result of an op on unknown sizes, given those of the operands."""
    return tuple(
        graph.evaluate(dim, lambda operand, axis: shapes[operand][axis])
        for dim in op.result_dims()[result]
    )


def check_sizes(
    make: Maker,
    shapes: Sequence[Sequence[int]],
    expected: Sequence[int],
    known: Sequence[Sequence[bool]] | None = None,
    *,
    result: int = 0,
    type: Attribute = f32,
) -> None:
    """
    Check the shape of an op on values of these shapes, with static types and with the
    sizes unknown that `known` does not say are static.
    """
    static = make([value(*shape, type=type) for shape in shapes])
    static.verify()
    assert shape_of(static, result) == tuple(expected)
    if known is None:
        known = [[False] * len(shape) for shape in shapes]
    partly = [
        [size if is_known else None for size, is_known in zip(*pair, strict=True)]
        for pair in zip(shapes, known, strict=True)
    ]
    dynamic = make([value(*shape, type=type) for shape in partly])
    dynamic.verify()
    assert sizes_of(dynamic, shapes, result) == tuple(expected)
    for size, exact in zip(shape_of(dynamic, result), expected, strict=True):
        assert size in (-1, exact)
