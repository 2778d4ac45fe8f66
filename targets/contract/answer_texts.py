"""
Answers of hooks as texts, to compare them.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import cast

from xdsl.ir import Operation
from xdsl.passes import ModulePass

from transom.lowering.conversion import ConversionPattern
from transom.passes.graph_patterns.terms import kind_name
from transom.passes.pipeline import format_pass
from transom.targets.hooks import Claim, PatternClaim, Reference, Step


def text_of_answer(answer: object) -> str:
    """What two answers must agree in. Functions count by their names."""
    match answer:
        case ModulePass():
            return format_pass(answer)
        case Step():
            parts = (answer.requires, answer.provides, answer.before)
            return f"{answer.pipeline}: {', '.join(map(text_of_answer, parts))}"
        case Claim():
            return f"{kind_name(answer.root)}: {answer.label}"
        case PatternClaim():
            return f"{answer.pattern}: {answer.label}"
        case ConversionPattern():
            return f"{answer.name}, benefit {answer.benefit}"
        case Reference():
            parts = (answer.ops, answer.externs, answer.artifacts)
            return "; ".join(map(text_of_answer, parts))
        case type():
            return answer.__qualname__
        case Operation() | str():
            return str(answer)
        case Mapping():
            items = cast("Mapping[object, object]", answer).items()
            texts = (f"{text_of_answer(k)} = {text_of_answer(v)}" for k, v in items)
            return f"{{{', '.join(texts)}}}"
        case AbstractSet():
            members = cast("AbstractSet[object]", answer)
            return f"{{{', '.join(sorted(map(text_of_answer, members)))}}}"
        case list() | tuple():
            items = cast("list[object] | tuple[object, ...]", answer)
            return f"[{', '.join(map(text_of_answer, items))}]"
        case _ if callable(answer):
            return getattr(answer, "__qualname__", type(answer).__qualname__)
        case _:
            return str(answer)
