"""
Check lines for texts: what is captured, what is left out, and that they match.
"""

from random import Random

import pytest

from transom.tools.checks.lines import Selection, check_lines
from transom.tools.filecheck.diagnostics import Text
from transom.tools.filecheck.directives import Language, one_space, parse_checks
from transom.tools.filecheck.matching import Matcher
from transom.tools.filecheck.patterns import Variables


def written(
    text: str, *, functions: tuple[str, ...] = (), ops: tuple[str, ...] = ()
) -> list[str]:
    sections = check_lines(text, Selection(functions, ops))
    return [f"{n.suffix}: {n.text}" for section in sections for n in section.lines]


def matches(lines: list[str], text: str) -> bool:
    """Whether FileCheck takes the text."""
    checks = Text.of("checks", "".join(f"CHECK{line}\n" for line in lines))
    return Matcher(one_space(text), Variables()).match(parse_checks(checks, Language()))


CASES = {
    "function": (
        """\
builtin.module {
  func.func @f(%x: i32, %1: i32) -> i32 {
    %0 = arith.addi %x, %1 : i32
    %sum = arith.addi %0, %0 : i32
    %2 = arith.addi %sum, %0 : i32
    func.return %2 : i32
  }
}
""",
        [
            "-LABEL: func.func @f(",
            "-SAME: {{^}}%[[X:[^ ,:)]+]]: i32, %[[ARG0:[^ ,:)]+]]: i32) -> i32",
            "-NEXT: %[[ADDI:.*]] = arith.addi %[[X]], %[[ARG0]] : i32",
            "-NEXT: %[[SUM:.*]] = arith.addi %[[ADDI]], %[[ADDI]] : i32",
            "-NEXT: %[[ADDI_1:.*]] = arith.addi %[[SUM]], %[[ADDI]] : i32",
            "-NEXT: func.return %[[ADDI_1]] : i32",
        ],
    ),
    "names start again in each function": (
        "func.func @f(%x: i32) {\n}\nfunc.func private @g(i32) -> ()\n"
        "func.func @h(%x: i32) {\n}\n",
        [
            "-LABEL: func.func @f(",
            "-SAME: {{^}}%[[X:[^ ,:)]+]]: i32)",
            "-LABEL: func.func private @g(i32) -> ()",
            "-LABEL: func.func @h(",
            "-SAME: {{^}}%[[X:[^ ,:)]+]]: i32)",
        ],
    ),
    # llvm-project#61442: an op whose attributes take several lines.
    "attributes over several lines": (
        'func.func @f() {\n  %0 = "test.op"() {\n    value = 0\n  } : () -> i32\n'
        '  "test.use"(%0) : (i32) -> ()\n}\n',
        [
            "-LABEL: func.func @f()",
            '-NEXT: %[[OP:.*]] = "test.op"() {',
            "-NEXT: value = 0",
            "-NEXT: } : () -> i32",
            '-NEXT: "test.use"(%[[OP]]) : (i32) -> ()',
        ],
    ),
    # onnx-mlir#1535: arguments of blocks, and a constant below 0.
    "blocks and constants": (
        "func.func @f(%c: i1) {\n"
        "  %c-1_i32 = arith.constant -1 : i32\n"
        "  %0 = arith.constant -1 : index\n"
        "  %1 = arith.constant true\n"
        "  %2 = arith.constant dense<1> : tensor<4xi32>\n"
        "  cf.cond_br %c, ^bb1(%0 : index), ^0(%0 : index)\n"
        "^bb1(%3: index):\n"
        "  cf.br ^0(%3 : index)\n"
        "^0(%4: index):\n"
        "  func.return\n}\n",
        [
            "-LABEL: func.func @f(",
            "-SAME: {{^}}%[[C:[^ ,:)]+]]: i1)",
            "-NEXT: %[[C_1_I32:.*]] = arith.constant -1 : i32",
            "-NEXT: %[[CM1:.*]] = arith.constant -1 : index",
            "-NEXT: %[[CTRUE:.*]] = arith.constant true",
            "-NEXT: %[[CST:.*]] = arith.constant dense<1> : tensor<4xi32>",
            "-NEXT: cf.cond_br %[[C]], ^[[BB1:[^ ,:)]+]](%[[CM1]] : index), "
            "^[[BB0:[^ ,:)]+]](%[[CM1]] : index)",
            "-NEXT: ^[[BB1]](%[[ARG0:[^ ,:)]+]]: index):",
            "-NEXT: cf.br ^[[BB0]](%[[ARG0]] : index)",
            "-NEXT: ^[[BB0]](%[[ARG1:[^ ,:)]+]]: index):",
            "-NEXT: func.return",
        ],
    ),
    "regions": (
        "func.func @f(%n: index) {\n"
        "  %a, %0:2 = scf.for %i = %n to %n step %n iter_args(%v = %n) -> (index) {\n"
        "    scf.yield %v : index\n  } else {\n  }\n"
        "  func.return %a, %0#1 : index\n}\n",
        [
            "-LABEL: func.func @f(",
            "-SAME: {{^}}%[[N:[^ ,:)]+]]: index)",
            "-NEXT: %[[A:[^ ,:)]+]], %[[FOR:[^ ,:)]+]]:2 = scf.for "
            "%[[I:[^ ,:)]+]] = %[[N]] to %[[N]] step %[[N]] "
            "iter_args(%[[V:[^ ,:)]+]] = %[[N]]) -> (index) {",
            "-NEXT: scf.yield %[[V]] : index",
            "-NEXT: } else {",
            ": func.return %[[A]], %[[FOR]]#1 : index",
        ],
    ),
    "a name is given again": (
        "func.func @f() {\n  %0 = test.a\n  %0 = test.b\n  test.c %0\n}\n",
        [
            "-LABEL: func.func @f()",
            "-NEXT: %[[A:.*]] = test.a",
            "-NEXT: %[[B:.*]] = test.b",
            "-NEXT: test.c %[[B]]",
        ],
    ),
    "what means something to FileCheck or lit": (
        'test.a dense<[[[1]], [[2]]]> "{{%x}} RUN: cat" // END.\n'
        "expected-error {{x}}\n",
        [
            ': test.a dense<{{\\[\\[\\[}}1]], {{\\[\\[}}2]]]> "{{\\{\\{}}%x}} '
            'R{{UN}}: cat" // E{{ND}}.',
            "-NEXT: e{{xpected-erro}}r {{\\{\\{}}x}}",
        ],
    ),
    "aliases": (
        "#map = affine_map<(d0) -> (d0)>\n!t = tensor<4xf32>\n"
        "func.func @f() {\n  test.a {m = #map, n = #map1, t = !t, d = #map.x}\n}\n",
        [
            ": #[[MAP:.*]] = affine_map<(d0) -> (d0)>",
            "-NEXT: ![[T:.*]] = tensor<4xf32>",
            "-LABEL: func.func @f()",
            "-NEXT: test.a {m = #[[MAP]], n = #map1, t = ![[T]], d = #map.x}",
        ],
    ),
    "symbols": (
        "target.device @cpu {targets = []}\ntarget.link @a -> @b\n"
        "graph.weight @w = dense<1.0> : tensor<4xf32>\nfunc.call @f() : () -> ()\n"
        'tir.func public @"a b"(read %x: memref<4xf32>) {\n}\n',
        [
            "-LABEL: target.device @cpu {targets = []}",
            "-NEXT: target.link @a -> @b",
            "-LABEL: graph.weight @w = dense<1.0> : tensor<4xf32>",
            "-NEXT: func.call @f() : () -> ()",
            '-LABEL: tir.func public @"a b"(',
            "-SAME: {{^}}read %[[X:[^ ,:)]+]]: memref<4xf32>)",
        ],
    ),
    "a long signature": (
        'func.func @f(%a: tensor<4x4xf32, #graph.desc<dims = ["N", ?]>>, '
        "%b: (i32, i32) -> i32) -> (tensor<4x4xf32>, i32) attributes {a, b} {\n}\n",
        [
            "-LABEL: func.func @f(",
            "-SAME: {{^}}%[[A:[^ ,:)]+]]: tensor<4x4xf32, "
            '#graph.desc<dims = ["N", ?]>>,',
            "-SAME: {{^}} %[[B:[^ ,:)]+]]: (i32, i32) -> i32) -> "
            "(tensor<4x4xf32>, i32) attributes {a, b}",
        ],
    ),
    "LLVM": (
        "define void @f(ptr %0, i64 %n) {\n  %2 = add i64 %n, 1\n"
        "  store i64 %2, ptr %0\n  ret void\n}\n\ndeclare ptr @malloc(i64)\n",
        [
            "-LABEL: define void @f(",
            "-SAME: {{^}}ptr %[[ARG0:[^ ,:)]+]], i64 %[[N:[^ ,:)]+]])",
            "-NEXT: %[[ADD:.*]] = add i64 %[[N]], 1",
            "-NEXT: store i64 %[[ADD]], ptr %[[ARG0]]",
            "-NEXT: ret void",
            "-LABEL: declare ptr @malloc(i64)",
        ],
    ),
    "messages": (
        "a.mlir:1:2: error: unknown 'x'\n  func.func\n  ^\n",
        [": a.mlir:1:2: error: unknown 'x'", "-NEXT: func.func"],
    ),
    "places at the end of regions": (
        'func.func @f() {\n  test.a loc("x":1:1)\n} loc("x":1:2)\n',
        ["-LABEL: func.func @f()", '-NEXT: test.a loc("x":1:1)'],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_lines(name: str) -> None:
    text, expected = CASES[name]
    assert written(text) == expected
    assert matches(expected, text)


PROGRAM = """\
#map = affine_map<(d0) -> (d0)>
func.func @f(%x: i32, %y: i32) -> i32 {
  %0 = test.a %x, %y
  %1 = arith.addi %0, %y {m = #map}
  %2 = arith.muli %1, %x
  %3 = test.b %2
  func.return %3
}
func.func @g(%x: i32) {
  test.b %x
}
"""


def test_a_function() -> None:
    assert written(PROGRAM, functions=("g",)) == [
        ": #[[MAP:.*]] = affine_map<(d0) -> (d0)>",
        "-LABEL: func.func @g(",
        "-SAME: {{^}}%[[X:[^ ,:)]+]]: i32)",
        "-NEXT: test.b %[[X]]",
    ]
    assert written(PROGRAM, functions=("nil",)) == [
        ": #[[MAP:.*]] = affine_map<(d0) -> (d0)>"
    ]


def test_ops() -> None:
    expected = [
        ": #[[MAP:.*]] = affine_map<(d0) -> (d0)>",
        "-LABEL: func.func @f(",
        "-SAME: {{^}}%[[X:[^ ,:)]+]]: i32, %[[Y:[^ ,:)]+]]: i32) -> i32",
        # What makes the operand is not wanted, and it is used once.
        ": %[[ADDI:.*]] = arith.addi %{{[^ ,:)]+}}, %[[Y]] {m = #[[MAP]]}",
        "-NEXT: %[[MULI:.*]] = arith.muli %[[ADDI]], %[[X]]",
    ]
    assert written(PROGRAM, ops=("arith.*",)) == expected
    assert matches(expected, PROGRAM)
    # Used twice, it has to be the same.
    twice = PROGRAM.replace("%1, %x", "%1, %0")
    lines = written(twice, ops=("arith.*",))
    assert ": %[[ADDI:.*]] = arith.addi %[[ARG0:[^ ,:)]+]], %[[Y]] {m = #[[MAP]]}" in (
        lines
    )
    assert matches(lines, twice)
    assert not matches(lines, PROGRAM.replace("%1, %x", "%1, %y"))


@pytest.mark.parametrize("name", CASES)
def test_other_texts_do_not_match(name: str) -> None:
    """A change of any one name or word is found."""
    text, _ = CASES[name]
    lines = written(text)
    random = Random(0)
    words = [line for line in text.split("\n") if any(c.isalnum() for c in line)]
    changed = 0
    for line in words:
        letters = [at for at, c in enumerate(line) if c.isalpha()]
        if not letters or line.strip().startswith(("builtin", "} loc", "} else")):
            continue
        at = random.choice(letters)
        other = line[:at] + "qz" + line[at + 1 :]
        changed += 1
        if _renames_a_value(line, at):
            continue
        assert not matches(lines, text.replace(line, other, 1)), other
    assert changed


def _renames_a_value(line: str, at: int) -> bool:
    """Whether a place is in the name of a value or block, which may be any."""
    start = at
    while start > 0 and (line[start - 1].isalnum() or line[start - 1] in "_-"):
        start -= 1
    return start > 0 and line[start - 1] in "%^#!"


def test_arguments_are_not_matched_together() -> None:
    one = "func.func @f(%x: i32, %y: i32) {\n}\n"
    three = "func.func @f(%x: i32, %y: i32, %z: i32) {\n}\n"
    assert matches(written(one), one)
    assert not matches(written(one), three)
