"""
The modes of a conversion.
"""

from collections.abc import Iterable
from typing import Any, TypeAlias

from xdsl.ir import Operation

from transom.dialects.collection import rare_collection
from transom.lowering.conversion.engine import Engine
from transom.lowering.conversion.pattern import ConversionPattern, PatternSet
from transom.lowering.conversion.report import (
    AuditError,
    ConversionError,
    ConversionReport,
)
from transom.lowering.conversion.target import ConversionTarget
from transom.lowering.conversion.type_converter import TypeConverter
from transom.passes.statistics import Statistic

Patterns: TypeAlias = "Iterable[ConversionPattern[Any]] | PatternSet"

CONVERTED = Statistic("converted", "ops replaced by a conversion")

DEFAULT_BUDGET = 10_000_000
"""Rewrites after which a conversion is taken for one that does not end."""


def apply_full_conversion(
    root: Operation,
    target: ConversionTarget,
    patterns: Patterns,
    converter: TypeConverter | None = None,
    *,
    budget: int = DEFAULT_BUDGET,
    audit: bool = False,
) -> ConversionReport:
    """
    Convert all that `root` holds so that nothing is left that is not legal.

    What the target does not mention is illegal if the target is closed. With `audit`,
    losing a discardable attribute is an error. Raises `ConversionError`, `BudgetError`
    and `AuditError`; then, and whatever a pattern raises, nothing has changed.
    """
    return _convert(root, target, patterns, converter, target.closed, budget, audit)


def apply_partial_conversion(
    root: Operation,
    target: ConversionTarget,
    patterns: Patterns,
    converter: TypeConverter | None = None,
    *,
    budget: int = DEFAULT_BUDGET,
    audit: bool = False,
) -> ConversionReport:
    """
    Convert so that nothing explicitly illegal is left.

    Ops that the target does not mention are converted where a pattern takes them, and
    else stay. Otherwise as `apply_full_conversion`.
    """
    return _convert(root, target, patterns, converter, False, budget, audit)


def analyze_conversion(
    root: Operation,
    target: ConversionTarget,
    patterns: Patterns,
    converter: TypeConverter | None = None,
    *,
    budget: int = DEFAULT_BUDGET,
) -> ConversionReport:
    """What a full conversion would do, or why it would fail; nothing is changed."""
    engine = _engine(root, target, patterns, converter, target.closed, budget)
    start = engine.state.mark()
    with rare_collection():
        try:
            engine.run()
        finally:
            engine.state.rollback(start)
    return engine.report


def _convert(
    root: Operation,
    target: ConversionTarget,
    patterns: Patterns,
    converter: TypeConverter | None,
    closed: bool,
    budget: int,
    audit: bool,
) -> ConversionReport:
    engine = _engine(root, target, patterns, converter, closed, budget)
    report, state = engine.report, engine.state
    start = state.mark()
    with rare_collection():
        try:
            engine.run()
            if report.failures:
                raise ConversionError(report)
            if audit and report.dropped:
                raise AuditError(report)
        except BaseException:
            state.rollback(start)
            raise
        state.commit()
    CONVERTED.add(report.converted.total())
    return report


def _engine(
    root: Operation,
    target: ConversionTarget,
    patterns: Patterns,
    converter: TypeConverter | None,
    closed: bool,
    budget: int,
) -> Engine:
    index = patterns if isinstance(patterns, PatternSet) else PatternSet(patterns)
    return Engine(root, target, index, converter, closed, budget)
