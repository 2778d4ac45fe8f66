"""The harness of benchmarks: which cases there are, and what is made of figures."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx_models import model, node, runtime_outputs, save, value

import transom
from benchmarks import call_overhead, peak_memory
from benchmarks.cases import (
    CASES,
    LIMIT,
    UnknownCase,
    case_named,
    random_inputs,
    select,
)
from benchmarks.compare import ratio
from benchmarks.kernels import measure, report, timed_code
from benchmarks.measurement import Timing, error_of, measure_case
from benchmarks.peers import NumPy
from benchmarks.record import (
    OtherCommit,
    commit,
    earlier_records,
    merged,
    record_of,
)
from benchmarks.worker import BATCH, batch_size
from transom.runtime.program import Program


def read_model(path: Path) -> onnx.ModelProto:
    return onnx.ModelProto.FromString(path.read_bytes())


def named(*patterns: str) -> list[str]:
    return [case.name for case in select(patterns)]


def test_cases_are_chosen_by_name_pattern_and_group():
    assert named("resnet50") == ["resnet50"]
    assert named("matmul-512*", "depthwise") == [
        "matmul-512",
        "matmul-512-const",
        "depthwise-3x3-112-32",
    ]
    assert len(named("light")) == 9
    assert select([]) == CASES


def test_names_of_cases_are_unique():
    assert len({case.name for case in CASES}) == len(CASES)


def test_an_unknown_case_lists_groups():
    with pytest.raises(UnknownCase) as raised:
        select(["softmax"])
    assert str(raised.value) == (
        "no case fits 'softmax'; the groups are matmul, conv, depthwise, rows, memory, "
        "light, winograd, half, and --list names all cases"
    )


@pytest.mark.parametrize(
    "name", [c.name for c in CASES if c.numpy and c.limit == LIMIT and c.flops < 1e9]
)
def test_numpy_computes_what_the_model_says(name: str, tmp_path: Path):
    case = case_named(name)
    path = case.write(tmp_path)
    inputs = random_inputs(read_model(path))
    candidate = NumPy(case, path, inputs, 1)
    candidate.run()
    (found,) = candidate.outputs.values()
    assert error_of([found], runtime_outputs(path, inputs)) <= LIMIT


def test_work_of_a_strided_convolution(tmp_path: Path):
    case = case_named("conv-7x7-224-3-64-s2")
    assert case.flops == 2 * 3 * 49 * 64 * 112 * 112
    model = read_model(case.write(tmp_path))
    (value,) = onnx.shape_inference.infer_shapes(model).graph.output
    dims = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
    assert dims == [1, 64, 112, 112]


def test_inputs_are_the_same_each_time(tmp_path: Path):
    model = read_model(case_named("matmul-256").write(tmp_path))
    one, other = random_inputs(model), random_inputs(model)
    assert list(one) == ["a", "b"]
    assert all((one[name] == other[name]).all() for name in one)


def clock_of(seconds_per_call: float) -> tuple[Callable[[], None], Callable[[], float]]:
    """Something to run, and the clock that it moves."""
    now = 0.0

    def run() -> None:
        nonlocal now
        now += seconds_per_call

    return run, lambda: now


@pytest.mark.parametrize("seconds", [1.0, 0.02, 0.0199, 0.003, 1e-5])
def test_a_batch_is_long_enough_and_not_much_longer(seconds: float):
    run, clock = clock_of(seconds)
    count = batch_size(run, clock)
    assert count * seconds >= BATCH
    assert count == 1 or count * seconds <= 2.5 * BATCH


def test_statistics():
    timing = Timing([3.0, 1.0, 2.0, 2.5, 40.0])
    assert timing.median == 2.5
    assert timing.spread == pytest.approx((3.0 - 2.0) / 2.5)  # pyright: ignore[reportUnknownMemberType]
    assert Timing().median is None and Timing([1.0]).spread is None


def test_errors_are_a_part_of_the_largest_value():
    expected = np.array([1.0, -4.0], np.float32)
    assert error_of([expected + np.float32(0.5)], [expected]) == 0.125
    assert error_of([np.full(2, np.nan, np.float32)], [expected]) == float("inf")
    assert error_of([expected[:1]], [expected]) == float("inf")


def test_what_is_right():
    assert Timing([1.0]).is_right and Timing([1.0], LIMIT).is_right
    assert not Timing([1.0], 2 * LIMIT).is_right
    assert not Timing(failure="no such op").is_right


def test_ratios():
    timings = {
        "transom": Timing([3.0], 1e-7),
        "onnxruntime": Timing([2.0]),
        "numpy": Timing(failure="no such op"),
    }
    assert ratio(timings, "onnxruntime") == 1.5
    assert ratio(timings, "numpy") is None
    record = record_of(case_named("matmul-256"), 1, timings)
    assert record["ratios"] == {"onnxruntime": 1.5}
    assert record["candidates"]["numpy"]["failure"] == "no such op"


def test_figures_are_added_to_those_of_the_same_commit(tmp_path: Path):
    path = tmp_path / "figures.json"
    assert earlier_records(path) == []
    once = [{"case": "a", "threads": 1, "n": 1}, {"case": "a", "threads": 2, "n": 2}]
    path.write_text(json.dumps({"commit": commit(), "records": once}))
    again = [{"case": "a", "threads": 1, "n": 3}, {"case": "a", "n": 4}]
    assert merged(earlier_records(path), again) == [once[1], *again]
    path.write_text(json.dumps({"commit": "0123456789ab", "records": once}))
    with pytest.raises(OtherCommit, match="has figures of commit 0123456789ab, but"):
        earlier_records(path)


def test_a_case_is_measured_and_checked():
    """The processes start, take turns and compute the same; times are not looked at."""
    case = case_named("layernorm-128x768")
    found = measure_case(case, ["transom", "numpy"], [1], rounds=2)[1]
    assert [len(timing.seconds) for timing in found.values()] == [2, 2]
    assert found["numpy"].error is None
    assert found["transom"].error is not None and found["transom"].is_right


@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_a_case_in_halves_has_a_twin_in_f32(element: str):
    """onnxruntime has no product of bf16: it does not take part, and has not failed."""
    case = case_named(f"{element}-matmul-1x1024x1024-const")
    found = measure_case(case, ["transom", "onnxruntime", "numpy", "f32"], [1], 1)[1]
    assert ("onnxruntime" in found) == (element == "f16")
    assert all(timing.is_right for timing in found.values())
    error = found["transom"].error
    assert error is not None and error > LIMIT  # which is that of f32


def test_a_case_in_f32_has_no_twin():
    assert set(measure_case(case_named("tanh-128x3072"), ["f32"], [1], 1)[1]) == set()


def test_weights_of_the_twin_are_those_of_the_halves(tmp_path: Path):
    path = case_named("f16-matmul-1x1024x1024-const").write(tmp_path)
    half, twin = (
        onnx.numpy_helper.to_array(read_model(file).graph.initializer[0])
        for file in (path, tmp_path / "f32.onnx")
    )
    assert half.dtype == np.float16 and twin.dtype == np.float32
    np.testing.assert_array_equal(half.astype(np.float32), twin)


def test_time_of_kernels(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Each kernel is called through its counter, and computes what it did without."""
    weight = np.eye(3, dtype=np.float32)
    nodes = [node("MatMul", "x w", "p", "product"), node("Softmax", "p", "y", "rows")]
    path = save(tmp_path, model(nodes, [value("x", (2, 3))], weights={"w": weight}))
    code, names = timed_code(transom.compile(transom.load(path)).code)
    assert len(names) == len(code.objects) - 2 == 2
    x = np.array([[0, 0, 0], [0, 0, 1]], np.float32)
    program = Program(code)
    np.testing.assert_allclose(program(x)["y"], runtime_outputs(path, {"x": x})[0])
    assert all(time > 0 for time in measure(program, names, {"x": x}, 1)[0])
    report(path, rounds=2, width=100)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert {line.split()[4] for line in lines[1:3]} == {"product", "rows"}


def test_cost_of_a_call(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """The bars are far above what calls cost, so that a busy machine is no failure."""
    monkeypatch.setattr(call_overhead, "CALLS", 8)
    monkeypatch.setattr("sys.argv", ["call_overhead", "5"])
    assert call_overhead.main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["aot", "graph", "vm"]


def test_memory_beside_onnxruntime(tmp_path: Path):
    """Two values of 256 KiB live at once."""
    nodes = [
        node("Softmax", "x", "a", axis=0),
        node("Softmax", "a", "b", axis=1),
        node("Softmax", "b", axis=0),
    ]
    path = save(tmp_path, model(nodes, [value("x", (256, 256))]))
    assert peak_memory.planned_bytes(path) == 2 << 18
    assert peak_memory.peak_of_onnxruntime(path) >= 2 << 18
