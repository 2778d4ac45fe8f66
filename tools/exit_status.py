"""
What ends a program early, as a message and an exit status; never as a traceback.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from xdsl.utils.exceptions import DiagnosticException

from transom.dialects.diagnostics import Diagnostic, OpError
from transom.dialects.plugins import PluginError
from transom.passes.pipeline import PipelineError
from transom.tools.bugs import TRACEBACK, bug
from transom.tools.cache_warnings import warning_of_cache
from transom.tools.interrupts import INTERRUPTED
from transom.tools.memory_limit import MemoryLimitError
from transom.tools.output_files import abandon_stdout
from transom.tools.reporter import Reporter

if TYPE_CHECKING:
    from transom.tools.pass_observers import CurrentPass

WRONG_INPUT = 1
WRONG_COMMAND = 2


def exit_status(
    reporter: Reporter,
    words: Sequence[str],
    body: Callable[[], bool],
    *user_errors: type[Exception],
    current: "CurrentPass | None" = None,
) -> int:
    """
    Run a program: 0 if `body` says that all is right, else 1, and 2 if the command line
    is wrong. `user_errors` are exceptions whose message is for the user; any other is
    one line too, of the `current` pass, unless `words`, the command line, ask for the
    traceback.
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
    except (*user_errors, PluginError) as e:
        reporter.error(str(e))
    except Exception as e:  # plug-in boundary: passes, hooks, evaluations of others
        if TRACEBACK in words:
            raise
        name = None if current is None else current.name
        if _is_of_hooks(e):
            reporter.error(str(e))
        elif isinstance(e, DiagnosticException) and name is not None:
            reporter.error(f"pass '{name}' failed: {e}")
        else:
            _emit_bug(reporter, bug(e, name))
    return WRONG_INPUT


def _is_of_hooks(error: Exception) -> bool:
    """Whether it says that hooks of a target cannot be had."""
    from transom.targets.registry import HooksError

    return isinstance(error, HooksError)


def _emit_bug(reporter: Reporter, diagnostic: Diagnostic) -> None:
    """Write an error that may have no place in a file."""
    if diagnostic.position is None:
        reporter.error(diagnostic.message)
    else:
        reporter.emit(diagnostic)
