"""
Code that is emitted already.
"""

from collections.abc import Sequence
from typing import Protocol

from xdsl.dialects.builtin import (
    ArrayAttr,
    FunctionType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    SymbolRefAttr,
    i8,
    i64,
)
from xdsl.ir import Attribute, Operation
from xdsl.irdl import base, eq, irdl_op_definition, opt_prop_def, prop_def, traits_def
from xdsl.traits import SymbolOpInterface, SymbolUserOpInterface
from xdsl.utils.exceptions import VerifyException

from transom.dialects.executor.attributes import BytesAttr
from transom.dialects.keyed_syntax import KeyedSymbolOp
from transom.dialects.symbols import expect_symbol, lookup
from transom.dialects.target import TargetAttr
from transom.dialects.tir.attributes import Effect, EffectAttr
from transom.dialects.tir.callee import Callee


class EmittedCode(Protocol):
    """A function in emitted code, as whatever runs it sees it."""

    @property
    def payload_bytes(self) -> bytes:
        """The code."""
        ...

    @property
    def entry_name(self) -> str:
        """The name of the function in the code."""
        ...


class PayloadIsThere(SymbolUserOpInterface):
    """The artifact that holds the code of another is of its format and target."""

    def verify(self, op: Operation) -> None:
        assert isinstance(op, ArtifactOp), "only artifacts have this trait"
        if not isinstance(op.payload, SymbolRefAttr):
            return
        name = op.payload.string_value()
        holder = expect_symbol(op, name, ArtifactOp, "artifact")
        if isinstance(holder.payload, SymbolRefAttr):
            raise VerifyException(
                f"expected '@{name}' to hold the payload, but it is in "
                f"'{holder.payload}'"
            )
        for what, mine, theirs in (
            ("format", op.format, holder.format),
            ("target", op.target, holder.target),
        ):
            if mine != theirs:
                raise VerifyException(
                    f"expected the {what} of '@{name}', which holds the payload, "
                    f"'{theirs}', but got '{mine}'"
                )


@irdl_op_definition
class ArtifactOp(KeyedSymbolOp, Callee):
    """
    A function that is already emitted: its format, the target it was emitted for, and
    the code, as text or bytes, or in another artifact. A call takes arguments of the
    signature, and a workspace of so many bytes at its end (absent: none). `effects`
    says what is done with each argument (absent: memrefs are read and written), in the
    order inputs, outputs, scratch. `entry` is the function's name in the code (absent:
    the symbol).

    ```mlir
    executor.artifact @f {
      format = "c", target = #llvm_cpu.target<cpu = "znver4">,
      payload = "void f(float *x, const float *y) { *x = *y; }",
      workspace = 256, signature = (memref<1xf32>, memref<1xf32>) -> (),
      effects = [read, write]
    }
    executor.artifact @g {
      format = "c", target = #llvm_cpu.target<cpu = "znver4">, payload = @f,
      signature = (memref<1xf32>) -> ()
    }
    ```
    """

    name = "executor.artifact"

    format = prop_def(StringAttr)
    target = prop_def(base(TargetAttr))
    payload = prop_def(base(StringAttr) | base(BytesAttr) | base(SymbolRefAttr))
    workspace = opt_prop_def(IntegerAttr.constr(type=eq(i64)))
    signature = prop_def(FunctionType)
    effects = opt_prop_def(ArrayAttr[EffectAttr])
    entry = opt_prop_def(StringAttr)

    traits = traits_def(SymbolOpInterface(), PayloadIsThere())

    def __init__(
        self,
        name: str,
        format: str,
        target: TargetAttr,
        payload: str | bytes | SymbolRefAttr,
        signature: FunctionType,
        workspace: int | None = None,
        entry: str | None = None,
        effects: Sequence[Effect | str] | None = None,
    ) -> None:
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "format": StringAttr(format),
                "target": target,
                "payload": _payload_attribute(payload),
                "workspace": None if workspace is None else IntegerAttr(workspace, i64),
                "signature": signature,
                "effects": None
                if effects is None
                else ArrayAttr(EffectAttr(Effect(effect)) for effect in effects),
                "entry": None if entry is None else StringAttr(entry),
            }
        )

    @property
    def holder(self) -> "ArtifactOp":
        """The artifact that holds the code: this one, or the one that it names."""
        if not isinstance(self.payload, SymbolRefAttr):
            return self
        holder = lookup(self, self.payload.string_value())
        assert isinstance(holder, ArtifactOp), "the verifier has looked"
        return holder

    @property
    def payload_bytes(self) -> bytes:
        """The code."""
        payload = self.holder.payload
        if isinstance(payload, BytesAttr):
            return payload.data
        assert isinstance(payload, StringAttr), "the verifier has looked"
        return payload.data.encode()

    @property
    def workspace_bytes(self) -> int:
        """The size of the workspace that a call needs."""
        return 0 if self.workspace is None else self.workspace.value.data

    @property
    def entry_name(self) -> str:
        """The name of the function in the code."""
        return (self.sym_name if self.entry is None else self.entry).data

    @property
    def argument_types(self) -> tuple[Attribute, ...]:
        """What a call takes: the signature's arguments, and the workspace if any."""
        types = self.signature.inputs.data
        if self.workspace_bytes:
            types = (*types, MemRefType(i8, [self.workspace_bytes]))
        return types

    @property
    def argument_effects(self) -> tuple[Effect, ...]:
        if self.effects is not None:
            effects = tuple(effect.data for effect in self.effects)
        else:
            effects = tuple(
                Effect.READ_WRITE if isinstance(type, MemRefType) else Effect.READ
                for type in self.signature.inputs
            )
        return (*effects, Effect.SCRATCH) if self.workspace_bytes else effects

    def verify_(self) -> None:
        if not self.format.data:
            raise VerifyException("expected a format that is not empty")
        if not isinstance(self.payload, SymbolRefAttr) and not self.payload.data:
            raise VerifyException("expected a payload that is not empty")
        if self.workspace_bytes < 0:
            raise VerifyException(
                f"expected a workspace >= 0, but got {self.workspace_bytes}"
            )
        if self.signature.outputs.data:
            raise VerifyException(
                "expected a signature without results, as results are written to "
                f"arguments, but got '{self.signature}'"
            )
        self._verify_effects()

    def _verify_effects(self) -> None:
        if self.effects is None:
            return
        types = self.signature.inputs.data
        if len(self.effects) != len(types):
            raise VerifyException(
                f"expected {len(types)} effects, one per argument of the signature, "
                f"but got {len(self.effects)}"
            )
        for position, (type, effect) in enumerate(
            zip(types, self.effects, strict=True)
        ):
            if effect.data is not Effect.READ and not isinstance(type, MemRefType):
                raise VerifyException(
                    f"expected a memref as argument {position}, which is "
                    f"{effect.data}, but got '{type}'"
                )


def _payload_attribute(payload: str | bytes | SymbolRefAttr) -> Attribute:
    if isinstance(payload, SymbolRefAttr):
        return payload
    return StringAttr(payload) if isinstance(payload, str) else BytesAttr(payload)
