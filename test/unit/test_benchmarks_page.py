"""The page of benchmarks: what it says of figures, and that it is that of its file."""

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from benchmarks import record
from benchmarks.charts import Row, ratio_chart
from benchmarks.page import IMAGES, page_of, parts_of, to_html, to_markdown

DOCS = Path(__file__).parents[2] / "docs"
SVG = "{http://www.w3.org/2000/svg}"


def timed(case: str, group: str, own: float | None, peer: float) -> dict[str, Any]:
    """What is recorded of a case with one peer."""
    found: dict[str, Any] = {"onnxruntime": {"seconds": peer, "spread": 0.1}}
    found["transom"] = {"seconds": own, "spread": 0.02, "error": 3e-7}
    if own is None:
        found["transom"] = {"seconds": None, "spread": None, "failure": "no such op"}
    return {
        "case": case,
        "group": group,
        "flops": 4_000_000_000 if group == "matmul" else 0,
        "threads": 1,
        "candidates": {name: found[name] for name in ("transom", "onnxruntime")},
        "ratios": {"onnxruntime": own / peer} if own is not None else {},
    }


COMPILED = {
    "case": "vgg19",
    "group": "light",
    "model_bytes": 574_000_000,
    "compilations": {
        "transom": {
            "cold": 7.25,
            "cold_user": 6.0,
            "cold_spread": 0.03,
            "warm": 1.234,
            "memory": 287_000_000,
            "failure": None,
        },
        "iree": {"cold": None, "warm": None, "memory": None, "failure": "no such op"},
    },
}

DATA: dict[str, Any] = {
    "format": 1,
    "date": "2030-01-02 03:04 UTC",
    "commit": "0123456789ab",
    "machine": {
        "system": "Linux x86_64",
        "processor": "Some CPU",
        "cpu": "znver4",
        "vector_bytes": 64,
        "l1_bytes": 32768,
        "l2_bytes": 1048576,
        "cores": 2,
        "load": 0.5,
    },
    "versions": {"python": "3.11.7", "onnxruntime": "1.32.0"},
    "note": "Nothing else ran.",
    "records": [
        timed("matmul-1024", "matmul", 0.05, 0.1),
        timed("matmul-512", "matmul", 0.02, 0.01),
        timed("vgg19", "light", None, 0.3),
        COMPILED,
    ],
}


def page() -> tuple[str, dict[str, str]]:
    return to_markdown(parts_of(DATA), IMAGES)


def test_the_page_says_where_its_figures_come_from():
    text, _ = page()
    assert (
        "Measured on 2030-01-02 03:04 UTC at commit `0123456789ab`, on 2 cores of Some "
        "CPU (znver4, vectors of 64 bytes, caches of 32 and 1024 KiB per core), Linux "
        "x86_64, with python 3.11.7, onnxruntime 1.32.0. Load average when it ended: "
        "0.5. Nothing else ran."
    ) in text


@pytest.mark.parametrize(
    "line",
    [
        "| matmul-1024 | 50.0 | 100 | 80.0 | 0.50 | 3e-07 | 2 % |",
        "| matmul-512 | 20.0 | 10.0 | 200 | 2.00 | 3e-07 | 2 % |",
        "| vgg19 | failed | 300 |  |  |  |",
        "| vgg19 | transom | 7.25 | 6.00 | 3 % | 1.23 |  |  | 287 | 0.50 |",
        "| vgg19 | iree | failed |  |  | failed |  |  |  |  |",
        "transom's times, geometric means: 1.00 of onnxruntime.",
    ],
)
def test_tables(line: str):
    assert line in page()[0].splitlines()


def test_ways_to_run_candidates_are_told_of_those_that_ran():
    assert "without the tuning" not in page()[0]
    with_tvm = {**DATA, "versions": {"tvm": "0.27.0"}}
    assert "without the tuning" in to_markdown(parts_of(with_tvm), IMAGES)[0]


def test_transom_in_f32_is_told_of_without_a_version_of_its_own():
    half = timed("f16-matmul-512", "half", 0.02, 0.01)
    half["candidates"]["f32"] = {"seconds": 0.02, "spread": 0.1}
    text, _ = to_markdown(parts_of({**DATA, "records": [half]}), IMAGES)
    assert "`f32` is transom with the numbers" in text
    assert "`f32` is transom" not in page()[0]


def test_small_ratios_keep_two_digits():
    data = {**DATA, "records": [timed("matmul-512", "matmul", 0.003, 1.0)]}
    text, images = to_markdown(parts_of(data), IMAGES)
    assert "| 3.00 | 1000 | 1333 | 0.003 |" in text
    assert ">0.003</text>" in images["matmul-1.svg"]


def test_a_group_without_ratios_has_no_chart():
    assert list(page()[1]) == ["matmul-1.svg"]


def test_images_are_those_that_the_text_shows():
    text, images = page()
    assert all(f"({IMAGES}/{name})" in text for name in images)


def test_bars_start_at_one():
    rows = [Row("fast", {"p": 0.25}), Row("slow & more", {"p": 4.0, "q": 1.0})]
    root = ElementTree.fromstring(ratio_chart("<title>", rows))
    bars = [r for r in root.iter(f"{SVG}rect") if r.get("height") == "11"][2:]
    lefts = [float(bar.get("x", "")) for bar in bars]
    rights = [float(bar.get("x", "")) + float(bar.get("width", "")) for bar in bars]
    assert rights[0] == lefts[1] == lefts[2]
    assert rights[0] - lefts[0] == rights[1] - lefts[1]
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert {"<title>", "slow & more", "0.25", "4.00"} <= set(texts)


def test_bars_far_from_one_are_cut():
    rows = [Row("near", {"p": 0.9, "q": 1.1}), Row("far", {"p": 0.01, "q": 40.0})]
    root = ElementTree.fromstring(ratio_chart("cut", rows))
    bars = [r for r in root.iter(f"{SVG}rect") if r.get("height") == "11"][2:]
    widths = [float(bar.get("width", "")) for bar in bars]
    assert widths[2] == widths[3] == 230 and min(widths[:2]) > 15
    assert len([*root.iter(f"{SVG}path")]) == 2
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert {"0.01", "40.00", "0.25", "4"} <= set(texts)


def test_a_mean_over_some_cases_says_so():
    one = timed("matmul-512", "matmul", 0.02, 0.01)
    one["ratios"] = {**one["ratios"], "iree": 0.5}
    data = {**DATA, "records": [timed("matmul-1024", "matmul", 0.05, 0.1), one]}
    text, _ = to_markdown(parts_of(data), IMAGES)
    means = "transom's times, geometric means: 1.00 of onnxruntime, "
    assert f"{means}0.50 of iree (1 of 2 cases)." in text.splitlines()


def test_what_is_transom_itself_has_no_version():
    data = {**DATA, "versions": {"python": "3.11.7", "f32": "0.1.0"}}
    assert "with python 3.11.7. Load" in to_markdown(parts_of(data), IMAGES)[0]


def test_a_page_in_one_file_holds_its_images():
    text = to_html(parts_of(DATA))
    assert "<svg" in text and "<td>matmul-1024</td>" in text and "<img" not in text


def test_the_page_in_the_tree_is_that_of_its_figures():
    """`python -m benchmarks.page docs/benchmarks.json` makes it."""
    text, images = page_of(json.loads((DOCS / "benchmarks.json").read_text()))
    assert (DOCS / "benchmarks.md").read_text() == text
    kept = {path.name: path.read_text() for path in (DOCS / IMAGES).iterdir()}
    assert kept == images


def test_versions_are_those_of_all_who_took_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of earlier runs too; transom in f32 has transom's."""
    found = {"transom": "1", "f32": "1", "onnxruntime": "2", "numpy": "3", "iree": "4"}
    monkeypatch.setattr(record, "installed", lambda: found)
    earlier = timed("matmul-512", "matmul", 0.02, 0.01)
    data = record.data_of([earlier, COMPILED], ["transom", "f32", "numpy"], "")
    versions = {name: v for name, v in data["versions"].items() if name != "python"}
    assert versions == {name: v for name, v in found.items() if name != "f32"}
