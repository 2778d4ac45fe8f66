"""The conformance kit: what it says of targets that keep the rules, and of others."""

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fake_distributions import install, run_python
from xdsl.context import Context
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    I64,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    f32,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Dialect, Operation
from xdsl.ir.affine import AffineMap
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from transom.dialects import graph, tir
from transom.dialects.diagnostics import OpError
from transom.dialects.target import Range, TargetAttr
from transom.lowering.conversion import (
    ConversionPattern,
    ConversionRewriter,
    Operands,
    Refusal,
)
from transom.lowering.graph_to_tir.elementwise import elementwise_nest
from transom.lowering.graph_to_tir.site import Site
from transom.passes.function_pass import FunctionPass
from transom.passes.pipeline import Pipeline
from transom.registry import registry
from transom.targets import TARGETS
from transom.targets.hooks import Accepted, Claim, TargetHooks
from transom.targets.registry import HooksError, given_hooks, hooks_of
from transom.testing import RULES, ConformanceError, check_target
from transom.testing.samples import SAMPLES


@irdl_attr_definition
class KitAttr(TargetAttr):
    """A target that keeps the rules, or is made to break one."""

    name = "kit.target"

    lanes: IntegerAttr[I64] = param_def()

    def verify(self) -> None:
        Range(1, 64).verify("lanes", self.lanes.value.data)


@irdl_attr_definition
class LooseAttr(TargetAttr):
    """Verified by the type of values only."""

    name = "kit.loose"

    lanes: IntegerAttr[I64] = param_def()
    label: StringAttr = param_def()


@irdl_attr_definition
class RudeAttr(TargetAttr):
    """Refuses with what is no `VerifyException`, and without a reason."""

    name = "kit.rude"

    lanes: IntegerAttr[I64] = param_def()

    def verify(self) -> None:
        if self.lanes.value.data < 0:
            raise ValueError("negative")
        if self.lanes.value.data == 0:
            raise VerifyException("")


@irdl_attr_definition
class GarbledAttr(TargetAttr):
    """Does not print what it parses."""

    name = "kit.garbled"

    lanes: IntegerAttr[I64] = param_def()

    def verify(self) -> None:
        Range(1, 64).verify("lanes", self.lanes.value.data)

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string("<lanes = 5>")


Kit = Dialect("kit", [], [KitAttr, LooseAttr, RudeAttr, GarbledAttr])

GOOD = KitAttr(IntegerAttr(8, i64))


class KitTarget(TargetHooks[KitAttr]):
    """Takes everything, as the preferred target does."""

    attr_type = KitAttr


class Halved(ConversionPattern[graph.TanhOp]):
    """`tanh` of half of what it should be of."""

    root = graph.TanhOp
    benefit = 2

    def match_and_rewrite(
        self, op: graph.TanhOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        site = Site(op, operands, rewriter)
        out = site.alloc()
        site.nest(
            [("parallel", size) for size in site.shape(0)],
            ins=[tir.In(site.ins[0], AffineMap.identity(2))],
            outs=[tir.Out(out, AffineMap.identity(2))],
            finish=lambda b, x: [
                b(math.TanhOp(b(arith.MulfOp(x, b.constant(0.5, f32)))))
            ],
        )
        site.done(out)
        return None


class NumberOrZero(ConversionPattern[graph.ReluOp]):
    """A `relu` that gives 0 for NaN."""

    root = graph.ReluOp
    benefit = 2

    def match_and_rewrite(
        self, op: graph.ReluOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        elementwise_nest(
            Site(op, operands, rewriter),
            lambda b, x: [b(arith.MaxnumfOp(x, b.constant(0.0, f32)))],
        )
        return None


@dataclass(frozen=True)
class KitMarkThreadPass(FunctionPass):
    """Marks functions if it runs beside the main thread."""

    name = "kit-mark-thread"

    def apply_to(self, ctx: Context, func: FuncOp) -> None:
        if threading.current_thread() is not threading.main_thread():
            for op in func.body.block.ops:
                op.attributes["kit.mark"] = UnitAttr()


@pytest.fixture(autouse=True)
def kit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The dialect and the pass are registered."""
    monkeypatch.setitem(registry().dialects, "kit", lambda: Kit)
    passes = registry().passes._passes  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setitem(passes, KitMarkThreadPass.name, lambda: KitMarkThreadPass)


def check(hooks: TargetHooks[Any], target: TargetAttr = GOOD, **options: Any) -> str:
    """What the kit says, about an error or not."""
    options = {"samples": ("elementwise",), "processes": False, **options}
    with given_hooks(hooks):
        try:
            return str(check_target(target, **options))
        except ConformanceError as e:
            return str(e)


# Targets that keep the rules.


def test_what_the_report_says():
    assert check(KitTarget(), processes=True) == (
        "'#kit.target<lanes = 8>' keeps all rules\n"
        "  registered      1  the attribute and its hooks are registered, for this API "
        "version\n"
        "  text            1  the attribute parses from its text, alone and inside of "
        "others\n"
        "  values          1  the attribute is verified by value\n"
        "  answers         1  hooks are functions of the attribute, with answers of "
        "their types\n"
        "  environment     1  hooks read no environment variables\n"
        "  contract        1  hooks keep their contract on the samples, thoroughly "
        "checked\n"
        "  phases          1  the samples compute the same at every phase\n"
        "  threads         1  lowering in two threads at once gives the same text\n"
        "note: hash seeds were not tried: other processes do not have these hooks"
    )


IN_TREE = {
    "c_source.target": "#c_source.target",
    "cmsis_nn.target": '#cmsis_nn.target<cpu = "cortex-m55">',
    "llvm_cpu.target": '#llvm_cpu.target<cpu = "x86-64-v2">',
}
"""A text of each target in the tree."""


@pytest.mark.parametrize("name", TARGETS)
def test_targets_in_the_tree(name: str):
    samples = ("conv", "control_flow", "special_values")
    report = check_target(IN_TREE[name], samples=samples)
    assert {*report.checked} >= {*RULES} - {"claims"}


@pytest.mark.parametrize(
    "target", ['#toy_npu.target<preset = "large">', "#toy_vm.target"]
)
def test_targets_for_tests(target: str):
    """They are plug-ins, with artifacts, passes on all functions, and memories."""
    code = (
        "from transom.testing import check_target\n"
        "samples = ('matmul', 'several_results', 'special_values')\n"
        f"print(check_target({target!r}, samples=samples))"
    )
    done = run_python(Path(__file__).parents[1] / "plugins", "-c", code)
    assert done.returncode == 0, done.stderr
    assert "keeps all rules" in done.stdout
    assert all(rule in done.stdout for rule in RULES)


def test_modules_of_the_author():
    module = SAMPLES["softmax"]
    assert "phases          2" in check(KitTarget(), modules={"mine": module})


def test_a_machine_of_the_author():
    text = (
        "target.memory @sram {size = 4096, alignment = 16}\n"
        'target.device @host {targets = [#llvm_cpu.target<cpu = "x86-64-v2">]}\n'
        "target.device @other {targets = [{target}]}"
    )
    assert "keeps all rules" in check(KitTarget(), machine=text)


# Targets that break one.


def test_no_hooks():
    with pytest.raises(HooksError) as refusal:
        hooks_of(GOOD)
    with pytest.raises(ConformanceError) as error:
        check_target(GOOD)
    assert str(error.value) == (
        f"'#kit.target<lanes = 8>' breaks a rule:\n- registered: {refusal.value}"
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("#kit.target<lane = 8>", "unknown key 'lane' of '#kit.target'; did you mean"),
        ("8 : i64", "expected a target attribute, but got '8 : i64'"),
    ],
)
def test_no_target(text: str, reason: str):
    with pytest.raises(ConformanceError) as error:
        check_target(text)
    assert f"- registered: {reason}" in str(error.value)


def test_text():
    class Garbled(TargetHooks[GarbledAttr]):
        attr_type = GarbledAttr

    said = check(Garbled(), GarbledAttr(IntegerAttr(8, i64)))
    assert said == (
        "'#kit.garbled<lanes = 5>' breaks 2 rules:\n"
        "- text: '#kit.garbled<lanes = 5>' parses to '#kit.garbled<lanes = 5>', which "
        "is not equal\n"
        "- text: '#target.place<@device, #kit.garbled<lanes = 5>, ?>' parses to "
        "'#target.place<@device, #kit.garbled<lanes = 5>, ?>', which is not equal"
    )


def test_values():
    class Loose(TargetHooks[LooseAttr]):
        attr_type = LooseAttr

    loose = LooseAttr(IntegerAttr(8, i64), StringAttr("a"))
    assert check(Loose(), loose) == (
        "'#kit.loose<lanes = 8, label = \"a\">' breaks 2 rules:\n"
        "- values: parameter 'lanes' takes any value, such as '-1 : i64', '0 : i64', "
        "'9223372036854775807 : i64'; verify it, or say 'unverified=[\"lanes\"]'\n"
        "- values: parameter 'label' takes any value, such as '\"\"', '\"no such "
        "value\"'; verify it, or say 'unverified=[\"label\"]'"
    )
    assert "keeps all rules" in check(Loose(), loose, unverified=("lanes", "label"))
    assert check(Loose(), loose, unverified=("lanes", "label", "lable")) == (
        "'#kit.loose<lanes = 8, label = \"a\">' breaks a rule:\n"
        "- values: parameter 'lable' is said to be unverified, but there is none"
    )


def test_verifiers_that_raise_something_else():
    class Rude(TargetHooks[RudeAttr]):
        attr_type = RudeAttr

    assert check(Rude(), RudeAttr(IntegerAttr(8, i64))) == (
        "'#kit.rude<lanes = 8>' breaks 2 rules:\n"
        "- values: parameter 'lanes' with '-1 : i64' raises ValueError: negative; "
        "expected a 'VerifyException'\n"
        "- values: parameter 'lanes' refuses '0 : i64' without a reason"
    )


def test_answers():
    class Moody(KitTarget):
        count = 0

        def omits(self, target: KitAttr) -> frozenset[str]:
            self.count += 1
            return frozenset({"graph-fuse"} if self.count % 2 else ())

    assert check(Moody()).startswith(
        "'#kit.target<lanes = 8>' breaks a rule:\n"
        "- answers: hook 'omits' of '#kit.target<lanes = 8>' breaks rule 'answers': "
    )


def test_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KIT_LANES", "8")

    class Listens(KitTarget):
        def omits(self, target: KitAttr) -> frozenset[str]:
            os.environ.get("KIT_LANES")
            return frozenset()

    assert check(Listens()) == (
        "'#kit.target<lanes = 8>' breaks a rule:\n"
        "- environment: hook 'omits' reads environment variable 'KIT_LANES'"
    )


class Claims(KitTarget):
    """A claim on `relu`, with an answer that a test gives."""

    def __init__(self, answer: Callable[[Operation], Any]) -> None:
        self.answer = answer

    def claims(self, target: KitAttr) -> Sequence[Claim]:
        return (Claim(graph.ReluOp, self.answer),)


def test_claims_without_a_reason():
    assert check(Claims(lambda op: Refusal(" "))) == (
        "'#kit.target<lanes = 8>' breaks a rule:\n"
        "- claims, sample 'elementwise': the claim on 'graph.relu' refuses without a "
        "reason"
    )


def test_claims_that_change_their_mind():
    answers = iter([Accepted(1.0), Accepted(2.0), *[Accepted(3.0)] * 99])
    assert check(Claims(lambda op: next(answers))) == (
        "'#kit.target<lanes = 8>' breaks a rule:\n"
        "- claims, sample 'elementwise': asked twice, the claim on 'graph.relu' "
        "answers 'Accepted(seconds=1.0)', then 'Accepted(seconds=2.0)'"
    )


def test_claims_that_change_the_module():
    def mark(op: Operation) -> Accepted:
        op.attributes["kit.seen"] = UnitAttr()
        return Accepted()

    assert check(Claims(mark)) == (
        "'#kit.target<lanes = 8>' breaks a rule:\n"
        "- claims, sample 'elementwise': the claim on 'graph.relu' changes the module"
    )


def test_claims_that_are_no_answers():
    assert (
        "- claims, sample 'elementwise': hook 'claims' of '#kit.target<lanes = 8>' "
        "breaks rule 'claims': expected 'Accepted' or 'Refusal', but got None"
    ) in check(Claims(lambda op: None))


def test_claims_that_no_sample_shows():
    said = check(Claims(lambda op: Accepted()), samples=("integers",))
    assert said.endswith("note: no sample has a 'graph.relu' that is accepted")


def test_phases():
    class Wrong(KitTarget):
        def patterns(self, target: KitAttr) -> Sequence[ConversionPattern[Any]]:
            return (Halved(),)

    said = check(Wrong())
    assert said.startswith(
        "'#kit.target<lanes = 8>' breaks a rule:\n"
        "- phases, sample 'elementwise': the numbers move at phase 'tensor' "
        "(interpreted):\n"
    )


class Untrue(Halved):
    """Makes what it does not list."""

    generates = ()


class Strict(ConversionPattern[graph.GraphOp]):
    """Refuses all."""

    root = graph.GraphOp
    benefit = 2

    def match_and_rewrite(
        self, op: graph.GraphOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        raise OpError(op, "we do not take this")


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        (Strict(), "elementwise.mlir:5:3: error: we do not take this"),
        (
            Untrue(),
            "PatternError: Untrue generated 'tir.alloc', which its 'generates' does "
            "not list",
        ),
    ],
)
def test_samples_that_are_not_lowered(pattern: ConversionPattern[Any], said: str):
    class Wrong(KitTarget):
        def patterns(self, target: KitAttr) -> Sequence[ConversionPattern[Any]]:
            return (pattern,)

    first, contract, phases = check(Wrong()).splitlines()
    assert first == "'#kit.target<lanes = 8>' breaks 2 rules:"
    assert contract == f"- contract, sample 'elementwise': {said}"
    assert phases.startswith("- phases, sample 'elementwise': ")
    assert phases.endswith(said.partition("error: ")[2])


def test_threads():
    class Marking(KitTarget):
        def graph_pipeline(self, target: KitAttr) -> Pipeline:
            return Pipeline("func.func", (KitMarkThreadPass(),))

    assert check(Marking()) == (
        "'#kit.target<lanes = 8>' breaks a rule:\n"
        "- threads: sample 'elementwise' is lowered otherwise beside another thread"
    )


SEEDED = {
    "seeded.dialect": """
from dataclasses import dataclass
from xdsl.dialects.builtin import IntegerAttr, StringAttr, I64
from xdsl.ir import Dialect
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.universe import Universe
from transom.dialects.target import Range, TargetAttr
from transom.passes.function_pass import FunctionPass

@irdl_attr_definition
class SeededAttr(TargetAttr):
    name = "seeded.target"
    lanes: IntegerAttr[I64] = param_def()

    def verify(self):
        Range(1, 64).verify("lanes", self.lanes.value.data)

@dataclass(frozen=True)
class SeededMarkPass(FunctionPass):
    name = "seeded-mark"

    def apply_to(self, ctx, func):
        names = {"a", "b", "c", "d", "e", "f", "g"}
        for op in func.body.block.ops:
            op.attributes["seeded.order"] = StringAttr("".join(names))

Seeded = Dialect("seeded", [], [SeededAttr])
UNIVERSE = Universe(
    all_dialects={"seeded": lambda: Seeded},
    all_passes={"seeded-mark": lambda: SeededMarkPass},
)
""",
    "seeded.hooks": """
from seeded.dialect import SeededAttr, SeededMarkPass
from transom.passes.pipeline import Pipeline
from transom.targets.hooks import TargetHooks

class SeededTarget(TargetHooks[SeededAttr]):
    attr_type = SeededAttr
    api_version = 1

    def graph_pipeline(self, target):
        return Pipeline("func.func", (SeededMarkPass(),))
""",
}
SEEDED_GROUPS = {
    "xdsl.universe": {"seeded": "seeded.dialect:UNIVERSE"},
    "transom.targets": {"seeded.target": "seeded.hooks:SeededTarget"},
}
CHECK_SEEDED = """
from transom.testing import ConformanceError, check_target
try:
    check_target("#seeded.target<lanes = 8>", samples=("softmax",))
except ConformanceError as e:
    print(e)
"""


def test_hash_seeds(tmp_path: Path):
    install(tmp_path, "seeded", SEEDED_GROUPS, SEEDED)
    done = run_python(tmp_path, "-c", CHECK_SEEDED)
    assert (done.stderr, done.stdout) == (
        "",
        "'#seeded.target<lanes = 8>' breaks a rule:\n"
        "- hash-seeds: sample 'softmax' differs at phase 'partitioned'\n",
    )


def test_hooks_of_a_plugin_say_their_api_version(tmp_path: Path):
    """What else is wrong is listed as well."""
    hooks = SEEDED["seeded.hooks"].replace("    api_version = 1\n", "")
    install(tmp_path, "seeded", SEEDED_GROUPS, {**SEEDED, "seeded.hooks": hooks})
    done = run_python(tmp_path, "-c", CHECK_SEEDED)
    assert done.stdout == (
        "'#seeded.target<lanes = 8>' breaks 2 rules:\n"
        "- registered: 'SeededTarget' does not say for which version of the contract "
        "it was written; expected 'api_version = 1'\n"
        "- hash-seeds: sample 'softmax' differs at phase 'partitioned'\n"
    )


def test_a_relu_that_gives_a_number_for_nan():
    class Numbers(KitTarget):
        def patterns(self, target: KitAttr) -> Sequence[ConversionPattern[Any]]:
            return (NumberOrZero(),)

    assert check(Numbers(), samples=("special_values",)) == (
        "'#kit.target<lanes = 8>' breaks a rule:\n"
        "- special, sample 'special_values': the numbers move at phase 'tensor' "
        "(interpreted):\n"
        "'result0': 6 of 39 elements differ, by at most inf (largest expected: nan)\n"
        "  at [0, 0]: expected nan, but got 0.0\n"
        "  at [0, 7]: expected nan, but got 0.0\n"
        "  at [1, 1]: expected nan, but got 0.0\n"
        "  at [1, 8]: expected nan, but got 0.0\n"
        "  at [2, 2]: expected nan, but got 0.0\n"
        "  … and 1 more"
    )
