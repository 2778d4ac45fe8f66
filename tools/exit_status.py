"""
What ends a program early, as a message and an exit status; never as a traceback.
"""

from collections.abc import Callable

from transom.dialects.diagnostics import OpError
from transom.passes.pipeline import PipelineError
from transom.tools.cache_warnings import warning_of_cache
from transom.tools.interrupts import INTERRUPTED
from transom.tools.memory_limit import MemoryLimitError
from transom.tools.output_files import abandon_stdout
from transom.tools.reporter import Reporter

WRONG_INPUT = 1
WRONG_COMMAND = 2


def exit_status(
    reporter: Reporter, body: Callable[[], bool], *user_errors: type[Exception]
) -> int:
    """
    Run a program: 0 if `body` says that all is right, else 1, and 2 if the command line
    is wrong. `user_errors` are exceptions whose message is for the user.
    """
    try:
        with warning_of_cache(reporter):
            return 0 if body() else WRONG_INPUT
    except SystemExit as e:  # of argparse, after --help and --version
        return e.code if isinstance(e.code, int) else 0
    except (PipelineError, MemoryLimitError) as e:
        if isinstance(e, PipelineError):
            reporter.pipeline_error(e)
        else:
            reporter.error(str(e))
        return WRONG_COMMAND
    except OpError as e:
        reporter.emit(e.diagnostic())
    except BrokenPipeError:  # the reader of our output has gone
        abandon_stdout()
    except OSError as e:
        where = f"{e.filename}: " if e.filename else ""
        reporter.error(f"{where}{e.strerror or e}")
    except MemoryError:
        reporter.error("out of memory")
    except KeyboardInterrupt:
        return INTERRUPTED
    except user_errors as e:
        reporter.error(str(e))
    return WRONG_INPUT
