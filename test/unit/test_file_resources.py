"""External resources of a file: read, passed over, refused."""

import pytest

from transom.dialects.diagnostics import Diagnostic, OpError, handling
from transom.dialects.file_resources import ExternalResources
from transom.dialects.parser import parse_ir
from transom.registry import new_context

FILE = """\
func.func private @f()

{{-#
  external_resources: {{
    {}
  }}
#-}}
"""
REPRODUCER = """\
mlir_reproducer: {
      pipeline: "builtin.module(a{b=\\22c\\22})",
      disable_threading: true,
      verify_each: false
    }"""


def read(inner: str) -> ExternalResources:
    resources = ExternalResources()
    text = FILE.format(inner)
    module = parse_ir(new_context(), text, "a.mlir", resources=resources)
    assert len(module.body.ops) == 1
    return resources


def test_entries_are_strings_and_truth_values() -> None:
    resources = read(REPRODUCER)
    assert resources.sections == {
        "mlir_reproducer": {
            "pipeline": 'builtin.module(a{b="c"})',
            "disable_threading": True,
            "verify_each": False,
        }
    }
    assert str(resources.locations["mlir_reproducer"]) == 'loc("a.mlir":5:5)'


def test_nobody_needs_to_want_them() -> None:
    module = parse_ir(new_context(), FILE.format(REPRODUCER))
    assert "external_resources" not in str(module)


def test_what_is_unknown_is_passed_over_with_a_warning() -> None:
    found: list[Diagnostic] = []
    with handling(found.append):
        resources = read(f'x: {{a: "1"}},\n    {REPRODUCER}')
    assert list(resources.sections) == ["x", "mlir_reproducer"]
    assert list(map(str, found)) == [
        "a.mlir:5:5: warning: unknown section 'x' of external resources is passed over"
    ]


@pytest.mark.parametrize(
    ("inner", "message"),
    [
        ("a: {}, a: {}", "a.mlir:5:12: error: section 'a' is given twice"),
        ("a: {x: true, x: true}", "a.mlir:5:18: error: entry 'x' is given twice"),
        ("a: {x: 1}", "a.mlir:5:12: error: expected boolean literal"),
        ("a {}", "a.mlir:5:7: error: expected ':', but got '{'"),
        (
            "1: {}",
            "a.mlir:5:5: error: expected identifier or string literal as the ",
        ),
    ],
)
def test_errors(inner: str, message: str) -> None:
    with pytest.raises(OpError) as error, handling(lambda diagnostic: None):
        read(inner)
    assert str(error.value).startswith(message)
