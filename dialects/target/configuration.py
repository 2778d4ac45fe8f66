"""
The configuration of a module, and what functions say of their place and phase.

`target.config` on the module, `target.for` and `target.phase` on a function are
discardable attributes: all that a compilation needs to know is in the text.
"""

from collections.abc import Mapping
from typing import ClassVar

from xdsl.dialects.builtin import (
    I64,
    ArrayAttr,
    BoolAttr,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Operation, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import base, irdl_attr_definition, param_def
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from transom.dialects.diagnostics import did_you_mean
from transom.dialects.keyed_syntax import KeyedAttr
from transom.dialects.target.places import PlaceAttr, verify_flat

PHASES: tuple[str, ...] = (
    "graph",
    "placed",
    "partitioned",
    "tensor",
    "scheduled",
    "planned",
    "executable",
    "machine",
)
"""The phases of a module, in order."""

OPTIONS: tuple[str, ...] = ("reduced_precision", "winograd")
"""Boolean options that may change results beyond rounding order; off by default."""

MAX_THREADS = 1024
"""More threads than a kernel may use."""

CONFIG, FOR, PHASE, LOWERED_TO = (
    "target.config",
    "target.for",
    "target.phase",
    "target.lowered_to",
)
"""Names of the dialect's discardable attributes."""

TRUE = BoolAttr.from_bool(True)
FALSE = BoolAttr.from_bool(False)
ABSENT = UnitAttr()
"""The value of a key that was left out."""


class Executor(StrEnum):
    """How the lowered main is run."""

    AOT = "aot"
    GRAPH = "graph"
    VM = "vm"


@irdl_attr_definition
class ExecutorAttr(EnumAttribute[Executor], SpacedOpaqueSyntaxAttribute):
    """
    How the lowered main is run.
    """

    name = "target.executor"


class InPools(StrEnum):
    """What is in pools of the memory plan beside the buffers of main."""

    CONSTANTS = "constants"
    INPUTS = "inputs"
    OUTPUTS = "outputs"


@irdl_attr_definition
class InPoolsAttr(EnumAttribute[InPools], SpacedOpaqueSyntaxAttribute):
    """
    What is in pools of the memory plan beside the buffers of main.
    """

    name = "target.in_pools"


@irdl_attr_definition
class ConfigAttr(KeyedAttr):
    """
    What a module is compiled for: the host device, the place of ops without one, the
    executor, the phase that the module has reached, how many threads a kernel may use
    (results never depend on that), what is in pools of the memory plan beside the
    buffers of main, options that change results: `winograd`, and `reduced_precision`,
    which no kernel makes use of yet.

    ```mlir
    module attributes {
      target.config = #target.config<host = @cpu, executor = aot, phase = "graph",
                                     threads = 2>
    } {
      target.device @cpu {targets = [#llvm_cpu.target<cpu = "znver4">]}
    }
    ```
    """

    name = "target.config"

    DEFAULTS: ClassVar[Mapping[str, Attribute]] = {
        "host": ABSENT,
        "default_place": ABSENT,
        "executor": ABSENT,
        "phase": ABSENT,
        "threads": ABSENT,
        "in_pools": ArrayAttr(()),
        "options": ABSENT,
    }

    host_attr: Attribute = param_def(base(SymbolRefAttr) | base(UnitAttr))
    default_place_attr: Attribute = param_def(base(PlaceAttr) | base(UnitAttr))
    executor_attr: Attribute = param_def(base(ExecutorAttr) | base(UnitAttr))
    phase_attr: Attribute = param_def(base(StringAttr) | base(UnitAttr))
    threads_attr: Attribute = param_def(IntegerAttr.constr(I64) | base(UnitAttr))
    in_pools_attr: ArrayAttr[InPoolsAttr] = param_def(
        ArrayAttr.constr(base(InPoolsAttr))
    )
    options_attr: Attribute = param_def(base(DictionaryAttr) | base(UnitAttr))

    @property
    def host(self) -> str | None:
        """The symbol of the device that runs main."""
        host = self.host_attr
        return host.root_reference.data if isinstance(host, SymbolRefAttr) else None

    @property
    def default_place(self) -> PlaceAttr | None:
        """The place of what nothing else places."""
        place = self.default_place_attr
        return place if isinstance(place, PlaceAttr) else None

    @property
    def executor(self) -> Executor:
        """How main is run; ahead of time unless said otherwise."""
        executor = self.executor_attr
        return executor.data if isinstance(executor, ExecutorAttr) else Executor.AOT

    @property
    def phase(self) -> str | None:
        """The phase that was reached, or None for a module as it came."""
        phase = self.phase_attr
        return phase.data if isinstance(phase, StringAttr) else None

    @property
    def threads(self) -> int:
        """How many threads a kernel may use; one unless said otherwise."""
        threads = self.threads_attr
        return threads.value.data if isinstance(threads, IntegerAttr) else 1

    @property
    def in_pools(self) -> frozenset[InPools]:
        """What is in pools of the memory plan beside the buffers of main."""
        return frozenset(word.data for word in self.in_pools_attr)

    @property
    def options(self) -> Mapping[str, bool]:
        """All options that change results, with the defaults of those not given."""
        given = self.options_attr
        if not isinstance(given, DictionaryAttr):
            return dict.fromkeys(OPTIONS, False)
        return {name: given.data.get(name) == TRUE for name in OPTIONS}

    def verify(self) -> None:
        if isinstance(self.host_attr, SymbolRefAttr):
            verify_flat(self.host_attr, self.name)
        if self.phase is not None:
            verify_phase(self.phase)
        if not 1 <= self.threads <= MAX_THREADS:
            raise VerifyException(
                f"expected 1 to {MAX_THREADS} threads, but got {self.threads}"
            )
        options = self.options_attr
        for name, value in (
            options.data.items() if isinstance(options, DictionaryAttr) else ()
        ):
            if name not in OPTIONS:
                raise VerifyException(
                    f"unknown option '{name}'{did_you_mean(name, OPTIONS)}"
                )
            if value not in (TRUE, FALSE):
                raise VerifyException(
                    f"expected true or false for option '{name}', but got '{value}'"
                )


def get_config(module: ModuleOp) -> ConfigAttr:
    """The configuration of a module; an empty one if it has none."""
    config = module.attributes.get(CONFIG)
    return config if isinstance(config, ConfigAttr) else ConfigAttr.from_keys({})


def set_config(module: ModuleOp, values: Mapping[str, Attribute]) -> None:
    """Set some keys of a module's configuration."""
    module.attributes[CONFIG] = get_config(module).with_keys(values)


def set_phase(module: ModuleOp, phase: str) -> None:
    """Record the phase that a module has reached."""
    set_config(module, {"phase": StringAttr(phase)})


def place_of(func: Operation) -> PlaceAttr | None:
    """The place that a function is compiled for, if it says one."""
    place = func.attributes.get(FOR)
    return place if isinstance(place, PlaceAttr) else None


def set_place(func: Operation, place: PlaceAttr) -> None:
    """Say which place a function is compiled for."""
    func.attributes[FOR] = place


def phase_of(func: Operation) -> str | None:
    """The phase of a function: its own, else that of its module."""
    phase = func.attributes.get(PHASE)
    if isinstance(phase, StringAttr):
        return phase.data
    module = func.parent_op()
    while module is not None and not isinstance(module, ModuleOp):
        module = module.parent_op()
    return None if module is None else get_config(module).phase


def verify_phase(phase: str) -> None:
    """Raise `VerifyException` unless there is such a phase."""
    if phase not in PHASES:
        raise VerifyException(f"unknown phase '{phase}'{did_you_mean(phase, PHASES)}")
