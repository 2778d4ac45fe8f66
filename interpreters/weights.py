"""
The elements of `graph.weight`: written out, read from a file, or an expression over
other weights, which is evaluated once.

What is large and not in a file as code needs it (the value of an expression; elements
at an odd address) is written once, into a file of the cache that is mapped: found again
by content, shared, and in the memory of no process.
"""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp, StringAttr

from transom.cache import content_key, foundation, store
from transom.dialects import graph
from transom.dialects.compact_form import NoCompactForm, encode
from transom.dialects.diagnostics import OpError
from transom.dialects.symbols import lookup
from transom.dialects.weight_files import WeightError, WeightFiles, content_sha256
from transom.interpreters.arith import dense_array
from transom.interpreters.evaluators import Array
from transom.interpreters.interpreter import Frame, Interpreter, dtype_of

WEIGHTS = "weights"
"""The kind of entry: elements of a weight, by what they are made of."""

MAPPED_BYTES = 1 << 16
"""Weights from this size on are mapped."""

NAMELESS = StringAttr("weight")


class WeightStore:
    """
    The weights of a module, as read-only arrays by op; each is made once.

    Paths are relative to `base`; None refuses weights in files. `allowed` are folders
    or files that links may lead to (see `WeightFiles`).
    """

    def __init__(
        self,
        module: ModuleOp,
        base: str | Path | None = None,
        allowed: Sequence[str | Path] = (),
    ) -> None:
        self.module = module
        self.files = None if base is None else WeightFiles(base, allowed)
        self._arrays: dict[str, Array | None] = {}
        self._keys: dict[str, str | None] = {}
        self._interpreter: Interpreter | None = None

    def __call__(self, op: graph.WeightOp) -> Array:
        """
        The elements of a weight of the module.

        Raises OpError if they cannot be read or evaluated.
        """
        name = op.sym_name.data
        if name not in self._arrays:
            self._arrays[name] = None  # while it is evaluated
            try:
                array = self._make(op)
            except BaseException:
                del self._arrays[name]
                raise
            array = array.view()
            array.flags.writeable = False
            self._arrays[name] = array
        found = self._arrays[name]
        assert found is not None, "the verifier refuses an expression over itself"
        return found

    def _make(self, op: graph.WeightOp) -> Array:
        value = op.value
        if isinstance(value, graph.FileAttr):
            return self._read(op, value, value.sha256)
        if isinstance(value, DenseIntOrFPElementsAttr):
            return dense_array(op, cast("DenseIntOrFPElementsAttr[Any]", value))
        return np.asarray(self._value(op), order="C")

    def _read(
        self, op: graph.WeightOp, value: graph.FileAttr, sha256: str | None
    ) -> Array:
        if self.files is None:
            raise OpError(
                op, f"expected a folder to read '{value.path.data}' from, but got none"
            )
        dtype = dtype_of(op, op.type.element_type)
        try:
            return self.files.read(
                value.path.data,
                value.tensor.data,
                op.type.get_shape(),
                dtype,
                sha256,
            )
        except WeightError as e:
            raise OpError(op, str(e)) from None

    def for_code(self, op: graph.WeightOp) -> Array:
        """
        The elements of a weight in row-major order and aligned, as code reads them.

        Raises OpError as `store(op)` does.
        """
        if op.value is None:
            dtype = dtype_of(op, op.type.element_type)
            like = np.broadcast_to(np.empty((), dtype), op.type.get_shape())
            return _mapped(like, lambda: self._value(op), (str(op.type), self._key(op)))
        stored = self._stored(op)
        if stored.flags.aligned and stored.flags.c_contiguous:
            return self(op)
        key = ("elements", str(op.type), self._key(op))
        return _mapped(stored, lambda: self(op), key)

    def _stored(self, op: graph.WeightOp) -> Array:
        """As the weight, but not compared with its hash where that takes reading it."""
        value = op.value
        if isinstance(value, graph.FileAttr) and op.sym_name.data not in self._arrays:
            return self._read(op, value, None)
        return self(op)

    def _value(self, op: graph.WeightOp) -> Array:
        """The value of an expression; those that it is over are not kept."""
        if self._interpreter is None:
            self._interpreter = Interpreter(self.module, weights=self._source)
        with np.errstate(all="ignore"):
            (array,) = Frame(self._interpreter, {}).region(op.body, ()).values
        return array

    def _source(self, op: graph.WeightOp) -> Array:
        return self._value(op) if op.value is None else self(op)

    def _key(self, op: graph.WeightOp) -> str | None:
        """A hash of what the elements of a weight follow from; None if not known."""
        name = op.sym_name.data
        if name not in self._keys:
            self._keys[name] = self._make_key(op)
        return self._keys[name]

    def _make_key(self, op: graph.WeightOp) -> str | None:
        value = op.value
        if isinstance(value, graph.FileAttr):
            return value.sha256 or content_sha256(self(op))
        if value is not None:
            return content_sha256(self(op))
        parts: list[str | bytes] = [foundation()]
        for inner in op.body.walk():
            if not type(inner).__module__.startswith("transom."):
                return None  # code of others evaluates it
            if isinstance(inner, graph.WeightRefOp):
                source = lookup(op, inner.weight.string_value())
                key = self._key(source) if isinstance(source, graph.WeightOp) else None
                if key is None:
                    return None
                parts.append(key)
        own = op.sym_name
        op.sym_name = NAMELESS
        try:
            parts.append(encode(op, to_hash=True, with_places=True))
        except NoCompactForm:
            return None
        finally:
            op.sym_name = own
        return content_key(parts)


def _mapped(
    like: Array, make: Callable[[], Array], key: tuple[str | None, ...]
) -> Array:
    """
    An array of the shape and type of another, made by a function or found by a key;
    small ones, and those of no key, are made each time.
    """
    known = [part for part in key if part is not None]
    size = math.prod(like.shape) * like.dtype.itemsize
    if size < MAPPED_BYTES or len(known) < len(key):
        return np.require(make(), requirements=("C", "A"))

    def fill(memory: memoryview) -> None:
        made = make()
        if made.flags.c_contiguous:  # at whatever address
            np.copyto(np.frombuffer(memory, np.uint8), made.reshape(-1).view(np.uint8))
        else:
            np.copyto(np.frombuffer(memory, like.dtype).reshape(like.shape), made)

    content = store().mapped(WEIGHTS, content_key(known), size, fill)
    return np.frombuffer(content, like.dtype).reshape(like.shape)
