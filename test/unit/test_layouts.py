"""
A layout moves elements and nothing else: kernels read and write what is stored so, and
leave borders and incomplete blocks as the layout promises.
"""

from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from layout_cases import random_case, random_layout, stored, type_of

import transom
from transom.dialects import tir
from transom.dialects.diagnostics import OpError
from transom.passes.pipeline import parse_pipeline
from transom.registry import new_context, registry
from transom.targets.references import interpreter_of

CTX = new_context()


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_kernels_keep_the_promise_of_layouts(seed: int) -> None:
    random = Random(seed)
    case = random_case(random)
    layouts = [
        random_layout(random, len(shape)) if number < case.images else None
        for number, shape in enumerate(case.shapes)
    ]
    result = random_layout(random, len(case.result))
    if case.same:
        result = layouts[0]
        layouts[: case.images] = [result] * case.images
    types = [type_of(*pair) for pair in zip(case.shapes, layouts, strict=True)]
    out = type_of(case.result, result)
    arguments = ", ".join(
        f"%{name}: {type}" for name, type in zip("ab", types, strict=False)
    )
    text = f"""
        func.func private @f({arguments}) -> {out}
            attributes {{target.for = #target.place<@cpu, ?, ?>}} {{
          %y = {case.text} : {", ".join(types)} -> {out}
          func.return %y : {out}
        }}"""
    rng = np.random.default_rng(seed)
    inputs = [rng.standard_normal(s).astype(np.float32) for s in case.shapes]
    module = transom.parse(text, ctx=CTX)
    expected = interpreter_of(module).run("f", inputs)[0]
    for name in ("convert-graph-to-tir", "tir-fuse-nests", "tir-choose-schedule"):
        try:
            parse_pipeline(name, registry().passes, CTX).apply(CTX, module)
        except OpError as e:
            assert "expected whole blocks" in str(e)
            return
        module.verify()
    (kernel,) = (op for op in module.body.ops if isinstance(op, tir.FuncOp))
    memory = [stored(*pair) for pair in zip(layouts, inputs, strict=True)]
    found = interpreter_of(module).run(kernel.sym_name.data, memory)[0]
    np.testing.assert_allclose(
        found, stored(result, expected), rtol=2e-5, atol=2e-5, err_msg=text
    )


RESIDUAL = """
graph.weight @w = dense<0.125> : tensor<32x32x3x3xf32>
func.func @main(%x: tensor<1x32x6x5xf32>, %r: tensor<1x32x6x5xf32>)
    -> tensor<1x32x6x5xf32> {
  %w = graph.weight_ref @w : tensor<32x32x3x3xf32>
  %a = graph.conv2d %x, %w padding [1, 1, 1, 1]
      : tensor<1x32x6x5xf32>, tensor<32x32x3x3xf32> -> tensor<1x32x6x5xf32>
  %b = graph.conv2d %a, %w padding [1, 1, 1, 1]
      : tensor<1x32x6x5xf32>, tensor<32x32x3x3xf32> -> tensor<1x32x6x5xf32>
  %s = graph.add %b, %r : tensor<1x32x6x5xf32>
  %y = graph.relu %s : tensor<1x32x6x5xf32>
  func.return %y : tensor<1x32x6x5xf32>
}
"""


def test_what_is_not_in_blocks_is_added_where_a_convolution_ends() -> None:
    module = transom.parse(RESIDUAL, ctx=CTX)
    kernels = transom.lower(module, to="tensor", ctx=CTX)
    (kernel,) = (
        op
        for op in kernels.body.ops
        if isinstance(op, tir.FuncOp) and "add" in op.sym_name.data
    )
    nests = [op for op in kernel.walk() if isinstance(op, tir.NestOp)]
    assert len(nests) == 1 and len(nests[0].ins) == 3
    rng = np.random.default_rng(0)
    x, r = rng.standard_normal((2, 1, 32, 6, 5)).astype(np.float32)
    (expected,) = interpreter_of(module).run("main", [x, r])
    found = transom.compile(module)(x, r)["result0"]
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-4)
