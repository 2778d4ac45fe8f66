"""`--bisect`: planted mistakes are found, down to the pattern, the op and a test."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from opt_cases import Opt, Result
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects import test as test_dialect
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    ModuleOp,
    TensorType,
    UnitAttr,
    f32,
)
from xdsl.ir import Attribute
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import Rewriter
from xdsl.utils.hints import isa

from transom.dialects import graph
from transom.lowering.conversion import (
    ConversionPattern,
    ConversionRewriter,
    ConversionTarget,
    Operands,
    Refusal,
    apply_full_conversion,
)
from transom.lowering.graph_to_tir.elementwise import ConvertElementwise
from transom.passes import tir_fuse_nests
from transom.tools import transom_run

MODEL = """\
func.func @main(%x: tensor<2x3xf32>, %z: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %n = graph.neg %x : tensor<2x3xf32>
  %m = graph.neg %n : tensor<2x3xf32>
  %a = graph.add %m, %z : tensor<2x3xf32>
  %e = graph.exp %a : tensor<2x3xf32>
  %s = graph.sub %z, %e : tensor<2x3xf32>
  %r = graph.relu %s : tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}
"""


# A plug-in's pass of three greedy patterns, one of them wrong.


class DropNegNeg(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: graph.NegOp, rewriter: PatternRewriter, /) -> None:
        inner = op.operands[0].owner
        if isinstance(inner, graph.NegOp):
            rewriter.replace(op, (), (inner.operands[0],))


class MarkRelu(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: graph.ReluOp, rewriter: PatternRewriter, /) -> None:
        if "test.mark" not in op.attributes:
            op.attributes["test.mark"] = UnitAttr()
            rewriter.notify_op_modified(op)


class SwapSub(RewritePattern):
    """Takes a subtraction for one whose operands may be exchanged."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: graph.SubOp, rewriter: PatternRewriter, /) -> None:
        if "test.done" not in op.attributes:
            new = graph.SubOp(op.rhs, op.lhs)
            new.attributes["test.done"] = UnitAttr()
            new.location = op.location
            rewriter.replace(op, new)


@dataclass(frozen=True)
class Simplify(ModulePass):
    name = "simplify"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        patterns = GreedyRewritePatternApplier([DropNegNeg(), MarkRelu(), SwapSub()])
        PatternRewriteWalker(patterns).rewrite_module(op)


# A conversion of several patterns, one of them wrong.


class ConvertNeg(ConversionPattern[graph.NegOp]):
    root = graph.NegOp

    def match_and_rewrite(
        self, op: graph.NegOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        (x,) = operands
        zero = rewriter.insert(graph.SubOp(x, x))
        rewriter.replace(op, graph.SubOp(zero.result, x))


class ConvertRelu(ConversionPattern[graph.ReluOp]):
    """Takes the negative part for zero."""

    root = graph.ReluOp

    def match_and_rewrite(
        self, op: graph.ReluOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        (x,) = operands
        rewriter.replace(op, graph.AbsOp(x))


@dataclass(frozen=True)
class ConvertSome(ModulePass):
    name = "convert-some"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = ConversionTarget()
        target.add_illegal_op(graph.NegOp, graph.ReluOp)
        apply_full_conversion(op, target, (ConvertNeg(), ConvertRelu()))


# Passes that are wrong in other ways.


@dataclass(frozen=True)
class Rewrites(ModulePass):
    """Exchanges operands without a pattern."""

    name = "rewrites"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for sub in list(op.walk()):
            if isinstance(sub, graph.SubOp):
                sub.operands = tuple(reversed(sub.operands))


@dataclass(frozen=True)
class WrongOnce(ModulePass):
    """Has a state of its own, as there should be none."""

    name = "wrong-once"
    runs: ClassVar[list[bool]] = []
    wrong_runs: ClassVar[int] = 1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        self.runs.append(True)
        if len(self.runs) <= self.wrong_runs:
            Rewrites().apply(ctx, op)


class ExpAway(RewritePattern):
    """Two rewrites that are right together, and cannot be run in between."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: graph.ExpOp, rewriter: PatternRewriter, /) -> None:
        new = test_dialect.TestOp.create(
            operands=op.operands, result_types=op.result_types
        )
        new.location = op.location
        rewriter.replace(op, new)


class SigmoidInstead(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: test_dialect.TestOp, rewriter: PatternRewriter, /
    ) -> None:
        new = graph.SigmoidOp(op.operands[0])
        new.location = op.location
        rewriter.replace(op, new)


@dataclass(frozen=True)
class InTwoSteps(ModulePass):
    name = "in-two-steps"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(ExpAway()).rewrite_module(op)
        PatternRewriteWalker(SigmoidInstead()).rewrite_module(op)


@dataclass(frozen=True)
class WrongOnLarge(ModulePass):
    """Wrong where an input is above a hundred."""

    name = "wrong-on-large"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for relu in list(op.walk()):
            if isinstance(relu, graph.ReluOp):
                (result,) = relu.result_types
                assert isa(result, TensorType[Attribute])
                type = TensorType(f32, result.get_shape())
                value = DenseIntOrFPElementsAttr.from_list(type, (50.0,))
                limit = graph.ConstantOp(value)
                new = graph.MinimumOp(relu.operands[0], limit.result)
                Rewriter.replace_op(relu, (limit, new, graph.ReluOp(new.result)))


@pytest.fixture
def opt(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Opt:
    monkeypatch.setenv("TRANSOM_CACHE", "off")
    WrongOnce.runs.clear()
    opt = Opt(tmp_path, capsys, monkeypatch)
    opt.register(Simplify, ConvertSome, Rewrites, WrongOnce, InTwoSteps, WrongOnLarge)
    return opt


def notes_of(result: Result) -> list[str]:
    assert result.status == 1
    return re.findall(r"^a.mlir:(\S+ note: .*)$", result.err, re.MULTILINE)


def run_lines(opt: Opt, file: str) -> bool:
    """Do what the RUN lines of a test say, as lit does; True if it passes."""
    path = Path(file)
    text = path.read_text().replace("\\\n// RUN: |", "|")
    for line in re.findall(r"^// RUN: (.*)$", text, re.MULTILINE):
        line = line.replace("%S", str(path.parent)).replace("%s", file)
        words = shlex.split(line.replace("%t", "t"))
        if "|" in words:
            first, second = words[: words.index("|")], words[words.index("|") + 1 :]
            assert first[0] == "transom-opt" and second[:2] == ["transom-run", "-"]
            result = opt.on(*first[1:])
            Path("piped.mlir").write_text(result.out)
            status = transom_run.main(["piped.mlir", *second[2:]])
            opt.capsys.readouterr()
            if result.status or status:
                return False
        else:
            assert words[0] == "transom-run"
            status = transom_run.main(words[1:])
            opt.capsys.readouterr()
            if status:
                return False
    return True


def test_a_wrong_greedy_pattern(opt: Opt) -> None:
    result = opt(MODEL, "-p", "cse,simplify,dce", "--check-each", "--bisect=D")
    assert notes_of(result) == [
        "6:3: note: the first to move them is rewrite 3 of 4: "
        "pattern 'SwapSub' on 'graph.sub' in '@main'",
        "1:1: note: a test of 3 ops is written to 'D/simplify.mlir', and it fails",
        "1:1: note: a reproducer of the pass is written to "
        "'D/simplify.reproducer.mlir'",
    ]
    assert (
        Path("D/simplify.mlir").read_text()
        == """\
// RUN: transom-run %s --input random:0 --interpret -q -o %t.npz
// RUN: transom-opt %s -p 'simplify' \\
// RUN: | transom-run - --input random:0 --interpret -q --expected %t.npz

// The numbers stay in pass 'simplify' by pattern 'SwapSub'.

builtin.module {
  func.func @main(%0: tensor<1x1xf32>, %1: tensor<1x1xf32>) -> tensor<1x1xf32> {
    %2 = graph.sub %1, %0 : tensor<1x1xf32>
    func.return %2 : tensor<1x1xf32>
  }
}
"""
    )


def test_the_test_holds_once_the_pattern_is_right(
    opt: Opt, monkeypatch: pytest.MonkeyPatch
) -> None:
    opt(MODEL, "-p", "simplify", "--check-each", "--bisect=D")
    assert not run_lines(opt, "D/simplify.mlir")

    def nothing(*args: object) -> None:
        pass

    monkeypatch.setattr(SwapSub, "match_and_rewrite", nothing)
    assert run_lines(opt, "D/simplify.mlir")


def test_the_reproducer_replays(opt: Opt) -> None:
    opt(MODEL, "-p", "simplify", "--check-each", "--bisect=D")
    result = opt.on("--run-reproducer", "D/simplify.reproducer.mlir", "--check-each")
    assert result.status == 1
    assert "pass 'simplify' moves the numbers" in result.err


def test_a_wrong_pattern_of_a_conversion(opt: Opt) -> None:
    result = opt(MODEL, "-p", "convert-some", "--check-each", "--bisect=D")
    assert notes_of(result)[:2] == [
        "7:3: note: the first to move them is rewrite 3 of 3: "
        "pattern 'ConvertRelu' on 'graph.relu' in '@main'",
        "1:1: note: a test of 3 ops is written to 'D/convert-some.mlir', and it fails",
    ]
    assert Path("D/convert-some.mlir").read_text().count("graph.") == 1
    assert not run_lines(opt, "D/convert-some.mlir")


def test_a_wrong_pattern_of_the_built_in_lowering(
    opt: Opt, monkeypatch: pytest.MonkeyPatch
) -> None:
    rewrite = ConvertElementwise.match_and_rewrite

    def wrong(
        self: Any, op: Any, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        if isinstance(op, graph.SubOp):
            operands = Operands(op, tuple(reversed(tuple(operands))))
        return rewrite(self, op, operands, rewriter)

    monkeypatch.setattr(ConvertElementwise, "match_and_rewrite", wrong)
    result = opt(MODEL, "--to=machine", "--check-each=phase", "--bisect=D")
    assert "pass 'convert-graph-to-tir' moves the numbers (interpreted)" in result.err
    first, test, _ = notes_of(result)[-3:]
    assert re.fullmatch(
        r"6:3: note: the first to move them is rewrite \d of 4: "
        r"pattern 'ConvertElementwise' on 'graph.sub' in '@[a-z_0-9]+'",
        first,
    )
    assert "is written to 'D/convert-graph-to-tir.mlir', and it fails" in test
    text = Path("D/convert-graph-to-tir.mlir").read_text()
    assert text.count("graph.") < 5
    monkeypatch.undo()
    opt.monkeypatch.chdir(opt.folder)
    assert run_lines(opt, "D/convert-graph-to-tir.mlir")


def test_a_wrong_rewrite_in_a_kernel(opt: Opt, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels have no locations: their calls have."""
    inline = tir_fuse_nests.fuse_consumer

    def wrong(producer: Any, consumer: Any, dead: Any) -> Any:
        fused = inline(producer, consumer, dead)
        for op in () if fused is None else list(fused.walk()):
            if isinstance(op, arith.SubfOp) and "test.done" not in op.attributes:
                op.operands = tuple(reversed(op.operands))
                op.attributes["test.done"] = UnitAttr()
        return fused

    monkeypatch.setattr(tir_fuse_nests, "fuse_consumer", wrong)
    result = opt(MODEL, "--to=tensor", "--check-each", "--bisect=D")
    assert "pass 'tir-fuse-nests' moves the numbers" in result.err
    (note,) = [note for note in notes_of(result) if "the first to move" in note]
    assert re.fullmatch(
        r"\d:3: note: the first to move them is rewrite \d of \d: "
        r"pattern 'fuse nests' on 'tir.nest' in '@add_[a-z_0-9]+'",
        note,
    )


def test_a_pass_without_patterns(opt: Opt) -> None:
    result = opt(MODEL, "-p", "rewrites", "--check-each", "--bisect=D")
    assert notes_of(result)[:2] == [
        "1:1: note: no rewrite of 'rewrites' is needed for that",
        "1:1: note: a test of 3 ops is written to 'D/rewrites.mlir', and it fails",
    ]
    assert "by pattern" not in Path("D/rewrites.mlir").read_text()


def test_modules_in_between_that_cannot_be_run(opt: Opt) -> None:
    result = opt(MODEL, "-p", "in-two-steps", "--check-each", "--bisect=D")
    assert notes_of(result)[:2] == [
        "5:3: note: one of 2 rewrites that may be it: "
        "'ExpAway' on 'graph.exp' at a.mlir:5:3",
        "5:3: note: one of 2 rewrites that may be it: "
        "'SigmoidInstead' on 'test.op' at a.mlir:5:3",
    ]


def test_a_pass_that_is_right_when_run_again(
    opt: Opt, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = opt(MODEL, "-p", "wrong-once", "--check-each", "--bisect=D")
    assert notes_of(result) == [
        "1:1: note: run again without the cache, the pass is right"
    ]
    WrongOnce.runs.clear()
    monkeypatch.setattr(WrongOnce, "wrong_runs", 3)
    result = opt(MODEL, "-p", "wrong-once", "--check-each", "--bisect=D")
    assert notes_of(result)[-1] == (
        "1:1: note: the pass alone, on a module that verifies, is right"
    )
    assert not Path("D").exists()


def test_inputs_that_show_the_mistake_are_kept(opt: Opt) -> None:
    np.save("x.npy", np.full((2, 3), 100.0, np.float32))
    text = """\
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = graph.relu %x : tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}
"""
    flags = ("--check-each", "--bisect=D")
    assert opt(text, "-p", "wrong-on-large", *flags).status == 0
    result = opt(text, "-p", "wrong-on-large", *flags, "--check-input=x.npy")
    assert "'D/wrong-on-large.mlir', and it fails" in result.err
    text = Path("D/wrong-on-large.mlir").read_text()
    assert "--input %S/wrong-on-large.npz" in text
    assert not run_lines(opt, "D/wrong-on-large.mlir")


def test_the_folder_has_a_name_by_itself(opt: Opt) -> None:
    opt(MODEL, "-p", "simplify", "--check-each", "--bisect")
    assert Path("bisect/simplify.mlir").exists()


def test_a_folder_that_cannot_be_made(opt: Opt) -> None:
    Path("D").write_text("")
    result = opt(MODEL, "-p", "simplify", "--check-each", "--bisect=D")
    assert result.status == 1
    assert "transom-opt: error: D: File exists" in result.err
