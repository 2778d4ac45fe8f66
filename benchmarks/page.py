"""
A page of figures and plots from the JSON that `compare` writes.

```sh
python -m benchmarks.page docs/benchmarks.json   # docs/benchmarks.md and its images
```
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import exp, log
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.charts import Row, ratio_chart

Record = Mapping[str, Any]

TITLES = {
    "matmul": "Matrix products",
    "conv": "Convolutions",
    "depthwise": "Depthwise convolutions",
    "rows": "Row-wise and element-wise math",
    "memory": "Memory-bound ops",
    "light": "Light models",
    "half": "f16 and bf16",
    "winograd": "Convolutions by Winograd's method, if it is allowed",
    "classifier": "A classifier of text directions",
}
"""The groups of cases, in the order of the page."""

METHOD = """\
Every candidate reads the same ONNX model; transom, NumPy and onnxruntime write to
arrays that exist already. The inputs are random, and so are the weights, of He scale;
models end before their last softmax. On one thread all candidates take turns in one
process, in batches of at least 20 ms, without garbage collection, and a time is the
median of some rounds, of processor time. On more threads it is the wall's, and each
candidate has a process of its own, which is stopped while others run. *Error* is the
largest difference from the reference (onnxruntime, or else NumPy), as a part of the
largest value; a run fails in which one is above 2e-5, or in f16 and bf16 above the
distance of two neighbouring numbers (of four, for a model). *Spread* is the distance of
the quartiles of transom's times, as a part of the median. A candidate that takes
seconds has fewer rounds than the others. A cell is empty where a candidate has no such
case, or was not measured; a mean is over the cases that have a ratio. Light models are
those of the package `onnx`.

In plots bars to the left of 1 are where transom is faster. Those that go on beyond 1/4
or 4 have a gap at the end; the number is that of the whole."""

HOW = """\
`python -m benchmarks.compare` takes such figures in a checkout, of what is installed;
`pip install -e '.[peers]'` installs all of it."""

NOTES = {
    "iree": """\
IREE is told to optimise most (`--iree-opt-level=O3`), to pack what is multiplied
(`--iree-opt-data-tiling`), to compute convolutions with channels last
(`--iree-preprocessing-pass-pipeline`), and that code is for this CPU; it reads older
models as of opset 17, and allocates its outputs in each call. On one thread its device
is `local-sync`, else `local-task`.""",
    "tvm": """\
TVM compiles by its default pipeline for this CPU, without the tuning that its speed
depends on; its outputs come from a pool.""",
    "f32": """\
`f32` is transom with the numbers of a case in f16 or bf16, in f32. Of bf16 onnxruntime
1.32 has a cast, a transpose and a layer normalisation on CPUs and none of the other
ops; NumPy computes in f32 there.""",
}
"""How candidates are run that have ways to choose from."""


@dataclass(frozen=True)
class Heading:
    text: str
    level: int = 2


@dataclass(frozen=True)
class Paragraph:
    text: str


@dataclass(frozen=True)
class Table:
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Chart:
    name: str
    """Of the image's file."""
    svg: str
    says: str


SMALL_MODEL = 1_000_000
"""Bytes of a model whose compilation takes memory for other reasons than its size."""

Part = Heading | Paragraph | Table | Chart


def parts_of(data: Mapping[str, Any]) -> Iterator[Part]:
    """What a page says."""
    yield Heading("Benchmarks", 1)
    yield Paragraph(summary(data))
    yield Paragraph(METHOD)
    yield Paragraph(HOW)
    ran = {name for r in data["records"] for name in r.get("candidates", ())}
    for name, note in NOTES.items():
        if name in ran or name in data["versions"]:
            yield Paragraph(note)
    timed: list[Record] = [r for r in data["records"] if "ratios" in r]
    for group, title in TITLES.items():
        for threads in sorted({r["threads"] for r in timed if r["group"] == group}):
            chosen = [
                r for r in timed if r["group"] == group and r["threads"] == threads
            ]
            suffix = "" if threads == 1 else f", {threads} threads"
            yield Heading(title + suffix)
            yield from times_of(f"{group}-{threads}", title + suffix, chosen)
    compiled: list[Record] = [r for r in data["records"] if "compilations" in r]
    if compiled:
        yield Heading("Compiling")
        yield Paragraph(
            "Processor seconds of all processes, with Python's imports, whose bytecode "
            "exists, and the reading of the model: medians, the part of them that is "
            "not the system's, and the distance of the slowest run from the fastest. "
            "Memory is the most that was private to all processes at once."
        )
        yield compile_table(compiled)


def summary(data: Mapping[str, Any]) -> str:
    """Where and when the figures were taken."""
    machine, versions = data["machine"], data["versions"]
    caches = [machine[f"{level}_bytes"] // 1024 for level in ("l1", "l2")]
    others = {name: version for name, version in versions.items() if name != "f32"}
    listed = ", ".join(f"{name} {version}" for name, version in others.items())
    note = f" {data['note']}" if data.get("note") else ""
    return (
        f"Measured on {data['date']} at commit `{data['commit']}`, on "
        f"{machine['cores']} cores of {machine['processor']} ({machine['cpu']}, "
        f"vectors of {machine['vector_bytes']} bytes, caches of "
        f"{caches[0]} and {caches[1]} KiB per core), {machine['system']}, with "
        f"{listed}. Load average when it ended: {machine['load']}.{note}"
    )


def times_of(name: str, title: str, records: Sequence[Record]) -> Iterator[Part]:
    """A chart and a table of the times of a group."""
    rows = [Row(r["case"], r["ratios"]) for r in records if r["ratios"]]
    if rows:
        peers = list(dict.fromkeys(peer for row in rows for peer in row.ratios))
        means = [_mean_of(peer, rows) for peer in peers]
        says = f"{title}: geometric means of the times {', '.join(means)}"
        yield Chart(name, ratio_chart(title, rows), says)
        if len(rows) > 1:
            yield Paragraph(f"transom's times, geometric means: {', '.join(means)}.")
    yield times_table(records)


def times_table(records: Sequence[Record]) -> Table:
    """Times, errors and ratios of some cases."""
    names = list(dict.fromkeys(n for r in records for n in r["candidates"]))
    peers = [name for name in names if name != "transom"]
    has_flops = any(r["flops"] for r in records)
    head = ["case", *(f"{name}, ms" for name in names)]
    head += ["GFLOP/s"] if has_flops else []
    head += [*(f"/ {peer}" for peer in peers), "error", "spread"]
    rows: list[list[str]] = []
    for record in records:
        found = record["candidates"]
        own = found.get("transom", {})
        seconds = own.get("seconds")
        row = [record["case"]]
        row += [_result(found.get(name, {}), "seconds", 1000) for name in names]
        if has_flops:
            speed = record["flops"] / seconds if seconds and record["flops"] else None
            row.append(_number(speed, 1e-9))
        row += [_number(record["ratios"].get(peer)) for peer in peers]
        error, spread = own.get("error"), own.get("spread")
        row.append("" if error is None else f"{error:.0e}")
        row.append(_percent(spread))
        rows.append(row)
    return Table(head, rows)


def compile_table(records: Sequence[Record]) -> Table:
    """Times and memory of compilations."""
    rows: list[list[str]] = []
    for record in records:
        for name, one in record["compilations"].items():
            memory = one["memory"]
            size = record["model_bytes"]
            part = memory / size if memory and size >= SMALL_MODEL else None
            row = [record["case"], name]
            for kind in ("cold", "warm"):
                row += [_result(one, kind), _number(one.get(f"{kind}_user"))]
                row.append(_percent(one.get(f"{kind}_spread")))
            rows.append([*row, _number(memory, 1e-6), _number(part)])
    head = ["case", "candidate", "cold, s", "user", "spread", "warm, s", "user"]
    return Table([*head, "spread", "memory, MB", "/ model's size"], rows)


def _mean_of(peer: str, rows: Sequence[Row]) -> str:
    """The geometric mean of the ratios to a peer, and of how many, if not of all."""
    found = [row.ratios[peer] for row in rows if peer in row.ratios]
    part = f" ({len(found)} of {len(rows)} cases)" if len(found) < len(rows) else ""
    return f"{_number(exp(mean(map(log, found))))} of {peer}{part}"


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.0f} %"


def _result(found: Record, key: str, factor: float = 1) -> str:
    """A number of a candidate that may have failed."""
    return "failed" if found.get("failure") else _number(found.get(key), factor)


def _number(value: float | None, factor: float = 1) -> str:
    """Three digits, or more in front of the point; two of what is below 0.1."""
    if value is None:
        return ""
    scaled = value * factor
    if abs(scaled) >= 100:
        return f"{scaled:.0f}"
    if abs(scaled) < 0.1:
        return f"{scaled:.2g}"
    return f"{scaled:.1f}" if abs(scaled) >= 10 else f"{scaled:.2f}"


def to_markdown(parts: Iterator[Part], images: str) -> tuple[str, dict[str, str]]:
    """The text of a page, and its images by the name of their file in a folder."""
    blocks: list[str] = []
    files: dict[str, str] = {}
    for part in parts:
        match part:
            case Heading(text, level):
                blocks.append(f"{'#' * level} {text}")
            case Paragraph(text):
                blocks.append(text)
            case Chart(name, svg, says):
                files[f"{name}.svg"] = svg
                blocks.append(f"![{says}]({images}/{name}.svg)")
            case Table(head, rows):
                ruler = ["---", *("---:" for _ in head[1:])]
                lines = [f"| {' | '.join(row)} |" for row in (head, ruler, *rows)]
                blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n", files


STYLE = """\
body { font-family: Helvetica, Arial, sans-serif; max-width: 60em; margin: 2em auto; }
table { border-collapse: collapse; } th, td { padding: 0.2em 0.7em; text-align: right; }
th:first-child, td:first-child { text-align: left; }
tr { border-bottom: 1px solid #ddd; }
"""


def to_html(parts: Iterator[Part]) -> str:
    """A page in one file."""
    blocks: list[str] = []
    for part in parts:
        match part:
            case Heading(text, level):
                blocks.append(f"<h{level}>{escape(text)}</h{level}>")
            case Paragraph(text):
                blocks.append(f"<p>{escape(text)}</p>")
            case Chart(_, svg, _):
                blocks.append(svg)
            case Table(head, rows):
                lines = [
                    "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row)
                    for tag, row in (("th", head), *(("td", row) for row in rows))
                ]
                body = "\n".join(f"<tr>{line}</tr>" for line in lines)
                blocks.append(f"<table>\n{body}\n</table>")
    return (
        "<!doctype html>\n<meta charset='utf-8'>\n<title>Benchmarks</title>\n"
        f"<style>\n{STYLE}</style>\n" + "\n".join(blocks) + "\n"
    )


IMAGES = "images/benchmarks"


def page_of(data: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """The page in `docs`, and its images."""
    text, images = to_markdown(parts_of(data), IMAGES)
    return f"<!-- generated by python -m benchmarks.page -->\n\n{text}", images


def main() -> int:
    (path,) = map(Path, sys.argv[1:])
    text, images = page_of(json.loads(path.read_text()))
    folder = path.parent / IMAGES
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.svg"):
        old.unlink()
    for name, svg in images.items():
        (folder / name).write_text(svg)
    path.with_suffix(".md").write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
