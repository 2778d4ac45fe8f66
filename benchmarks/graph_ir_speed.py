"""
How fast `graph` IR is read, checked and written, against xDSL's own dialects.

Builds a module of `graph` ops and one of `arith` and `tensor` ops on tensors, with as
many ops and attributes and the same types, once with plain tensor types and once with
rich encodings. The first is read by transom's parser, which stamps locations, the other
by xDSL's. Prints microseconds per op and the ratio of the sums; ends with status 1 if a
ratio is above `LIMIT`.

    python benchmarks/graph_ir_speed.py [OPS]
"""

import gc
import sys
import time
from collections.abc import Callable
from io import StringIO
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects import arith, builtin, func, tensor
from xdsl.parser import Parser
from xdsl.printer import Printer

from transom.dialects import graph
from transom.dialects.parser import parse_ir
from transom.dialects.target import Target

LIMIT = 1.3
REPETITIONS = 5
OPS = 10_000
DIALECTS = (
    builtin.Builtin,
    arith.Arith,
    func.Func,
    tensor.Tensor,
    Target,
    graph.Graph,
)
SHAPES = ("16x16x32x32", "16x16", "8x128x128", "?x256", "64x64x3x3", "32x32")
RICH = (
    "#graph.desc<layout = #graph.layout<block = [1, 16], border = [1, 1]>, "
    "place = #target.place<@cpu, ?, @dram>>"
)

XDSL_LINES = (
    "%{r} = arith.addf %{a}, %{b} fastmath<fast> : {t}",
    "%{r} = arith.mulf %{a}, %{b} : {t}",
    "%{r} = arith.maximumf %{a}, %{b} : {t}",
    "%{r} = tensor.cast %{a} : {t} to {t}",
    "%{r} = arith.subf %{a}, %{b} : {t}",
)
GRAPH_LINES = (
    "%{r} = graph.softmax %{a} axis 1 : {t}",
    "%{r} = graph.mul %{a}, %{b} : {t}",
    "%{r} = graph.maximum %{a}, %{b} : {t}",
    "%{r} = graph.relu %{a} : {t}",
    "%{r} = graph.sub %{a}, %{b} : {t}",
)


class Times(NamedTuple):
    """Seconds of processor time."""

    parse: float
    verify: float
    print: float


def module_text(lines: tuple[str, ...], ops: int, encoding: str) -> str:
    """A function of straight-line code on tensors of different shapes."""
    suffix = f", {encoding}" if encoding else ""
    types = [f"tensor<{shape}xf32{suffix}>" for shape in SHAPES]
    arguments = ", ".join(f"%x{i} : {type}" for i, type in enumerate(types))
    last = [f"x{i}" for i in range(len(types))]
    text = [f"func.func @f({arguments}) {{"]
    for k in range(ops):
        i = k % len(types)
        line = lines[k % len(lines)]
        text.append("  " + line.format(r=f"v{k}", a=last[i], b=f"x{i}", t=types[i]))
        last[i] = f"v{k}"
    return "\n".join((*text, "  func.return", "}"))


def parse(context: Context, text: str) -> builtin.ModuleOp:
    """The module of a text by xDSL's parser, which gives ops no location."""
    return Parser(context, text).parse_module()


def measure(text: str, parse: Callable[[Context, str], builtin.ModuleOp]) -> Times:
    """Parse, verify and print a text once."""
    context = Context()
    for dialect in DIALECTS:
        context.load_dialect(dialect)
    gc.collect()
    start = time.process_time()
    module = parse(context, text)
    parsed = time.process_time()
    module.verify()
    verified = time.process_time()
    Printer(StringIO()).print_op(module)
    return Times(parsed - start, verified - parsed, time.process_time() - verified)


def best(text: str, parse: Callable[[Context, str], builtin.ModuleOp]) -> Times:
    """The fastest of several runs."""
    return min((measure(text, parse) for _ in range(REPETITIONS)), key=sum)


def main() -> int:
    ops = int(sys.argv[1]) if len(sys.argv) > 1 else OPS
    failed = False
    print(f"{'module':<16}{'parse':>8}{'verify':>8}{'print':>8}{'sum':>8}  us per op")
    for name, encoding in (("plain", ""), ("rich", RICH)):
        sums: list[float] = []
        for dialect, lines, parser in (
            ("xdsl", XDSL_LINES, parse),
            ("graph", GRAPH_LINES, parse_ir),
        ):
            times = best(module_text(lines, ops, encoding), parser)
            sums.append(sum(times))
            columns = "".join(
                f"{seconds / ops * 1e6:8.1f}" for seconds in (*times, sum(times))
            )
            print(f"{dialect + ' ' + name:<16}{columns}")
        ratio = sums[1] / sums[0]
        failed |= ratio > LIMIT
        print(f"{name}: {ratio:.2f}x (limit {LIMIT}x)")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
