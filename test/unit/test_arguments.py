"""
What the functions of the Python API say to arguments of another kind.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import transom
from transom.passes.pipeline import PipelineError
from transom.runtime import InputError, load

X = np.ones(4, np.float32)
MAIN = """func.func @main(%x: tensor<4xf32> {graph.name = "x"}) -> tensor<4xf32> {
  %y = graph.exp %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}"""


@pytest.fixture(scope="module")
def module() -> ModuleOp:
    return transom.parse(MAIN)


NO_MODULE: list[tuple[Any, str]] = [
    (
        "net.onnx",
        "expected a module, but got 'net.onnx'; 'transom.load' reads files, "
        "'transom.parse' texts",
    ),
    (
        Path("net.onnx"),
        "expected a module, but got 'net.onnx'; 'transom.load' reads files, "
        "'transom.parse' texts",
    ),
    (None, "expected a module, but got None"),
    (object(), "expected a module, but got one of type 'object'"),
]


@pytest.mark.parametrize(("value", "message"), NO_MODULE)
def test_what_is_no_module(value: Any, message: str) -> None:
    with pytest.raises(PipelineError) as caught:
        transom.compile(value)
    assert str(caught.value) == message
    with pytest.raises(PipelineError) as caught:
        transom.lower(value, "tensor")
    assert str(caught.value) == message


DEVICES = (
    "expected a dictionary as 'devices', such as "
    "{'cpu': '#llvm_cpu.target<cpu = \"host\">'}, but got "
)
DIMS = "expected bounds by name as 'dims', such as {'N': (1, 8)}, but got "
EXTERNS = "expected 'native', 'reference' or a dictionary as 'externs', but got "
KEYWORDS = (
    "'callbacks', 'ctx', 'data_folders', 'devices', 'dims', 'executor', 'externs', "
    "'in_pools', 'libraries', 'opt_level', 'poison_memory', 'threads', 'winograd'"
)
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"devices": "cpu"}, DEVICES + "'cpu'"),
    ({"devices": ["cpu"]}, DEVICES + "['cpu']"),
    (
        {"devices": {"cpu": 3}},
        "device 'cpu': expected target attributes or their texts, but got '3'",
    ),
    ({"callbacks": 3}, "expected a dictionary as 'callbacks', but got 3"),
    ({"threads": "2"}, "expected a number of threads, but got '2'"),
    ({"threads": 2.5}, "expected a number of threads, but got 2.5"),
    ({"threads": True}, "expected a number of threads, but got True"),
    ({"executor": 3}, "unknown executor '3'; expected one of 'aot', 'graph', 'vm'"),
    ({"dims": "N"}, DIMS + "'N'"),
    ({"dims": {"N": 3}}, DIMS + "{'N': 3}"),
    ({"dims": {"N": (1, 2, 3)}}, DIMS + "{'N': (1, 2, 3)}"),
    ({"dims": {"N": "18"}}, DIMS + "{'N': '18'}"),
    ({"libraries": "libx.so"}, "expected a list as 'libraries', but got 'libx.so'"),
    ({"data_folders": "/data"}, "expected a list as 'data_folders', but got '/data'"),
    ({"in_pools": "inputs"}, "expected a list as 'in_pools', but got 'inputs'"),
    ({"externs": 3}, EXTERNS + "3"),
    ({"thread": 2}, "unknown option 'thread'; did you mean 'threads'?"),
    ({"optlevel": 2}, "unknown option 'optlevel'; did you mean 'opt_level'?"),
    ({"fast": True}, "unknown option 'fast'; expected one of " + KEYWORDS),
    ({"winograd": 3}, "expected True or False as 'winograd', but got 3"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=str)
def test_arguments_of_compile(
    module: ModuleOp, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(PipelineError) as caught:
        transom.compile(module, **arguments)
    assert str(caught.value) == message


def test_numbers_of_numpy_are_numbers(module: ModuleOp) -> None:
    threads: Any = np.int64(2)
    program = transom.compile(module, threads=threads)
    np.testing.assert_allclose(program(X)["result0"], np.exp(X), rtol=1e-6)


def test_arguments_of_the_others(module: ModuleOp, tmp_path: Path) -> None:
    phase: Any = 3
    with pytest.raises(PipelineError, match="unknown phase '3'; expected one of "):
        transom.lower(module, phase)
    for text in (3, None):
        wrong: Any = text
        with pytest.raises(PipelineError) as caught:
            transom.parse(wrong)
        assert str(caught.value) == f"expected the text of a module, but got {text}"
    wrong = {"x": 3}
    with pytest.raises(PipelineError) as caught:
        transom.load(tmp_path / "m.onnx", shapes=wrong)
    assert str(caught.value) == (
        "expected shapes by name as 'shapes', such as {'x': (1, 3, 224, 224)}, "
        "but got {'x': 3}"
    )
    with pytest.raises(PipelineError) as caught:
        transom.load(tmp_path / "m.onnx", dims=wrong)
    assert str(caught.value) == DIMS + "{'x': 3}"
    with pytest.raises(TypeError, match="expected str, bytes or "):
        load(phase)  # a number would be that of an open file


def test_arrays_without_names(module: ModuleOp) -> None:
    program = transom.compile(module)
    for value, kind in ((X, "ndarray"), ([X], "list"), (None, "NoneType")):
        inputs: Any = value
        for method in (program.run, program.bind):
            with pytest.raises(InputError) as caught:
                method(inputs)
            assert str(caught.value) == (
                "expected a dictionary of inputs by name, but got one of type "
                f"'{kind}'; 'program(x)' takes them in order"
            )
    outputs: Any = X
    with pytest.raises(InputError) as caught:
        program.run({"x": X}, outputs)
    assert str(caught.value) == (
        "expected a dictionary of outputs by name, but got one of type 'ndarray'"
    )
