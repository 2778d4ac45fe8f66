"""
Arrays from the words of a command line: files, shapes with a value, random numbers.
"""

import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from transom.runtime.signature import Array, Dim, InputError, TensorSpec, dtype_of

MAX_BYTES = 1 << 34
"""Size of an array that a shape asks for before it is refused."""

ELEMENTS: dict[str, str] = {
    "i1": "bool",
    **{f"i{w}": f"int{w}" for w in (8, 16, 32, 64)},
    **{f"si{w}": f"int{w}" for w in (8, 16, 32, 64)},
    **{f"ui{w}": f"uint{w}" for w in (8, 16, 32, 64)},
    "index": "int64",
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
}
"""Dtypes by the names of element types."""

_SHAPED = re.compile(r"((?:\d+x)*)([a-z]+\d*)=(.+)")


def read_arrays(path: str) -> dict[str | None, Array]:
    """
    The arrays of a `.npz` file by name, or the one of a `.npy` file without a name.

    Nothing is unpickled. Raises `InputError`, or `OSError` if it can not be read.
    """
    try:
        loaded: Any = np.load(path, allow_pickle=False)
    except (ValueError, EOFError, zipfile.BadZipFile) as e:
        raise InputError(f"'{path}': expected a .npy or .npz file: {e}") from e
    if isinstance(loaded, np.ndarray):
        return {None: _with_halves(cast(Array, loaded))}
    with loaded:
        try:
            return {name: _with_halves(loaded[name]) for name in loaded.files}
        except (ValueError, EOFError, zipfile.BadZipFile) as e:
            raise InputError(f"'{path}': {e}") from e


def _with_halves(array: Array) -> Array:
    """What NumPy writes of bf16, two bytes of no type, as bf16."""
    return array.view(dtype_of("bfloat16")) if array.dtype == np.dtype("V2") else array


def parse_value(text: str, spec: TensorSpec, seed_step: int = 0) -> Array:
    """
    The array that a word stands for.

    `random:SEED` is standard normal, or integers from 0 to 9; `4x4xf32=1` is filled
    with a value, or, for `1,2,3`, holds these. Raises `InputError`.
    """
    if text == "random" or text.startswith("random:"):
        seed = text.removeprefix("random").removeprefix(":") or "0"
        if not (seed.isascii() and seed.isdigit()):
            raise InputError(f"expected 'random:SEED' with a number, but got '{text}'")
        return random_array(spec, int(seed) + seed_step)
    match = _SHAPED.fullmatch(text)
    if match is None:
        raise InputError(
            f"expected a file, a shape with a value such as '4x4xf32=1', or "
            f"'random:SEED', but got '{text}'"
        )
    dims, element, values = match.groups()
    if element not in ELEMENTS:
        raise InputError(
            f"unknown element type '{element}' in '{text}'; expected one of "
            f"{', '.join(ELEMENTS)}"
        )
    dtype = dtype_of(ELEMENTS[element])
    shape = [int(size) for size in dims.split("x") if size]
    check_size(shape, dtype)
    try:
        numbers = [_number(word, dtype) for word in values.split(",")]
        flat = np.array(numbers).astype(dtype)
    except (ValueError, OverflowError) as e:
        raise InputError(f"expected numbers of type {element} in '{text}': {e}") from e
    if len(numbers) == 1:
        return np.full(shape, flat[0])
    if len(numbers) != int(np.prod(shape)):
        raise InputError(
            f"expected 1 or {int(np.prod(shape))} values in '{text}', "
            f"but got {len(numbers)}"
        )
    return flat.reshape(shape)


def _number(word: str, dtype: np.dtype[Any]) -> int | float | bool:
    word = word.strip()
    if dtype == np.bool_:
        if word not in ("0", "1", "true", "false"):
            raise ValueError(f"'{word}' is neither true nor false")
        return word in ("1", "true")
    if np.issubdtype(dtype, np.integer):
        value = int(word)
        if value not in range(np.iinfo(dtype).min, np.iinfo(dtype).max + 1):
            raise OverflowError(f"{value} is out of range")
        return value
    return float(word)


def random_array(spec: TensorSpec, seed: int) -> Array:
    """
    Seeded elements for an input. A size that is not static is its lower bound, or 3.
    """
    shape = [
        size if isinstance(size, int) else _default_size(size) for size in spec.shape
    ]
    dtype = dtype_of(spec.dtype)
    check_size(shape, dtype)
    return random_elements(np.random.default_rng(seed), shape, dtype)


def random_elements(
    rng: np.random.Generator, shape: Sequence[int], dtype: np.dtype[Any]
) -> Array:
    """Random elements of a dtype: standard normal, or integers from 0 to 9."""
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(np.bool_)
    if np.issubdtype(dtype, np.integer):
        return rng.integers(0, 10, shape).astype(dtype)
    return np.asarray(rng.standard_normal(shape)).astype(dtype)


def _default_size(dim: Dim) -> int:
    return 3 if dim.lower is None else dim.lower


def check_size(shape: Sequence[int], dtype: np.dtype[Any]) -> None:
    """Raise `InputError` for an array that is too large to make."""
    size = dtype.itemsize
    for extent in shape:
        size *= extent
    if size > MAX_BYTES:
        raise InputError(
            f"an array of {'x'.join(map(str, shape))} {dtype} has {size} bytes; "
            f"at most {MAX_BYTES} are allowed"
        )


class Words:
    """The `--input` (or `--expected`) words of a command line."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words

    def arrays(
        self, specs: Sequence[TensorSpec], *, complete: bool
    ) -> dict[str, Array]:
        """
        An array for each tensor, by name: words with `name=` first, others in order.

        With `complete` all must be there. Raises `InputError` and `OSError`.
        """
        by_name = {spec.name: spec for spec in specs}
        found: dict[str, Array] = {}
        rest: list[str] = []
        for word in self.words:
            name, _, value = word.partition("=")
            if value and name.isidentifier() and name not in (*by_name, *ELEMENTS):
                raise InputError(f"unknown name '{name}'; expected {_listed(by_name)}")
            if value and name in by_name:
                found[name] = self._one(value, by_name[name], 0)
            elif word.endswith(".npz"):
                for key, array in read_arrays(word).items():
                    if key not in by_name:
                        raise InputError(
                            f"'{word}' has '{key}'; expected {_listed(by_name)}"
                        )
                    found[key] = array
            else:
                rest.append(word)
        free = [spec for spec in specs if spec.name not in found]
        if len(rest) == 1 and rest[0].split(":")[0] == "random":
            rest *= len(free)
        if len(rest) > len(free):
            raise InputError(
                f"expected at most {len(free)} values for {_listed(by_name)}, "
                f"but got '{rest[len(free)]}' too"
            )
        for number, (word, spec) in enumerate(zip(rest, free, strict=False)):
            found[spec.name] = self._one(word, spec, number)
        missing = [spec.name for spec in specs if spec.name not in found]
        if complete and missing:
            raise InputError(
                f"expected a value for {_listed(missing)}; give one with --input, such "
                f"as '{missing[0]}=random:0' or '{missing[0]}=FILE.npy'"
            )
        return found

    @staticmethod
    def _one(word: str, spec: TensorSpec, seed_step: int) -> Array:
        if word.endswith(".npy") or (Path(word).is_file() and "=" not in word):
            (array,) = read_arrays(word).values()
            return array
        return parse_value(word, spec, seed_step)


def _listed(names: Sequence[str] | dict[str, TensorSpec]) -> str:
    return ", ".join(f"'{name}'" for name in names)
