"""
The reference evaluations that the targets of a module bring, as one.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from transom.dialects.diagnostics import OpError
from transom.dialects.executor import ArtifactOp, EmittedCode
from transom.dialects.target import TargetAttr, targets_in
from transom.interpreters.evaluators import Evaluator
from transom.interpreters.interpreter import Interpreter
from transom.targets.contract.asking import Question
from transom.targets.hooks import Reference, RunArtifact
from transom.targets.registry import HooksError, hooks_of

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")


def reference_of(module: ModuleOp) -> Reference:
    """
    What the targets that a module names bring to evaluate it.

    Artifacts are run by what their own target brings for the format. Raises `OpError`
    if the hooks of a target cannot be had, or if two bring different evaluations of an
    op, a C function, or artifacts of a third target.
    """
    references = [(target, _reference(module, target)) for target in _targets(module)]
    formats: dict[str, dict[TargetAttr, RunArtifact]] = {}
    for target, reference in references:
        for format, run in reference.artifacts.items():
            formats.setdefault(format, {})[target] = run
    return Reference(
        ops=_merged(
            module,
            [(target, reference.ops) for target, reference in references],
            lambda op_class: f"op '{op_class.name}'",
        ),
        externs=_merged(
            module,
            [(target, reference.externs) for target, reference in references],
            lambda name: f"C function '{name}'",
        ),
        artifacts={format: _OfFormat(runs) for format, runs in formats.items()},
    )


def interpreter_of(
    module: ModuleOp,
    *,
    externs: Mapping[str, Callable[..., Any]] | None = None,
    evaluators: Mapping[type[Operation], Evaluator] | None = None,
    artifacts: Mapping[str, RunArtifact] | None = None,
    **options: Any,
) -> Interpreter:
    """
    An interpreter that knows what the module's targets bring; what is given comes
    before that. `options` are those of `Interpreter`. Raises as `reference_of`.
    """
    reference = reference_of(module)
    return Interpreter(
        module,
        externs={**reference.externs, **(externs or {})},
        evaluators={**reference.ops, **(evaluators or {})},
        artifacts={**reference.artifacts, **(artifacts or {})},
        **options,
    )


def _targets(module: ModuleOp) -> Iterator[TargetAttr]:
    """The targets of devices and functions, and those of artifacts, each once."""
    artifacts = (op.target for op in module.body.ops if isinstance(op, ArtifactOp))
    yield from dict.fromkeys((*targets_in(module), *artifacts))


def _reference(module: ModuleOp, target: TargetAttr) -> Reference:
    try:
        question = Question(hooks_of(target), "reference", target)
        answer = question.answer()
        question.expect(isinstance(answer, Reference), "a 'Reference'", answer)
    except HooksError as e:
        raise OpError(module, str(e)) from None
    assert isinstance(answer, Reference), "checked above"
    return answer


def _merged(
    module: ModuleOp,
    tables: Sequence[tuple[TargetAttr, Mapping[KeyT, ValueT]]],
    described: Callable[[KeyT], str],
) -> dict[KeyT, ValueT]:
    """What all targets bring; an `OpError` if two bring different things."""
    merged: dict[KeyT, ValueT] = {}
    origin: dict[KeyT, TargetAttr] = {}
    for target, table in tables:
        for key, value in table.items():
            if merged.setdefault(key, value) != value:
                raise OpError(
                    module,
                    f"targets '{origin[key]}' and '{target}' bring different reference "
                    f"evaluations of {described(key)}",
                )
            origin.setdefault(key, target)
    return merged


@dataclass(frozen=True)
class _OfFormat:
    """Runs artifacts of one format, for several targets."""

    runs: Mapping[TargetAttr, RunArtifact]

    def __call__(self, artifact: EmittedCode, arrays: Sequence[Any]) -> None:
        assert isinstance(artifact, ArtifactOp), "asked for ops of a module"
        run = self.runs.get(artifact.target)
        if run is None:
            first, run = next(iter(self.runs.items()))
            for target, other in self.runs.items():
                if other != run:
                    raise OpError(
                        artifact,
                        f"targets '{first}' and '{target}' bring different reference "
                        f"evaluations of format '{artifact.format.data}', and "
                        f"'{artifact.target}' brings none",
                    )
        run(artifact, arrays)
