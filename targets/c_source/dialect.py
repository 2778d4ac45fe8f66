"""
The `c_source` dialect: machines that have a compiler of C99.
"""

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import I64, ArrayAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.utils.exceptions import VerifyException

from transom.dialects.target import TargetAttr

HEADER = re.compile(r"[A-Za-z0-9_.+/-]+")


@irdl_attr_definition
class CSourceAttr(TargetAttr):
    """
    A machine for which there is a compiler of C99, and no more is known of it.

    `index_bits` is the width of indices and sizes, 64 or, for small machines, 32.
    `headers` are included by what is emitted; they declare the C functions and structs
    that kernels call, which are declared from their use otherwise.

    ```mlir
    #c_source.target<index_bits = 32, headers = ["arm_nnfunctions.h"]>
    ```
    """

    name = "c_source.target"

    DEFAULTS: ClassVar[Mapping[str, Attribute]] = {
        "index_bits": IntegerAttr(64, i64),
        "headers": ArrayAttr(()),
    }

    index_bits: IntegerAttr[I64] = param_def()
    headers: ArrayAttr[StringAttr] = param_def()

    @classmethod
    def get(cls, index_bits: int = 64, headers: Sequence[str] = ()) -> "CSourceAttr":
        """The target with indices of so many bits, which includes these headers."""
        return CSourceAttr(
            IntegerAttr(index_bits, i64), ArrayAttr(map(StringAttr, headers))
        )

    @property
    def index_width(self) -> int:
        """The width of indices in bits."""
        return self.index_bits.value.data

    @property
    def header_names(self) -> tuple[str, ...]:
        """What is included, in order."""
        return tuple(header.data for header in self.headers)

    def verify(self) -> None:
        if self.index_width not in (32, 64):
            raise VerifyException(
                f"expected 32 or 64 as 'index_bits', but got {self.index_width}"
            )
        for name in self.header_names:
            if HEADER.fullmatch(name) is None:
                raise VerifyException(
                    f"expected the name of a file in 'headers', but got '{name}'"
                )


CSource = Dialect("c_source", [], [CSourceAttr])
