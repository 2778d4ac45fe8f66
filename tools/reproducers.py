"""
Reproducers: a module and the pipeline that does something to it, in one file.

```text
builtin.module {…}

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(func.func(cse),tir-choose-schedule{vector-bytes=64})",
      disable_threading: true,
      verify_each: true
    }
  }
#-}
```

The form is that of `mlir-opt`; all options are spelled out. A reproducer is run again
before it is announced, and what is announced is whether it does the same.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from io import StringIO
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.printer import Printer

from transom.dialects.diagnostics import OpError, handling
from transom.dialects.file_resources import ExternalResources, Resource
from transom.dialects.parser import parse_ir
from transom.dialects.verifier import verify_module
from transom.passes.pipeline import (
    PassFactory,
    PassObserver,
    Pipeline,
    PipelineError,
    parse_pipeline,
)
from transom.tools.ir_printing import PrintOptions, ir_text
from transom.tools.pass_observers import CurrentPass, VerifyEach

SECTION = "mlir_reproducer"

EXACTLY = PrintOptions(debuginfo=True)
"""Locations too: messages name them, and paths of weights are relative to them."""

_FORM = """{module}

{{-#
  external_resources: {{
    mlir_reproducer: {{
      pipeline: {pipeline},
      disable_threading: true,
      verify_each: {verify_each}
    }}
  }}
#-}}
"""


@dataclass(frozen=True)
class Reproducer:
    """What is to be done with the module of a file."""

    pipeline: str
    verify_each: bool = True

    def with_module(self, module: str) -> str:
        """The text of the file."""
        quoted = StringIO()
        Printer(quoted).print_string_literal(self.pipeline)
        verify_each = "true" if self.verify_each else "false"
        return _FORM.format(
            module=module, pipeline=quoted.getvalue(), verify_each=verify_each
        )


def reproducer_in(resources: ExternalResources, module: ModuleOp) -> Reproducer:
    """The reproducer among the resources of a file. Raises `OpError`."""
    section = resources.sections.get(SECTION)
    if section is None:
        raise OpError(
            module,
            f"expected a section '{SECTION}' in the external resources of the file, "
            "as '--generate-reproducer' writes it",
        )
    where = resources.locations[SECTION]
    entries: dict[str, Resource] = {"verify_each": True, **section}
    for name, kind, noun in (
        ("pipeline", str, "a string"),
        ("verify_each", bool, "'true' or 'false'"),
    ):
        if not isinstance(entries.get(name), kind):
            raise OpError(where, f"expected {noun} for '{name}' of '{SECTION}'")
    return Reproducer(str(entries["pipeline"]), bool(entries["verify_each"]))


class Failure(NamedTuple):
    """What went wrong, told apart from other failures."""

    pass_name: str | None
    kind: str
    message: str

    def __str__(self) -> str:
        where = "" if self.pass_name is None else f"pass '{self.pass_name}' failed: "
        kind = "" if self.kind == OpError.__name__ else f"{self.kind}: "
        return f"{where}{kind}{self.message}"

    def is_like(self, other: "Failure | str") -> bool:
        """Whether another run fails in the same way, maybe outside of a pass."""
        return isinstance(other, Failure) and self[1:] == other[1:]


_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")


def failure_of(error: BaseException, pass_name: str | None) -> Failure:
    """The signature of an error that came up in a pass, or after all of them."""
    message = error.message if isinstance(error, OpError) else str(error)
    first = message.strip().split("\n")[0]
    return Failure(pass_name, type(error).__name__, _ADDRESS.sub("0x…", first))


def replay(
    text: str, ctx: Context, passes: Mapping[str, PassFactory]
) -> "Failure | str":
    """
    Do what a reproducer says: how it fails, or the text of the module that comes out.

    `ctx` gets the dialects that the text names; give it a context of its own.
    """
    current = CurrentPass()
    with handling(lambda diagnostic: None):
        try:
            resources = ExternalResources()
            module = parse_ir(ctx, text, "<reproducer>", resources=resources)
            reproducer = reproducer_in(resources, module)
            verify_module(module)
            pipeline = parse_pipeline(reproducer.pipeline, passes, ctx)
            observer = Replayed(current, reproducer.verify_each)
            pipeline.apply(ctx, module, observer)
            verify_module(module)
            return ir_text(module)
        except Exception as e:  # the point is to see any
            return failure_of(e, current.name)


@dataclass(frozen=True)
class Replayed(PassObserver):
    """Knows the current pass, and verifies after each if so wanted."""

    current: CurrentPass
    verify_each: bool

    def before(self, pass_: ModulePass, op: Operation) -> None:
        self.current.before(pass_, op)

    def after(self, pass_: ModulePass, op: Operation) -> None:
        if self.verify_each:
            VerifyEach().after(pass_, op)
        self.current.after(pass_, op)


def verdict(wanted: "Failure | str", again: "Failure | str") -> str:
    """What to say of a reproducer, by what the run and its replay came to."""
    if isinstance(wanted, Failure):
        if wanted.is_like(again):
            return "; it fails in the same way when run again"
        if isinstance(again, Failure):
            return f", but when run again it fails otherwise: {again}"
        return ", but when run again it ends without an error"
    if isinstance(again, Failure):
        return f", but when run again it fails: {again}"
    if wanted == again:
        return "; it gives the same module when run again"
    return ", but when run again it gives another module"


def pipeline_of(
    reproducer: Reproducer,
    resources: ExternalResources,
    ctx: Context,
    passes: Mapping[str, PassFactory],
) -> Pipeline:
    """The pipeline of a reproducer that was read. Raises `OpError`."""
    try:
        return parse_pipeline(reproducer.pipeline, passes, ctx)
    except PipelineError as e:
        raise OpError(resources.locations[SECTION], str(e)) from None
