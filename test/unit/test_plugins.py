"""
Plug-ins of installed distributions: how programs find them, list them, and go on
without those that cannot be used.
"""

import json
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from fake_distributions import install, run_python

OPT = ("-m", "transom.tools.transom_opt")
REDUCE = ("-m", "transom.tools.transom_reduce")
RUN = ("-m", "transom.tools.transom_run")
TRANSOM = ("-m", "transom.tools.transom_main")

WOOFLES = {
    "woofles.dialect": """
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_attr_definition, irdl_op_definition
from xdsl.universe import Universe
from transom.dialects.target import TargetAttr

@irdl_op_definition
class BarkOp(IRDLOperation):
    name = "woofles.bark"
    assembly_format = "attr-dict"

@irdl_attr_definition
class WooflesAttr(TargetAttr):
    name = "woofles.target"

Woofles = Dialect("woofles", [BarkOp], [WooflesAttr])
UNIVERSE = Universe(all_dialects={"woofles": lambda: Woofles})
""",
    "woofles.hooks": """
from transom.targets.hooks import TargetHooks
from woofles.dialect import WooflesAttr

class WooflesTarget(TargetHooks[WooflesAttr]):
    api_version = 1
    attr_type = WooflesAttr
""",
    "woofles.rest": """
from transom.targets.conversions import Conversions
from woofles.dialect import BarkOp

CONVERSIONS = Conversions(())
EVALUATORS = {BarkOp: lambda frame, op, args: ()}
""",
}
WOOFLES_GROUPS = {
    "xdsl.universe": {"woofles": "woofles.dialect:UNIVERSE"},
    "transom.targets": {"woofles.target": "woofles.hooks:WooflesTarget"},
    "transom.conversions": {"woofles": "woofles.rest:CONVERSIONS"},
    "transom.evaluators": {"woofles": "woofles.rest:EVALUATORS"},
}

BROKEN = """
from xdsl.ir import Dialect
from xdsl.irdl import irdl_attr_definition, irdl_op_definition, IRDLOperation
from xdsl.ir import ParametrizedAttribute
from xdsl.passes import ModulePass
from xdsl.universe import Universe
from transom.targets.conversions import Conversions
from transom.targets.hooks import TargetHooks
from transom.targets.llvm_cpu.dialect import LlvmCpuAttr
from transom.dialects.target import TargetAttr, Target

@irdl_op_definition
class StolenOp(IRDLOperation):
    name = "graph.stolen"

@irdl_attr_definition
class StolenAttr(ParametrizedAttribute):
    name = "tir.stolen"

@irdl_attr_definition
class LonelyAttr(TargetAttr):
    name = "lonely.target"

@irdl_attr_definition
class GraphAttr(TargetAttr):
    name = "graph.target"

@irdl_attr_definition
class DescAttr(TargetAttr):
    name = "graph.desc"

class EPass(ModulePass):
    name = "e-pass"

class Lonely(TargetHooks):
    attr_type = LonelyAttr

class InGraph(TargetHooks):
    attr_type = GraphAttr

class Desc(TargetHooks):
    attr_type = DescAttr

class Newer(Lonely):
    api_version = 7

class Again(TargetHooks):
    attr_type = LlvmCpuAttr

def fails():
    raise RuntimeError("no licence")

def one(name, dialect):
    return Universe(all_dialects={name: dialect})

DIALECT = one("arith", fails)
PASS = Universe(all_passes={"convert-graph-to-tir": fails})
PASS_NAME = Universe(all_passes={"other-pass": lambda: EPass})
EMITTER = Universe(all_targets={"llvm-ir": fails})
READER = Universe(all_frontends={"onnx": fails})
OP = one("a", lambda: Dialect("a", [StolenOp]))
ATTRIBUTE = one("b", lambda: Dialect("b", [], [StolenAttr]))
LOADS_NOT = one("c", fails)
OTHER_NAME = one("d", lambda: Target)
NO_DIALECT = one("e", lambda: 5)
NO_TABLE = Universe(all_dialects=[1])
NEWER_CONVERSIONS = Conversions((), api_version=7)
"""


@pytest.fixture(scope="module")
def woofles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a distribution all of whose plug-ins work."""
    folder = tmp_path_factory.mktemp("woofles")
    install(folder, "woofles-tools", WOOFLES_GROUPS, WOOFLES, version="0.2")
    return folder


@pytest.fixture
def bark(tmp_path: Path) -> Path:
    file = tmp_path / "bark.mlir"
    file.write_text("func.func @f() {\n  woofles.bark\n  func.return\n}\n")
    return file


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    file = tmp_path / "plain.mlir"
    file.write_text(
        "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
        "  %y = graph.relu %x : tensor<2xf32>\n"
        "  func.return %y : tensor<2xf32>\n"
        "}\n"
    )
    return file


def broken(folder: Path, groups: dict[str, dict[str, str]]) -> Path:
    """A folder with a distribution that brings objects of the module `broken`."""
    full = {
        group: {name: f"broken:{value}" for name, value in entries.items()}
        for group, entries in groups.items()
    }
    install(folder, "broken", full, {"broken": BROKEN})
    return folder


# The list.


def test_no_plugins(tmp_path: Path):
    done = run_python(tmp_path, *TRANSOM, "plugins")
    assert (done.returncode, done.stdout) == (0, "no plug-ins are installed\n")
    assert run_python(tmp_path, *TRANSOM, "plugins", "--json").stdout == "[]\n"


def test_the_list(woofles: Path):
    done = run_python(woofles, *TRANSOM, "plugins")
    assert done.stderr == ""
    assert done.stdout == dedent(
        """\
        NAME            GROUP                DISTRIBUTION   VERSION  API  STATE
        woofles         transom.conversions  woofles-tools  0.2      1    ok
        woofles         transom.evaluators   woofles-tools  0.2      -    ok
        woofles         xdsl.universe        woofles-tools  0.2      -    ok
        woofles.target  transom.targets      woofles-tools  0.2      1    ok
        """
    )


def test_disabled_plugins(woofles: Path):
    done = run_python(
        woofles, *TRANSOM, "plugins", TRANSOM_DISABLE_PLUGINS="woofles, wooflse.target"
    )
    *rows, error = done.stdout.splitlines()
    states = [row.split("  ")[-1].strip() for row in rows]
    assert states == ["STATE", *["disabled"] * 3, "broken"]
    assert error == (
        "    woofles.hooks:WooflesTarget has hooks of an attribute whose dialect "
        "'woofles' is not registered; expected an entry point of group "
        "'xdsl.universe' that brings it"
    )
    assert done.stderr == (
        "transom: note: TRANSOM_DISABLE_PLUGINS: no plug-in is named "
        "'wooflse.target'; did you mean 'woofles.target'?\n"
    )


LINE = f"broken.py:{BROKEN[: BROKEN.index('raise Runtime')].count(chr(10)) + 1}"
"""Where the module raises."""


CASES: dict[str, tuple[str, str, str, str]] = {
    "universe-dialect": (
        "xdsl.universe",
        "DIALECT",
        "clash",
        "is left out: dialect 'arith' is registered by distribution 'xdsl'",
    ),
    "universe-pass": (
        "xdsl.universe",
        "PASS",
        "clash",
        "is left out: pass 'convert-graph-to-tir' is registered by distribution "
        "'transom'",
    ),
    "universe-pass-name": (
        "xdsl.universe",
        "PASS_NAME",
        "broken",
        "has pass 'e-pass' under the name 'other-pass'; expected 'e-pass'",
    ),
    "universe-emitter": (
        "xdsl.universe",
        "EMITTER",
        "clash",
        "is left out: emitter 'llvm-ir' is registered by distribution 'transom'",
    ),
    "universe-reader": (
        "xdsl.universe",
        "READER",
        "clash",
        "is left out: reader 'onnx' is registered by distribution 'transom'",
    ),
    "universe-op": (
        "xdsl.universe",
        "OP",
        "clash",
        "brings dialect 'a' with op 'graph.stolen', a name of distribution 'transom'",
    ),
    "universe-attribute": (
        "xdsl.universe",
        "ATTRIBUTE",
        "clash",
        "brings dialect 'b' with attribute 'tir.stolen', a name of distribution "
        "'transom'",
    ),
    "universe-raises": (
        "xdsl.universe",
        "LOADS_NOT",
        "broken",
        "brings dialect 'c', which cannot be loaded: RuntimeError: no licence at "
        f"{LINE}",
    ),
    "universe-name": (
        "xdsl.universe",
        "OTHER_NAME",
        "broken",
        "brings dialect 'd', which is named 'target'",
    ),
    "universe-no-dialect": (
        "xdsl.universe",
        "NO_DIALECT",
        "broken",
        "brings dialect 'e', which is a 'int'",
    ),
    "universe-no-table": (
        "xdsl.universe",
        "NO_TABLE",
        "broken",
        "cannot be loaded: AttributeError: 'list' object has no attribute 'items'",
    ),
    "universe-none": (
        "xdsl.universe",
        "fails",
        "broken",
        "is not a 'Universe', but a 'function'",
    ),
    "universe-missing": (
        "xdsl.universe",
        "MISSING",
        "broken",
        "cannot be loaded: AttributeError: module 'broken' has no attribute 'MISSING'",
    ),
    "lonely.target": (
        "transom.targets",
        "Lonely",
        "broken",
        "has hooks of an attribute whose dialect 'lonely' is not registered; expected "
        "an entry point of group 'xdsl.universe' that brings it",
    ),
    "graph.target": (
        "transom.targets",
        "InGraph",
        "broken",
        "has hooks of an attribute that dialect 'graph' lacks",
    ),
    "graph.desc": (
        "transom.targets",
        "Desc",
        "clash",
        "is left out: attribute 'graph.desc' is of distribution 'transom'",
    ),
    "newer.target": (
        "transom.targets",
        "Newer",
        "wrong API version",
        "was written for API version 7 of hooks, but this transom has API version 1; "
        "install versions of both that fit",
    ),
    "llvm_cpu.target": (
        "transom.targets",
        "Again",
        "clash",
        "is left out: target 'llvm_cpu.target' is registered by distribution 'transom'",
    ),
    "conversions-newer": (
        "transom.conversions",
        "NEWER_CONVERSIONS",
        "wrong API version",
        "was written for API version 7 of hooks, but this transom has API version 1; "
        "install versions of both that fit",
    ),
    "graph": (
        "transom.evaluators",
        "BROKEN",
        "clash",
        "is left out: distribution 'transom' evaluates dialect 'graph'",
    ),
    "evaluators": (
        "transom.evaluators",
        "fails",
        "broken",
        "is not a 'Mapping', but a 'function'",
    ),
}
"""By name of a plug-in: its group, its value, its state and what is wrong with it."""


def test_what_is_wrong_is_listed(tmp_path: Path):
    groups: dict[str, dict[str, str]] = {}
    for name, (group, value, _, _) in CASES.items():
        groups.setdefault(group, {})[name] = value
    broken(tmp_path, groups)
    done = run_python(tmp_path, *TRANSOM, "plugins", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    listed: list[dict[str, Any]] = json.loads(done.stdout)
    assert listed == [
        {
            "name": name,
            "group": group,
            "value": f"broken:{value}",
            "distribution": "broken",
            "version": "1.0",
            "api_version": 7 if state == "wrong API version" else None,
            "state": state,
            "error": f"plug-in '{name}' of distribution 'broken' (broken:{value}) "
            f"{reason}",
        }
        for name, (group, value, state, reason) in sorted(CASES.items())
    ]


def test_tracebacks_are_shown_if_asked_for(tmp_path: Path):
    """Of an import that fails in a module further down."""
    modules = {"bad.hooks": "import bad.library\n", "bad.library": "\n1 // 0\n"}
    groups = {"transom.targets": {"bad.target": "bad.hooks:Target"}}
    install(tmp_path, "bad", groups, modules)
    (tmp_path / "bad/__init__.py").write_text("")
    plain = run_python(tmp_path, *TRANSOM, "plugins")
    assert (plain.returncode, plain.stderr) == (0, "")
    assert plain.stdout.endswith(
        "  broken\n    bad.hooks:Target cannot be loaded: ZeroDivisionError: integer "
        "division or modulo by zero at bad/library.py:2\n"
    )
    shown = run_python(tmp_path, *TRANSOM, "plugins", "--traceback")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.startswith(
        plain.stdout + "        Traceback (most recent call last):\n"
    )
    assert f'          File "{tmp_path}/bad/hooks.py", line 1, in <module>' in (
        shown.stdout
    )


def test_of_two_universes_the_first_stays(tmp_path: Path, woofles: Path, bark: Path):
    """By the order of their names; the message names both distributions."""
    install(tmp_path, "woofles-tools", WOOFLES_GROUPS, WOOFLES)
    groups = {
        "xdsl.universe": {"zebra": "woofles.dialect:UNIVERSE"},
        "transom.targets": {"woofles.target": "woofles.hooks:WooflesTarget"},
    }
    install(tmp_path, "zebra-tools", groups)
    done = run_python(tmp_path, *OPT, bark)
    assert (done.returncode, done.stderr) == (
        0,
        "transom-opt: warning: plug-in 'zebra' of distribution 'zebra-tools' "
        "(woofles.dialect:UNIVERSE) is left out: dialect 'woofles' is registered by "
        "distribution 'woofles-tools'\n",
    )
    strict = run_python(tmp_path, *OPT, bark, "--strict-plugins")
    assert (strict.returncode, strict.stdout) == (1, "")
    two = "(woofles.hooks:WooflesTarget) has the name of one of distribution"
    assert strict.stderr.splitlines()[:2] == [
        "transom-opt: error: plug-in 'woofles.target' of distribution 'woofles-tools' "
        f"{two} 'zebra-tools' (woofles.hooks:WooflesTarget)",
        "transom-opt: error: plug-in 'woofles.target' of distribution 'zebra-tools' "
        f"{two} 'woofles-tools' (woofles.hooks:WooflesTarget)",
    ]


# Programs go on.


def test_a_dialect_of_a_plugin_is_read(woofles: Path, bark: Path):
    done = run_python(woofles, *OPT, bark, "--strict-plugins")
    assert (done.returncode, done.stderr) == (0, "")
    assert "woofles.bark" in done.stdout


WARNING = (
    "plug-in 'x' of distribution 'broken' (broken:MISSING) cannot be loaded: "
    "AttributeError: module 'broken' has no attribute 'MISSING'\n"
)


@pytest.mark.parametrize(
    ("program", "args"),
    [
        (OPT, ()),
        (RUN, ("--input", "2xf32=1", "-q")),
        (OPT, ("--to=tensor",)),
        (REDUCE, ("-q", "--check", "true", "--expect-status", "0")),
    ],
)
def test_a_broken_universe_is_a_warning(
    tmp_path: Path, plain: Path, program: tuple[str, ...], args: tuple[str, ...]
):
    broken(tmp_path, {"xdsl.universe": {"x": "MISSING"}})
    name = program[1].rpartition(".")[2].replace("_", "-")
    done = run_python(tmp_path, *program, plain, *args)
    warnings = [line for line in done.stderr.splitlines() if "note:" not in line]
    assert done.returncode == 0
    assert warnings[0] + "\n" == f"{name}: warning: {WARNING}"
    strict = run_python(tmp_path, *program, plain, *args, "--strict-plugins")
    assert (strict.returncode, strict.stdout) == (1, "")
    assert strict.stderr == f"{name}: error: {WARNING}"


def test_broken_conversions_are_a_warning_where_they_would_join(
    tmp_path: Path, plain: Path
):
    broken(tmp_path, {"transom.conversions": {"x": "MISSING"}})
    assert run_python(tmp_path, *OPT, plain).stderr == ""
    lowered = run_python(tmp_path, *OPT, plain, "--to=tensor")
    assert lowered.returncode == 0
    assert f"transom-opt: warning: {WARNING}" in lowered.stderr


def test_from_python_it_is_a_warning_of_the_logger(tmp_path: Path):
    broken(tmp_path, {"xdsl.universe": {"x": "MISSING"}})
    code = "from transom.registry import new_context; new_context(), new_context()"
    done = run_python(tmp_path, "-c", code)
    assert (done.returncode, done.stderr) == (0, WARNING)


def test_a_disabled_plugin_is_not_there(tmp_path: Path, plain: Path):
    broken(tmp_path, {"xdsl.universe": {"x": "MISSING"}})
    for name in ("x", "broken"):
        done = run_python(
            tmp_path,
            *OPT,
            plain,
            "--strict-plugins",
            TRANSOM_DISABLE_PLUGINS=f"y, {name}",
        )
        assert (done.returncode, done.stderr) == (0, "")


def test_metadata_that_cannot_be_read(tmp_path: Path, woofles: Path, bark: Path):
    install(tmp_path, "woofles-tools", WOOFLES_GROUPS, WOOFLES)
    install(tmp_path, "garbled", {})
    (tmp_path / "garbled-1.0.dist-info" / "entry_points.txt").write_text("[a]\nb\n")
    done = run_python(tmp_path, *OPT, bark)
    assert done.returncode == 0
    assert done.stderr.startswith(
        "transom-opt: warning: plug-in '*' of distribution 'garbled' "
        "(entry_points.txt) cannot be loaded: "
    )
    assert done.stderr.count("\n") == 1


def test_a_distribution_without_a_name(tmp_path: Path, plain: Path):
    broken(tmp_path, {"xdsl.universe": {"x": "MISSING"}})
    (tmp_path / "broken-1.0.dist-info" / "METADATA").unlink()
    done = run_python(tmp_path, *OPT, plain)
    assert done.stderr == "transom-opt: warning: " + WARNING.replace(
        "distribution 'broken'", "distribution 'unknown'"
    )


# What is asked for.


def test_a_dialect_that_is_asked_for(tmp_path: Path):
    broken(tmp_path, {"xdsl.universe": {"x": "LOADS_NOT"}})
    file = tmp_path / "a.mlir"
    file.write_text("func.func @f() {\n  c.bark\n  func.return\n}\n")
    done = run_python(tmp_path, *OPT, "a.mlir", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == (
        "a.mlir:2:3: error: plug-in 'x' of distribution 'broken' (broken:LOADS_NOT) "
        "brings dialect 'c', which cannot be loaded: RuntimeError: no licence at "
        f"{LINE}"
    )


def test_a_pass_that_is_asked_for(tmp_path: Path, plain: Path):
    universe = "from xdsl.universe import Universe\nU = Universe(all_passes={'x-y': 1})"
    install(tmp_path, "x", {"xdsl.universe": {"x": "x:U"}}, {"x": universe})
    assert run_python(tmp_path, *OPT, plain).stderr == ""
    done = run_python(tmp_path, *OPT, plain, "-p", "x-y")
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == (
        "transom-opt: error: plug-in 'x' of distribution 'x' (x:U) brings pass 'x-y', "
        "which cannot be loaded: TypeError: 'int' object is not callable"
    )


TARGETED = """\
target.device @woof {targets = [#woofles.target]}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = graph.relu %x : tensor<2xf32>
  func.return %y : tensor<2xf32>
}
"""


REGION = """\
target.device @woof {targets = [#woofles.target]}
func.func private @region(%x: tensor<2xf32>) -> tensor<2xf32>
    attributes {target.for = #target.place<@woof, #woofles.target, ?>} {
  %y = graph.relu %x : tensor<2xf32>
  func.return %y : tensor<2xf32>
}
"""


def test_a_target_that_is_asked_for(tmp_path: Path):
    hooks = WOOFLES["woofles.hooks"] + "    api_version = 7\n"
    modules = {**WOOFLES, "woofles.hooks": hooks}
    install(tmp_path, "woofles-tools", WOOFLES_GROUPS, modules)
    file = tmp_path / "a.mlir"
    file.write_text(TARGETED)
    assert run_python(tmp_path, *OPT, "a.mlir", cwd=tmp_path).returncode == 0
    file.write_text(
        "module attributes {target.config = #target.config<host = @woof>} {\n"
        f"{TARGETED}}}\n"
    )
    refused = (
        "error: plug-in 'woofles.target' of distribution 'woofles-tools' "
        "(woofles.hooks:WooflesTarget) was written for API version 7 of hooks, but "
        "this transom has API version 1; install versions of both that fit"
    )
    done = run_python(tmp_path, *OPT, "a.mlir", "--to=tensor", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == f"a.mlir:2:1: {refused}"
    file.write_text(REGION)
    alone = run_python(
        tmp_path, *OPT, "a.mlir", "-p", "convert-graph-to-tir", cwd=tmp_path
    )
    assert alone.returncode == 1
    assert alone.stderr.splitlines()[0] == f"a.mlir:4:3: {refused}"
