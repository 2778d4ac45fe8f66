"""
Bar charts as SVG: how many times as long transom takes as others do.
"""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from math import log2
from typing import NamedTuple

COLOURS = ("#2f6f9f", "#d08a2e", "#6a9a5b", "#8d6cab")
INK, FAINT, PAPER = "#222222", "#c8c8c8", "#ffffff"
FONT = "font-family='Helvetica, Arial, sans-serif' font-size='12'"

LABELS, PLOT, FIGURES = 190, 460, 60
"""Widths of the columns: names, bars, numbers."""
BAR, GAP, HEAD, FOOT = 13, 9, 58, 26

FURTHEST = 2
"""The power of two at which bars are cut: a few that are far from 1 would leave no room
for what is near it."""


class Row(NamedTuple):
    """A case, with the ratio to each peer that took part."""

    label: str
    ratios: Mapping[str, float]


def ratio_chart(title: str, rows: Sequence[Row]) -> str:
    """
    A group of bars for each row, on a logarithmic axis: bars to the left of 1 are where
    transom is faster. What is cut has a gap at its end.
    """
    peers = list(dict.fromkeys(peer for row in rows for peer in row.ratios))
    low, high = _range([value for row in rows for value in row.ratios.values()])
    scale = PLOT / (high - low)

    def x(value: float) -> float:
        return LABELS + (min(max(log2(value), low), high) - low) * scale

    height = HEAD + sum(BAR * len(row.ratios) + GAP for row in rows) + FOOT
    width = LABELS + PLOT + FIGURES
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' "
        f"width='{width}' height='{height}' {FONT} fill='{INK}'>",
        f"<rect width='{width}' height='{height}' fill='{PAPER}'/>",
        f"<text x='8' y='20' font-size='14' font-weight='bold'>{escape(title)}</text>",
        *_legend(peers),
        *_axis(low, high, height - FOOT, x),
    ]
    top = HEAD
    for row in rows:
        middle = top + BAR * len(row.ratios) / 2 + 4
        parts.append(
            f"<text x='{LABELS - 8}' y='{middle:.1f}' text-anchor='end'>"
            f"{escape(row.label)}</text>"
        )
        for peer, value in row.ratios.items():
            parts += _bar(x(1), x(value), top, value, COLOURS[peers.index(peer)])
            if not low <= log2(value) <= high:
                parts.append(_cut(x(value), 1 if value < 1 else -1, top))
            top += BAR
        top += GAP
    one = f"<line x1='{x(1):.1f}' x2='{x(1):.1f}' y1='{HEAD - 8}' y2='{height - FOOT}'"
    return "\n".join([*parts, f"{one} stroke='{INK}'/>", "</svg>", ""])


def _range(values: Sequence[float]) -> tuple[int, int]:
    """Powers of two that hold what is not cut, and 1 with some room on both sides."""
    logarithms = [log2(value) for value in values]
    low = min(-1, *(int(value // 1) for value in logarithms))
    high = max(1, *(-int(-value // 1) for value in logarithms))
    return max(low, -FURTHEST), min(high, FURTHEST)


def _legend(peers: Sequence[str]) -> list[str]:
    parts: list[str] = []
    for number, peer in enumerate(peers):
        left = LABELS + 130 * number
        parts.append(
            f"<rect x='{left}' y='28' width='11' height='11' "
            f"fill='{COLOURS[number]}'/><text x='{left + 16}' y='38'>"
            f"time / {escape(peer)}</text>"
        )
    return parts


def _axis(low: int, high: int, bottom: float, x: Callable[[float], float]) -> list[str]:
    parts: list[str] = []
    for power in range(low, high + 1):
        at = x(2.0**power)
        parts.append(
            f"<line x1='{at:.1f}' x2='{at:.1f}' y1='{HEAD - 8}' y2='{bottom}' "
            f"stroke='{FAINT}'/><text x='{at:.1f}' y='{bottom + 16}' "
            f"text-anchor='middle'>{2.0**power:g}</text>"
        )
    return parts


def _bar(one: float, end: float, top: float, value: float, colour: str) -> list[str]:
    left, width = min(one, end), max(abs(end - one), 1)
    return [
        f"<rect x='{left:.1f}' y='{top}' width='{width:.1f}' height='{BAR - 2}' "
        f"fill='{colour}'/>",
        f"<text x='{max(one, end) + 4:.1f}' y='{top + BAR - 3}' font-size='10'>"
        f"{value:{'.2f' if value >= 0.1 else '.2g'}}</text>",
    ]


def _cut(end: float, inwards: int, top: float) -> str:
    """A slanted gap near the end of a bar that goes on."""
    left = end + 10 * inwards
    return (
        f"<path d='M{left - 3:.1f} {top + BAR - 1}L{left + 3:.1f} {top - 1}' "
        f"stroke='{PAPER}' stroke-width='3'/>"
    )
