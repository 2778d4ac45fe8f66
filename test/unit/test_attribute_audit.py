"""`--audit-attributes`: what passes drop, by op, with counts and places."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
from opt_cases import SUMS, Opt
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FusedLoc,
    ModuleOp,
    NoneAttr,
    StringAttr,
    UnknownLoc,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from transom.dialects.parser import parse_ir
from transom.registry import new_context
from transom.tools.attribute_audit import AttributeAudit

Rewrite = Callable[[Operation], None]


def planted(rewrite: Rewrite, *drops: str) -> type[ModulePass]:
    """A pass that does something to each op but the module."""

    @dataclass(frozen=True)
    class Planted(ModulePass):
        name = "planted"
        drops: ClassVar[tuple[str, ...]] = ()

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            for inner in list(op.walk())[1:]:
                rewrite(inner)

    Planted.drops = drops
    return Planted


@pytest.fixture
def opt(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Opt:
    return Opt(tmp_path, capsys, monkeypatch)


MARKED = """\
func.func @f(%x: i32) -> i32 {
  %a = arith.addi %x, %x {test.hint = 1 : i32} : i32
  %b = arith.addi %a, %x {test.hint = 2 : i32} : i32
  %c = arith.muli %b, %b {test.other} : i32
  func.return %c : i32
}
"""
HEADER = ["pass", "what", "lost", "of", "ops", "first"]


def rows(opt: Opt, text: str, rewrite: Rewrite, *drops: str) -> list[list[str]]:
    """The table of one pass, cell by cell."""
    opt.register(planted(rewrite, *drops))
    result = opt(text, "-p", "planted", "--audit-attributes")
    assert result.status == 0
    lines = [[c for c in line.split("  ") if c] for line in result.err.splitlines()]
    if lines == [["no attribute and no location was dropped"]]:
        return []
    found = [[cell.strip() for cell in line] for line in lines]
    assert found[0] == HEADER
    return found[1:]


def remade(op: arith.AddiOp, location: bool, attributes: bool) -> None:
    """Put another op in place of one."""
    new = arith.AddiOp(op.lhs, op.rhs)
    if location:
        new.location = op.location
    if attributes:
        new.attributes.update(op.attributes)
    Rewriter.replace_op(op, new)


def test_the_table(opt: Opt) -> None:
    def drop_places(op: Operation) -> None:
        op.attributes.pop("target.for", None)

    place = "attributes {target.for = #target.place<@d, ?, ?>}"
    text = f"""\
target.device @d {{targets = [#llvm_cpu.target<cpu = "znver4">]}}
func.func @f() {place} {{ func.return }}
func.func @g() {place} {{ func.return }}
func.func @h() {{ func.return }}
"""
    opt.register(planted(drop_places))
    result = opt(text, "-p", "planted,cse", "--audit-attributes")
    assert (result.status, result.err) == (
        0,
        """\
pass     what        lost  of  ops             first
planted  target.for     2   2  'func.func' x2  a.mlir:2:1
""",
    )


def test_nothing_is_dropped(opt: Opt) -> None:
    result = opt(MARKED, "-p", "cse", "--audit-attributes")
    assert result.err == "no attribute and no location was dropped\n"


def test_what_an_op_in_its_place_lacks(opt: Opt) -> None:
    def replace(op: Operation) -> None:
        if isinstance(op, arith.AddiOp):
            remade(op, location=True, attributes=False)

    assert rows(opt, MARKED, replace) == [
        ["planted", "test.hint", "2", "2", "'arith.addi' x2", "a.mlir:2:3"]
    ]


def test_what_an_op_in_its_place_carries(opt: Opt) -> None:
    def replace(op: Operation) -> None:
        if isinstance(op, arith.AddiOp):
            remade(op, location=True, attributes=True)

    assert rows(opt, MARKED, replace) == []


def test_a_value_that_changes_is_not_lost(opt: Opt) -> None:
    def change(op: Operation) -> None:
        if "test.hint" in op.attributes:
            op.attributes["test.hint"] = StringAttr("x")

    assert rows(opt, MARKED, change) == []


def test_ops_that_are_made_without_a_location(opt: Opt) -> None:
    def replace(op: Operation) -> None:
        if isinstance(op, arith.AddiOp):
            remade(op, location=False, attributes=True)

    # Nothing says in whose place they are, so that their attributes are gone, too.
    assert rows(opt, MARKED, replace) == [
        ["planted", "location", "2", "'arith.addi' x2", "in a.mlir:1:1"],
        ["planted", "test.hint", "2", "2", "'arith.addi' x2 (erased)", "a.mlir:2:3"],
    ]


def test_a_location_that_is_taken_away(opt: Opt) -> None:
    def forget(op: Operation) -> None:
        if isinstance(op, arith.MuliOp):
            op.location = UnknownLoc()

    assert rows(opt, MARKED, forget) == [
        ["planted", "location", "1", "'arith.muli' x1", "in a.mlir:4:3"]
    ]


def test_a_location_that_is_a_part_of_another(opt: Opt) -> None:
    def replace(op: Operation) -> None:
        if isinstance(op, arith.AddiOp):
            new = arith.AddiOp(op.lhs, op.rhs)
            new.location = FusedLoc(ArrayAttr([op.location, UnknownLoc()]), NoneAttr())
            Rewriter.replace_op(op, new)

    assert rows(opt, MARKED, replace) == [
        ["planted", "test.hint", "2", "2", "'arith.addi' x2", "a.mlir:2:3"]
    ]


def test_what_goes_with_an_op_is_listed_apart(opt: Opt) -> None:
    result = opt(MARKED.replace("%b, %b", "%x, %x"), "-p", "dce", "--audit-attributes")
    assert result.err.splitlines()[1:] == [
        "dce   test.hint     2   2  'arith.addi' x2 (erased)  a.mlir:2:3"
    ]


def test_a_symbol_is_followed_by_its_name(opt: Opt) -> None:
    def remake(op: Operation) -> None:
        if isinstance(op, FuncOp):
            new = FuncOp(op.sym_name.data, op.function_type, op.detach_region(op.body))
            new.location = UnknownLoc()
            Rewriter.replace_op(op, new)

    text = "func.func @f() attributes {test.hint} { func.return }"
    assert rows(opt, text, remake) == [
        ["planted", "test.hint", "1", "1", "'func.func' x1", "a.mlir:1:1"],
        ["planted", "location", "1", "'func.func' x1", "in a.mlir:1:1"],
    ]


def test_attributes_of_arguments(opt: Opt) -> None:
    def forget(op: Operation) -> None:
        if isinstance(op, FuncOp):
            op.arg_attrs = ArrayAttr([DictionaryAttr({}) for _ in op.args])

    text = "func.func @f(%x: i32 {test.hint}, %y: i32) { func.return }"
    assert rows(opt, text, forget) == [
        ["planted", "test.hint", "1", "1", "'func.func' x1", "a.mlir:1:1"]
    ]


def test_content_without_locations_needs_none() -> None:
    module = parse_ir(
        new_context(), "func.func @f(%x: i32) { func.return } loc(unknown)", "a.mlir"
    )
    (func,) = module.body.ops
    assert isinstance(func, FuncOp)
    audit = AttributeAudit()
    pass_ = planted(lambda op: None)()
    audit.before(pass_, module)
    (x,) = func.args
    Rewriter.insert_op(arith.AddiOp(x, x), InsertPoint.at_start(func.body.block))
    audit.after(pass_, module)
    assert audit.losses == {}


def test_a_pass_may_say_what_it_drops(opt: Opt) -> None:
    def forget(op: Operation) -> None:
        op.attributes.pop("test.hint", None)
        op.attributes.pop("test.other", None)

    assert rows(opt, MARKED, forget, "test.hint", "test.other of arith.addi") == [
        ["planted", "test.other", "1", "1", "'arith.muli' x1", "a.mlir:4:3"]
    ]
    declared = ("test.hint", "test.other of arith.muli")
    assert rows(opt, MARKED, forget, *declared) == []


def test_ops_that_are_not_registered(opt: Opt) -> None:
    def forget(op: Operation) -> None:
        for name in ("plain", "test.hint"):
            op.attributes.pop(name, None)

    opt.register(planted(forget))
    text = '"a.b"() {plain, test.hint} : () -> ()'
    flags = ("--allow-unregistered-dialect", "--audit-attributes")
    result = opt(text, "-p", "planted", *flags)
    assert result.err.splitlines()[1:] == [
        "planted  test.hint     1   1  'a.b' x1  a.mlir:1:1"
    ]


def forget_hints(op: Operation) -> None:
    op.attributes.pop("test.hint", None)


def test_as_an_error(opt: Opt) -> None:
    def forget(op: Operation) -> None:
        op.attributes.clear()

    opt.register(planted(forget))
    result = opt(MARKED, "-p", "planted,cse", "--audit-attributes=error")
    assert (result.status, result.out) == (1, "")
    assert result.err.splitlines()[::3] == [
        "a.mlir:2:3: error: pass 'planted' drops 'test.hint' of 'arith.addi' x2",
        "a.mlir:3:3: note: also here",
        "a.mlir:4:3: note: pass 'planted' drops 'test.other' of 'arith.muli' x1",
    ]


def test_as_an_error_of_many_ops(opt: Opt) -> None:
    opt.register(planted(forget_hints))
    ops = "  %a = arith.addi %x, %x {test.hint} : i32\n" * 12
    numbered = "".join(
        line.replace("%a", f"%a{number}") + "\n"
        for number, line in enumerate(ops.splitlines())
    )
    text = f"func.func @f(%x: i32) {{\n{numbered}  func.return\n}}\n"
    result = opt(text, "-p", "planted", "--audit-attributes=error")
    notes = [line for line in result.err.splitlines() if "note:" in line]
    assert len(notes) == 9
    assert notes[-1] == "a.mlir:2:3: note: and 3 more of 'test.hint'"


def test_what_is_erased_is_no_error(opt: Opt) -> None:
    text = MARKED.replace("%b, %b", "%x, %x")
    result = opt(text, "-p", "dce", "--audit-attributes=error")
    assert (result.status, result.err) == (0, "")


def test_errors_of_each_module_of_a_split_file(opt: Opt) -> None:
    opt.register(planted(forget_hints))
    text = f"{MARKED}// -----\n{SUMS}"
    flags = ("--split-input-file", "--audit-attributes=error")
    result = opt(text, "-p", "planted", *flags)
    assert result.status == 1
    assert result.err.count("error:") == 1


def test_as_json(opt: Opt) -> None:
    opt.register(planted(forget_hints))
    flags = ("--audit-attributes", "--output-format=json")
    result = opt(MARKED, "-p", "planted", *flags)
    assert json.loads(result.err) == {
        "report": "attributes",
        "data": [
            {
                "pass": "planted",
                "what": "test.hint",
                "erased": False,
                "lost": 2,
                "of": 2,
                "ops": {"arith.addi": 2},
                "first": "a.mlir:2:3",
            }
        ],
    }


def test_a_pass_that_fails_ends_the_audit(opt: Opt) -> None:
    def fail(op: Operation) -> None:
        op.attributes.clear()
        raise ValueError("x")

    opt.register(planted(fail))
    result = opt(MARKED, "-p", "cse,planted", "--audit-attributes")
    assert result.status == 1
    assert result.err.endswith("no attribute and no location was dropped\n")
