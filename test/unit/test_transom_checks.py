"""
`transom-checks`: blocks in files, what is kept of them, and what is refused.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from transom.tools.checks.expected import write_expected
from transom.tools.checks.recorder import RecordError
from transom.tools.transom_checks import main

ROOT = Path(__file__).parent.parent
SUITE = ROOT / "filecheck"

CONFIG = """\
from transom.tools.lit_format import configure
config.name = "x"
configure(config, __file__)
config.substitutions.append(("%print", "cat %S/Inputs/out.txt"))
"""

OUTPUT = """\
builtin.module {
  func.func @g(%x: i32) {
    test.a %x
  }
  func.func @f(%x: i32) -> i32 {
    %0 = test.b %x
    func.return %0 : i32
  }
  func.func private @new() -> ()
}
"""

TEST = """\
// RUN: %print | filecheck %s

// What is said about f.
func.func @f(%x: i32) -> i32 {
}

func.func @g(%x: i32) {
}
"""

WRITTEN = """\
// RUN: %print | filecheck %s

// What is said about f.
// transom-checks: begin
// CHECK-LABEL: func.func @f(
// CHECK-SAME:    {{^}}%[[X:[^ ,:)]+]]: i32) -> i32
// CHECK-NEXT:    %[[B:.*]] = test.b %[[X]]
// CHECK-NEXT:    func.return %[[B]] : i32
//
// CHECK-LABEL: func.func private @new() -> ()
// transom-checks: end
func.func @f(%x: i32) -> i32 {
}

func.func @g(%x: i32) {
}
"""


class Suite:
    """A folder with one test, and what its RUN lines print."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.path = folder / "test.mlir"
        self.printed = folder / "Inputs" / "out.txt"
        self.printed.parent.mkdir()
        (folder / "lit.cfg.py").write_text(CONFIG)
        self.capsys = capsys
        self.write(TEST, OUTPUT)

    def write(self, test: str, printed: str | None = None) -> None:
        self.path.write_text(test)
        if printed is not None:
            self.printed.write_text(printed)

    def __call__(self, *args: str) -> tuple[int, str, str]:
        self.capsys.readouterr()
        status = main([*args, str(self.path)])
        output = self.capsys.readouterr()
        return status, output.out, output.err.replace(str(self.path), "test.mlir")

    def refresh(self, *args: str) -> str:
        """The file after `-i`."""
        assert self("-i", *args) == (0, "", "")
        return self.path.read_text()

    def passes(self) -> bool:
        lit = Path(sys.executable).parent / "lit"
        done = subprocess.run([lit, "-q", self.path], capture_output=True, check=False)
        return done.returncode == 0


@pytest.fixture
def suite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Suite:
    return Suite(tmp_path, capsys)


def test_writes_to_standard_output(suite: Suite) -> None:
    status, out, err = suite("--function", "f")
    assert (status, err) == (0, "")
    assert out == WRITTEN.replace(": begin", ": begin --function=f").replace(
        "//\n// CHECK-LABEL: func.func private @new() -> ()\n", ""
    )
    assert suite.path.read_text() == TEST


def test_blocks_are_in_the_order_of_the_output(suite: Suite) -> None:
    """`@g` is printed before `@f`, so its checks come first as well."""
    text = suite.refresh()
    assert (
        text
        == """\
// RUN: %print | filecheck %s

// What is said about f.
func.func @f(%x: i32) -> i32 {
}

// transom-checks: begin
// CHECK-LABEL: func.func @g(
// CHECK-SAME:    {{^}}%[[X:[^ ,:)]+]]: i32)
// CHECK-NEXT:    test.a %[[X]]
//
// CHECK-LABEL: func.func @f(
// CHECK-SAME:    {{^}}%[[X:[^ ,:)]+]]: i32) -> i32
// CHECK-NEXT:    %[[B:.*]] = test.b %[[X]]
// CHECK-NEXT:    func.return %[[B]] : i32
//
// CHECK-LABEL: func.func private @new() -> ()
// transom-checks: end
func.func @g(%x: i32) {
}
"""
    )
    assert suite.passes()


def test_again_changes_nothing(suite: Suite) -> None:
    text = suite.refresh("--function=f", "--function", "new")
    assert text == WRITTEN.replace(": begin", ": begin --function=f --function=new")
    time = suite.path.stat().st_mtime_ns
    assert suite.refresh() == text
    assert suite.path.stat().st_mtime_ns == time  # not even written
    assert suite("--check") == (0, "", "")


def test_refreshes_what_has_changed(suite: Suite) -> None:
    text = suite.refresh("--function=f")
    by_hand = text.replace(
        "// transom-checks: begin", "// CHECK-NOT: test.c\n\n// transom-checks: begin"
    )
    suite.write(by_hand, OUTPUT.replace("test.b", "test.d").replace("%0", "%y"))
    assert not suite.passes()
    assert suite("--check") == (
        1,
        "",
        "test.mlir: error: the checks are not up to date; run 'transom-checks -i'\n",
    )
    assert suite.path.read_text() == by_hand
    assert suite.refresh() == by_hand.replace(
        "B:.*]] = test.b", "Y:.*]] = test.d"
    ).replace("[[B]]", "[[Y]]")
    assert suite.passes()


def test_checks_by_hand_that_do_not_fit(suite: Suite) -> None:
    by_hand = TEST.replace("// What", "// CHECK: test.nil\n// What")
    suite.write(by_hand)
    status, out, err = suite("-i")
    assert (status, out) == (1, "")
    assert err.startswith(
        "test.mlir:3:11: error: CHECK: expected string not found in input\n"
        "// CHECK: test.nil\n          ^\n"
    )
    assert err.endswith(
        "test.mlir: error: the checks that are written by hand do not fit with the "
        "others; nothing is written\n"
    )
    assert suite.path.read_text() == by_hand


def test_several_prefixes(suite: Suite) -> None:
    suite.write(
        "// RUN: %print | filecheck %s --check-prefixes=A,B\n"
        "// RUN: %print | filecheck %s --check-prefixes=A\n"
        "// RUN: echo test.x | filecheck %s --check-prefix C\n"
        "func.func @f(%x: i32) -> i32\n"
    )
    status, _, err = suite()
    assert (status, err) == (
        1,
        "test.mlir: error: the prefix 'B' has no check lines of its own; remove it "
        "from the RUN line\n",
    )
    suite.write(
        "; RUN: %print | filecheck %s --check-prefix=A\n"
        "; RUN: echo test.x | filecheck %s --check-prefix C\n"
        "  func.func @f(%x: i32) -> i32\n"
    )
    assert (
        suite.refresh("--only-op=test.[bx]")
        == """\
; RUN: %print | filecheck %s --check-prefix=A
; RUN: echo test.x | filecheck %s --check-prefix C
  ; transom-checks: begin '--only-op=test.[bx]'
  ; A-LABEL: func.func @f(
  ; A-SAME:    {{^}}%[[X:[^ ,:)]+]]: i32) -> i32
  ; A-NEXT:    %[[B:.*]] = test.b %[[X]]
  ;
  ; C:       test.x
  ; transom-checks: end
  func.func @f(%x: i32) -> i32
"""
    )
    assert suite.passes()


def test_one_prefix_by_hand(suite: Suite) -> None:
    suite.write(
        "// RUN: %print | filecheck %s --check-prefix=A\n"
        "// RUN: echo test.x | filecheck %s\n"
        "// A-COUNT-2: func.func @\n"
    )
    assert suite.refresh("--prefix=CHECK") == (
        "// RUN: %print | filecheck %s --check-prefix=A\n"
        "// RUN: echo test.x | filecheck %s\n"
        "// transom-checks: begin --prefix=CHECK\n"
        "// CHECK:       test.x\n"
        "// transom-checks: end\n"
        "// A-COUNT-2: func.func @\n"
    )


def test_places_in_the_test(suite: Suite) -> None:
    """Lines of the test that are printed are told by their distance."""
    suite.write(
        "// RUN: transom-opt %s -p cse --print-debuginfo | filecheck %s\n"
        "// RUN: not transom-opt %s -p nil 2>&1 | filecheck %s --check-prefix=ERROR\n"
        "func.func private @f(i32)\n"
        "func.func @g(%x: i32) {\n  func.return\n}\n"
    )
    text = suite.refresh()
    assert (
        '// CHECK-SAME:    {{^}}i32) -> () loc("{{[^ "]*}}test.mlir":[[#@LINE+5]]:1)'
        in (text)
    )
    assert "// ERROR:       transom-opt: error: unknown pass 'nil'" in text
    assert suite.refresh() == text
    assert suite.passes()


ERRORS = {
    "func.func @f()\n": "test.mlir: error: expected a RUN line",
    "// RUN: %print | filecheck %s\n// transom-checks: end\n": (
        "test.mlir:2:1: error: expected 'begin' before 'end'"
    ),
    "// RUN: %print | filecheck %s\n// transom-checks: begin\n": (
        "test.mlir:2:1: error: expected 'end' after 'begin'"
    ),
    "// RUN: %print | filecheck %s\n// transom-checks: begin\n"
    "// transom-checks: begin\n": (
        "test.mlir:3:1: error: expected 'end' before another 'begin'"
    ),
    "// RUN: %print | filecheck %s\n// RUN: echo x | filecheck %s\n": (
        "test.mlir: error: RUN lines with the prefix 'CHECK' print different texts; "
        "give each a prefix of its own"
    ),
    "// RUN: echo | filecheck %s\n": (
        "test.mlir: error: nothing is printed for the prefix 'CHECK'"
    ),
    "// RUN: %print | filecheck %s --nil\n": (
        "test.mlir: error: filecheck: unknown option '--nil'"
    ),
    "// RUN: false | filecheck %s\n": (
        "test.mlir: error: expected the RUN lines to pass"
    ),
    "// REQUIRES: nil\n// RUN: %print | filecheck %s\n": (
        "test.mlir: error: the test is unsupported here: Test requires the following "
        "unavailable features: nil"
    ),
    "// RUN: %print\n": "test.mlir: error: expected a RUN line with 'filecheck'",
}


@pytest.mark.parametrize("text", ERRORS)
def test_refuses(text: str, suite: Suite) -> None:
    suite.write(text)
    status, out, err = suite("-i")
    assert (status, out) == (1, "")
    assert err.split("\n")[0] == ERRORS[text]
    assert suite.path.read_text() == text


def test_nothing_that_is_asked_for(suite: Suite) -> None:
    assert suite("--only-op", "nil.*") == (
        1,
        "",
        "test.mlir: error: nothing of what is printed for 'CHECK' is asked for\n",
    )


def test_command_line(suite: Suite) -> None:
    assert suite(str(suite.path)) == (
        2,
        "",
        "transom-checks: error: expected '--in-place' or '--check' with several "
        "files\n",
    )
    status, _, err = suite("-i", "nil.mlir")
    assert (status, err) == (
        1,
        "transom-checks: error: nil.mlir: No such file or directory\n",
    )


def test_without_lit(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    def find_nothing(name: str) -> None:
        pass

    monkeypatch.setattr("transom.tools.transom_checks.find_spec", find_nothing)
    message = "expected the package 'lit'; install 'transom[testing]'"
    assert suite() == (1, "", f"transom-checks: error: {message}\n")


def test_without_a_configuration(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.mlir"
    path.write_text("// RUN: %roundtrip | filecheck %s\nfunc.func private @f()\n")
    assert main(["-i", str(path)]) == 0
    assert "// CHECK-LABEL: func.func private @f() -> ()\n" in path.read_text()


def test_lint(suite: Suite) -> None:
    suite.write(TEST + "// CHECK: test\n// CHEKC: test\n")
    assert suite("--lint") == (
        1,
        "",
        "test.mlir:10:4: error: unknown prefix 'CHEKC'; did you mean 'CHECK:'?\n"
        "// CHEKC: test\n   ^\n",
    )
    assert main(["--lint", str(suite.path.parent)]) == 1
    suite.write(TEST + "// CHECK: test\n")
    assert suite("--lint") == (0, "", "")
    suite.write("// RUN: false && filecheck %s --check-prefix A ; true\n// B-NEXT: x\n")
    assert suite("--lint")[2].startswith("test.mlir:2:4: error: no RUN line uses the ")
    suite.write("// REQUIRES: nil\n// RUN: filecheck %s\n// B-NEXT: x\n")
    assert suite("--lint") == (0, "", "")
    suite.write("// RUN: a \\\n")
    message = "Test has unterminated 'RUN:' directive (with '\\') at line 1"
    assert suite("--lint") == (1, "", f"test.mlir: error: {message}\n")


def test_diagnostics(suite: Suite) -> None:
    suite.write(
        "// RUN: %diagnose\n\n"
        "func.func @f(%x: i32) {\n"
        "  func.return %x : i32  // expected-error {{is not there}}\n"
        "}\n\n// -----\n\n"
        "// expected-error @+3 {{'func.return' op}}\n"
        "func.func @g(%x: i32) {\n"
        "  // expected-note @+4 {{is not there}}\n"
        "  func.return %x : i32\n"
        "}\n\n// -----\n\n"
        "func.func @h(%x: i32) {\n"
        "  // expected-warning @below {{'func.return' op}}\n"
        "  func.return %x : i32\n"
        "}\n"
    )
    message = (
        "'func.return' op Expected arguments to have the same types as the function "
        "output types: expected [], got [i32]"
    )
    text = suite.refresh("--diagnostics")
    assert text == (
        "// RUN: %diagnose\n\n"
        "func.func @f(%x: i32) {\n"
        f"  // expected-error @below {{{{{message}}}}}\n"
        "  func.return %x : i32\n"
        "}\n\n// -----\n\n"
        "// expected-error @+2 {{'func.return' op}}\n"
        "func.func @g(%x: i32) {\n"
        "  func.return %x : i32\n"
        "}\n\n// -----\n\n"
        "func.func @h(%x: i32) {\n"
        "  // expected-error @below {{'func.return' op}}\n"
        "  func.return %x : i32\n"
        "}\n"
    )
    assert suite.refresh("--diagnostics") == text
    assert suite.passes()


def test_diagnostics_need_a_run_line(suite: Suite) -> None:
    assert suite("--diagnostics") == (
        1,
        "",
        "test.mlir: error: expected a RUN line with '--verify-diagnostics'\n",
    )


def problem(message: str, file: str | None = None, line: int | None = None) -> str:
    fields = {"message": message, "file": file, "line": line}
    return json.dumps({"severity": "error", "column": line, "notes": [], **fields})


def test_diagnostics_without_a_place() -> None:
    text = "// RUN: %diagnose\n\nfunc.func private @f()\n"
    found = "\n".join(
        (
            problem("unexpected warning: no place\nmore"),
            problem("unexpected note: elsewhere", "/a/b.mlir", 3),
        )
    )
    assert write_expected(Path("a.mlir"), text, [found]) == (
        "// RUN: %diagnose\n"
        "// expected-warning @unknown {{no place}}\n"
        "// expected-note @b.mlir:3 {{elsewhere}}\n"
        "\nfunc.func private @f()\n"
    )
    split = text + "\n// -----\n"
    with pytest.raises(RecordError) as error:
        write_expected(Path("a.mlir"), split, [found])
    assert str(error.value) == (
        "a diagnostic has no place in this file: warning: no place; write its comment "
        "into the section that it is of"
    )


def test_other_problems_with_diagnostics() -> None:
    text = "// RUN: %diagnose\n"
    with pytest.raises(RecordError, match=r"^a\.mlir:3: no such thing$"):
        write_expected(Path("a.mlir"), text, [problem("no such thing", "a.mlir", 3)])


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The tests of the project, in a folder that may be written to."""
    target = tmp_path / "filecheck"
    shutil.copytree(SUITE, target, ignore=shutil.ignore_patterns("Output"))
    config = target / "lit.cfg.py"
    text = config.read_text()
    config.write_text(
        text.replace("Path(__file__).parent.parent", f"Path({str(ROOT)!r})")
    )
    return target


CHECKED = (
    "dialects/graph/ops.mlir",
    "dialects/tir/nests.mlir",
    "lowering/convert-tir-to-scf.mlir",
    "lowering/emit-llvm.mlir",
    "lowering/lower-executor-to-func.mlir",
    "lowering/lower-scf-to-cf.mlir",
    "lowering/tir-bufferize-main-control-flow.mlir",
    "passes/graph-fuse.mlir",
    "passes/target-resolve-devices.mlir",
    "passes/tir-plan-memory.mlir",
    "tools/transom-opt.mlir",
)


@pytest.mark.parametrize("name", CHECKED)
def test_our_own_tests(name: str, copy: Path) -> None:
    """Without their checks, they get new ones, with which they pass."""
    path = copy / name
    text = path.read_text()
    named = re.findall(r"check-prefix(?:es)?[= ]([\w-]+)", text)
    prefixes = "|".join(("CHECK", *named))
    check = re.compile(rf"^\s*//\s*(?:{prefixes})(?:-\w+)*(?:\{{LITERAL\}})?:")
    bare = "\n".join(line for line in text.split("\n") if not check.match(line))
    path.write_text(bare)
    assert main(["-i", str(path)]) == 0
    written = path.read_text()
    assert written.count("transom-checks: begin") >= 1
    assert main(["--check", str(path)]) == 0
    lit = Path(sys.executable).parent / "lit"
    assert subprocess.run([lit, "-q", path], check=False).returncode == 0


DIAGNOSTICS = (
    "dialects/graph/invalid.mlir",
    "dialects/tir/invalid.mlir",
    "dialects/target/invalid.mlir",
    "lowering/convert-to-llvm-invalid.mlir",
    "passes/tir-verify-plan-invalid.mlir",
)


@pytest.mark.parametrize("name", DIAGNOSTICS)
def test_our_own_diagnostics(name: str, copy: Path) -> None:
    path = copy / name
    text = path.read_text()
    assert main(["-i", "--diagnostics", str(path)]) == 0
    assert path.read_text() == text  # all are met
    comment = re.compile(r"^\s*//\s*expected-\w+")
    bare = "\n".join(line for line in text.split("\n") if not comment.match(line))
    path.write_text(bare)
    assert main(["-i", "--diagnostics", str(path)]) == 0
    assert path.read_text().count("expected-error @below") > 3
    assert main(["--check", "--diagnostics", str(path)]) == 0
