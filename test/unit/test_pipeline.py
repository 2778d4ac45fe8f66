"""Pipelines: their text parses back to itself, errors point at it, anchors fit."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    ArrayAttr,
    Builtin,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass
from xdsl.transforms import get_all_passes

from transom.dialects.parser import parse_ir
from transom.passes.function_pass import FunctionPass, functions_of
from transom.passes.pass_options import describe_hint
from transom.passes.pipeline import (
    PassObserver,
    PassObservers,
    PassRegistry,
    Pipeline,
    PipelineError,
    format_pass,
    parse_pipeline,
)
from transom.registry import new_context


class Mode(Enum):
    FAST = "fast"
    SMALL = "small-code"


@dataclass(frozen=True)
class EveryOption(ModulePass):
    name = "every-option"

    count: int
    width: int = 3
    rate: float = 1.0
    fast: bool = False
    maybe_fast: bool | None = None
    text: str = "x"
    maybe_text: str | None = "k"
    mode: Mode = Mode.FAST
    level: Literal["low", "high"] = "low"
    sizes: tuple[int, ...] = ()
    pair: tuple[int, str] = (1, "a")
    tiles: tuple[tuple[int, ...], ...] = ()
    numbers: tuple[int | float, ...] | None = None
    flags: Literal["all"] | tuple[str, ...] = "all"
    place: Attribute | None = None
    symbols: tuple[SymbolRefAttr, ...] = ()
    more: tuple[int, ...] = field(default_factory=lambda: (7,))

    def apply(self, ctx: Context, op: ModuleOp) -> None: ...


@dataclass(frozen=True)
class Checked(ModulePass):
    name = "checked"

    lanes: int = 4

    def __post_init__(self) -> None:
        if not 1 <= self.lanes <= 64:
            raise ValueError(f"expected 1 to 64 lanes, but got {self.lanes}")

    def apply(self, ctx: Context, op: ModuleOp) -> None: ...


@dataclass(frozen=True)
class CountFunctions(FunctionPass):
    name = "count-functions"

    def apply_to(self, ctx: Context, func: FuncOp) -> None:
        seen = func.attributes.get("seen")
        count = seen.value.data if isinstance(seen, IntegerAttr) else 0
        func.attributes["seen"] = IntegerAttr(count + 1, i64)


def broken() -> type[ModulePass]:
    raise ImportError("no module named 'x'")


REGISTRY = PassRegistry(
    {
        "every-option": lambda: EveryOption,
        "checked": lambda: Checked,
        "count-functions": lambda: CountFunctions,
        "broken": broken,
        "misnamed": lambda: Checked,
    },
    get_all_passes(),
)


def parse(text: str) -> Pipeline:
    return parse_pipeline(text, REGISTRY)


def error_of(text: str) -> str:
    with pytest.raises(PipelineError) as info:
        parse(text)
    return str(info.value)


# Text that parses back to itself.

names = st.text(alphabet="abz_", min_size=1, max_size=5)
symbols = names.map(SymbolRefAttr)
attributes = st.recursive(
    symbols
    | st.text(max_size=5).map(StringAttr)
    | st.integers(-9, 9).map(lambda i: IntegerAttr(i, i64)),
    lambda inner: st.lists(inner, max_size=3).map(ArrayAttr[Attribute]),
)
numbers = st.integers() | st.floats(allow_nan=False)
every_option = st.builds(
    EveryOption,
    count=st.integers(),
    width=st.integers(),
    rate=st.floats(allow_nan=False),
    fast=st.booleans(),
    maybe_fast=st.none() | st.booleans(),
    text=st.text(),
    maybe_text=st.none() | st.text() | st.sampled_from(["none", "true", "1", ""]),
    mode=st.sampled_from(Mode),
    level=st.sampled_from(["low", "high"]),
    sizes=st.lists(st.integers(), max_size=3).map(tuple),
    pair=st.tuples(st.integers(), st.text()),
    tiles=st.lists(st.lists(st.integers(), max_size=3).map(tuple), max_size=3).map(
        tuple
    ),
    numbers=st.none() | st.lists(numbers, max_size=3).map(tuple),
    flags=st.just("all") | st.lists(st.text(), max_size=3).map(tuple),
    place=st.none() | attributes,
    symbols=st.lists(symbols, max_size=3).map(tuple),
    more=st.lists(st.integers(), max_size=3).map(tuple),
)
function_items = st.sampled_from(
    [
        CountFunctions(),
        *map(
            lambda name: get_all_passes()[name]()(),
            ("cse", "canonicalize", "dce", "licm"),
        ),
    ]
)
function_pipelines = st.lists(function_items, max_size=3).map(
    lambda items: Pipeline("func.func", tuple(items))
)
items = every_option | function_items | function_pipelines | st.builds(Checked)
module_pipelines = st.recursive(
    st.lists(items, max_size=3).map(lambda i: Pipeline("builtin.module", tuple(i))),
    lambda inner: st.lists(items | inner, max_size=3).map(
        lambda i: Pipeline("builtin.module", tuple(i))
    ),
    max_leaves=4,
)


@given(module_pipelines | function_pipelines)
@settings(deadline=None)
def test_text_parses_back(pipeline: Pipeline) -> None:
    assert parse(str(pipeline)) == pipeline
    assert parse(pipeline.spelled_out()) == pipeline


def test_defaults_are_spelled_out_if_asked() -> None:
    pipeline = parse("checked,func.func(cse)")
    assert str(pipeline) == "checked,func.func(cse)"
    assert pipeline.spelled_out() == "builtin.module(checked{lanes=4},func.func(cse))"


@given(every_option)
@settings(deadline=None)
def test_options_parse_back(pass_: EveryOption) -> None:
    assert parse(format_pass(pass_)).items == (pass_,)


@given(st.text() | st.text(alphabet='ab-{}()[]=,.: "1cse'))
@settings(deadline=None, max_examples=300)
def test_any_text_is_a_pipeline_or_an_error(text: str) -> None:
    try:
        parse(text)
    except PipelineError as e:
        assert e.position is not None
        assert 0 <= e.position <= len(text)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("", ""),
        ("cse", "cse"),
        (" cse , dce{} ", "cse,dce"),
        ("func.func(cse)", "func.func(cse)"),
        ("builtin.module(cse)", "cse"),
        ("builtin.module(func.func(cse))", "builtin.module(func.func(cse))"),
        ("cse,func.func( cse ,\n dce)", "cse,func.func(cse,dce)"),
        ("func.func()", "func.func()"),
        ("tir.func(canonicalize)", "tir.func(canonicalize)"),
        ("checked{lanes=4}", "checked"),
        ("checked{lanes=0x10}", "checked{lanes=16}"),
    ],
)
def test_printed_form(text: str, printed: str) -> None:
    assert str(parse(text)) == printed


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("sizes=1,2", "sizes", (1, 2)),
        ("sizes=[1, 2]", "sizes", (1, 2)),
        ("sizes=5", "sizes", (5,)),
        ("sizes=[]", "sizes", ()),
        ("fast", "fast", True),
        ("maybe-fast", "maybe_fast", True),
        ("maybe_text", "maybe_text", None),
        ("maybe-text=none", "maybe_text", None),
        ('maybe-text="none"', "maybe_text", "none"),
        ("text=a.b/c-1", "text", "a.b/c-1"),
        ('text="a \\" \\\\ \\n"', "text", 'a " \\ \n'),
        ("rate=2", "rate", 2.0),
        ("rate=-1.5e-3", "rate", -0.0015),
        ("numbers=[1,2.0]", "numbers", (1, 2.0)),
        ('mode="small-code"', "mode", Mode.SMALL),
        ("mode=small-code", "mode", Mode.SMALL),
        ("flags=all", "flags", "all"),
        ("flags=all,none", "flags", ("all", "none")),
        ("tiles=[[1,2],[3]]", "tiles", ((1, 2), (3,))),
        ("place=@a::@b", "place", SymbolRefAttr("a", ["b"])),
        ("place=1:i64", "place", IntegerAttr(1, i64)),
    ],
)
def test_option_values(text: str, name: str, value: object) -> None:
    (pass_,) = parse(f"every-option{{{text} count=1}}").items
    assert getattr(pass_, name) == value
    assert type(getattr(pass_, name)) is type(value)


# Errors, with a caret into the whole text.


@pytest.mark.parametrize(
    ("text", "message", "at"),
    [
        ("cse,func.func(cs)", "unknown pass 'cs'; did you mean 'cse'?", "cs)"),
        (
            "fun.func(cse)",
            "unknown anchor 'fun.func'; did you mean 'func.func'?",
            "fun",
        ),
        ("cse,,", "expected a pass, but got ','", ","),
        ("cse)", "expected ',', but got ')'", ")"),
        ("cse dce", "expected ',', but got 'dce'", "dce"),
        ("func.func(cse", "expected ',' or ')', but got the end", ""),
        (
            "func.func(builtin.module(cse))",
            "'builtin.module' cannot be nested in 'func.func'",
            "builtin",
        ),
        (
            "func.func(cse,checked)",
            "pass 'checked' runs on 'builtin.module', not on 'func.func'",
            "checked",
        ),
        (
            "tir.func(count-functions)",
            "pass 'count-functions' runs on 'builtin.module' or 'func.func', "
            "not on 'tir.func'",
            "count",
        ),
        (
            "builtin.module(" * 40,
            "expected at most 32 nested anchors",
            "builtin.module(" * 8,
        ),
        ("cse{top=1}", "unknown option 'top' of pass 'cse'; it takes none", "top"),
        (
            "checked{lane=1}",
            "unknown option 'lane' of pass 'checked'; did you mean 'lanes'?",
            "lane",
        ),
        ("checked{lanes=1 lanes=2}", "option 'lanes' is given twice", "lanes=2"),
        ("checked{lanes=}", "expected an integer for option 'lanes', but got '}'", "}"),
        ("checked{lanes}", "expected '=' and an integer after 'lanes'", "}"),
        (
            "checked{lanes=1.5}",
            "expected an integer for option 'lanes', but got '1.5'",
            "1.5",
        ),
        ("checked{lanes=4", "expected an option or '}', but got the end", ""),
        ("checked{,}", "expected an option or '}', but got ','", ",}"),
        ("checked{lanes=65}", "pass 'checked': expected 1 to 64 lanes", "checked"),
        ("every-option", "pass 'every-option' needs option 'count'", "every"),
        (
            "every-option{mode=slow}",
            "expected 'fast' or 'small-code' for option 'mode', but got 'slow'",
            "slow",
        ),
        (
            "every-option{pair=[1]}",
            "expected a list of an integer and a string for option 'pair'",
            "[1]",
        ),
        ("every-option{place=#a.b}", "unknown attribute 'a.b'", "a.b}"),
        (
            'every-option{symbols=[@a,"b"]}',
            "expected a list of an attribute 'symbol_ref' for option 'symbols'",
            '[@a,"b"]',
        ),
        ("broken", "pass 'broken' cannot be loaded: ImportError(", "broken"),
        (
            "misnamed",
            "pass 'misnamed' is registered with a class named 'checked'",
            "misnamed",
        ),
    ],
)
def test_errors(text: str, message: str, at: str) -> None:
    with pytest.raises(PipelineError) as info:
        parse(text)
    first, line, caret = str(info.value).split("\n")
    assert message in first
    assert line[2:] == text
    assert text[caret.index("^") - 2 :].startswith(at)


def test_error_in_a_text_of_lines_shows_its_line() -> None:
    assert error_of("cse,\n  csee").split("\n")[1:] == ["    csee", "    ^"]


def test_python_pipelines_are_checked_too() -> None:
    with pytest.raises(PipelineError, match=r"runs on 'builtin.module', not on"):
        Pipeline("func.func", (Checked(),))
    with pytest.raises(PipelineError, match="unknown anchor 'x'"):
        Pipeline("x")


def test_registering_twice() -> None:
    registry = PassRegistry({"checked": lambda: Checked})
    with pytest.raises(ValueError, match="pass 'checked' is registered twice"):
        registry.register("checked", lambda: Checked)
    assert list(registry) == ["checked"]
    assert len(registry) == 1


def test_a_pass_is_imported_when_first_used() -> None:
    path = "xdsl.transforms.common_subexpression_elimination"
    registry = PassRegistry(
        {"cse": f"{path}:CommonSubexpressionElimination", "dce": "no.such:Pass"}
    )
    assert str(parse_pipeline("cse", registry)) == "cse"
    with pytest.raises(PipelineError, match="pass 'dce' cannot be loaded: ModuleNot"):
        parse_pipeline("dce", registry)


def test_every_pass_of_xdsl_prints_and_parses_back() -> None:
    for name in get_all_passes():
        try:
            pipeline = parse(name)
        except PipelineError as e:
            assert "needs option" in e.message
            continue
        assert parse(str(pipeline)) == pipeline


def test_hints_in_words() -> None:
    assert describe_hint(tuple[int, ...] | None) == "a list of an integer or 'none'"


# Running.

MODULE = """
func.func private @declared(i32)
func.func @f(%x: i32) -> i32 {
  %a = arith.addi %x, %x : i32
  %b = arith.addi %x, %x : i32
  %c = arith.muli %a, %b : i32
  %dead = arith.addi %c, %b : i32
  func.return %c : i32
}
module {
  func.func @g(%x: i32) { func.return }
}
"""


@pytest.fixture
def module() -> ModuleOp:
    return parse_ir(new_context(), MODULE)


class Log(PassObserver):
    def __init__(self) -> None:
        self.lines: list[str] = []

    def _log(self, when: str, pass_: ModulePass, op: Operation) -> None:
        name = op.sym_name.data if isinstance(op, FuncOp) else "module"
        self.lines.append(f"{when} {pass_.name} {name}")

    def before(self, pass_: ModulePass, op: Operation) -> None:
        self._log("before", pass_, op)

    def after(self, pass_: ModulePass, op: Operation) -> None:
        self._log("after", pass_, op)

    def failed(self, pass_: ModulePass, op: Operation) -> None:
        self._log("failed", pass_, op)


def test_observers_see_passes_per_anchor(module: ModuleOp) -> None:
    log = Log()
    pipeline = parse("checked,func.func(cse,dce)")
    pipeline.apply(Context(), module, PassObservers((log, PassObserver())))
    assert log.lines == [
        "before checked module",
        "after checked module",
        *("before cse f", "after cse f", "before dce f", "after dce f"),
        *("before cse g", "after cse g", "before dce g", "after dce g"),
    ]
    assert [p.name for p in pipeline.passes()] == ["checked", "cse", "dce"]


@dataclass(frozen=True)
class Failing(ModulePass):
    name = "failing"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise ValueError("no")


def test_observers_see_a_failure(module: ModuleOp) -> None:
    log = Log()
    pipeline = Pipeline("builtin.module", (Failing(), Checked()))
    with pytest.raises(ValueError, match="no"):
        pipeline.apply(Context(), module, PassObservers((PassObserver(), log)))
    assert log.lines == ["before failing module", "failed failing module"]


@pytest.mark.parametrize("anchor", ["func.func({})", "{}"])
@pytest.mark.parametrize(
    ("passes", "ops"),
    [("cse", 2), ("dce", 3), ("canonicalize", 3), ("cse,dce", 2), ("licm", 4)],
)
def test_passes_of_xdsl_at_both_anchors(
    module: ModuleOp, anchor: str, passes: str, ops: int
) -> None:
    parse(anchor.format(passes)).apply(new_context(), module)
    kinds = arith.AddiOp | arith.MuliOp
    assert sum(isinstance(op, kinds) for op in module.walk()) == ops


def test_licm_at_a_function() -> None:
    module = parse_ir(
        new_context(),
        """
func.func @f(%x: i32, %i: index) {
  scf.for %k = %i to %i step %i {
    %a = arith.addi %x, %x : i32
    "test.op"(%a) : (i32) -> ()
  }
  func.return
}
""",
    )
    parse("func.func(licm)").apply(new_context(), module)
    add = next(op for op in module.walk() if isinstance(op, arith.AddiOp))
    assert isinstance(add.parent_op(), FuncOp)


@pytest.mark.parametrize("text", ["count-functions", "func.func(count-functions)"])
def test_function_passes_see_each_body_once(module: ModuleOp, text: str) -> None:
    parse(text).apply(Context(), module)
    seen = {
        op.sym_name.data: op.attributes.get("seen")
        for op in module.walk()
        if isinstance(op, FuncOp)
    }
    one = IntegerAttr(1, i64)
    assert seen == {"declared": None, "f": one, "g": one}


def test_functions_may_be_erased_on_the_way(module: ModuleOp) -> None:
    for func in functions_of(module):
        func.detach()
    assert [f for f in functions_of(module)] == []


def test_default_context_knows_builtin_attributes() -> None:
    ctx = Context()
    ctx.load_dialect(Builtin)
    text = "every-option{count=1 place=#builtin.int<3>}"
    assert parse_pipeline(text, REGISTRY, ctx) == parse(text)
