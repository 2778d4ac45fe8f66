"""
Code that is emitted already: run by the reference of its format.
"""

from typing import Any

from xdsl.ir import Operation

from transom.dialects import executor
from transom.dialects.diagnostics import Note, OpError, did_you_mean
from transom.interpreters.evaluators import Values
from transom.interpreters.interpreter import Frame


def run_artifact(
    frame: Frame, op: Operation, artifact: executor.ArtifactOp, arguments: Values
) -> None:
    """Run the artifact that `op` calls; it writes to the arguments in place."""
    run = artifact_reference(frame, op, artifact)
    try:
        run(artifact, arguments)
    except OpError:
        raise
    except Exception as e:  # plug-in boundary: anything may go wrong in a simulator
        name = artifact.sym_name.data
        raise OpError(
            op,
            f"artifact '@{name}' failed: {type(e).__name__}: {e}",
            Note(artifact, "the artifact"),
        ) from e


def artifact_reference(
    frame: Frame, op: Operation, artifact: executor.ArtifactOp
) -> Any:
    """The reference of an artifact's format; an OpError if there is none."""
    known = frame.interpreter.artifacts
    format = artifact.format.data
    if format not in known:
        raise OpError(
            op,
            f"no reference evaluation for artifact '@{artifact.sym_name.data}' of "
            f"format '{format}' for '{artifact.target}'{did_you_mean(format, known)}",
        )
    return known[format]
