"""Walks that only look see what xDSL's see."""

from xdsl.ir import Operation

import transom
from transom.dialects.walking import walk_ops

TEXT = """
func.func @f(%c: i1, %n: index) {
  %zero = arith.constant 0 : index
  scf.for %i = %zero to %n step %n {
    scf.if %c {
      %a = arith.constant 1 : i32
    } else {
      %b = arith.constant 2 : i32
    }
  }
  cf.br ^end
^end:
  func.return
}
func.func private @declared()
"""


def test_the_order_is_that_of_the_text() -> None:
    module = transom.parse(TEXT)
    ops: list[Operation] = list(walk_ops(module))
    assert ops == list(module.walk())
    assert len(ops) == 13
    first = module.body.block.first_op
    assert first is not None
    assert list(walk_ops(first)) == list(first.walk())
