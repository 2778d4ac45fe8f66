"""
Turn quantised composites into ops of `cmsis_nn`, with channels last.

What `target-claim-ops` has found becomes the op that computes it: scales become
multipliers and shifts, zero points offsets, activations the range of results. Weights
are moved into the order of the library by expressions that are evaluated once. Images
are transposed where they come in and where they go out; `canonicalize`, which comes
next, removes transposes between ops that meet.

```mlir
%y = graph.composite "cmsis_nn.conv" (%a = %x : tensor<1x3x8x8xi8>) -> … { … }
==>
%w = graph.weight_ref @w.ohwi : tensor<4x3x3x3xi8>
%m = graph.constant dense<[…]> : tensor<4xi32>  …
%h = graph.transpose %x permutation [0, 2, 3, 1] : …
%c = cmsis_nn.conv %h, %w, %b, %m, %s offsets [3, -5] : …
%y = graph.transpose %c permutation [0, 3, 1, 2] : …
```

Results are those of the library, which differ from the floats of the composite by at
most one step of the result, where a rounding falls otherwise.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from transom.dialects import graph
from transom.dialects.diagnostics import OpError
from transom.lowering.conversion import Refusal
from transom.passes.function_pass import FunctionPass
from transom.passes.graph_patterns.composites import match_in
from transom.passes.rewrite_steps import may_rewrite
from transom.passes.weight_expressions import Expression, derive_weight, stem_of_known
from transom.targets.cmsis_nn.cores import Core
from transom.targets.cmsis_nn.known import Known, module_of
from transom.targets.cmsis_nn.matching import PATTERNS, Found
from transom.targets.cmsis_nn.plans import Builder, plan


@dataclass
class CompositeBuilder(Builder):
    """Collects ops for one composite."""

    composite: graph.CompositeOp
    module: ModuleOp
    stem: str
    ops: list[Operation] = field(default_factory=list[Operation])

    def __call__(self, op: Operation) -> SSAValue:
        op.location = self.composite.location
        if isinstance(op, graph.GraphOp) and op.operands:
            place = graph.place_of(self.composite.results[0].type)
            type = graph.with_desc(op.declared_type(), layout=None, place=place)
            op.retype(type)
        self.ops.append(op)
        return op.results[0]

    def value(self, value: SSAValue) -> SSAValue:
        if isinstance(value.owner, Block):
            return self.composite.operands[value.owner.args.index(value)]
        if isinstance(value.owner, graph.WeightRefOp):
            return self(value.owner.clone())
        return self.derived("value", lambda e: e.known(value))

    def derived(self, stem: str, build: Callable[[Expression], SSAValue]) -> SSAValue:
        name = f"{self.stem}.{stem}"
        return self(derive_weight(self.module, name, build, self.composite))


@dataclass(frozen=True)
class CmsisNnSelectOpsPass(FunctionPass):
    name = "cmsis-nn-select-ops"

    has_dsp: bool = False
    has_mve: bool = False

    def apply_to(self, ctx: Context, func: FuncOp) -> None:
        known = Known()
        for op in tuple(func.body.walk()):
            if isinstance(op, graph.CompositeOp) and op.composite.data in PATTERNS:
                self.select(op, known)

    def select(self, composite: graph.CompositeOp, known: Known) -> None:
        """Replace a composite. Raises `OpError` if the library does not compute it."""
        label = composite.composite.data
        found = Found(label, match_in(composite, PATTERNS[label]))
        made = plan(found, Core(self.has_dsp, self.has_mve), known)
        if isinstance(made, Refusal):
            raise OpError(composite, made.reason)
        if not may_rewrite("select an op of the library", composite):
            return
        stem = (
            stem_of_known(found.weights.dequantize.input) if found.has_weights else ""
        )
        builder = CompositeBuilder(composite, module_of(composite), stem or "value")
        result = made(builder)
        keep_attributes(composite, builder.ops)
        last = result.owner
        assert isinstance(last, graph.GraphOp), "a plan ends with an op of its own"
        last.retype(*composite.result_types)  # where it is stored is in the type
        Rewriter.replace_op(composite, builder.ops, last.results)


def keep_attributes(composite: graph.CompositeOp, made: Sequence[Operation]) -> None:
    """Let the op that computes carry what was said of the composite."""
    computing = [op for op in made if op.name.startswith("cmsis_nn.")]
    (computing or made)[-1].attributes.update(composite.attributes)
