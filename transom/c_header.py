"""
The C header of a compiled library: structs for inputs, outputs and pools, their sizes
and alignments, status codes, and the functions to call.

What checks arguments is `static inline` in the header; the library has the code of the
model only. All memory is the caller's.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from transom.dialects.tir.c_names import KEYWORDS as C_KEYWORDS
from transom.runtime.program import Code, PoolSpec
from transom.runtime.signature import Dim, TensorSpec

C_TYPES = {
    "bool": "uint8_t",
    "float16": "uint16_t",
    "bfloat16": "uint16_t",
    "float32": "float",
    "float64": "double",
    **{f"{u}int{n}": f"{u}int{n}_t" for u in ("", "u") for n in (8, 16, 32, 64)},
}
"""C types by element type; halves are passed as their bits."""

_OF_CPP = """
and and_eq asm bitand bitor bool catch class
compl const_cast delete dynamic_cast explicit export false friend mutable namespace new
not not_eq operator or or_eq private protected public reinterpret_cast static_cast
template this throw true try typeid typename using virtual wchar_t xor xor_eq
"""
KEYWORDS = C_KEYWORDS | frozenset(_OF_CPP.split())
"""Of C and C++."""


def c_names(names: Sequence[str]) -> list[str]:
    """A C identifier for each name, no two alike."""
    found: list[str] = []
    for name in names:
        text = re.sub(r"\W", "_", name, flags=re.ASCII) or "_"
        if text[0].isdigit() or text in KEYWORDS:
            text = f"{text}_" if text in KEYWORDS else f"_{text}"
        fresh, number = text, 1
        while fresh in found:
            number += 1
            fresh = f"{text}_{number}"
        found.append(fresh)
    return found


def image_name(library: str, pool: PoolSpec) -> str:
    """The file that holds what is in a pool of constants."""
    (name,) = c_names([pool.name])
    return f"{library}.{name}.bin"


@dataclass(frozen=True)
class Tensor:
    """An input or output with the name of its fields."""

    name: str
    spec: TensorSpec

    @property
    def type(self) -> str:
        return C_TYPES[self.spec.dtype]

    def size(self, axis: int) -> str:
        """The field of a dynamic size."""
        return f"{self.name}_dim{axis}"

    @property
    def sizes(self) -> list[str]:
        """The fields of what is passed behind the address."""
        if self.spec.is_bounded:
            return [f"{self.name}_capacity"]
        return [self.size(axis) for axis in self.spec.dynamic]

    def fields(self, constness: str) -> Iterator[str]:
        bounds = "; ".join(
            f"{dim.name} in {'?' if dim.lower is None else dim.lower}"
            f"..{'?' if dim.upper is None else dim.upper}"
            for dim in dict.fromkeys(self.spec.shape)
            if isinstance(dim, Dim) and dim.name is not None
        )
        text = f"  /* {self.spec}{'; ' if bounds else ''}{bounds}, row-major"
        if self.spec.place is None:
            yield f"{text} */"
            yield f"  {constness}{self.type} *{self.name};"
        else:
            yield f"{text}; in a pool */"
        if self.spec.is_bounded:
            yield "  /* room for so many elements, and the sizes that came out */"
        for field in self.sizes:
            yield f"  int64_t {field};"
        if self.spec.is_bounded:
            for axis in self.spec.dynamic:
                yield f"  int64_t {self.size(axis)};"

    @property
    def bytes(self) -> str:
        """The size of a static tensor."""
        count = 1
        for size in self.spec.static_shape:
            count *= size
        return str(count * self.spec.element.itemsize)


class Header:
    """Writes the header of the library `name`."""

    def __init__(self, name: str, code: Code, version: str, digest: str) -> None:
        self.name = name
        self.upper = name.upper()
        self.code = code
        self.version = version
        self.digest = digest
        signature = code.signature
        self.inputs = self._tensors(signature.inputs)
        self.outputs = self._tensors(signature.outputs)
        pools = c_names([pool.name for pool in code.pools])
        self.pools = list(zip(pools, code.pools, strict=True))

    @staticmethod
    def _tensors(specs: Sequence[TensorSpec]) -> list[Tensor]:
        names = c_names([spec.name for spec in specs])
        return [Tensor(name, spec) for name, spec in zip(names, specs, strict=True)]

    def text(self, needs: Sequence[str]) -> str:
        """The header; `needs` are symbols that the library does not have."""
        lines = [
            f"/* {self.name}: a compiled model. Made by transom {self.version}. */",
            f"/* For {self.code.triple}, {self.code.cpu}. */",
            f"/* Needs when it is linked: {', '.join(needs) or 'nothing'}. */",
            f"#ifndef {self.upper}_H",
            f"#define {self.upper}_H",
            "",
            "#include <stddef.h>",
            "#include <stdint.h>",
            "",
            "#ifdef __cplusplus",
            'extern "C" {',
            "#endif",
            "",
            f'#define {self.upper}_HASH "{self.digest}"',
            *self._statuses(),
            *self._memory(),
            *self._structs(),
            *self._raw(),
            *self._check(),
            *self._sizes(),
            *self._run(),
            *self._message(),
            "#ifdef __cplusplus",
            "}",
            "#endif",
            "",
            f"#endif /* {self.upper}_H */",
        ]
        return "\n".join(lines) + "\n"

    # Parts.

    def _statuses(self) -> Iterator[str]:
        yield ""
        yield f"enum {self.name}_status {{"
        yield f"  {self.upper}_OK = 0,"
        yield f"  {self.upper}_ERROR_NULL = -1, /* a pointer is null */"
        yield f"  {self.upper}_ERROR_SIZES = -2, /* differ or are out of bounds */"
        yield f"  {self.upper}_ERROR_ALIGNMENT = -3, /* of a pool */"
        for number, message in enumerate(self.code.messages, 1):
            yield f"  {self.upper}_ERROR_{number} = {number}, /* {_comment(message)} */"
        yield "};"

    def _memory(self) -> Iterator[str]:
        yield ""
        for tensor in (*self.inputs, *self.outputs):
            upper = f"{self.upper}_{tensor.name.upper()}"
            if tensor.spec.is_static:
                yield f"#define {upper}_BYTES {tensor.bytes}"
            if tensor.spec.place is not None:
                yield f"#define {upper}_OFFSET {tensor.spec.place[1]}"
        for name, pool in self.pools:
            upper = f"{self.upper}_POOL_{name.upper()}"
            yield f"#define {upper}_BYTES {pool.size}"
            yield f"#define {upper}_ALIGNMENT {pool.alignment}"

    def _structs(self) -> Iterator[str]:
        for what, fields in (
            ("inputs", [f for t in self.inputs for f in t.fields("const ")]),
            ("outputs", [f for t in self.outputs for f in t.fields("")]),
            ("pools", [f for pool in self.pools for f in self._pool_fields(*pool)]),
        ):
            yield ""
            yield f"struct {self.name}_{what} {{"
            is_empty = all(field.strip().startswith("/*") for field in fields)
            yield from [*fields, "  char unused;"] if is_empty else fields
            yield "};"
        yield from self._accessors("input", self.inputs)
        yield from self._accessors("output", self.outputs)

    def _pool_fields(self, name: str, pool: PoolSpec) -> Iterator[str]:
        if pool.content:
            file = image_name(self.name, pool)
            yield f"  /* with the bytes of {file}, which nothing overwrites */"
        yield f"  void *{name};"

    def _accessors(self, kind: str, tensors: Sequence[Tensor]) -> Iterator[str]:
        """Functions that say where in the pools tensors are that have places there."""
        pools = {pool.name: name for name, pool in self.pools}
        for tensor in tensors:
            if tensor.spec.place is None:
                continue
            pool = pools[tensor.spec.place[0]]
            yield ""
            if kind == "input":
                yield "/* To be written before a run, which may overwrite it. */"
            else:
                yield "/* To be read after a run, before the next one. */"
            yield (
                f"static inline {tensor.type} *{self.name}_{kind}_{tensor.name}("
                f"const struct {self.name}_pools *pools) {{"
            )
            offset = f"{self.upper}_{tensor.name.upper()}_OFFSET"
            yield f"  return ({tensor.type} *)((char *)pools->{pool} + {offset});"
            yield "}"

    def _raw(self) -> Iterator[str]:
        types: list[str] = []
        for tensor in self.inputs:
            types += ["const void *", *["int64_t"] * len(tensor.sizes)]
        for tensor in self.outputs:
            types += ["void *", *["int64_t"] * len(tensor.sizes)]
        if self._found:
            types.append("int64_t *")
        types += ["void *"] * len(self.pools)
        yield ""
        yield "/* The code itself; use the functions below. */"
        yield f"int32_t {self.name}_entry({', '.join(types) or 'void'});"
        if self.code.shapes is not None:
            sizes = sum(len(tensor.sizes) for tensor in self.inputs)
            arguments = ", ".join([*["int64_t"] * sizes, "int64_t *"])
            yield f"int32_t {self.name}_shapes({arguments});"

    @property
    def _found(self) -> int:
        """How many sizes come out of a call."""
        return sum(len(t.spec.dynamic) for t in self.outputs if t.spec.is_bounded)

    def _function(self, name: str, arguments: str) -> str:
        return f"static inline int32_t {self.name}_{name}({arguments}) {{"

    @property
    def _symbols(self) -> dict[str, str]:
        """The field that says a symbolic size, by its name."""
        found: dict[str, str] = {}
        for tensor in self.inputs:
            for axis in tensor.spec.dynamic:
                dim = tensor.spec.shape[axis]
                assert isinstance(dim, Dim), "it is dynamic"
                if dim.name is not None:
                    found.setdefault(dim.name, f"in->{tensor.size(axis)}")
        return found

    def _check(self) -> Iterator[str]:
        yield ""
        yield "/* Whether inputs have sizes that fit. */"
        yield self._function("check", f"const struct {self.name}_inputs *in")
        yield "  (void)in;"
        symbols = self._symbols
        for tensor in self.inputs:
            for axis in tensor.spec.dynamic:
                dim = tensor.spec.shape[axis]
                assert isinstance(dim, Dim), "it is dynamic"
                field = f"in->{tensor.size(axis)}"
                lower = 0 if dim.lower is None else max(dim.lower, 0)
                wrong = [f"{field} < {lower}"]
                if dim.upper is not None:
                    wrong.append(f"{field} > {dim.upper}")
                if dim.name is not None and symbols[dim.name] != field:
                    wrong.append(f"{field} != {symbols[dim.name]}")
                yield f"  if ({' || '.join(wrong)}) return {self.upper}_ERROR_SIZES;"
        yield f"  return {self.upper}_OK;"
        yield "}"

    def _sizes(self) -> Iterator[str]:
        """The function that fills the sizes of outputs in."""
        yield ""
        yield "/* Fill in the sizes of the outputs; their memory is the caller's. */"
        yield self._function(
            "sizes",
            f"const struct {self.name}_inputs *in, struct {self.name}_outputs *out",
        )
        yield f"  int32_t status = {self.name}_check(in);"
        yield f"  if (status != {self.upper}_OK) return status;"
        yield "  (void)out;"
        fields = [f"out->{field}" for tensor in self.outputs for field in tensor.sizes]
        if self.code.shapes is not None:
            given = [f"in->{field}" for tensor in self.inputs for field in tensor.sizes]
            yield f"  int64_t sizes[{max(len(fields), 1)}];"
            yield f"  status = {self.name}_shapes({', '.join([*given, 'sizes'])});"
            yield f"  if (status != {self.upper}_OK) return status;"
            for number, field in enumerate(fields):
                yield f"  {field} = sizes[{number}];"
        else:
            for field, dim in zip(fields, self._output_dims(), strict=True):
                assert dim.name is not None, "else a function computes the sizes"
                yield f"  {field} = {self._symbols[dim.name]};"
        yield f"  return {self.upper}_OK;"
        yield "}"

    def _output_dims(self) -> Iterator[Dim]:
        for tensor in self.outputs:
            for size in tensor.spec.shape:
                if isinstance(size, Dim):
                    yield size

    def _run(self) -> Iterator[str]:
        yield ""
        yield "/* Run the model. Reentrant: calls at the same time take other pools. */"
        yield self._function(
            "run",
            f"const struct {self.name}_inputs *in, struct {self.name}_outputs *out,\n"
            f"    const struct {self.name}_pools *pools",
        )
        yield f"  struct {self.name}_outputs sized = *out;"
        yield f"  int32_t status = {self.name}_sizes(in, &sized);"
        yield f"  if (status != {self.upper}_OK) return status;"
        yield "  (void)pools;"
        for tensor in self.inputs:
            if tensor.spec.place is None:
                yield f"  if (!in->{tensor.name}) return {self.upper}_ERROR_NULL;"
        for tensor in self.outputs:
            if tensor.spec.place is None:
                yield f"  if (!out->{tensor.name}) return {self.upper}_ERROR_NULL;"
            for field in tensor.sizes:
                relation = "<" if tensor.spec.is_bounded else "!="
                yield (
                    f"  if (out->{field} {relation} sized.{field}) "
                    f"return {self.upper}_ERROR_SIZES;"
                )
        for name, pool in self.pools:
            yield (
                f"  if (!pools->{name} && {pool.size}) return {self.upper}_ERROR_NULL;"
            )
            yield f"  if ((uintptr_t)pools->{name} % {pool.alignment})"
            yield f"    return {self.upper}_ERROR_ALIGNMENT;"
        arguments: list[str] = []
        for kind, struct, tensors in (
            ("input", "in", self.inputs),
            ("output", "out", self.outputs),
        ):
            for tensor in tensors:
                if tensor.spec.place is None:
                    arguments.append(f"{struct}->{tensor.name}")
                else:
                    arguments.append(f"{self.name}_{kind}_{tensor.name}(pools)")
                arguments += [f"{struct}->{size}" for size in tensor.sizes]
        if self._found:
            yield f"  int64_t found[{self._found}];"
            arguments.append("found")
        arguments += [f"pools->{name}" for name, _ in self.pools]
        yield f"  status = {self.name}_entry({', '.join(arguments)});"
        number = 0
        for tensor in self.outputs:
            if tensor.spec.is_bounded:
                for axis in tensor.spec.dynamic:
                    yield f"  out->{tensor.size(axis)} = found[{number}];"
                    number += 1
        yield "  return status;"
        yield "}"

    def _message(self) -> Iterator[str]:
        yield ""
        yield "/* What a status says. */"
        yield f"static inline const char *{self.name}_message(int32_t status) {{"
        yield "  switch (status) {"
        yield f'  case {self.upper}_OK: return "done";'
        yield f'  case {self.upper}_ERROR_NULL: return "a pointer is null";'
        yield f"  case {self.upper}_ERROR_SIZES:"
        yield '    return "sizes differ or leave their bounds";'
        yield f'  case {self.upper}_ERROR_ALIGNMENT: return "a pool is not aligned";'
        for number, message in enumerate(self.code.messages, 1):
            yield f"  case {self.upper}_ERROR_{number}: return {_string(message)};"
        yield '  default: return "unknown status";'
        yield "  }"
        yield "}"
        yield ""


def _comment(text: str) -> str:
    return text.replace("*/", "* /").replace("\n", " ")


def _string(text: str) -> str:
    """A C string, of ASCII only."""
    quoted = text.encode().decode("latin-1")
    parts = [
        f"\\{char}"
        if char in '"\\'
        else char
        if " " <= char <= "~"
        else f"\\{ord(char):03o}"
        for char in quoted
    ]
    return '"' + "".join(parts).replace("??", '?""?') + '"'
