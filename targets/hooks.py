"""
What a target may say about its part of the compilation.

A target derives `TargetHooks` for its attribute class and overrides what it wants
different; each default leaves things to the shared pipeline. Hooks return passes,
pipelines and patterns, so that what they add can be printed, tested and run by name.
Each is a function of the target attribute alone: it reads no environment, no module and
no state, and gives equal answers for equal attributes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from transom.dialects.executor import EmittedCode
from transom.dialects.target import LinkOp, MemoryOp, TargetAttr
from transom.interpreters.evaluators import Evaluator
from transom.lowering.conversion import ConversionPattern, Refusal
from transom.passes.graph_patterns import Match, Pattern
from transom.passes.graph_patterns.terms import kind_name
from transom.passes.pipeline import Pipeline

TargetT = TypeVar("TargetT", bound=TargetAttr)

API_VERSION = 1
"""The version of this contract; it goes up when hooks written before would break."""


class Accepted(NamedTuple):
    """A claim is granted, at an estimated cost."""

    seconds: float | None = None
    """The time of one execution; None if it is not known, which is never zero."""


@dataclass(frozen=True)
class Claim:
    """
    What a target can run: single ops, or a pattern of several under a label.

    `answer` sees an op of class `root`, unmodified, and grants or refuses it with a
    reason. `members` gives all ops of the pattern that ends in the op, with that op and
    the constants that belong to it, and none where the pattern is not there; by default
    the op is alone. Under a label they become a `graph.composite`, else they only stay
    together.
    """

    root: type[Operation]
    answer: Callable[[Operation], Accepted | Refusal]
    label: str | None = None
    members: Callable[[Operation], Sequence[Operation]] = lambda op: (op,)

    def may_root(self, op: Operation) -> bool:
        """Whether the claim is for ops of this kind."""
        return isinstance(op, self.root)

    @property
    def what(self) -> str:
        """What is claimed, in words."""
        return f"a '{kind_name(self.root)}'"


@dataclass(frozen=True)
class PatternClaim:
    """
    What a target can run as a pattern of graph ops (`docs/patterns.md`).

    `answer` sees each match, whose ops are unmodified, and grants or refuses it with a
    reason. Matches may overlap; of those that are granted the target gets what the
    choice of places gives it. Under a label they become a `graph.composite`, else they
    only stay together. With `taps` values inside may be read by others, and become
    results; without, a match that has such is refused.
    """

    pattern: Pattern
    answer: Callable[[Match], Accepted | Refusal]
    label: str | None = None
    taps: bool = False

    def may_root(self, op: Operation) -> bool:
        """Whether the pattern may end in ops of this kind."""
        return self.pattern.may_root(op)

    @property
    def what(self) -> str:
        """What is claimed, in words."""
        return f"'{self.label}'" if self.label else f"a {self.pattern}"


AnyClaim = Claim | PatternClaim


@dataclass(frozen=True)
class Step:
    """
    Passes of a target, and where they stand among those of the phase.

    A step comes after whatever provides what it `requires`: another step of the target,
    or a shared pass of this phase or an earlier one, which provides its own name. It
    comes before the passes and steps that provide what `before` names. Else the shared
    passes come after it, and steps keep the order in which they are given.
    """

    pipeline: Pipeline
    requires: frozenset[str] = frozenset()
    provides: frozenset[str] = frozenset()
    before: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Emitted:
    """Code for one or more functions of a target, ready for its run time."""

    functions: tuple[str, ...]
    """The symbols of the functions that it holds."""

    format: str
    payload: bytes | str
    """The code; text stays readable in the IR."""
    workspace: Mapping[str, int] = field(default_factory=dict[str, int])
    """Bytes of memory that a call of a function needs beside its arguments, if any."""


@dataclass(frozen=True)
class Reference:
    """Evaluators on NumPy arrays for what only the target's own machine can run."""

    ops: Mapping[type[Operation], Evaluator] = field(
        default_factory=dict[type[Operation], Evaluator]
    )
    """For its ops; memrefs are arrays that an evaluator writes in place."""

    externs: Mapping[str, Callable[..., Any]] = field(
        default_factory=dict[str, Callable[..., Any]]
    )
    """For C functions by name; called with the operands of the `tir.extern`."""

    artifacts: Mapping[str, "RunArtifact"] = field(
        default_factory=dict[str, "RunArtifact"]
    )
    """For what `emit` and `convert_graph_to_artifact` make, by format."""


RunArtifact = Callable[[EmittedCode, Sequence[Any]], None]
"""
Runs code on the arrays and numbers of its signature, the workspace as an array of bytes
at the end if there is one; it writes to the arrays in place.
"""


class TargetHooks(Generic[TargetT]):
    """
    The hooks of a target. `attr_type` is its attribute class.

    `scope` says what the passes of a hook get at a time: a function of the target, or
    with `module` all of them at once, which allows to merge, split and order work
    across functions. Outside its functions a hook may change calls of them, copies at
    their borders, and private symbols that it adds.

    What a target owns are the private functions of graph ops that are placed at it, and
    the kernels made of them. The passes of its hooks see these and no other functions'
    bodies, but all of the module around them. After each hook `targets/contract`
    checks what its docstring promises (`docs/hooks-contract.md`).
    """

    api_version: ClassVar[int] = API_VERSION
    """The version of this contract that the class was written for."""

    attr_type: type[TargetT]
    scope: Literal["function", "module"] = "function"

    def claims(self, target: TargetT) -> Sequence[AnyClaim]:
        """
        What the target can run, for the choice of places.

        Claims may overlap; all of them are candidates. Default: nothing is claimed, and
        the target gets what it is the only or preferred one for.
        """
        return ()

    def graph_pipeline(self, target: TargetT) -> Pipeline:
        """
        Graph to graph, on the target's functions, before they are lowered.

        Afterwards each function verifies, and computes what it did. Default: nothing.
        """
        return Pipeline("func.func", ())

    def patterns(self, target: TargetT) -> Sequence[ConversionPattern[Any]]:
        """
        Conversion patterns that join those of the built-in graph to tensor lowering.

        The benefit decides between them: more than the built-in ones' (1) comes first.
        A pattern that refuses says why, and the next is tried. Default: none.
        """
        return ()

    def convert_graph_to_tir(self, target: TargetT) -> ModulePass | None:
        """
        A conversion that replaces the built-in lowering for the target's functions.

        Afterwards each of these is lowered or refused with a reason, every kernel is a
        `tir.func` with a place, and no call dangles. Default: None, the built-in one.
        """
        return None

    def tir_pipeline(self, target: TargetT) -> Sequence[Step]:
        """
        Tensor to tensor, on the target's kernels, in phase `scheduled`.

        Steps are ordered by what they require and provide, together with the shared
        passes; each shared pass provides its name. Default: none.
        """
        return ()

    def pass_options(self, target: TargetT) -> Mapping[str, Mapping[str, object]]:
        """
        Options of shared passes that follow from the target, by pass and option.

        Where targets differ, the pass runs once for the functions of each. Option names
        are those of the pipeline's text, as in `vector-bytes`. Default: none, every
        pass uses its own defaults.
        """
        return {}

    def omits(self, target: TargetT) -> frozenset[str]:
        """
        Names of shared passes that are not to run on the target's functions.

        What is omitted is reported. Default: none.
        """
        return frozenset()

    def emit(self, module: ModuleOp, target: TargetT) -> Sequence[Emitted] | None:
        """
        Code for the target's kernels, the only functions of the module with a body, in
        place of what LLVM emits.

        The module is not changed. Default: None, LLVM emits.
        """
        return None

    def convert_graph_to_artifact(self, target: TargetT) -> ModulePass | None:
        """
        A pass from the target's graph functions to `executor.artifact` in one step.

        Afterwards main calls the artifacts, whose signature and workspace the shared
        passes see. A target that has `convert_graph_to_tir` too may leave functions to
        it. Default: None, functions go through the tensor level.
        """
        return None

    def constants(self, target: TargetT) -> ModulePass | None:
        """
        A pass that takes, renames or repacks weights that the target's functions use.

        It rewrites weights as expressions of weights; the originals stay while others
        use them. Default: None, weights stay as they are.
        """
        return None

    def memories(self, target: TargetT) -> Sequence[MemoryOp | LinkOp]:
        """
        New ops that declare the memories that the target brings, and links to them.

        They join those that the module declares; a memory says who plans it. Default:
        none.
        """
        return ()

    def cost(self, op: Operation, target: TargetT) -> float | None:
        """
        The seconds that an op, a region or a kernel takes.

        Default: None, unknown; it is then never taken for cheaper than what is known.
        """
        return None

    def reference(self, target: TargetT) -> Reference:
        """
        Evaluators of the target's own ops, C functions and artifacts, so that a module
        runs at every phase. Default: none are needed.
        """
        return Reference()
