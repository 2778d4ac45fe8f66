"""
`linalg`: what its ops compute, as nests and back, and what `mlir-opt` says of them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linalg_cases import (
    Case,
    mlir_opt_version,
    named_cases,
    needs_mlir_opt,
    reference,
    through_mlir_opt,
)
from xdsl.dialects.builtin import ModuleOp

import transom
from transom.dialects.linalg import OPERATIONS, Linalg
from transom.dialects.linalg.bodies import multiply_add
from transom.dialects.linalg.named import AccessedOp
from transom.dialects.verifier import verify_module
from transom.interpreters.interpreter import Interpreter
from transom.lowering.convert_linalg_to_tir import ConvertLinalgToTirPass
from transom.lowering.convert_tir_to_linalg import ConvertTirToLinalgPass
from transom.registry import new_context

Arrays = Sequence[np.ndarray[Any, Any]]

BY_NAME = {op.name: op for op in OPERATIONS if issubclass(op, AccessedOp)}
CASES = [pytest.param(case, id=case.name) for case in named_cases()]
PRODUCTS = [
    pytest.param(case, id=case.name)
    for case in named_cases()
    if BY_NAME[case.name.partition("-")[0]].POINT is multiply_add
]


def interpreted(module: ModuleOp, inputs: Arrays) -> list[np.ndarray[Any, Any]]:
    return Interpreter(module).run("main", [array.copy() for array in inputs])


@pytest.mark.parametrize("case", PRODUCTS)
def test_products_are_sums_over_their_loops(case: Case) -> None:
    (result,) = interpreted(transom.parse(case.text), case.inputs)
    expected = reference(case, BY_NAME[case.name.partition("-")[0]])
    np.testing.assert_allclose(result, expected, rtol=1e-5)


@pytest.mark.parametrize("case", CASES)
def test_kernels_compute_what_named_ops_say(case: Case) -> None:
    module = transom.parse(case.text)
    expected = interpreted(module, case.inputs)
    found = interpreted(transom.lower(module, "tensor"), case.inputs)
    np.testing.assert_allclose(found, expected, rtol=2e-6)


@needs_mlir_opt
@pytest.mark.parametrize("case", CASES)
def test_mlir_opt_generalizes_named_ops_alike(case: Case) -> None:
    module = transom.parse(case.text)
    text = through_mlir_opt(str(module), "--linalg-generalize-named-ops")
    general = transom.parse(text)
    assert "linalg.generic" in text
    np.testing.assert_allclose(
        interpreted(general, case.inputs),
        interpreted(module, case.inputs),
        rtol=2e-6,
    )


MAPS_WITH_OLD_ELEMENTS = 22
"""The version of MLIR from which on `linalg.map` hands them over."""

ALL_FORMS = """
#map = affine_map<(d0, d1) -> (d1)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%x: tensor<4x6xf32>, %b: tensor<6xf32>) -> (tensor<4xf32>, tensor<6x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %r = linalg.generic {indexing_maps = [#map1, #map, #map1],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<4x6xf32>, tensor<6xf32>) outs(%e : tensor<4x6xf32>)
      attrs = {test.kept} {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %n = linalg.index 1 : index
    %k = arith.index_cast %n : index to i32
    %f = arith.sitofp %k : i32 to f32
    %s = arith.addf %i, %j : f32
    %z = arith.mulf %s, %f : f32
    linalg.yield %z : f32
  } -> tensor<4x6xf32>
  %e1 = tensor.empty() : tensor<4xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4xf32>) -> tensor<4xf32>
  %q = linalg.reduce { arith.addf } ins(%r : tensor<4x6xf32>) outs(%f1 : tensor<4xf32>)
      dimensions = [1] {test.kept}
  %bb = linalg.broadcast ins(%q : tensor<4xf32>) outs(%e : tensor<4x6xf32>)
      dimensions = [1] {test.kept}
  %m = linalg.map { arith.mulf {fastmath = #arith.fastmath<fast>} }
      ins(%bb, %r : tensor<4x6xf32>, tensor<4x6xf32>) outs(%e : tensor<4x6xf32>)
  %d = linalg.sub ins(%m, %r : tensor<4x6xf32>, tensor<4x6xf32>)
      outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %t = tensor.empty() : tensor<6x4xf32>
  %tr = linalg.transpose ins(%d : tensor<4x6xf32>) outs(%t : tensor<6x4xf32>)
      permutation = [1, 0] {test.kept}
  func.return %q, %tr : tensor<4xf32>, tensor<6x4xf32>
}
"""  # noqa: E501


@needs_mlir_opt
@pytest.mark.parametrize("form", [(), ("--mlir-print-op-generic",)])
def test_text_goes_through_mlir_opt_and_back(form: Sequence[str]) -> None:
    module = transom.parse(ALL_FORMS)
    text = through_mlir_opt(str(module), "--allow-unregistered-dialect", *form)
    again = transom.parse(text)
    assert through_mlir_opt(str(again), "--allow-unregistered-dialect") == (
        through_mlir_opt(str(module), "--allow-unregistered-dialect")
    )
    assert text.count("test.kept") == str(again).count("test.kept") == 4
    rng = np.random.default_rng(0)
    inputs = [rng.random((4, 6), np.float32), rng.random(6, np.float32)]
    for one, other in zip(
        interpreted(module, inputs), interpreted(again, inputs), strict=True
    ):
        np.testing.assert_array_equal(one, other)


MAPS = """
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %a = linalg.map ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>)
      (%e: f32, %old: f32) {
    %s = arith.subf %old, %e : f32
    linalg.yield %s : f32
  }
  %b = linalg.map ins(%a, %x : tensor<4xf32>, tensor<4xf32>) outs(%y : tensor<4xf32>)
      (%e: f32, %f: f32{unread}) {
    %p = arith.mulf %e, %f : f32
    %s = arith.addf %p, %e : f32
    linalg.yield %s : f32
  }
  func.return %b : tensor<4xf32>
}
"""
"""Maps that read the old elements, and that do not."""


@pytest.mark.parametrize("unread", ["", ", %old: f32"])
def test_bodies_of_maps_may_have_the_old_elements(unread: str) -> None:
    module = transom.parse(MAPS.replace("{unread}", unread))
    x = np.array([1, 2, 3, 4], np.float32)
    y = np.array([7, 5, 3, 1], np.float32)
    expected = (y - x) * x + (y - x)
    (got,) = interpreted(module, [x, y])
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(transom.compile(module)(x, y)["result0"], expected)


@needs_mlir_opt
@pytest.mark.parametrize("form", [(), ("--mlir-print-op-generic",)])
def test_maps_go_through_mlir_opt_and_back(form: Sequence[str]) -> None:
    if mlir_opt_version() < MAPS_WITH_OLD_ELEMENTS:
        pytest.skip("this mlir-opt hands no old elements to maps")
    module = transom.parse(MAPS.replace("{unread}", ", %old: f32"))
    again = transom.parse(through_mlir_opt(str(module), *form))
    x, y = np.arange(4, dtype=np.float32), np.ones(4, np.float32)
    np.testing.assert_array_equal(
        interpreted(again, [x, y]), interpreted(module, [x, y])
    )


def test_every_op_is_structured_or_part_of_one() -> None:
    names = {op.name for op in Linalg.operations}
    assert {"linalg.matmul", "linalg.conv_2d_nchw_fchw", "linalg.map"} <= names
    assert len(names) == len(list(Linalg.operations))


# Nests that `linalg` can say.

FOLDS = {"arith.addf": "0.0", "arith.maximumf": "0xFF800000", "arith.mulf": "1.0"}
POINTS = {
    "sum": "%v = arith.addf %x, %w : f32",
    "product": "%v = arith.mulf %x, %w : f32",
    "first": "%v = arith.maximumf %x, %x : f32",
}


@st.composite
def nests(draw: st.DrawFn) -> tuple[str, list[tuple[int, ...]]]:
    """A function with a nest that writes its last argument, and the shapes of all."""
    parallel = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    reduced = draw(st.lists(st.integers(1, 3), max_size=2))
    sizes, first = [*parallel, *reduced], len(parallel)
    windowed = bool(reduced) and draw(st.booleans())
    order = draw(st.permutations(range(len(sizes))))
    x = [(f"d{dim}", sizes[dim]) for dim in order]
    if windowed:
        tap, stride = first, draw(st.integers(1, 2))
        index = f"d0 * {stride} + d{tap}" if stride > 1 else f"d0 + d{tap}"
        size = (sizes[0] - 1) * stride + sizes[tap]
        x = [(index, size), *(part for part in x if part[0] not in ("d0", f"d{tap}"))]
    picked = draw(st.lists(st.sampled_from(range(len(sizes))), unique=True, max_size=2))
    w = [(f"d{dim}", sizes[dim]) for dim in picked]
    bias = draw(st.booleans())
    out = [(f"d{dim}", sizes[dim]) for dim in draw(st.permutations(range(first)))]
    operands = {"x": x, "w": w, **({"b": out[:1]} if bias else {}), "o": out}
    types = {
        name: f"memref<{''.join(f'{size}x' for _, size in parts)}f32>"
        for name, parts in operands.items()
    }
    dims = [f"parallel {s}" for s in parallel] + [f"reduction {s}" for s in reduced]

    def access(name: str) -> str:
        indices = ", ".join(index for index, _ in operands[name])
        return f"%m{name}[{indices}] : {types[name]}"

    point = POINTS[draw(st.sampled_from(sorted(POINTS)))]
    ins = ", ".join(access(name) for name in operands if name != "o")
    tail = "%r = arith.addf %v, %c : f32" if bias else "%r = arith.negf %v : f32"
    if not draw(st.booleans()):
        tail = "%r = arith.maximumf %v, %v : f32"
    arguments = ["%x: f32", "%w: f32", *(["%c: f32"] if bias else [])]
    if reduced:
        fold, start = draw(st.sampled_from(sorted(FOLDS.items())))
        used = {name: {i for i, _ in operands[name]} for name in operands}
        reductions = {f"d{i}" for i in range(first, len(sizes))}
        seen = [
            f"%{'c' if name == 'b' else name}: f32"
            for name, indices in used.items()
            if name != "o"
            and not any(d in index.split() for index in indices for d in reductions)
        ]
        regions = (
            f"init {{\n %s = arith.constant {start} : f32\n tir.yield %s : f32 }}\n"
            f"body ({', '.join(arguments)}, %a: f32) {{\n {point}\n"
            f" %n = {fold} %a, %v : f32\n tir.yield %n : f32 }}\n"
            f"finish ({', '.join(['%v: f32', *seen])}) {{\n {tail}\n"
            " tir.yield %r : f32 }"
        )
    else:
        regions = (
            f"finish ({', '.join(arguments)}) {{\n {point}\n {tail}\n"
            " tir.yield %r : f32 }"
        )
    signature = ", ".join(f"%m{name}: {type}" for name, type in types.items())
    text = (
        f"func.func @main({signature}) {{\n tir.nest dims [{', '.join(dims)}]\n"
        f" ins({ins})\n outs({access('o')})\n {regions}\n func.return\n}}\n"
    )
    shapes = [tuple(size for _, size in parts) for parts in operands.values()]
    return text, shapes


def written(module: ModuleOp, inputs: Arrays) -> np.ndarray[Any, Any]:
    """What a function leaves in its last argument."""
    arrays = [array.copy() for array in inputs]
    function = Interpreter(module)
    function.call(function.symbol(module, "main"), arrays)
    return arrays[-1]


def inputs_for(shapes: Sequence[tuple[int, ...]]) -> list[np.ndarray[Any, Any]]:
    rng = np.random.default_rng(0)
    return [rng.random(shape, np.float32) - np.float32(0.5) for shape in shapes]


def there(text: str) -> ModuleOp:
    module = transom.parse(text)
    ConvertTirToLinalgPass().apply(new_context(), module)
    verify_module(module)
    assert "tir.nest" not in str(module)
    return module


@settings(max_examples=60, deadline=None)
@given(nests())
def test_nests_go_to_linalg_and_back(case: tuple[str, list[tuple[int, ...]]]) -> None:
    text, shapes = case
    inputs = inputs_for(shapes)
    expected = written(transom.parse(text), inputs)
    module = there(text)
    np.testing.assert_allclose(written(module, inputs), expected, rtol=1e-5, atol=1e-6)
    again = transom.parse(str(module))
    ConvertLinalgToTirPass().apply(new_context(), again)
    verify_module(again)
    assert "linalg" not in str(again)
    np.testing.assert_allclose(written(again, inputs), expected, rtol=1e-5, atol=1e-6)


@needs_mlir_opt
@settings(max_examples=8, deadline=None)
@given(nests())
def test_mlir_opt_lowers_what_nests_become(
    case: tuple[str, list[tuple[int, ...]]],
) -> None:
    text, shapes = case
    inputs = inputs_for(shapes)
    module = there(text)
    if "tir.alloc" in str(module):  # which mlir-opt does not know
        return
    loops = transom.parse(through_mlir_opt(str(module), "--convert-linalg-to-loops"))
    assert "linalg" not in str(loops)
    expected = written(transom.parse(text), inputs)
    np.testing.assert_allclose(written(loops, inputs), expected, rtol=1e-5, atol=1e-6)
