"""
What the text of an instruction is made from: names of values, labels of blocks, and
what the module must declare because of it.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from xdsl.ir import Attribute, Block, Operation, SSAValue

from transom.dialects.diagnostics import OpError
from transom.lowering.emit_llvm.constants import Constants
from transom.lowering.emit_llvm.text import Symbols, Types


class ModuleState:
    """What the functions of a module share."""

    def __init__(self, symbols: Mapping[str, str] = MappingProxyType({})) -> None:
        """`symbols` are the names in the text of symbols that have others there."""
        self.types = Types()
        self.symbols = Symbols(symbols)
        self.constants = Constants(self.types, self.symbols)
        self.intrinsics: dict[str, str] = {}
        self.metadata: dict[str, int] = {}

    def metadata_text(self, body: str) -> str:
        """A reference to the metadata node with this body."""
        return f"!{self.metadata.setdefault(body, len(self.metadata))}"


class Scope:
    """Names inside one function."""

    def __init__(self, state: ModuleState) -> None:
        self.state = state
        self.types = state.types
        self.names: dict[SSAValue, str] = {}
        self.labels: dict[Block, str] = {}

    def value(self, value: SSAValue) -> str:
        """The value without its type."""
        return self.names[value]

    def type(self, type: Attribute, op: Operation) -> str:
        return self.types.text(type, op)

    def typed(self, value: SSAValue, op: Operation) -> str:
        """The value with its type."""
        return f"{self.types.text(value.type, op)} {self.names[value]}"

    def list(self, values: Sequence[SSAValue], op: Operation) -> str:
        """Values with their types, separated by commas."""
        return ", ".join([self.typed(v, op) for v in values])

    def destination(self, block: Block) -> str:
        return f"label %{self.labels[block]}"

    def result_type(self, op: Operation) -> str:
        """The type of the only result, `void` if there is none."""
        match op.results:
            case ():
                return "void"
            case (result,):
                return self.types.text(result.type, op)
            case _:
                raise OpError(op, f"expected at most one result of '{op.name}'")
