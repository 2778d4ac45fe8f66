"""
`--memory-report=FILE`: a map of the memory of a planned module, as a page or as JSON.

The page is one file without scripts: per pool a drawing with time to the right and
addresses upward, a rectangle per life of a buffer, and what lives at each point as a
line. The rest is in the tooltips and in a table.
"""

import json
from collections.abc import Iterator, Sequence
from html import escape

from xdsl.dialects.builtin import ModuleOp

from transom.dialects.diagnostics import OpError
from transom.passes.memory.plan_report import (
    PlanReport,
    ReportedBuffer,
    ReportedPool,
    plan_reports,
)
from transom.passes.pipeline import PipelineError

SUFFIXES = (".html", ".json")

WIDTH, HEIGHT = 1040, 420
LEFT, TOP, BOTTOM = 84, 10, 28

STYLE = """
body { font: 14px/1.45 system-ui, sans-serif; margin: 24px; color: #1c2733;
       max-width: 1160px }
h1 { font-size: 22px } h2 { font-size: 17px; margin-top: 32px }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
td, th { padding: 3px 12px 3px 0; text-align: left; border-bottom: 1px solid #e3e8ee }
td.n, th.n { text-align: right }
svg { background: #fbfcfd; border: 1px solid #d6dde5; display: block; margin: 8px 0 }
svg text { font: 11px system-ui, sans-serif; fill: #44535f }
rect.b { stroke: #ffffff; stroke-width: .6 }
rect.b:hover { stroke: #111; stroke-width: 1.6 }
text.name { fill: #10202c; pointer-events: none }
.live { fill: none; stroke: #b3261e; stroke-width: 1.4; pointer-events: none }
.grid { stroke: #dfe5eb } .peak { stroke: #b3261e; stroke-dasharray: 3 3 }
.key { color: #b3261e }
"""


def check_report_file(path: str) -> None:
    """Raise `PipelineError` unless the suffix of a file says what to write."""
    if not path.endswith(SUFFIXES):
        kinds = " or ".join(SUFFIXES)
        raise PipelineError(
            f"--memory-report: expected a file ending in {kinds}, but got '{path}'"
        )


def memory_report(module: ModuleOp, path: str) -> str:
    """What to write to a file. Raises `OpError` if the module has no plan."""
    reports = plan_reports(module)
    if not reports:
        raise OpError(
            module,
            "expected a memory plan to report, as a module has at phase 'planned'",
        )
    if path.endswith(".json"):
        return json.dumps([r.as_json() for r in reports], indent=1) + "\n"
    return _page(reports)


def _page(reports: Sequence[PlanReport]) -> str:
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8"><title>Memory plan</title>',
        f"<style>{STYLE}</style></head><body><h1>Memory plan</h1>",
    ]
    for report in reports:
        parts += _program(report)
    parts.append("</body></html>")
    return "\n".join(parts) + "\n"


def _program(report: PlanReport) -> Iterator[str]:
    yield f"<h2>@{escape(report.program)}</h2>"
    yield "<table><tr><th>pool</th><th>memory</th>"
    for title in ("buffers", "bytes", "lower bound", "gap", "capacity"):
        yield f'<th class="n">{title}</th>'
    yield "<th>proved</th></tr>"
    for pool in report.pools:
        gap = 0.0 if not pool.size else max(0, pool.size - pool.bound) / pool.size
        capacity = "" if pool.capacity is None else f"{pool.capacity:,}"
        memory = "host" if pool.memory is None else f"@{escape(pool.memory)}"
        yield f"<tr><td>@{escape(pool.name)}</td><td>{memory}</td>"
        for text in (
            str(len(pool.buffers)),
            f"{pool.size:,}",
            f"{pool.bound:,}",
            f"{gap:.1%}",
            capacity,
        ):
            yield f'<td class="n">{text}</td>'
        yield f"<td>{'optimal' if pool.is_optimal else 'feasible'}</td></tr>"
    yield "</table>"
    for title, sizes in (
        ("constants", report.constants),
        ("inputs and outputs, which the caller has", report.arguments),
    ):
        if sizes:
            total = sum(sizes.values())
            yield f"<p>{total:,} bytes of {title} ({len(sizes)}).</p>"
    for pool in report.pools:
        yield from _map(pool, report.points)


def _map(pool: ReportedPool, points: Sequence[str]) -> Iterator[str]:
    yield (
        f"<h2>@{escape(pool.name)}</h2><p>Time runs to the right, addresses upward; "
        'the <span class="key">red line</span> is what lives at each point.</p>'
    )
    x = WIDTH / max(1, len(points))
    y = HEIGHT / max(1, pool.size)
    yield (
        f'<svg width="{LEFT + WIDTH + 10}" height="{TOP + HEIGHT + BOTTOM}" '
        f'role="img" aria-label="memory map of {escape(pool.name)}">'
    )
    for quarter in range(5):
        offset = pool.size * quarter // 4
        line = TOP + HEIGHT - offset * y
        yield (
            f'<line class="grid" x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{line:.1f}" '
            f'y2="{line:.1f}"/><text x="{LEFT - 6}" y="{line + 4:.1f}" '
            f'text-anchor="end">{offset:,}</text>'
        )
    for number, buffer in enumerate(pool.buffers):
        yield from _rectangles(number, buffer, points, x, y)
    peak = LEFT + (pool.peak_point + 0.5) * x
    yield (
        f'<line class="peak" x1="{peak:.1f}" x2="{peak:.1f}" y1="{TOP}" '
        f'y2="{TOP + HEIGHT}"><title>most lives at {escape(points[pool.peak_point])}'
        "</title></line>"
    )
    steps = [
        f"{LEFT + (point + side) * x:.1f},{TOP + HEIGHT - live * y:.1f}"
        for point, live in enumerate(pool.live)
        for side in (0, 1)
    ]
    yield f'<polyline class="live" points="{" ".join(steps)}"/>'
    base = TOP + HEIGHT + 18
    yield f'<text x="{LEFT}" y="{base}">{escape(points[0])}</text>'
    yield (
        f'<text x="{LEFT + WIDTH}" y="{base}" text-anchor="end">{len(points)} points'
        "</text></svg>"
    )
    yield from _table(pool)


def _rectangles(
    number: int, buffer: ReportedBuffer, points: Sequence[str], x: float, y: float
) -> Iterator[str]:
    hue = number * 137 % 360  # neighbours get hues far from each other
    top = TOP + HEIGHT - (buffer.offset + buffer.size) * y
    height = max(buffer.size * y, 0.8)
    for start, end in buffer.lives:
        width = (end - start) * x
        left = LEFT + start * x
        tooltip = (
            f"%{buffer.name} in @{buffer.function}\n{buffer.type}\n"
            f"{buffer.size:,} bytes at {buffer.offset:,}\n"
            f"points {start} to {end - 1}: {points[start]} … {points[end - 1]}"
        )
        if buffer.location is not None:
            tooltip += f"\n{buffer.location}"
        yield (
            f'<rect class="b" x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" '
            f'height="{height:.1f}" fill="hsl({hue} 55% 72%)">'
            f"<title>{escape(tooltip)}</title></rect>"
        )
        label = f"%{buffer.name}"
        if height >= 13 and width >= 6.5 * len(label) + 6:
            yield (
                f'<text class="name" x="{left + 4:.1f}" y="{top + 11.5:.1f}">'
                f"{escape(label)}</text>"
            )


def _table(pool: ReportedPool) -> Iterator[str]:
    yield "<details><summary>All buffers</summary><table><tr><th>buffer</th>"
    yield '<th>function</th><th>type</th><th class="n">offset</th>'
    yield '<th class="n">bytes</th><th>lives at points</th></tr>'
    for buffer in sorted(pool.buffers, key=lambda b: (b.offset, b.lives)):
        lives = ", ".join(f"{start} to {end - 1}" for start, end in buffer.lives)
        yield (
            f"<tr><td>%{escape(buffer.name)}</td><td>@{escape(buffer.function)}</td>"
            f"<td>{escape(buffer.type)}</td>"
            f'<td class="n">{buffer.offset:,}</td><td class="n">{buffer.size:,}</td>'
            f"<td>{lives}</td></tr>"
        )
    yield "</table></details>"
