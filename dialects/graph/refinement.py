"""
Tensor types as knowledge about sizes: what two types say together, and what both say.
"""

from xdsl.dialects.builtin import NoneAttr, TensorType
from xdsl.ir import Attribute

from transom.dialects.graph.desc import (
    AnyTensor,
    DescAttr,
    desc_of,
    dim_symbols,
    layout_of,
    place_of,
    tensor,
)
from transom.dialects.graph.shapes import DYNAMIC, Symbol

Size = int | Symbol | None
"""What a type says of one size: a number, a name, or nothing."""


def refined(declared: AnyTensor, inferred: AnyTensor) -> AnyTensor | None:
    """
    The declared type with all that is known of its sizes, or None if the two contradict
    each other. Layout and place are the declared ones.
    """
    if not _comparable(declared, inferred):
        return None
    sizes: list[Size] = []
    for a, b in zip(_sizes(declared), _sizes(inferred), strict=True):
        if not _agree(a, b):
            return None
        sizes.append(_more_precise(a, b))
    return _with_sizes(declared, sizes, desc_of(declared))


def common(a: AnyTensor, b: AnyTensor) -> AnyTensor | None:
    """
    The most precise type that holds the values of both, or None if there is none.
    """
    if not _comparable(a, b) or layout_of(a) != layout_of(b):
        return None
    sizes = [_both(x, y) for x, y in zip(_sizes(a), _sizes(b), strict=True)]
    desc = desc_of(a) if place_of(a) == place_of(b) else None
    return _with_sizes(a, sizes, desc)


def is_tensor_of_sizes(type: Attribute) -> bool:
    """Whether a type is a tensor whose encoding, if it has one, is `#graph.desc`."""
    return isinstance(type, TensorType) and isinstance(
        type.encoding, NoneAttr | DescAttr
    )


def _comparable(a: AnyTensor, b: AnyTensor) -> bool:
    return a.element_type == b.element_type and a.get_num_dims() == b.get_num_dims()


def _sizes(type: AnyTensor) -> list[Size]:
    return [
        symbol if size == DYNAMIC else size
        for size, symbol in zip(type.get_shape(), dim_symbols(type), strict=True)
    ]


def _agree(a: Size, b: Size) -> bool:
    """Whether one size can be what two types say of it."""
    if a is None or b is None:
        return True
    if isinstance(a, Symbol) and isinstance(b, Symbol):
        return a.name == b.name and a.overlaps(b)
    if isinstance(a, Symbol):
        a, b = b, a
    if isinstance(b, Symbol):
        return isinstance(a, int) and b.admits(a)
    return a == b


def _more_precise(a: Size, b: Size) -> Size:
    if isinstance(a, Symbol) and isinstance(b, Symbol):
        return a.narrowed(b)
    if a is None or isinstance(b, int):
        return b
    return a


def _both(a: Size, b: Size) -> Size:
    if isinstance(a, Symbol) and isinstance(b, Symbol) and a.name == b.name:
        return a.widened(b)
    return a if a == b else None


def _with_sizes(type: AnyTensor, sizes: list[Size], desc: DescAttr | None) -> AnyTensor:
    new = tensor(
        sizes,
        type.element_type,
        layout=None if desc is None else desc.layout,
        place=None if desc is None else desc.place,
    )
    return type if new == type else new
