"""
Reduction of modules: each strategy by itself, and all together on planted bugs.
"""

from collections.abc import Callable
from pathlib import Path
from random import Random
from time import perf_counter

import pytest
from xdsl.dialects.builtin import ModuleOp

from transom.dialects import graph
from transom.dialects.diagnostics import OpError
from transom.dialects.parser import parse_ir
from transom.dialects.verifier import verify_module
from transom.driver import load, lower
from transom.registry import new_context
from transom.tools.ir_printing import ir_text
from transom.tools.reduction import NotInteresting, Reducer, reduce_module
from transom.tools.reduction.attributes import (
    drop_attributes,
    drop_locations,
    drop_names,
    simplify_attributes,
)
from transom.tools.reduction.blocks import (
    drop_blocks,
    merge_blocks,
    return_early,
    take_one_branch,
)
from transom.tools.reduction.edits import ARGUMENTS, VALUES, Strategy
from transom.tools.reduction.functions import (
    drop_arguments,
    drop_bodies,
    drop_results,
)
from transom.tools.reduction.operands import drop_carried, drop_operands, unify_operands
from transom.tools.reduction.ops import delete_ops, delete_symbols
from transom.tools.reduction.regions import empty_regions, inline_regions
from transom.tools.reduction.types import drop_encodings, shrink_dims

MODELS = Path(__file__).parent.parent / "models"


def parse(text: str) -> ModuleOp:
    return parse_ir(new_context(allow_unregistered=True), text)


def body_of(module: ModuleOp) -> str:
    """The text within the module, with one space for each gap."""
    lines = ir_text(module).split("\n")[1:-1]
    return "\n".join(line.removeprefix("  ") for line in lines)


def has(*words: str) -> Callable[[ModuleOp], bool]:
    """The text of a module has all of the words."""

    def check(module: ModuleOp) -> bool:
        text = ir_text(module, debuginfo=True)
        return all(word in text for word in words)

    return check


def reduced(text: str, strategy: Strategy, *words: str) -> str:
    reducer = Reducer(parse(text), has(*words), strategies=(strategy,))
    return body_of(reducer.run())


CASES: list[tuple[Strategy, str, tuple[str, ...], str]] = [
    (
        delete_symbols,
        "func.func private @f()\nfunc.func private @g()\nfunc.func private @h()",
        ("@g",),
        "func.func private @g() -> ()",
    ),
    (
        drop_bodies,
        "func.func @f() { func.return }\nfunc.func @g() { func.return }",
        ("@f", "@g() {"),
        "func.func private @f() -> ()\nfunc.func @g() {\n  func.return\n}",
    ),
    (  # by an operand of the type
        delete_ops(VALUES),
        "func.func @f(%a: f32, %b: i1) -> f32 { %x = arith.negf %a : f32 "
        "%y = arith.addf %x, %a : f32 func.return %y : f32 }",
        ("addf",),
        "func.func @f(%a: f32, %b: i1) -> f32 {\n"
        "  %y = arith.addf %a, %a : f32\n  func.return %y : f32\n}",
    ),
    (  # by a constant
        delete_ops(VALUES),
        'func.func @f() { %x = "test.op"() : () -> index '
        '%t = "test.op"() : () -> tensor<2xi8> '
        '"test.keep"(%x, %t) : (index, tensor<2xi8>) -> () func.return }',
        ("keep",),
        "func.func @f() {\n  %x = arith.constant 0 : index\n"
        "  %t = arith.constant dense<0> : tensor<2xi8>\n"
        '  "test.keep"(%x, %t) : (index, tensor<2xi8>) -> ()\n  func.return\n}',
    ),
    (  # by a new argument, as there is no constant of the type
        delete_ops(VALUES),
        'func.func @f() { %x = "test.op"() : () -> memref<2xf32> '
        '"test.keep"(%x) : (memref<2xf32>) -> () func.return }',
        ("keep",),
        "func.func @f(%x: memref<2xf32>) {\n"
        '  "test.keep"(%x) : (memref<2xf32>) -> ()\n  func.return\n}',
    ),
    (  # by poison, as the function is called
        delete_ops(VALUES),
        'func.func @f() { %x = "test.op"() : () -> memref<2xf32> '
        '"test.keep"(%x) : (memref<2xf32>) -> () func.call @f() : () -> () '
        "func.return }",
        ("keep", "call"),
        "func.func @f() {\n  %x = ub.poison : memref<2xf32>\n"
        '  "test.keep"(%x) : (memref<2xf32>) -> ()\n'
        "  func.call @f() : () -> ()\n  func.return\n}",
    ),
    (
        delete_ops(ARGUMENTS),
        "func.func @f(%a: f32) { %x = arith.negf %a : f32 "
        '"test.keep"(%x) : (f32) -> () func.return }',
        ("keep", "%x"),
        "func.func @f(%a: f32, %x: f32) {\n"
        '  "test.keep"(%x) : (f32) -> ()\n  func.return\n}',
    ),
    (
        inline_regions,
        "func.func @f(%l: index, %a: f32) -> f32 { "
        "%r = scf.for %i = %l to %l step %l iter_args(%v = %a) -> (f32) { "
        '"test.keep"(%i, %v) : (index, f32) -> () %n = arith.negf %v : f32 '
        "scf.yield %n : f32 } func.return %r : f32 }",
        ("keep",),
        "func.func @f(%l: index, %a: f32) -> f32 {\n"
        '  "test.keep"(%l, %a) : (index, f32) -> ()\n'
        "  %n = arith.negf %a : f32\n  func.return %n : f32\n}",
    ),
    (
        empty_regions,
        "func.func @f(%c: i1) { scf.if %c { scf.yield } else { "
        '"test.op"() : () -> () scf.yield } func.return }',
        ("scf.if",),
        "func.func @f(%c: i1) {\n  scf.if %c {\n  }\n  func.return\n}",
    ),
    (
        take_one_branch,
        "func.func @f(%c: i1, %a: f32) { "
        "cf.cond_br %c, ^b(%a : f32), ^d ^b(%x: f32): "
        '"test.keep"(%x) : (f32) -> () cf.br ^d ^d: func.return }',
        ("keep",),
        "func.func @f(%c: i1, %a: f32) {\n  cf.br ^bb1(%a : f32)\n^bb1(%x: f32):\n"
        '  "test.keep"(%x) : (f32) -> ()\n  cf.br ^bb2\n^bb2:\n  func.return\n}',
    ),
    (
        return_early,
        "func.func @f(%c: i1, %a: f32) -> f32 { "
        "cf.cond_br %c, ^b, ^d ^b: "
        '"test.keep"() : () -> () cf.br ^d ^d: func.return %a : f32 }',
        ("keep", "cond_br"),
        "func.func @f(%c: i1, %a: f32) -> f32 {\n  cf.cond_br %c, ^bb1, ^bb2\n^bb1:\n"
        '  "test.keep"() : () -> ()\n  func.return %a : f32\n^bb2:\n'
        "  func.return %a : f32\n}",
    ),
    (
        drop_blocks,
        "func.func @f() { func.return ^b: cf.br ^d ^d: cf.br ^b }",
        ("@f",),
        "func.func @f() {\n  func.return\n}",
    ),
    (
        merge_blocks,
        "func.func @f(%a: f32) -> f32 { cf.br ^b(%a : f32) "
        "^b(%x: f32): func.return %x : f32 }",
        ("@f",),
        "func.func @f(%a: f32) -> f32 {\n  func.return %a : f32\n}",
    ),
    (
        drop_results,
        "func.func @f(%a: f32, %b: i1) -> (f32, i1) { func.return %a, %b : f32, i1 } "
        "func.func @g(%a: f32, %b: i1) -> i1 { "
        "%x, %y = func.call @f(%a, %b) : (f32, i1) -> (f32, i1) func.return %y : i1 }",
        ("@f", "-> i1", "return %y"),
        "func.func @f(%a: f32, %b: i1) -> i1 {\n  func.return %b : i1\n}\n"
        "func.func @g(%a: f32, %b: i1) -> i1 {\n"
        "  %y = func.call @f(%a, %b) : (f32, i1) -> i1\n  func.return %y : i1\n}",
    ),
    (
        drop_arguments,
        "tir.func @k(read %a: memref<4xf32>, read %n: index, write %b: memref<4xf32>) "
        '{ "test.keep"(%a, %b) : (memref<4xf32>, memref<4xf32>) -> () tir.return } '
        "func.func @g(%a: tensor<4xf32>, %n: index) -> tensor<4xf32> { "
        "%y = tir.call @k(%a : tensor<4xf32>, %n : index) outs(%a : tensor<4xf32>) "
        "func.return %y : tensor<4xf32> }",
        ("keep", "%n"),
        "tir.func @k(read %a: memref<4xf32>, write %b: memref<4xf32>) {\n"
        '  "test.keep"(%a, %b) : (memref<4xf32>, memref<4xf32>) -> ()\n'
        "  tir.return\n}\n"
        "func.func @g(%a: tensor<4xf32>, %n: index) -> tensor<4xf32> {\n"
        "  %y = tir.call @k(%a : tensor<4xf32>) outs(%a : tensor<4xf32>)\n"
        "  func.return %y : tensor<4xf32>\n}",
    ),
    (
        drop_carried,
        "func.func @f(%l: index, %a: f32, %b: i1) -> i1 { "
        "%r, %s = scf.for %i = %l to %l step %l iter_args(%v = %a, %w = %b) "
        "-> (f32, i1) { scf.yield %v, %w : f32, i1 } func.return %s : i1 }",
        ("return %s",),
        "func.func @f(%l: index, %a: f32, %b: i1) -> i1 {\n"
        "  %s = scf.for %i = %l to %l step %l iter_args(%w = %b) -> (i1) {\n"
        "    scf.yield %w : i1\n  }\n  func.return %s : i1\n}",
    ),
    (
        drop_operands,
        'func.func @f(%a: f32, %b: i1) { "test.keep"(%a, %b) : (f32, i1) -> () '
        "func.return }",
        ("keep", "i1) -> ()"),
        'func.func @f(%a: f32, %b: i1) {\n  "test.keep"(%b) : (i1) -> ()\n'
        "  func.return\n}",
    ),
    (
        unify_operands,
        'func.func @f(%a: f32, %b: i1, %c: f32) { "test.keep"(%c, %b, %a) : '
        "(f32, i1, f32) -> () func.return }",
        ("keep",),
        "func.func @f(%a: f32, %b: i1, %c: f32) {\n"
        '  "test.keep"(%a, %b, %a) : (f32, i1, f32) -> ()\n  func.return\n}',
    ),
    (
        shrink_dims,
        "func.func @f(%a: tensor<16x?xf32>) { "
        "%c = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi64> "
        '"test.keep"() {n = 16 : i64, v = vector<16xf32>} : () -> () func.return }',
        ("dense<[1, 2",),
        "func.func @f(%a: tensor<1x?xf32>) {\n"
        "  %c = arith.constant dense<[1, 2]> : tensor<2xi64>\n"
        '  "test.keep"() {n = 1 : i64, v = vector<1xf32>} : () -> ()\n'
        "  func.return\n}",
    ),
    (  # also in the attributes of ops that go with the types
        shrink_dims,
        "tir.func @f(read %a: memref<16xi16>, write %b: memref<16xi16>) { "
        "tir.nest dims [parallel 16] ins(%a[d0] : memref<16xi16>) "
        "outs(%b[d0] : memref<16xi16>) finish (%x: i16) { tir.yield %x : i16 } "
        "tir.return }",
        ("tir.nest",),
        "tir.func @f(read %a: memref<1xi16>, write %b: memref<1xi16>) {\n"
        "  tir.nest dims [parallel 1]\n      ins(%a[d0] : memref<1xi16>)\n"
        "      outs(%b[d0] : memref<1xi16>)\n    finish (%x: i16) {\n"
        "      tir.yield %x : i16\n    }\n  tir.return\n}",
    ),
    (
        drop_encodings,
        'func.func private @f(tensor<?xf32, #graph.desc<dims = ["N"]>>, '
        "memref<4xf32, strided<[2]>, 1 : i32>)",
        ("@f",),
        "func.func private @f(tensor<?xf32>, memref<4xf32>) -> ()",
    ),
    (
        drop_attributes,
        'func.func private @f() attributes {a, b = "x", test.c}',
        ('"x"',),
        'func.func private @f() -> () attributes {b = "x"}',
    ),
    (
        simplify_attributes,
        "func.func private @f() attributes {a = [1 : i8, 7 : i8, 3.0 : f32], "
        'b = {x = "y"}, c = array<i64: 1, 2>, d = dense<7> : tensor<2xi8>, e = "s"}',
        ("7 : i8",),
        "func.func private @f() -> () attributes {a = [7 : i8], b = {}, "
        'c = array<i64: 0, 0>, d = dense<0> : tensor<2xi8>, e = ""}',
    ),
    (
        drop_names,
        "func.func @f(%a: f32) -> f32 { %x = arith.negf %a : f32 "
        "func.return %x : f32 }",
        ("%x",),
        "func.func @f(%0: f32) -> f32 {\n  %x = arith.negf %0 : f32\n"
        "  func.return %x : f32\n}",
    ),
]


@pytest.mark.parametrize(("strategy", "text", "words", "expected"), CASES)
def test_strategy(
    strategy: Strategy, text: str, words: tuple[str, ...], expected: str
) -> None:
    assert reduced(text, strategy, *words) == expected


def test_locations_go_unless_they_matter() -> None:
    module = parse('func.func @f() { func.return loc("a.c":1:2) }')
    gone = Reducer(module, has("@f"), strategies=(drop_locations,)).run()
    assert ir_text(gone, debuginfo=True).count("loc(unknown)") == 3
    kept = Reducer(module, has('"a.c"'), strategies=(drop_locations,)).run()
    assert ir_text(kept, debuginfo=True).count("loc(unknown)") == 2


def long_program(count: int, seed: int) -> str:
    """`main` of many ops, three of which make up the planted bug."""
    random = Random(seed)
    planted = {count // 3: "log", count // 2: "sqrt", count * 2 // 3: "tanh"}
    values = ["%x"]
    chain = "%x"
    lines = [
        "func.func private @unused(tensor<4x8xf32>) -> tensor<4x8xf32>",
        "func.func @main(%x: tensor<4x8xf32>, %c: i1) -> tensor<4x8xf32> {",
    ]
    for index in range(count):
        one, other = random.choice(values), random.choice(values)
        values.append(f"%v{index}")
        if index in planted:
            op = f"graph.{planted[index]} {chain} : tensor<4x8xf32>"
            chain = values[-1]
        elif index % 9 == 4:
            op = (
                f"scf.if %c -> (tensor<4x8xf32>) {{ %t{index} = graph.neg {one} : "
                f"tensor<4x8xf32> scf.yield %t{index} : tensor<4x8xf32> }} else {{ "
                f"scf.yield {other} : tensor<4x8xf32> }}"
            )
        else:
            op = f"graph.add {one}, {other} : tensor<4x8xf32>"
        lines.append(f"  {values[-1]} = {op}")
    lines.append(f"  func.return {values[-1]} : tensor<4x8xf32>\n}}")
    return "\n".join(lines)


def is_planted(module: ModuleOp) -> bool:
    """There is a `tanh` of a `sqrt` of a `log`."""
    for tanh in module.walk():
        if not isinstance(tanh, graph.TanhOp):
            continue
        sqrt = tanh.operands[0].owner
        if isinstance(sqrt, graph.SqrtOp):
            return isinstance(sqrt.operands[0].owner, graph.LogOp)
    return False


SMALLEST = """\
func.func @main(%0: tensor<1x1xf32>) {
  %1 = graph.log %0 : tensor<1x1xf32>
  %2 = graph.sqrt %1 : tensor<1x1xf32>
  %3 = graph.tanh %2 : tensor<1x1xf32>
  func.return
}"""


@pytest.mark.parametrize("seed", range(3))
def test_finds_what_is_planted_in_200_ops(seed: int) -> None:
    module = parse(long_program(200, seed))
    before = ir_text(module, debuginfo=True)
    start = perf_counter()
    small = reduce_module(module, is_planted)
    assert perf_counter() - start < 30  # 1 s by itself on a slow machine
    assert body_of(small) == SMALLEST
    verify_module(small)
    assert ir_text(module, debuginfo=True) == before


def test_the_same_result_again() -> None:
    module = parse(long_program(60, 1))
    texts = {ir_text(reduce_module(module, is_planted)) for _ in range(2)}
    assert len(texts) == 1


def test_nothing_is_tried_twice() -> None:
    seen: list[str] = []

    def check(module: ModuleOp) -> bool:
        seen.append(ir_text(module, debuginfo=True, generic=True))
        return is_planted(module)

    reduce_module(parse(long_program(40, 0)), check)
    assert len(seen) == len(set(seen))


def test_a_check_may_change_what_it_gets() -> None:
    def check(module: ModuleOp) -> bool:
        found = is_planted(module)
        for op in list(module.body.block.ops):
            op.detach()
        return found

    assert body_of(reduce_module(parse(long_program(40, 0)), check)) == SMALLEST


def test_steps_are_bounded() -> None:
    steps = 0

    def check(module: ModuleOp) -> bool:
        nonlocal steps
        steps += 1
        return is_planted(module)

    module = parse(long_program(200, 0))
    small = reduce_module(module, check, max_steps=10)
    assert steps == 10
    assert is_planted(small)
    assert len(list(small.walk())) < len(list(module.walk()))


def test_each_better_module_is_reported() -> None:
    sizes: list[int] = []
    reducer = Reducer(
        parse(long_program(60, 0)),
        is_planted,
        on_progress=lambda module: sizes.append(len(ir_text(module))),
    )
    small = reducer.run()
    assert reducer.is_complete
    assert sizes[-1] == len(ir_text(small))
    assert sizes[0] > 3 * sizes[-1]


def test_seconds_are_bounded() -> None:
    module = parse(long_program(60, 0))
    reducer = Reducer(module, is_planted, max_seconds=-1.0)
    assert ir_text(reducer.run()) == ir_text(module)
    assert not reducer.is_complete


def test_refuses_what_is_not_interesting() -> None:
    with pytest.raises(NotInteresting, match="expected an interesting module to start"):
        reduce_module(parse("func.func private @f()"), has("@g"))


def test_refuses_what_does_not_verify() -> None:
    module = parse("func.func @f(%a: f32) -> i1 { func.return %a : f32 }")
    with pytest.raises(OpError, match="Expected arguments to have the same types"):
        reduce_module(module, has("@f"))


@pytest.mark.parametrize(
    "name", ["control_flow", "movement", "reductions", "symbolic_batch"]
)
def test_each_step_verifies_and_parses_back(name: str) -> None:
    """Whatever strategies do to real modules, the check sees modules that are right."""
    module = lower(load(MODELS / f"{name}.mlir"), to="tensor")
    names = sorted({op.name for op in module.walk() if op.name.startswith("tir.")})
    wanted = names[len(names) // 2]

    def check(candidate: ModuleOp) -> bool:
        verify_module(candidate)
        again = parse(ir_text(candidate))
        assert ir_text(again) == ir_text(candidate)
        return any(op.name == wanted for op in candidate.walk())

    small = reduce_module(module, check, max_steps=60)
    assert len(list(small.walk())) <= len(list(module.walk()))
