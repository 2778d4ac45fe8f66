"""
The pipelines that hooks return: they can be printed, run by hand, and replayed.
"""

from collections.abc import Mapping, Sequence

from xdsl.context import Context
from xdsl.passes import ModulePass

from transom.dialects.diagnostics import did_you_mean
from transom.passes.pipeline import (
    PassFactory,
    Pipeline,
    PipelineError,
    parse_pipeline,
)
from transom.targets.contract.asking import Question
from transom.targets.contract.rules import (
    NOT_PARSED,
    NOT_REGISTERED,
    OWN_FILTER,
    PARSED_OTHER,
    REGISTERED_OTHER,
    WRONG_ANCHOR,
)


class PipelineRules:
    """What a pipeline of the hook that a question is for must be."""

    def __init__(
        self,
        registered: Mapping[str, PassFactory],
        ctx: Context,
        question: Question,
    ) -> None:
        self.registered = registered
        self.ctx = ctx
        self.error = question.error

    def check(self, pipeline: Pipeline, anchors: Sequence[str]) -> None:
        """Raise `HooksError` unless a pipeline is right, at one of some anchors."""
        if pipeline.anchor not in anchors:
            expected = " or ".join(f"'{anchor}'" for anchor in anchors)
            anchor = pipeline.anchor
            raise self.error(WRONG_ANCHOR, expected=expected, anchor=anchor)
        for pass_ in pipeline.passes():
            self._check_registered(pass_)
        if not pipeline.shown.sees_all:
            raise self.error(OWN_FILTER, text=pipeline)
        text = str(pipeline)
        try:
            parsed = parse_pipeline(text, self.registered, self.ctx)
        except PipelineError as e:
            raise self.error(NOT_PARSED, text=text, message=e.message) from e
        if parsed != pipeline:
            raise self.error(PARSED_OTHER, text=text, parsed=parsed)

    def _check_registered(self, pass_: ModulePass) -> None:
        name = pass_.name
        if name not in self.registered:
            near = did_you_mean(name, self.registered)
            raise self.error(NOT_REGISTERED, name=name, near=near)
        registered, found = self.registered[name](), type(pass_)
        if registered is not found:
            raise self.error(
                REGISTERED_OTHER,
                name=name,
                registered=registered.__qualname__,
                found=found.__qualname__,
            )
