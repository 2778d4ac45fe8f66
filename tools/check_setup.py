"""
The check of numbers that the flags of `transom-opt` ask for.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from transom.dialects.weight_files import base_folder
from transom.interpreters.interpreter import MAX_STEPS
from transom.passes.pipeline import PassFactory, PipelineError
from transom.runtime.signature import InputError
from transom.tools.bisect import Bisection
from transom.tools.check_each import NumberCheck
from transom.tools.number_runs import Runner, Tolerances


def number_check(
    args: argparse.Namespace,
    ctx: Context,
    module: ModuleOp,
    passes: Mapping[str, PassFactory],
    verify_each: bool,
) -> NumberCheck:
    """
    The check for a module, which is run once for what is to be expected.

    Raises `OpError` if it cannot be run, and `PipelineError` for wrong inputs.
    """
    steps: int | None = args.check_max_steps
    runner = Runner(
        args.check_input,
        base_folder(module),
        ctx,
        args.check_function,
        MAX_STEPS if steps is None else steps,
        Tolerances(args.check_rtol, args.check_atol),
    )
    bisection = None
    if args.bisect is not None:
        bisection = Bisection(runner, passes, Path(args.bisect), verify_each)
    by_phase = args.check_each == "phase"
    try:
        return NumberCheck(runner, module, by_phase, args.check_finish, bisection)
    except InputError as e:
        raise PipelineError(f"--check-input: {e}") from None
