"""
The `target` dialect: where things run and where they are stored.

Target attributes say what can compile for a device; `target.device`, `target.memory`
and `target.link` declare the machine; places name a device, a target and a memory. A
place may name a device before it is declared.

`target.config` on the module, `target.for`, `target.phase` and `target.lowered_to` on a
function, `target.candidates` and `target.refused` on an op are discardable attributes.
"""

from xdsl.ir import Dialect

from transom.dialects.target.candidates import (
    CANDIDATES,
    CandidateAttr,
    candidates_of,
)
from transom.dialects.target.configuration import (
    CONFIG,
    FOR,
    LOWERED_TO,
    MAX_THREADS,
    OPTIONS,
    PHASE,
    PHASES,
    ConfigAttr,
    Executor,
    ExecutorAttr,
    InPools,
    InPoolsAttr,
    get_config,
    phase_of,
    place_of,
    set_config,
    set_phase,
    set_place,
)
from transom.dialects.target.ownership import (
    target_of,
    target_of_place,
    targets_in,
)
from transom.dialects.target.places import AnyOfAttr, PlaceAttr, TargetAttr
from transom.dialects.target.refusals import REFUSED, RefusalAttr, refusals_of
from transom.dialects.target.topology import (
    DeviceOp,
    LinkOp,
    MemoryOp,
    Planner,
    PlannerAttr,
)
from transom.dialects.target.values import Range, verify_names
from transom.dialects.target.verification import (
    PlaceChecker,
    PlacesExist,
    unbound_places,
)

Target = Dialect(
    "target",
    [DeviceOp, LinkOp, MemoryOp],
    [
        AnyOfAttr,
        CandidateAttr,
        ConfigAttr,
        ExecutorAttr,
        InPoolsAttr,
        PlaceAttr,
        PlannerAttr,
        RefusalAttr,
    ],
)

__all__ = [
    "CANDIDATES",
    "CONFIG",
    "FOR",
    "LOWERED_TO",
    "MAX_THREADS",
    "OPTIONS",
    "PHASE",
    "PHASES",
    "REFUSED",
    "AnyOfAttr",
    "CandidateAttr",
    "ConfigAttr",
    "DeviceOp",
    "Executor",
    "ExecutorAttr",
    "InPools",
    "InPoolsAttr",
    "LinkOp",
    "MemoryOp",
    "PlaceAttr",
    "PlaceChecker",
    "PlacesExist",
    "Planner",
    "PlannerAttr",
    "Range",
    "RefusalAttr",
    "Target",
    "TargetAttr",
    "candidates_of",
    "get_config",
    "phase_of",
    "place_of",
    "refusals_of",
    "set_config",
    "set_phase",
    "set_place",
    "target_of",
    "target_of_place",
    "targets_in",
    "unbound_places",
    "verify_names",
]
