"""Weights as code reads them: in row-major order, aligned, each made once."""

import json
from pathlib import Path

import numpy as np
import pytest

import transom
from transom.cache import Settings, Store, counted
from transom.dialects import graph
from transom.dialects.parser import parse_ir
from transom.interpreters.weights import WeightStore
from transom.registry import new_context
from transom.runtime.signature import Array

SIZES = (64, 512)

MODULE = """
graph.weight @w = #graph.file<"w.safetensors", "w"> : tensor<64x512xf32>
graph.weight @t : tensor<512x64xf32> {
  %w = graph.weight_ref @w : tensor<64x512xf32>
  %t = graph.transpose %w permutation [1, 0] : tensor<64x512xf32> -> tensor<512x64xf32>
  graph.yield %t : tensor<512x64xf32>
}
"""


@pytest.fixture(autouse=True)
def store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Store:
    made = Store(Settings("on", tmp_path / "cache", 1 << 26))
    monkeypatch.setattr("transom.cache.entries.is_current", lambda: True)
    monkeypatch.setattr("transom.interpreters.weights.store", lambda: made)
    return made


@pytest.fixture
def array(tmp_path: Path) -> Array:
    """A weight in a file, at an odd address."""
    array = np.random.default_rng(0).standard_normal(SIZES, dtype=np.float32)
    size = array.nbytes
    entry = {"dtype": "F32", "shape": list(SIZES), "data_offsets": [1, size + 1]}
    head = json.dumps({"w": entry}).encode().ljust(96)
    data = len(head).to_bytes(8, "little") + head + b"\0" + array.tobytes()
    (tmp_path / "w.safetensors").write_bytes(data)
    return array


def weights(folder: Path) -> tuple[WeightStore, dict[str, graph.WeightOp]]:
    module = parse_ir(new_context(), MODULE, str(folder / "m.mlir"))
    ops = [op for op in module.body.ops if isinstance(op, graph.WeightOp)]
    return WeightStore(module, folder), {op.sym_name.data: op for op in ops}


def is_mapped(array: Array) -> bool:
    """Whether elements are at the start of a page, as those of a file are."""
    return array.ctypes.data % 4096 == 0


def test_elements_at_odd_addresses_are_copied_once(
    tmp_path: Path, array: Array
) -> None:
    for found in ("missed", "disk"):
        store, ops = weights(tmp_path)
        with counted() as counts:
            made = store.for_code(ops["w"])
        assert np.array_equal(made, array) and is_mapped(made)
        assert not made.flags.writeable
        assert getattr(counts["weights"], found) == 1
        del store, made


def test_expressions_are_evaluated_once(
    tmp_path: Path, array: Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, ops = weights(tmp_path)
    made = store.for_code(ops["t"])
    assert np.array_equal(made, array.T) and is_mapped(made)
    assert made.flags.c_contiguous
    del store, made
    store, ops = weights(tmp_path)
    monkeypatch.setattr(WeightStore, "_value", None)
    assert np.array_equal(store.for_code(ops["t"]), array.T)


def test_other_elements_are_another_entry(tmp_path: Path, array: Array) -> None:
    store, ops = weights(tmp_path)
    store.for_code(ops["t"])
    file = tmp_path / "w.safetensors"
    data = file.read_bytes()
    file.write_bytes(data[:-4] + np.float32(5).tobytes())
    store, ops = weights(tmp_path)
    assert store.for_code(ops["t"])[-1, -1] == 5


def test_programs_have_the_weights_that_code_reads(
    tmp_path: Path, array: Array
) -> None:
    main = """
func.func @main(%x: tensor<8x512xf32>) -> tensor<8x64xf32> {
  %t = graph.weight_ref @t : tensor<512x64xf32>
  %y = graph.matmul %x, %t : tensor<8x512xf32>, tensor<512x64xf32> -> tensor<8x64xf32>
  func.return %y : tensor<8x64xf32>
}
"""
    module = transom.parse(MODULE + main, name=str(tmp_path / "m.mlir"))
    program = transom.compile(module)
    (weight,) = program.code.constants.values()
    assert is_mapped(weight)
    x = np.ones((8, 512), np.float32)
    np.testing.assert_allclose(program(x)["result0"], x @ array.T, rtol=1e-4, atol=1e-4)
