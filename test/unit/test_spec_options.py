"""Options of emitters and readers: what is not one, and values of another type."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from transom.dialects import plugins
from transom.dialects.plugins import Plugin, PluginError, State
from transom.passes.pipeline import PipelineError
from transom.tools.spec_options import check_specs


@dataclass(frozen=True)
class Emitter(Target):
    name = "woof"

    line_width: int = 80

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write("woof")


def check(emitter: str, factory: Callable[..., Any] = lambda: Emitter) -> None:
    args = argparse.Namespace(target=emitter, frontend=None)
    check_specs(args, {"woof": factory}, {})


@pytest.mark.parametrize("spec", ["woof", "woof{line-width=3}", "woof{line_width=3}"])
def test_good(spec: str) -> None:
    check(spec)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            "woof{line-widht=3}",
            "argument -t/--target: unknown option 'line-widht' of 'woof'; "
            "did you mean 'line_width'?",
        ),
        ("woof{line-width=wide}", "argument -t/--target: 'woof': Incompatible types"),
    ],
)
def test_wrong(spec: str, message: str) -> None:
    with pytest.raises(PipelineError) as info:
        check(spec)
    assert str(info.value).startswith(message)


def test_what_cannot_be_checked_is_left_to_its_use() -> None:
    def broken() -> type[Target]:
        plugin = Plugin(plugins.UNIVERSE, "x", "x:X", "y", "1")
        raise PluginError(plugin, State.BROKEN, "cannot be loaded")

    check("woof{x=1}", broken)


def test_a_function_takes_what_it_likes() -> None:
    def write(module: ModuleOp, output: IO[str]) -> None:
        output.write("woof")

    check("woof{x=1}", write)
