"""
What the ops of `metric` compute, on NumPy arrays: every phase is compared with it.
"""

import numpy as np
from transom.interpreters.evaluators import Evaluators, Values
from transom.interpreters.interpreter import Frame

from metric.dialect import DistancesOp

METRIC = Evaluators()


@METRIC.of(DistancesOp)
def distances(frame: Frame, op: DistancesOp, args: Values) -> Values:
    lhs, rhs = (x.astype(np.float64) for x in args)
    result = np.empty((len(lhs), len(rhs)), args[0].dtype)
    for i, row in enumerate(lhs):
        result[i] = np.sqrt(((row - rhs) ** 2).sum(axis=1))
    return (result,)
