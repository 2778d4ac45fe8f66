"""
The elements of `graph.weight`: written out, read from a file, or an expression over
other weights, which is evaluated once.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp

from transom.dialects import graph
from transom.dialects.diagnostics import OpError
from transom.dialects.weight_files import WeightError, WeightFiles
from transom.interpreters.arith import dense_array
from transom.interpreters.evaluators import Array
from transom.interpreters.interpreter import Frame, Interpreter, dtype_of


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
            return self._read(op, value)
        if isinstance(value, DenseIntOrFPElementsAttr):
            return dense_array(op, cast("DenseIntOrFPElementsAttr[Any]", value))
        return self._evaluate(op)

    def _read(self, op: graph.WeightOp, value: graph.FileAttr) -> Array:
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
                value.sha256,
            )
        except WeightError as e:
            raise OpError(op, str(e)) from None

    def _evaluate(self, op: graph.WeightOp) -> Array:
        if self._interpreter is None:
            self._interpreter = Interpreter(self.module, weights=self)
        with np.errstate(all="ignore"):
            (array,) = Frame(self._interpreter, {}).region(op.body, ()).values
        return np.ascontiguousarray(array)
