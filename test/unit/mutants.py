"""
Mutants of the IR in the tests: texts that are almost right, each with a command line.

A mutant is made from its number alone, so that one that fails can be made again:
`python test/unit/mutants.py 1234` prints it.
"""

import io
import random
import re
import shlex
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from transom.tools import transom_opt

FOLDER = "filecheck"
"""The folder of `test/` with IR to start from."""

RUN_FLAGS = re.compile(r"RUN:\s*(?:%roundtrip|%diagnose|transom-opt)\s+([^|>]*)")
"""Those of lines that do not start with `not`: the command itself is right."""

TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[%@#!^]?[\w.$]+|->|::|[^\s\w]')

WORDS = (
    *("-1", "0", "1", "64", "4294967296", "99999999999999999999", "1.5", "0x7FC00000"),
    *("true", "none", "unit", "index", "i1", "i0", "i32", "i99999999", "f32", "bf16"),
    *("tensor<4xf32>", "tensor<*xf32>", "tensor<?x4xf32>", "tensor<0xf32>", "memref<"),
    *("vector<4xf32>", "dense<1.0>", "dense<[]>", "affine_map<(d0) -> (d0)>", "loc("),
    *("@main", "@f", "%x", "%0", "^bb0", "^64", "#map", "#target.place<@cpu, ?, ?>"),
    *("{", "}", "(", ")", "[", "]", "<", ">", ",", ":", "=", "->", "?", "*", "-", '"'),
    *("func.func", "scf.if", "builtin.module", "module", "private", "attributes", "é"),
)

COMMON_FLAGS = (
    "",
    "--verify-roundtrip",
    "-p canonicalize,cse,dce",
    "--allow-unregistered-dialect",
    "--print-op-generic",
    "--to=graph",
    "--to=tensor",
    "--to=planned",
    "--to=machine",
)


@dataclass(frozen=True)
class Seed:
    """IR that is right or expected to fail, and the flags it is tested with."""

    name: str
    text: str
    flags: tuple[str, ...]


@dataclass(frozen=True)
class Mutant:
    """An input and what `transom-opt` is to do with it."""

    number: int
    seed: str
    text: str
    args: tuple[str, ...]


@cache
def seeds() -> tuple[Seed, ...]:
    """The sections of all IR files of the tests."""
    root = Path(__file__).parents[1]
    found: list[Seed] = []
    for path in sorted((root / FOLDER).rglob("*.mlir")):
        if "Output" in path.parts:  # of lit
            continue
        text = path.read_text()
        lines: list[str] = RUN_FLAGS.findall(text)
        flags = tuple(f for f in map(_flags, lines) if f and _known(f))
        for part in re.split(r"^// -----.*\n", text, flags=re.MULTILINE):
            code = "\n".join(
                line for line in part.split("\n") if not line.startswith("//")
            )
            if code.strip():
                found.append(Seed(path.stem, code, flags))
    assert found, "the tests have IR"
    return tuple(found)


def _flags(words: str) -> str:
    """The flags of a RUN line that name passes and phases, or nothing."""
    try:
        tokens = shlex.split(words)
    except ValueError:
        return ""
    kept: list[str] = []
    for token, following in pairwise([*tokens, ""]):
        if token in ("-p", "--to", "--pass-pipeline"):
            kept += [token, following]
        elif token.startswith(("--to=", "--pass-pipeline=", "-p=")):
            kept.append(token)
    return shlex.join(kept) if "%" not in "".join(kept) else ""


@cache
def _known(flags: str) -> bool:
    """Whether this environment has the passes, which may be those of a plug-in."""
    stdin, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO())
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            return transom_opt.main([*shlex.split(flags), "-"]) != 2
    finally:
        sys.stdin = stdin


def mutant(number: int) -> Mutant:
    """The mutant of a number."""
    rng = random.Random(number)
    seed = rng.choice(seeds())
    text = seed.text
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        text = rng.choice(MUTATIONS)(rng, text)
    own = rng.random() < 0.5
    flags = rng.choice(seed.flags or COMMON_FLAGS) if own else rng.choice(COMMON_FLAGS)
    return Mutant(number, seed.name, text, tuple(shlex.split(flags)))


# Mutations


def _replace_token(rng: random.Random, text: str) -> str:
    span = _token(rng, text)
    return _spliced(text, span, rng.choice(WORDS))


def _delete_token(rng: random.Random, text: str) -> str:
    return _spliced(text, _token(rng, text), "")


def _insert_token(rng: random.Random, text: str) -> str:
    start, _ = _token(rng, text)
    return _spliced(text, (start, start), f" {rng.choice(WORDS)} ")


def _copy_token(rng: random.Random, text: str) -> str:
    """Put a token of the text in the place of another."""
    start, end = _token(rng, text)
    return _spliced(text, _token(rng, text), text[start:end])


def _edit_characters(rng: random.Random, text: str) -> str:
    start = rng.randrange(len(text) + 1)
    end = min(len(text), start + rng.choice((0, 1, 1, 2, 8, 40)))
    new = rng.choice(("", chr(rng.randrange(1, 300)), text[start:end] * 2))
    return _spliced(text, (start, end), new)


def _edit_number(rng: random.Random, text: str) -> str:
    numbers = [match.span() for match in re.finditer(r"\d+", text)]
    if not numbers:
        return text
    span = rng.choice(numbers)
    value = int(text[slice(*span)][:20])
    new = rng.choice((0, 1, value + 1, value * 2, value - 1, -value, value << 31))
    return _spliced(text, span, str(new))


def _edit_lines(rng: random.Random, text: str) -> str:
    lines = text.split("\n")
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(3)
    if kind == 0:
        del lines[a]
    elif kind == 1:
        lines.insert(b, lines[a])
    else:
        lines[a], lines[b] = lines[b], lines[a]
    return "\n".join(lines)


def _graft(rng: random.Random, text: str) -> str:
    """Put a line of another text into this one."""
    line = rng.choice(rng.choice(seeds()).text.split("\n"))
    lines = text.split("\n")
    lines.insert(rng.randrange(len(lines) + 1), line)
    return "\n".join(lines)


def _cut(rng: random.Random, text: str) -> str:
    return text[: rng.randrange(len(text) + 1)]


MUTATIONS = (
    *(_replace_token, _delete_token, _insert_token, _copy_token, _copy_token),
    *(_edit_characters, _edit_number, _edit_number, _edit_lines, _graft, _cut),
)


def _token(rng: random.Random, text: str) -> tuple[int, int]:
    spans = [match.span() for match in TOKEN.finditer(text)]
    return rng.choice(spans) if spans else (0, 0)


def _spliced(text: str, span: tuple[int, int], new: str) -> str:
    return text[: span[0]] + new + text[span[1] :]


def main(numbers: Sequence[str]) -> None:
    """Print mutants."""
    for number in numbers:
        made = mutant(int(number))
        print(f"// {made.seed}: transom-opt {shlex.join(made.args)}\n{made.text}")


if __name__ == "__main__":
    main(sys.argv[1:])
