"""
The pass graph-infer-types, against the types that ops have when they are built on what
is known from the start.
"""

from collections.abc import Callable
from pathlib import Path

from graph_cases import context, parse
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import FunctionType, ModuleOp, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from transom.dialects import graph
from transom.dialects.graph.desc import AnyTensor
from transom.dialects.parser import parse_ir
from transom.passes.graph_infer_types import GraphInferTypesPass

CASES = Path(__file__).parents[1] / "filecheck/passes/graph-infer-types.mlir"

Step = Callable[[list[SSAValue]], graph.GraphOp]


def infer(module: ModuleOp) -> ModuleOp:
    GraphInferTypesPass().apply(context(), module)
    module.verify()
    check_uses(module)
    return module


def check_uses(module: ModuleOp) -> None:
    """Check that every use of a value is by an op of the module."""
    ops = set(module.walk())
    for op in ops:
        arguments = [a for r in op.regions for b in r.blocks for a in b.args]
        for value in (*op.results, *arguments):
            assert all(use.operation in ops for use in value.uses)


# Ops on 2-D tensors: each takes some of the values so far, by number.


def pick(values: list[SSAValue], number: int) -> SSAValue:
    return values[number % len(values)]


def reshape(number: int) -> Step:
    return lambda v: graph.ReshapeOp(pick(v, number), [graph.InputDim(1), -1])


def pad(number: int) -> Step:
    return lambda v: graph.PadOp(pick(v, number), (0, 1), (2, 0))


def concat(number: int) -> Step:
    return lambda v: graph.ConcatOp([pick(v, number)] * 2, number % 2)


def transpose(number: int) -> Step:
    return lambda v: graph.TransposeOp(pick(v, number))


def reduce(number: int) -> Step:
    return lambda v: graph.ReduceOp("max", pick(v, number), [number % 2], keepdims=True)


def matmul(number: int) -> Step:
    return lambda v: graph.MatmulOp(graph_of(pick(v, number)), pick(v, number))


def graph_of(value: SSAValue) -> graph.GraphOp:
    """The transpose of a value, next to it."""
    op = graph.TransposeOp(value)
    block = value.owner if isinstance(value.owner, Block) else value.owner.parent
    assert block is not None
    block.add_op(op)
    return op


def relu(number: int) -> Step:
    return lambda v: graph.ReluOp(pick(v, number))


def double(number: int) -> Step:
    return lambda v: graph.AddOp(pick(v, number), pick(v, number))


STEPS = (concat, double, matmul, pad, reduce, relu, reshape, transpose)


def program(argument: AnyTensor, steps: list[Step]) -> ModuleOp:
    """A function of straight-line code that returns the last value."""
    block = Block(arg_types=[argument])
    values: list[SSAValue] = [block.args[0]]
    for step in steps:
        op = step(values)
        block.add_op(op)
        values.append(op.results[0])
    block.add_op(ReturnOp(values[-1]))
    type = FunctionType.from_lists([argument], [values[-1].type])
    return ModuleOp([FuncOp("main", type, Region(block))])


def types_of(module: ModuleOp) -> list[str]:
    return [str(type) for op in module.walk() for type in op.result_types]


@given(
    st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 9)), max_size=8),
    st.tuples(st.integers(1, 4), st.integers(1, 4)),
    st.sampled_from([(None, None), ("N", None), ("N", "M"), ("N", "N")]),
)
def test_types_are_those_of_ops_on_the_known_sizes(
    drawn: list[tuple[Callable[[int], Step], int]],
    sizes: tuple[int, int],
    names: tuple[str | None, str | None],
):
    if names == ("N", "N"):
        sizes = (sizes[0], sizes[0])
    steps = [step(number) for step, number in drawn]
    known = graph.tensor(sizes, f32)
    module = program(graph.tensor(names, f32), steps)
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    refine_argument(function, known)
    infer(module)
    assert types_of(module) == types_of(program(known, steps))
    assert function.function_type.inputs.data == (known,)


def refine_argument(function: FuncOp, type: AnyTensor) -> None:
    """Give the only argument a more precise type, as `--dim` does."""
    from xdsl.rewriter import Rewriter

    Rewriter.replace_value_with_new_type(function.args[0], type)
    outputs = function.function_type.outputs.data
    function.function_type = FunctionType.from_lists([type], outputs)


def test_a_second_run_changes_nothing():
    module = parse_ir(context(), CASES.read_text(), str(CASES))
    text = str(infer(module))
    assert str(infer(module)) == text


def test_loops_in_loops():
    module = infer(
        parse("""
          func.func @main(%n: index, %x: tensor<4x4xf32>) -> tensor<?x?xf32> {
            %zero = arith.constant 0 : index
            %a = graph.relu %x : tensor<4x4xf32> -> tensor<?x?xf32>
            %r = scf.for %i = %zero to %n step %n iter_args(%p = %a) -> (tensor<?x?xf32>) {
              %s = scf.for %j = %zero to %n step %n iter_args(%q = %p) -> (tensor<?x?xf32>) {
                %c = graph.concat %q, %q axis 1 : tensor<?x?xf32>, tensor<?x?xf32> -> tensor<?x?xf32>
                scf.yield %c : tensor<?x?xf32>
              }
              scf.yield %s : tensor<?x?xf32>
            }
            func.return %r : tensor<?x?xf32>
          }
        """)  # noqa: E501
    )
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    assert function.function_type.outputs.data == (graph.tensor((4, None), f32),)


def test_recursion_ends():
    module = infer(
        parse("""
          func.func private @f(%x: tensor<4xf32>) -> tensor<?xf32> {
            %a = graph.relu %x : tensor<4xf32> -> tensor<?xf32>
            %b = tensor.cast %a : tensor<?xf32> to tensor<4xf32>
            %c = func.call @f(%b) : (tensor<4xf32>) -> tensor<?xf32>
            %d = graph.add %c, %b : tensor<?xf32>, tensor<4xf32> -> tensor<?xf32>
            func.return %d : tensor<?xf32>
          }
        """)
    )
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    assert function.function_type.outputs.data == (graph.tensor((4,), f32),)


def test_locations_of_casts():
    module = parse_ir(
        context(),
        """func.func @f(%x: tensor<4xf32>) {
             %a = graph.relu %x : tensor<4xf32> -> tensor<?xf32>
             "test.op"(%a) : (tensor<?xf32>) -> ()
             func.return
           }""",
        "m.mlir",
    )
    infer(module)
    found = {op.name: op for op in module.walk()}
    assert found["tensor.cast"].location == found["test.op"].location


def test_every_op_is_walked():
    operations: list[type[Operation]] = [*graph.Graph.operations]
    assert all(
        issubclass(op, graph.GraphOp | graph.GroupOp | graph.YieldOp | graph.WeightOp)
        for op in operations
    )
