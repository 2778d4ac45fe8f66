"""
What makes `xdsl-opt` end in a traceback is accepted, or one error with a place.
"""

import pytest
from opt_program import Result, Run, run_fixture

__all__ = ["run_fixture"]

DEEP = 1200


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        # An op without the region that its class takes for granted.
        ('"builtin.module"() : () -> ()', "1:1", "Expected 1 region, but got 0"),
        (
            '"func.func"() {sym_name = "f", function_type = () -> ()} : () -> ()',
            "1:1",
            "Expected 1 region, but got 0",
        ),
        ('"scf.if"() : () -> ()', "1:1", "Expected 1 operand, but got 0"),
        (
            '"test.op"() {a = dense<0.0> : tensor<4xcomplex<i32>>} : () -> ()',
            "1:24",
            "expected complex values, such as (0.0, 1.0)",
        ),
        (
            f'"test.op"() {{a = {"7" * 5000} : i32}} : () -> ()',
            "1:18",
            "expected a number of at most 4096 digits",
        ),
        # An attribute that does not verify.
        (
            '"test.op"() {\n  a = #target.memory_size<80>} : () -> ()',
            "2:8",
            "unknown attribute 'target.memory_size'",
        ),
        (
            "func.func @f() {\n  %0 = arith.constant 300 : i8\n}",
            "2:23",
            "integer value 300 is out of range for type i8",
        ),
        # Sizes.
        (
            "func.func private @f(i16777216)",
            "1:22",
            "invalid integer width: expected at most 16777215 bits, but got 16777216",
        ),
        (
            "func.func private @f(i99999999999)",
            "1:22",
            "invalid integer width: expected at most 16777215 bits, but got "
            "99999999999",
        ),
        (
            "func.func private @f(tensor<4x99999999999999999999xf32>)",
            "1:31",
            "expected a dimension below 2^63, but got 99999999999999999999",
        ),
        (
            "func.func private @f(tensor<4294967296x4294967296xf32>)",
            "1:22",
            "expected at most 72057594037927936 elements, but got",
        ),
        (
            '"test.op"() ({' * DEEP + "}) : () -> ()" * DEEP,
            "1:14014",
            "expected at most 1000 levels of nesting",
        ),
        (
            f'"test.op"() {{a = {"[" * DEEP}{"]" * DEEP}}} : () -> ()',
            "1:1018",
            "expected at most 1000 levels of nesting",
        ),
    ],
    ids=lambda value: value[:40].replace("\n", " "),
)
def test_one_error_with_a_place(run: Run, text: str, place: str, message: str) -> None:
    result = run(text)
    assert (result.status, result.out) == (1, "")
    lines = result.err.splitlines()
    assert [line for line in lines if ": error: " in line] == lines[:1]
    assert lines[0].startswith(f"a.mlir:{place}: error: ")
    assert message in lines[0]


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("", "builtin.module {\n}\n"),
        ("// only a comment\n", "builtin.module {\n}\n"),
        (
            "func.func @f() {\n  cf.br ^64\n^64:\n  func.return\n}",
            "  func.func @f() {\n    cf.br ^bb1\n  ^bb1:\n    func.return\n  }\n",
        ),
        ('"test.op"() {a = "x\0y"} : () -> ()', '"test.op"() {a = "x\\00y"}'),
        ("func.func private @f(i16777215)", "@f(i16777215)"),
    ],
    ids=lambda value: value[:30].replace("\n", " ").replace("\0", "NUL"),
)
def test_accepted_as_mlir_opt_does(run: Run, text: str, printed: str) -> None:
    result = run(text, "--verify-roundtrip")
    assert (result.status, result.err) == (0, "")
    assert printed in result.out


def test_nesting_far_below_the_limit(run: Run) -> None:
    depth = 400
    nest = "scf.if %c {\n" * depth + '"test.op"() : () -> ()\n' + "}\n" * depth
    text = f"func.func @f(%c: i1) {{\n{nest}func.return\n}}"
    result = run(text, "--cse")
    assert (result.status, result.err) == (0, "")
    assert run(result.out) == Result(0, result.out, "")
