"""Texts whose loops are written out, for which LLVM's passes have nothing to do."""

from pathlib import Path
from typing import Any

import pytest

from transom.lowering.emit_llvm.written_out import MANY, is_written_out
from transom.machine_code import MOST, Machine
from transom.runtime import jit


def block(name: str, vectors: int = 0, scalars: int = 0, to: str = "") -> str:
    """A block with some operations, and a branch to others or the end."""
    lines = [f"  %v{name}{n} = fmul <8 x float> %a, %b" for n in range(vectors)]
    lines += [f"  %s{name}{n} = fmul float %c, %d" for n in range(scalars)]
    targets = to.split()
    match targets:
        case []:
            end = "  ret void"
        case [one]:
            end = f"  br label %{one}"
        case [yes, no]:
            end = f"  br i1 %c, label %{yes}, label %{no}"
        case _:
            raise AssertionError("two at most")
    return "\n".join([f"{name}:", *lines, end])


def fill(name: str, type_: str = "<8 x float>", also: str = "", to: str = "") -> str:
    """A block that writes what it has not read, if nothing else is in it."""
    branch = block(name, to=to).splitlines()[1]
    return "\n".join([f"{name}:{also}", f"  store {type_} %a, ptr %p", branch])


def function(*blocks: str) -> str:
    return "\n".join(["define hidden i32 @k(ptr %p) {", *blocks, "}", ""])


ENTRY = block("entry", to="body")
LONG = block("body", MANY, to="body end")
END = block("end")

WRITTEN_OUT = {
    "one loop": function(ENTRY, LONG, END),
    "several blocks": function(
        ENTRY,
        block("body", MANY // 2, to="rest"),
        block("rest", MANY, to="body end"),
        END,
    ),
    "in another": function(
        ENTRY,
        block("body", to="inner"),
        block("inner", MANY, to="inner last"),
        block("last", to="body end"),
        END,
    ),
    "of two functions": function(ENTRY, LONG, END) * 2,
    "beside fills": function(
        block("entry", to="zeros"),
        fill("zeros", to="zeros body"),
        block("body", MANY, to="body other"),
        fill("other", "<2 x float>", to="other end"),
        END,
    ),
}
OTHERS = {
    "no loop": function(block("entry", MANY)),
    "a short one": function(ENTRY, block("body", MANY - 1, to="body end"), END),
    "scalars": function(ENTRY, block("body", 0, 4 * MANY, to="body end"), END),
    "a short one in a long one": function(
        ENTRY,
        block("body", MANY, to="inner"),
        block("inner", 1, to="inner last"),
        block("last", MANY, to="body end"),
        END,
    ),
    "a short one beside": function(
        ENTRY,
        block("body", MANY, to="body other"),
        block("other", 1, to="other end"),
        END,
    ),
    "a short one in another function": function(ENTRY, LONG, END)
    + function(ENTRY, block("body", 1, to="body end"), END),
    "fills only": function(ENTRY, fill("body", to="body end"), END),
    "beside a fill of numbers": function(
        ENTRY,
        block("body", MANY, to="body other"),
        fill("other", "float", to="other end"),
        END,
    ),
    "beside a copy": function(
        ENTRY,
        block("body", MANY, to="body other"),
        fill("other", also="\n  %a = load <8 x float>, ptr %q", to="other end"),
        END,
    ),
    "masked loads and stores": function(
        ENTRY,
        block("body", MANY - 1, to="more").removesuffix("  br label %more")
        + "  %m = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %q, <8 x i1> %k)\n"
        + "  br i1 %c, label %body, label %end",
        END,
    ),
    "a branch ahead": function(
        block("entry", MANY, to="end next"), block("next", MANY, to="end"), END
    ),
}


@pytest.mark.parametrize("name", [*WRITTEN_OUT, *OTHERS])
def test_all_innermost_loops_are_long_or_fill(name: str) -> None:
    text = {**WRITTEN_OUT, **OTHERS}[name]
    assert is_written_out(text) is (name in WRITTEN_OUT)


def test_passes_run_where_they_help_or_all_is_asked_for() -> None:
    long, short = WRITTEN_OUT["one loop"], OTHERS["a short one"]
    for level in range(MOST + 1):
        machine = Machine("x86_64-linux-gnu", "x86-64-v4", "", level)
        assert machine.effort_for(short) == level
        assert machine.effort_for(long) == (level if level == MOST else 0)


def test_machine_code_is_made_with_that_effort(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TRANSOM_CACHE_DIR", str(tmp_path))
    optimized: list[int] = []
    optimize = jit.optimize

    def watched(module: Any, machine: Any, opt_level: int) -> None:
        optimized.append(opt_level)
        optimize(module, machine, opt_level)

    monkeypatch.setattr(jit, "optimize", watched)
    for count in (12, 1):
        body = "".join(
            f"""
  %p{n} = fmul <4 x float> %v, %v
  %v{n} = fadd <4 x float> %p{n}, %v
  store <4 x float> %v{n}, ptr %x"""
            for n in range(count)
        )
        text = f"""
define void @k(ptr %x, i64 %n) {{
  br label %body
body:
  %i = phi i64 [0, %0], [%next, %body]
  %v = load <4 x float>, ptr %x{body}
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %body, label %end
end:
  ret void
}}
"""
        assert Machine(jit.host_triple(), "", "", 2).compile(text)
    assert optimized == [0, 2]
