"""
What a program takes and gives: names, element types and sizes, some of them symbolic.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


class InputError(ValueError):
    """An array that does not fit; the message is one line and names it."""


def dtype_of(name: str) -> np.dtype[Any]:
    """The NumPy dtype of a name such as `float32` or `bfloat16`."""
    if name == "bfloat16":
        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


@dataclass(frozen=True)
class Dim:
    """A size that is known when the program runs; equal names are equal sizes."""

    name: str | None = None
    lower: int | None = None
    upper: int | None = None

    def __str__(self) -> str:
        return "?" if self.name is None else self.name

    def admits(self, size: int) -> bool:
        """Whether a size is within the bounds."""
        return (self.lower is None or size >= self.lower) and (
            self.upper is None or size <= self.upper
        )


@dataclass(frozen=True)
class TensorSpec:
    """One input or output."""

    name: str
    dtype: str
    shape: tuple[int | Dim, ...]
    is_bounded: bool = False
    """
    Whether the sizes of an output depend on data: the program gets memory for as many
    elements as there can be, fills it from its start, and tells the sizes.
    """
    place: tuple[str, int] | None = None
    """The pool and the offset in bytes where the memory plan has put it, if it has."""

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"

    @cached_property
    def element(self) -> np.dtype[Any]:
        """The NumPy dtype."""
        return dtype_of(self.dtype)

    @cached_property
    def dynamic(self) -> tuple[int, ...]:
        """The axes whose sizes are not static."""
        return tuple(i for i, size in enumerate(self.shape) if isinstance(size, Dim))

    @cached_property
    def is_static(self) -> bool:
        """Whether all sizes are known before, and so none are passed."""
        return not self.dynamic and not self.is_bounded

    @cached_property
    def static_shape(self) -> list[int]:
        """The shape, if all sizes are known before."""
        return self.sized(iter(()))

    @property
    def passed(self) -> int:
        """How many sizes are passed with its address."""
        return 1 if self.is_bounded else len(self.dynamic)

    def sized(self, sizes: Iterator[int]) -> list[int]:
        """The shape, with the sizes that are not static taken from `sizes`."""
        return [n if isinstance(n, int) else next(sizes) for n in self.shape]

    def check(self, array: Array) -> None:
        """Raise `InputError` unless dtype, rank and static sizes are right."""
        if array.dtype != self.element:
            raise InputError(
                f"'{self.name}': expected elements of {self.dtype}, "
                f"but got {array.dtype}"
            )
        if array.shape == self.shape:
            return
        fits = len(array.shape) == len(self.shape) and all(
            isinstance(size, Dim) or size == actual
            for size, actual in zip(self.shape, array.shape, strict=True)
        )
        if not fits:
            raise InputError(
                f"'{self.name}': expected {self}, but got a shape of "
                f"{list(array.shape)}"
            )


@dataclass(frozen=True)
class Signature:
    """Inputs and outputs in order."""

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]

    def bind(self, arrays: Sequence[Array]) -> dict[str, int]:
        """
        The sizes of the names in the inputs. Raises `InputError` where they differ or
        leave their bounds.
        """
        sizes: dict[str, int] = {}
        for spec, array in zip(self.inputs, arrays, strict=True):
            spec.check(array)
            if not spec.dynamic:
                continue
            for axis in spec.dynamic:
                dim, size = spec.shape[axis], array.shape[axis]
                assert isinstance(dim, Dim), "what dynamic means"
                if not dim.admits(size):
                    raise InputError(
                        f"'{spec.name}': expected a size of {dim} from {dim.lower} to "
                        f"{dim.upper}, but got {size}"
                    )
                if dim.name is None:
                    continue
                if sizes.setdefault(dim.name, size) != size:
                    raise InputError(
                        f"'{spec.name}': expected {dim} to be {sizes[dim.name]}, "
                        f"but got {size}"
                    )
        return sizes

    def to_json(self) -> dict[str, Any]:
        """The signature as JSON values."""
        return {
            "inputs": [_spec_to_json(spec) for spec in self.inputs],
            "outputs": [_spec_to_json(spec) for spec in self.outputs],
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Signature":
        """The signature of `to_json`. Raises `ValueError` for anything else."""
        try:
            return Signature(
                tuple(map(_spec_from_json, data["inputs"])),
                tuple(map(_spec_from_json, data["outputs"])),
            )
        except (KeyError, TypeError) as e:
            raise ValueError(
                f"expected a signature, but {e} is missing or wrong"
            ) from e


def _spec_to_json(spec: TensorSpec) -> dict[str, Any]:
    shape: list[Any] = [
        size if isinstance(size, int) else [size.name, size.lower, size.upper]
        for size in spec.shape
    ]
    entry: dict[str, Any] = {"name": spec.name, "dtype": spec.dtype, "shape": shape}
    if spec.is_bounded:
        entry["bounded"] = True
    if spec.place is not None:
        entry["place"] = list(spec.place)
    return entry


def _spec_from_json(data: Mapping[str, Any]) -> TensorSpec:
    shape: list[int | Dim] = []
    for size in data["shape"]:
        shape.append(size if isinstance(size, int) else Dim(*size))
    dtype_of(data["dtype"])
    bounded = data.get("bounded", False) is True
    place = data.get("place")
    if place is not None:
        pool, offset = place
        place = (str(pool), int(offset))
    return TensorSpec(
        str(data["name"]), str(data["dtype"]), tuple(shape), bounded, place
    )
