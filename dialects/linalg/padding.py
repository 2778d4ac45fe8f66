"""
`tensor.pad`, which other compilers put in front of convolutions.
"""

from xdsl.dialects import arith, tensor
from xdsl.ir import Attribute


def padding_of(op: tensor.PadOp) -> Attribute | None:
    """The number that a tensor is padded with, if it is one constant."""
    last = op.region.block.last_op
    assert isinstance(last, tensor.YieldOp), "the region ends with it"
    owner = last.operands[0].owner
    return owner.value if isinstance(owner, arith.ConstantOp) else None
