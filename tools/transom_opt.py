"""
`transom-opt`: read IR, lower it to a phase, run passes on it, print it.

```text
transom-opt model.mlir -p 'graph-fold-constants,func.func(cse)'
transom-opt model.mlir --to=planned --print-ir-after-change
```

Exit status: 0 done, 1 the input is wrong, 2 the command line is wrong, 130 interrupted.
"""

import sys
from collections.abc import Sequence

from transom.tools.interrupts import interruptible_imports

with interruptible_imports():
    from xdsl.utils.exceptions import ShrinkException

    from transom.dialects.parser import allow_deep_recursion
    from transom.tools.exit_status import exit_status
    from transom.tools.memory_limit import memory_limited
    from transom.tools.opt_driver import PROGRAM, TransomOptMain
    from transom.tools.plugin_problems import (
        STRICT,
        all_plugins_usable,
        warning_of_plugins,
    )
    from transom.tools.program_arguments import error_format
    from transom.tools.reporter import Reporter


def main(args: Sequence[str] | None = None) -> int:
    """The exit status."""
    words = sys.argv[1:] if args is None else args
    reporter = Reporter(PROGRAM, error_format(words) == "json")
    return exit_status(reporter, words, lambda: run(words, reporter))


def run(args: Sequence[str], reporter: Reporter) -> bool:
    """Do what the command line says. True if the input was right."""
    allow_deep_recursion()
    if STRICT in args and not all_plugins_usable(reporter):
        return False
    with warning_of_plugins(reporter):
        driver = TransomOptMain(args, reporter)
        with memory_limited(driver.args.memory_limit):
            try:
                return driver.run_file()
            except ShrinkException:
                print("Success, can shrink")
                return True


if __name__ == "__main__":
    sys.exit(main())
