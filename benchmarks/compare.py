"""
transom against NumPy, onnxruntime, IREE and TVM, where they are installed: times, and
the errors of what they compute.

```sh
python -m benchmarks.compare                       # all cases, on one thread
python -m benchmarks.compare 'matmul-512*' light   # some cases and groups
python -m benchmarks.compare light --threads 1,2 --json figures.json
python -m benchmarks.compare light --compile 3     # also what compiling costs
```

The times of one thread are processor time, those of more the wall's; both are medians
of some rounds in which the candidates take turns. What compiling costs is processor
time of all processes, with an empty cache and with a full one, and private memory. The
exit status is 1 if a candidate fails, or computes something else than the reference.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from math import exp, log
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.cases import CASES, Case, UnknownCase, select
from benchmarks.compilation import Compilation, compile_case
from benchmarks.measurement import Timing, measure_case
from benchmarks.page import parts_of, to_html
from benchmarks.peers import installed
from benchmarks.record import (
    OtherCommit,
    data_of,
    earlier_records,
    merged,
    record_of,
    record_of_compilations,
    write_whole,
)

TRANSOM = "transom"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.compare",
        description=(__doc__ or "").strip(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("cases", nargs="*", metavar="case", help="names and groups, with * and ?")
    add("--list", action="store_true", help="name the cases")
    add("--threads", default="1", metavar="N,…", type=_numbers, help="default: 1")
    add("--rounds", default=9, metavar="K", type=int, help="default: %(default)s")
    add("--peers", metavar="NAME,…", help="take only these (default: all installed)")
    add("--compile", default=0, metavar="K", type=int, help="also compile, K times")
    add("--json", metavar="FILE", type=Path, help="write all figures")
    add("--add", action="store_true", help="to those that the file has already")
    add("--html", metavar="FILE", type=Path, help="write a page with plots")
    add("--note", default="", metavar="TEXT", help="what the page says of the run")
    result = parser.parse_args()
    try:
        result.selected = select(result.cases)
    except UnknownCase as e:
        parser.error(str(e))
    known = installed()
    result.names = result.peers.split(",") if result.peers else list(known)
    if unknown := [name for name in result.names if name not in known]:
        parser.error(f"'{unknown[0]}' is not installed; there are {', '.join(known)}")
    if result.add and result.json is None:
        parser.error("--add needs --json")
    try:
        result.earlier = earlier_records(result.json) if result.add else []
    except OtherCommit as e:
        parser.error(str(e))
    return result


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def main() -> int:
    options = arguments()
    if options.list:
        for case in CASES:
            print(f"{case.name:30}{case.group}")
        return 0
    print_head(options.names)
    records: list[dict[str, Any]] = []
    is_good = True
    for case in options.selected:
        timings = measure_case(case, options.names, options.threads, options.rounds)
        for threads, found in timings.items():
            print_row(case, threads, found, options.names)
            is_good &= all(timing.is_right for timing in found.values())
            records.append(record_of(case, threads, found))
        if options.compile:
            made, size = compile_case(case, options.names, options.compile)
            print_compilations(made, size)
            is_good &= all(compilation.failure is None for compilation in made.values())
            records.append(record_of_compilations(case, made, size))
        write_files(options, records)
    print_means(records, options.names)
    return 0 if is_good else 1


def write_files(
    options: argparse.Namespace, records: Sequence[Mapping[str, Any]]
) -> None:
    """Write what there is by now, so that a long run that is ended leaves something."""
    data = data_of(merged(options.earlier, records), options.names, options.note)
    if options.json is not None:
        write_whole(options.json, json.dumps(data, indent=1) + "\n")
    if options.html is not None:
        write_whole(options.html, to_html(parts_of(data)))


def print_head(names: Sequence[str]) -> None:
    """Say what the columns are."""
    cells = "".join(f"{name + ' ms':>16}{'error':>9}" for name in names)
    ratios = "".join(f"{'/' + name:>13}" for name in names if name != TRANSOM)
    print(f"{'case':30}{'thr':>4}{cells}{ratios}")


def print_row(
    case: Case, threads: int, timings: Mapping[str, Timing], names: Sequence[str]
) -> None:
    """Print the times and errors of a case, and the ratios to the peers."""
    cells = ""
    for name in names:
        timing = timings.get(name)
        time = timing.median if timing else None
        error = timing.error if timing else None
        cells += f"{1000 * time:16.3f}" if time is not None else f"{'-':>16}"
        cells += f"{error:9.1e}" if error is not None else f"{'':9}"
    ratios = "".join(
        f"{_text(ratio(timings, name)):>13}" for name in names if name != TRANSOM
    )
    print(f"{case.name:30}{threads:4}{cells}{ratios}", flush=True)
    for name, timing in timings.items():
        if timing.failure is not None:
            print(f"    {name} failed: {timing.failure}", flush=True)
        elif not timing.is_right:
            print(f"    {name}: the error is too large", flush=True)


def print_compilations(made: Mapping[str, Compilation], size: int) -> None:
    """Print what it cost to compile a case."""
    for name, one in made.items():
        if one.failure is not None:
            print(f"    compile, {name} failed: {one.failure}", flush=True)
        elif one.memory is not None:
            cold = _seconds("cold", one.cold, one.cold_user, one.cold_spread)
            warm = _seconds("warm", one.warm, one.warm_user, one.warm_spread)
            print(
                f"    compile, {name}: {cold}{warm}memory {one.memory / 1e6:.0f} MB, "
                f"{one.memory / size:.3g} x the model",
                flush=True,
            )


def _seconds(
    what: str, total: float | None, user: float | None, spread: float | None
) -> str:
    """Seconds of processor time, if there are any."""
    if total is None or user is None:
        return ""
    varied = "" if spread is None else f", spread {100 * spread:.0f} %"
    return f"{what} {total:.2f} s ({user:.2f} user{varied}), "


def ratio(timings: Mapping[str, Timing], peer: str) -> float | None:
    """transom's time over that of a peer."""
    times = [timings[n].median for n in (TRANSOM, peer) if n in timings]
    if len(times) < 2 or times[0] is None or times[1] is None:
        return None
    return times[0] / times[1]


def _text(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def print_means(records: Sequence[Mapping[str, Any]], names: Sequence[str]) -> None:
    """Print geometric means of the ratios, by group and number of threads."""
    found: dict[tuple[str, int, str], list[float]] = {}
    for record in records:
        for peer, value in record.get("ratios", {}).items():
            key = (record["group"], record["threads"], peer)
            found.setdefault(key, []).append(value)
    for (group, threads, peer), values in found.items():
        if len(values) > 1:
            middle = exp(mean(log(value) for value in values))
            print(
                f"{group}, {threads} thread{'s' if threads > 1 else ''}: "
                f"{middle:.3g} x {peer} (geometric mean of {len(values)}, "
                f"worst {max(values):.3g})"
            )


if __name__ == "__main__":
    sys.exit(main())
