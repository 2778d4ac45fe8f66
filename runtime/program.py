"""
A compiled program: machine code, weights and memory, called with NumPy arrays.

The code is the C function of the entry: for each input, then each output, a pointer
and its dynamic sizes (`int64_t`), then one pointer per pool; it returns 0 or the number
of a message. For an output whose sizes depend on data the pointer is to memory for as
many elements as there can be, and that number is its only size; behind the outputs then
is a pointer to where the sizes of all these go. A program is reentrant: every call
takes pools of its own.
"""

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from transom.runtime.artifacts import Artifact, Callback, bind
from transom.runtime.bound_call import Bound, BoundCall
from transom.runtime.callbacks import Called, Failure, address_of, c_function
from transom.runtime.jit import JitModule, load_library, load_objects
from transom.runtime.main_values import Observer, Walked
from transom.runtime.pools import Pools, PoolSpec, ProgramError, new_memory
from transom.runtime.signature import (
    Array,
    Dim,
    InputError,
    Signature,
    TensorSpec,
)


@dataclass(frozen=True)
class Code:
    """Machine code with what is needed to run it; all of it is data."""

    objects: tuple[bytes, ...]
    """ELF object files: that of main, and of the kernels that it calls."""
    triple: str
    cpu: str
    features: str
    entry: str
    shapes: str | None
    """The function that computes the dynamic sizes of outputs, if there is one."""
    signature: Signature
    pools: tuple[PoolSpec, ...] = ()
    messages: tuple[str, ...] = ()
    constants: Mapping[str, Array] = field(default_factory=dict[str, Array])
    """Weights by symbol."""
    artifacts: tuple[Artifact, ...] = ()
    """Functions that somebody else has emitted."""
    graph: str | None = None
    """Main for the executor `graph`, as JSON; the objects are those of kernels then."""
    bytecode: bytes | None = None
    """Main for the executor `vm`, in the place of a graph."""
    needs: tuple[str, ...] = ()
    """Features of the CPU that the code may use, by LLVM's names."""

    def image(self, pool: PoolSpec) -> bytes:
        """What a pool of constants holds."""
        data = bytearray(pool.size)
        for name, offset in pool.content:
            octets = self.constants[name].tobytes()
            data[offset : offset + len(octets)] = octets
        return bytes(data)

    @property
    def executor(self) -> str:
        """What runs main."""
        if self.graph is not None:
            return "graph"
        return "aot" if self.bytecode is None else "vm"


class Program:
    """Code that is loaded and can be called."""

    def __init__(
        self,
        code: Code,
        libraries: Sequence[str] = (),
        callbacks: Mapping[str, Callback] | None = None,
        functions: Mapping[str, Called] | None = None,
    ) -> None:
        """
        Load code; `libraries` hold C functions that it calls, `callbacks` run the
        artifacts that are no code of this machine, by their name or format, and
        `functions` are functions of Python that it calls, by symbol.

        Raises `JitError` for what can not be loaded or is found nowhere.
        """
        self.code = code
        self.signature = code.signature
        self._constants = {
            name: _contiguous(array) for name, array in code.constants.items()
        }
        for library in libraries:
            load_library(library)
        self._failure = Failure()
        bound = bind(code.artifacts, callbacks or {}, libraries, self._failure)
        self._called = {
            symbol: c_function(called, self._failure)
            for symbol, called in (functions or {}).items()
        }
        self._bound = bound
        symbols = {name: array.ctypes.data for name, array in self._constants.items()}
        symbols |= {name: address_of(f) for name, f in self._called.items()}
        self._module: JitModule = load_objects(
            code.objects,
            symbols={**symbols, **bound.addresses},
            libraries=libraries,
            keep=[self._constants, bound, self._called],
        )
        self._names = [spec.name for spec in self.signature.inputs]
        self._specs = (*self.signature.inputs, *self.signature.outputs)
        self._known = frozenset(self._names)
        self._results = frozenset(spec.name for spec in self.signature.outputs)
        self._found_sizes = sum(
            len(spec.dynamic) for spec in self.signature.outputs if spec.is_bounded
        )
        self._walked = self._main_to_walk()
        self._shapes: Any = None
        if self._walked is not None:
            self._entry = self._walked.entry(code.entry, len(self._entry_types()))
            if code.shapes is not None:
                self._shapes = self._walked.shapes(code.shapes)
        else:
            self._entry = self._function(code.entry, self._entry_types())
            if code.shapes is not None:
                count = sum(len(spec.dynamic) for spec in self.signature.inputs)
                types = [ctypes.c_int64] * count
                self._shapes = self._function(code.shapes, [*types, ctypes.c_void_p])
        self._pools = Pools(code.pools, self._constants, self._specs)

    def __repr__(self) -> str:
        """What it takes and gives: `<Program main(x: float32[4, 8]) -> (y: …)>`."""
        takes, gives = (
            ", ".join(f"{spec.name}: {spec}" for spec in specs)
            for specs in (self.signature.inputs, self.signature.outputs)
        )
        return f"<Program {self.code.entry}({takes}) -> ({gives})>"

    def __call__(self, *inputs: Any, **named: Any) -> dict[str, Array]:
        """Run with inputs in order, or by name."""
        if len(inputs) > len(self._names):
            raise InputError(
                f"expected {len(self._names)} inputs, but got {len(inputs)}"
            )
        ordered = dict(zip(self._names, inputs, strict=False))
        if twice := ordered.keys() & named.keys():
            raise InputError(f"{_listed(sorted(twice))}: given in order and by name")
        return self.run({**ordered, **named})

    def run(
        self,
        inputs: Mapping[str, Any],
        outputs: Mapping[str, Array] | None = None,
        observer: Observer | None = None,
    ) -> dict[str, Array]:
        """
        The outputs by name; arrays given as `outputs` are written in place. `observer`
        sees each kernel call, unless main is machine code.

        Element types are not converted. Raises `InputError` for arrays that do not fit
        and `ProgramError` for what the program finds.
        """
        return self._call(inputs, {} if outputs is None else outputs, observer)()

    def bind(
        self, inputs: Mapping[str, Any], outputs: Mapping[str, Array] | None = None
    ) -> BoundCall:
        """
        A call that is made again and again: its arrays are checked once.

        Each call reads what the inputs hold by then, so they are contiguous arrays, and
        writes the same outputs. Raises `InputError` for arrays that do not fit.
        """
        _check_named("inputs", inputs)
        for name in self._known & inputs.keys():
            if _contiguous(inputs[name]) is not inputs[name]:
                raise InputError(
                    f"'{name}': expected a contiguous array, which each call reads"
                )
        return self._call(inputs, {} if outputs is None else outputs)

    def _call(
        self,
        inputs: Mapping[str, Any],
        outputs: Mapping[str, Array],
        observer: Observer | None = None,
    ) -> BoundCall:
        arrays = self._inputs(inputs)
        sizes = self.signature.bind(arrays)
        results = self._outputs(arrays, sizes, outputs)
        entry = self._entry
        if observer is not None:
            if self._walked is None:
                raise ProgramError(
                    "only the executors 'graph' and 'vm' show what they call"
                )
            count = len(self._entry_types())
            entry = self._walked.entry(self.code.entry, count, observer)
        return BoundCall(
            entry,
            self._pools,
            [*map(Bound, self.signature.inputs, arrays)],
            [*map(Bound, self.signature.outputs, results.values())],
            outputs.keys(),
            self._check_status,
        )

    def save(self, path: Any) -> None:
        """
        Write the program to a file, whole or not at all (`transom.runtime.load`).

        Raises `ProgramError` if it calls functions of Python for C functions.
        """
        from transom.runtime.archive import save

        if self._called:
            raise ProgramError(
                "a program that calls C functions in Python is not saved; compile it "
                "with native ones"
            )
        save(self.code, path)

    def _main_to_walk(self) -> Walked | None:
        """Main, where it is no machine code."""
        code = self.code
        if code.graph is not None:
            from transom.runtime.main_graph import MainGraph

            return MainGraph(code.graph, self._function_of, self._constants, code.pools)
        if code.bytecode is not None:
            from transom.runtime.virtual_machine import VirtualMachine

            return VirtualMachine(
                code.bytecode, self._function_of, self._constants, code.pools
            )
        return None

    def _entry_types(self) -> list[Any]:
        types: list[Any] = []
        for spec in (*self.signature.inputs, *self.signature.outputs):
            types += [ctypes.c_void_p, *[ctypes.c_int64] * spec.passed]
        count = len(self.code.pools) + (1 if self._found_sizes else 0)
        return types + [ctypes.c_void_p] * count

    def _function(self, name: str, types: Sequence[Any]) -> Any:
        return self._function_of(name, ctypes.c_int32, types)

    def _function_of(self, name: str, result: Any, types: Sequence[Any]) -> Any:
        """A C function of the program's code, or of an artifact."""
        address = self._bound.addresses.get(name)
        if address is not None:
            return ctypes.CFUNCTYPE(result, *types)(address)
        return self._module.function(name, result, *types)

    def _inputs(self, inputs: Mapping[str, Any]) -> list[Array]:
        _check_named("inputs", inputs)
        if self._known != frozenset(inputs):
            unknown = [name for name in inputs if name not in self._known]
            missing = [name for name in self._names if name not in inputs]
            raise InputError(
                f"expected inputs {_listed(self._names)}, but "
                + (
                    f"got {_listed(unknown)}"
                    if unknown
                    else f"{_listed(missing)} is missing"
                )
            )
        return [_contiguous(inputs[name]) for name in self._names]

    def _outputs(
        self,
        arrays: Sequence[Array],
        sizes: Mapping[str, int],
        given: Mapping[str, Array],
    ) -> dict[str, Array]:
        _check_named("outputs", given)
        if not given.keys() <= self._results:
            names = [spec.name for spec in self.signature.outputs]
            unknown = [name for name in given if name not in names]
            raise InputError(
                f"expected outputs {_listed(names)}, but got {_listed(unknown)}"
            )
        computed = iter(() if self._shapes is None else self._computed_sizes(arrays))
        results: dict[str, Array] = {}
        for spec in self.signature.outputs:
            if spec.is_static:
                shape = spec.static_shape
            elif self._shapes is None:
                dims = (size for size in spec.shape if isinstance(size, Dim))
                names = (dim.name for dim in dims)
                shape = spec.sized(sizes[name] for name in names if name is not None)
            else:
                shape = [next(computed)] if spec.is_bounded else spec.sized(computed)
            array = given.get(spec.name)
            if array is None:
                array = new_memory(shape, spec.element, f"'{spec.name}'")
            else:
                array = self._check_output(spec, shape, array, arrays)
                if len(given) > 1:
                    _check_apart(spec.name, array, given)
            results[spec.name] = array
        return results

    def _check_output(
        self,
        spec: TensorSpec,
        shape: Sequence[int],
        array: Array,
        inputs: Sequence[Array],
    ) -> Array:
        """An array that the caller has given, flat if the output's size is bounded."""
        name, dtype = spec.name, spec.dtype
        fits = array.size >= shape[0] if spec.is_bounded else list(array.shape) == shape
        if array.dtype != spec.element or not fits:
            wanted = f"{dtype}{list(shape)}"
            if spec.is_bounded:
                wanted = f"at least {shape[0]} elements of {dtype}"
            raise InputError(
                f"'{name}': expected an output of {wanted}, but got "
                f"{array.dtype}{list(array.shape)}"
            )
        flags = array.flags
        if not (flags.c_contiguous and flags.writeable):
            raise InputError(
                f"'{name}': expected a contiguous array that can be written"
            )
        for other in inputs:
            if np.may_share_memory(array, other):
                raise InputError(
                    f"'{name}': expected an output that shares no input's memory"
                )
        return array.reshape(-1) if spec.is_bounded else array

    def _computed_sizes(self, arrays: Sequence[Array]) -> list[int]:
        """The dynamic sizes of the outputs, where a function computes them."""
        assert self._shapes is not None, "asked for where there is one"
        sizes = [
            array.shape[axis]
            for spec, array in zip(self.signature.inputs, arrays, strict=True)
            for axis in spec.dynamic
        ]
        count = sum(spec.passed for spec in self.signature.outputs)
        result = (ctypes.c_int64 * count)()
        status = self._shapes(*sizes, ctypes.addressof(result))
        if status != 0:
            raise self._error(status)
        return list(result)

    def _check_status(self, status: int) -> None:
        """Raise what a status says, or a function of Python that was called."""
        if status != 0 or (self._called and self._failure.is_kept):
            raise self._error(status)

    def _error(self, status: int) -> BaseException:
        """What to raise for a status."""
        failed = self._failure.take()
        if failed is None:
            return ProgramError(self._message(status))
        what, cause = failed
        if not isinstance(cause, Exception):
            return cause  # such as a KeyboardInterrupt
        error = ProgramError(f"{what} failed: {type(cause).__name__}: {cause}")
        error.__cause__ = cause
        return error

    def _message(self, status: int) -> str:
        if 1 <= status <= len(self.code.messages):
            return self.code.messages[status - 1]
        return f"the program ended with status {status}"


def _contiguous(value: Any) -> Array:
    """An array in row-major order, of the rank that the value has."""
    if type(value) is np.ndarray and value.flags.c_contiguous:
        return value
    return np.ascontiguousarray(value).reshape(np.shape(value))


def _check_apart(name: str, output: Array, given: Mapping[str, Array]) -> None:
    """Raise `InputError` for an output in the memory of another one."""
    for other, array in given.items():
        if other != name and np.may_share_memory(output, array):
            raise InputError(
                f"'{name}': expected an output that shares no memory with '{other}'"
            )


def _check_named(what: str, given: object) -> None:
    """Raise `InputError` for what holds no inputs, or outputs, by name."""
    if not isinstance(given, Mapping):
        help = "; 'program(x)' takes them in order" if what == "inputs" else ""
        raise InputError(
            f"expected a dictionary of {what} by name, but got one of type "
            f"'{type(given).__name__}'{help}"
        )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


__all__ = ["Code", "Dim", "PoolSpec", "Program", "ProgramError"]
