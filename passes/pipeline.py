"""
Nested pipelines of passes: `graph-fold-constants,func.func(canonicalize,cse)`.

A `Pipeline` is a list of passes and pipelines at an *anchor*, the kind of op that each
of its passes gets. Its text parses back to itself; every pass in it is registered.

An anchor may say whose functions its passes see:
`builtin.module{without=[#npu.target<lanes = 8>]}(tir-fuse-nests)` runs a pass on all of
the module but what a target owns, `func.func{only=[#npu.target<lanes = 8>]}(cse)` on
the graph functions that it owns.
"""

import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import GreedyRewritePatternApplier, PatternRewriteWalker

from transom.dialects.diagnostics import Diagnostic, did_you_mean
from transom.dialects.plugins import PluginError
from transom.passes.function_pass import FunctionPass
from transom.passes.owned_functions import EVERYTHING, FunctionFilter, owner_of
from transom.passes.pass_options import (
    Cursor,
    PipelineError,
    format_fields,
    format_pass,
    parse_fields,
    parse_options,
    spell_out_pass,
)

__all__ = [
    "ANCHORS",
    "PassObserver",
    "PassObservers",
    "PassRegistry",
    "Pipeline",
    "PipelineError",
    "format_pass",
    "parse_pipeline",
]

PassFactory = Callable[[], type[ModulePass]]
"""Imports a pass when it is first used."""

MODULE = "builtin.module"
FUNCTION = "func.func"
ANCHORS = (MODULE, FUNCTION, "tir.func", "llvm.func")
"""Ops at which a pipeline may be anchored. Those but the module are functions."""


class PassObserver:
    """Sees each pass before and after it ran on an anchor op. Does nothing itself."""

    def before(self, pass_: ModulePass, op: Operation) -> None:
        """Called before a pass runs on `op`."""

    def after(self, pass_: ModulePass, op: Operation) -> None:
        """Called after a pass ran on `op` without an error."""

    def failed(self, pass_: ModulePass, op: Operation) -> None:
        """Called after a pass raised; the error goes on."""

    def noted(self, note: Diagnostic) -> None:
        """Called with what a user may want to know, such as passes left out."""


@dataclass(frozen=True)
class PassObservers(PassObserver):
    """Several observers, asked in order."""

    observers: tuple[PassObserver, ...]

    def before(self, pass_: ModulePass, op: Operation) -> None:
        for observer in self.observers:
            observer.before(pass_, op)

    def after(self, pass_: ModulePass, op: Operation) -> None:
        for observer in self.observers:
            observer.after(pass_, op)

    def failed(self, pass_: ModulePass, op: Operation) -> None:
        for observer in self.observers:
            observer.failed(pass_, op)

    def noted(self, note: Diagnostic) -> None:
        for observer in self.observers:
            observer.noted(note)


@dataclass(frozen=True)
class Pipeline:
    """
    Passes and pipelines, run in order on each op of the kind `anchor`.

    Raises `PipelineError` for an item that cannot run at the anchor.
    """

    anchor: str
    items: "tuple[ModulePass | Pipeline, ...]" = ()
    shown: FunctionFilter = EVERYTHING
    """Whose functions the passes see."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", tuple(self.items))
        if self.anchor not in ANCHORS:
            raise PipelineError(_unknown_anchor(self.anchor))
        for item in self.items:
            if (problem := _anchor_problem(self.anchor, item)) is not None:
                raise PipelineError(problem)

    def apply(
        self, ctx: Context, op: Operation, observer: PassObserver | None = None
    ) -> None:
        """
        Run on `op` if it is of the anchor's kind, else on each op of that kind in it.

        Functions without a body are passed over.
        """
        observer = PassObserver() if observer is None else observer
        if op.name != self.anchor:
            for inner in [o for o in op.walk() if o.name == self.anchor]:
                if self.shown.sees_all or self.shown.sees(owner_of(inner)):
                    self._apply_to(ctx, inner, observer)
        elif isinstance(op, ModuleOp):
            with self.shown.applied(op):
                self._apply_to(ctx, op, observer)
        else:
            self._apply_to(ctx, op, observer)

    def _apply_to(self, ctx: Context, op: Operation, observer: PassObserver) -> None:
        if self.anchor != MODULE and not any(r.blocks for r in op.regions):
            return
        for item in self.items:
            if isinstance(item, Pipeline):
                item.apply(ctx, op, observer)
                continue
            observer.before(item, op)
            try:
                _run(item, ctx, op)
            except BaseException:
                observer.failed(item, op)
                raise
            observer.after(item, op)

    def passes(self) -> Iterator[ModulePass]:
        """All passes, nested ones too, in order."""
        for item in self.items:
            if isinstance(item, Pipeline):
                yield from item.passes()
            else:
                yield item

    def __str__(self) -> str:
        """Text that `parse_pipeline` reads back; the module's anchor is implied."""
        wraps_one = len(self.items) == 1 and isinstance(self.items[0], Pipeline)
        if self.anchor == MODULE and not wraps_one and self.shown.sees_all:
            return self._inner_text(format_pass)
        return self._text(format_pass)

    def spelled_out(self) -> str:
        """The same with its anchor, and all options of all passes."""
        return self._text(spell_out_pass)

    def _text(self, format: Callable[[ModulePass], str]) -> str:
        return f"{self.anchor}{format_fields(self.shown)}({self._inner_text(format)})"

    def _inner_text(self, format: Callable[[ModulePass], str]) -> str:
        return ",".join(
            item._text(format) if isinstance(item, Pipeline) else format(item)
            for item in self.items
        )


class PassRegistry(Mapping[str, PassFactory]):
    """
    Passes by name, imported when first used.

    A value is a factory of the pass's class or its `module:Class`.
    """

    def __init__(self, *tables: Mapping[str, str | PassFactory]) -> None:
        self._passes: dict[str, str | PassFactory] = {}
        for table in tables:
            for name, value in table.items():
                self.register(name, value)

    def register(self, name: str, value: str | PassFactory) -> None:
        """Add a pass. Raises `ValueError` if the name is taken."""
        if name in self._passes:
            raise ValueError(f"pass '{name}' is registered twice")
        self._passes[name] = value

    def __getitem__(self, name: str) -> PassFactory:
        value = self._passes[name]
        if isinstance(value, str):
            return lambda: pkgutil.resolve_name(value)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._passes)

    def __len__(self) -> int:
        return len(self._passes)


def parse_pipeline(
    text: str,
    registry: Mapping[str, PassFactory],
    ctx: Context | None = None,
) -> Pipeline:
    """
    Read a pipeline, anchored at the module unless the text is one nested pipeline.

    `ctx` has the dialects of the attributes among the options. Raises `PipelineError`
    with a caret into the text.
    """
    if ctx is None:
        ctx = Context()
        ctx.load_dialect(Builtin)
    parser = _PipelineParser(Cursor(text, ctx), registry)
    items = parser.parse_items(MODULE)
    if not parser.cursor.at_end():
        parser.cursor.fail(f"expected ',', but got {parser.cursor.found()}")
    if len(items) == 1 and isinstance(items[0], Pipeline):
        return items[0]
    return Pipeline(MODULE, items)


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_MAX_NESTING = 32


@dataclass
class _PipelineParser:
    """`item (, item)*`, where an item is `pass{options}` or `anchor(items)`."""

    cursor: Cursor
    registry: Mapping[str, PassFactory]
    depth: int = 0

    def parse_items(self, anchor: str) -> tuple[ModulePass | Pipeline, ...]:
        """The items up to the end or a closing parenthesis, maybe none."""
        items: list[ModulePass | Pipeline] = []
        self.cursor.skip_space()
        if self.cursor.at_end() or self.cursor.next_is(")"):
            return ()
        while True:
            items.append(self._parse_item(anchor))
            self.cursor.skip_space()
            if not self.cursor.take_character(","):
                return tuple(items)
            self.cursor.skip_space()

    def _parse_item(self, anchor: str) -> ModulePass | Pipeline:
        start = self.cursor.position
        name = self.cursor.take(_NAME)
        if name is None:
            self.cursor.fail(f"expected a pass, but got {self.cursor.found()}")
        if name in ANCHORS or self.cursor.next_is("("):
            item = self._parse_nested(name, start)
        else:
            item = parse_options(self.cursor, self._load(name, start), start)
        if (problem := _anchor_problem(anchor, item)) is not None:
            self.cursor.fail(problem, start)
        return item

    def _parse_nested(self, name: str, start: int) -> Pipeline:
        if name not in ANCHORS:
            self.cursor.fail(_unknown_anchor(name), start)
        if self.depth >= _MAX_NESTING:
            self.cursor.fail(f"expected at most {_MAX_NESTING} nested anchors", start)
        shown = parse_fields(self.cursor, FunctionFilter, f"anchor '{name}'", start)
        if not self.cursor.take_character("("):
            self.cursor.fail(f"expected '(', but got {self.cursor.found()}")
        self.depth += 1
        items = self.parse_items(name)
        self.depth -= 1
        if not self.cursor.take_character(")"):
            self.cursor.fail(f"expected ',' or ')', but got {self.cursor.found()}")
        return Pipeline(name, items, shown)

    def _load(self, name: str, start: int) -> type[ModulePass]:
        if name not in self.registry:
            near = did_you_mean(name, self.registry)
            self.cursor.fail(f"unknown pass '{name}'{near}", start)
        try:
            cls = self.registry[name]()
        except PluginError as e:
            self.cursor.fail(str(e), start)
        except Exception as e:  # plug-in boundary: any error of an import
            self.cursor.fail(f"pass '{name}' cannot be loaded: {e!r}", start)
        if cls.name != name:
            self.cursor.fail(
                f"pass '{name}' is registered with a class named '{cls.name}'", start
            )
        return cls


def _unknown_anchor(name: str) -> str:
    return f"unknown anchor '{name}'{did_you_mean(name, ANCHORS)}"


def _anchor_problem(anchor: str, item: ModulePass | Pipeline) -> str | None:
    """Why an item cannot run at an anchor, or None."""
    if anchor == MODULE:
        return None
    if isinstance(item, Pipeline):
        if item.anchor == anchor:
            return None
        return f"'{item.anchor}' cannot be nested in '{anchor}'"
    if item.name in _ON_ANY_OP:
        return None
    if isinstance(item, FunctionPass) and anchor == FUNCTION:
        return None
    runs_on = f"'{MODULE}'"
    if isinstance(item, FunctionPass):
        runs_on += f" or '{FUNCTION}'"
    return f"pass '{item.name}' runs on {runs_on}, not on '{anchor}'"


def _run(pass_: ModulePass, ctx: Context, op: Operation) -> None:
    """Run a pass that fits the kind of the op."""
    if isinstance(op, ModuleOp):
        pass_.apply(ctx, op)
    elif isinstance(op, FuncOp) and isinstance(pass_, FunctionPass):
        pass_.apply_to(ctx, op)
    else:
        _ON_ANY_OP[pass_.name](ctx, op)


def _canonicalize(ctx: Context, op: Operation) -> None:
    from xdsl.transforms.canonicalize import CanonicalizationRewritePattern
    from xdsl.transforms.dead_code_elimination import region_dce

    pattern = GreedyRewritePatternApplier(
        [CanonicalizationRewritePattern()], ctx=ctx, folding_enabled=True
    )
    for region in op.regions:
        PatternRewriteWalker(pattern, post_walk_func=region_dce).rewrite_region(region)


def _cse(ctx: Context, op: Operation) -> None:
    from xdsl.transforms.common_subexpression_elimination import cse

    cse(op)


def _dce(ctx: Context, op: Operation) -> None:
    from xdsl.transforms.dead_code_elimination import region_dce

    for region in op.regions:
        region_dce(region)


def _licm(ctx: Context, op: Operation) -> None:
    from xdsl.transforms.loop_invariant_code_motion import LoopInvariantCodeMotion

    for region in op.regions:
        PatternRewriteWalker(
            LoopInvariantCodeMotion(),
            apply_recursively=False,
            walk_regions_first=True,
        ).rewrite_region(region)


_ON_ANY_OP: dict[str, Callable[[Context, Operation], None]] = {
    "canonicalize": _canonicalize,
    "cse": _cse,
    "dce": _dce,
    "licm": _licm,
}
"""xDSL's passes that are not tied to a module, for function anchors."""
