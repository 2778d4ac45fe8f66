"""
The rules of the contract between transom and the hooks of targets, and all the ways to
break them: one message each. `docs/hooks-contract.md` explains them.
"""

from dataclasses import dataclass
from typing import NamedTuple

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation

from transom.dialects.diagnostics import Note, OpError
from transom.dialects.symbols import symbol_name
from transom.dialects.target import TargetAttr

GRAPH_HOOKS = ("graph_pipeline", "constants")
"""Hooks whose passes leave graph functions."""

LOWERING_HOOKS = ("convert_graph_to_tir", "convert_graph_to_artifact")
"""Hooks whose passes lower graph functions."""

KERNEL_HOOKS = ("tir_pipeline",)
"""Hooks whose passes rewrite kernels."""

PASS_HOOKS = (*GRAPH_HOOKS, *LOWERING_HOOKS, *KERNEL_HOOKS)
"""Hooks that return passes, which run on the module."""

ANSWERING_HOOKS = (
    "claims",
    *PASS_HOOKS,
    "patterns",
    "pass_options",
    "omits",
    "memories",
    "reference",
)
"""Hooks that are functions of the target attribute alone."""

MAX_SHOWN = 100
"""Characters of an attribute or a line that a message shows."""


@dataclass(frozen=True)
class Rule:
    """What a hook promises; `thorough` ones are checked on demand only."""

    name: str
    promise: str
    hooks: tuple[str, ...]
    thorough: bool = False


@dataclass(frozen=True)
class Breach:
    """One way to break a rule; `text` has fields in braces."""

    rule: Rule
    text: str


class Origin(NamedTuple):
    """Whose fault it is: a hook, named as its method, of a target."""

    hook: str
    target: TargetAttr

    def message(self, breach: Breach, **fields: object) -> str:
        """What a breach is said as."""
        whose = f"hook '{self.hook}' of '{self.target}'"
        text = breach.text.format(**fields)
        return f"{whose} breaks rule '{breach.rule.name}': {text}"

    def error(
        self,
        breach: Breach,
        where: Operation | LocationAttr,
        *notes: Note,
        **fields: object,
    ) -> OpError:
        """The error at the op that breaks the rule, or near it if it says no place."""
        message = self.message(breach, **fields)
        if isinstance(where, Operation) and where.location == UNKNOWN_LOC:
            line = f"the op is: {shown(first_line(where))}"
            where = nearest_location(where)
            notes = (*notes, Note(where, line))
        return OpError(where, message, *notes)


def nearest_location(op: Operation) -> LocationAttr:
    """The place of what calls a function, or of an op around an op."""
    module = op.parent_op()
    while module is not None and module.location == UNKNOWN_LOC:
        module = module.parent_op()
    name = symbol_name(op)
    if name is not None and module is not None and op.parent_op() is module:
        for user in module.walk():
            callee = user.properties.get("callee")
            if callee == SymbolRefAttr(name) and user.location != UNKNOWN_LOC:
                return user.location
    return UNKNOWN_LOC if module is None else module.location


def first_line(op: Operation) -> str:
    """The text of an op up to its body, or its name if it is too broken."""
    try:
        return str(op).partition("\n")[0]
    except Exception:  # plug-in boundary: printers of ops that passes left broken
        return f"'{op.name}'"


def shown(value: Attribute | str) -> str:
    """An attribute or a line, cut if it is long."""
    text = str(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


SYMBOLS = Rule(
    "symbols",
    "symbols are unique, and those that were there keep their names",
    PASS_HOOKS,
)
SYMBOL_TWICE = Breach(SYMBOLS, "'@{name}' is defined twice")
SYMBOL_RENAMED = Breach(SYMBOLS, "'@{name}' is called '@{new}' now")

RESOLVED = Rule("resolved", "every symbol that is used is there", PASS_HOOKS)
USES_REMOVED = Breach(
    RESOLVED, "'{op}' uses '@{name}', which is gone; rewrite all its uses"
)
USES_UNKNOWN = Breach(RESOLVED, "'{op}' uses '@{name}', which there is not")

VERIFIES = Rule(
    "verifies",
    "the module verifies, so that signatures, calls and results agree",
    PASS_HOOKS,
)
INVALID = Breach(VERIFIES, "{message}")

LOWERED = Rule(
    "lowered",
    "every function that the target owned is lowered, or refused with a reason",
    LOWERING_HOOKS,
)
NOT_LOWERED = Breach(
    LOWERED,
    "'@{name}' is not lowered; convert it, or raise 'OpError' at the op in the way",
)
STILL_CALLED = Breach(
    LOWERED, "'@{name}' is lowered, but '{op}' still calls it; call its kernels"
)
ONLY_DECLARED = Breach(
    LOWERED, "'@{name}' has lost its body; keep it, with 'target.lowered_to'"
)
WRONG_KIND = Breach(
    LOWERED,
    "'@{name}' is lowered to '@{kernel}', a '{kind}', where {expected} is expected",
)

PLACED = Rule(
    "placed",
    "every function, kernel and artifact that is new has a place of the target, and "
    "those that were there keep theirs",
    PASS_HOOKS,
)
NO_PLACE = Breach(PLACED, "new function '@{name}' has no place; give it 'target.for'")
OTHER_TARGET = Breach(PLACED, "'@{name}' is for {other}")
OTHER_PLACE = Breach(PLACED, "'@{name}' was for '{old}', but is for {new}")

GRAPH = Rule(
    "graph",
    "each function that the target owned is a graph function still",
    GRAPH_HOOKS,
)
NO_GRAPH = Breach(
    GRAPH, "'@{name}' is no private function of graph ops with a place any more"
)
NO_GRAPH_OP = Breach(
    GRAPH, "'@{name}' is no graph function any more, with '{op}' in it"
)

SIGNATURES = Rule(
    "signatures",
    "types and effects of functions that are not lowered stay, unless the scope is "
    "'module' and calls change with them",
    PASS_HOOKS,
)
OTHER_TYPE = Breach(SIGNATURES, "'@{name}' was of type '{old}', but is of '{new}'")
OTHER_EFFECT = Breach(
    SIGNATURES, "argument {index} of '@{name}' was '{old}', but is '{new}'"
)

OUTSIDE = Rule(
    "outside",
    "outside of the target's functions only calls of them, copies on their borders, "
    "new private symbols, and places of buffers in memories that targets plan change",
    PASS_HOOKS,
)
OP_GONE = Breach(OUTSIDE, "'{op}' of '@{name}' is gone")
OP_MOVED = Breach(
    OUTSIDE, "'{op}' of '@{name}' stands in front of '{other}' now, which was before it"
)
OP_CHANGED = Breach(OUTSIDE, "'{op}' of '@{name}' has changed: {change}")
OP_ADDED = Breach(
    OUTSIDE,
    "'{op}' is new in '@{name}', and no part of a call of the target's functions",
)
CALL_ADDED = Breach(
    OUTSIDE,
    "'{op}' is new in '@{name}', and calls '@{callee}', which is not the target's",
)
SYMBOL_GONE = Breach(OUTSIDE, "'{op}' '@{name}' is gone")
SYMBOL_CHANGED = Breach(OUTSIDE, "'{op}' '@{name}' has changed: {change}")
SYMBOL_PUBLIC = Breach(OUTSIDE, "new symbol '@{name}' is not private")
SYMBOL_EXPOSED = Breach(OUTSIDE, "'@{name}' was private, but is public")
MACHINE_ADDED = Breach(
    OUTSIDE, "'{op}' '@{name}' is new; hook 'memories' brings memories"
)
TOP_LEVEL_GONE = Breach(OUTSIDE, "'{op}' of the module is gone, or has changed")
TOP_LEVEL_ADDED = Breach(OUTSIDE, "'{op}' is new in the module, and no symbol")
MODULE_CHANGED = Breach(OUTSIDE, "the module has changed: {change}")

CALL_SITES = Rule(
    "call-sites",
    "where a function of the target was called, results have the types that they had, "
    "and locations and discardable attributes sit on the new calls",
    PASS_HOOKS,
)
RESULT_TYPE = Breach(
    CALL_SITES,
    "'{op}' got '{old}' from the call of '@{callee}', but gets '{new}'; insert an "
    "adaptor",
)
NO_LOCATION = Breach(
    CALL_SITES,
    "the call of '@{kernel}' has no location, but that of '@{callee}' had one",
)
NO_ATTRIBUTE = Breach(
    CALL_SITES,
    "the call of '@{callee}' had attribute '{attribute}', which no call in its place "
    "has",
)

SCOPE = Rule(
    "scope",
    "with scope 'function' functions are rewritten one by one: none is merged, split, "
    "removed or ordered",
    PASS_HOOKS,
)
FUNCTION_GONE = Breach(
    SCOPE, "'@{name}' is gone; only hooks of scope 'module' may remove functions"
)
FUNCTION_ADDED = Breach(
    SCOPE, "graph function '@{name}' is new; only hooks of scope 'module' may split"
)
CALLS_CHANGED = Breach(
    SCOPE,
    "the call of '@{callee}' is new or gone; only hooks of scope 'module' may change "
    "which functions are called",
)
MERGED = Breach(
    SCOPE,
    "{calls} of '@{kernel}' is in place of {replaced} calls ({callees}); only hooks of "
    "scope 'module' may merge",
)
REORDERED = Breach(
    SCOPE,
    "the call of '@{kernel}' is out of the order of the calls in whose place it is; "
    "only hooks of scope 'module' may order",
)

WEIGHTS = Rule(
    "weights",
    "weights stay while others use them, and new ones are expressions over weights",
    ("constants",),
)
WEIGHT_GONE = Breach(WEIGHTS, "weight '@{name}' is gone, but '{op}' still uses it")
WEIGHT_CHANGED = Breach(
    WEIGHTS, "weight '@{name}' has changed; give what is made of it a name of its own"
)
WEIGHT_NO_EXPRESSION = Breach(
    WEIGHTS, "new weight '@{name}' is no expression over weights"
)

DETERMINISTIC = Rule(
    "deterministic",
    "the same module gives the same text",
    PASS_HOOKS,
    thorough=True,
)
OTHER_TEXT = Breach(
    DETERMINISTIC,
    "on the same module it gave '{first}' in line {line}, then '{second}'",
)
FAILS_THEN = Breach(DETERMINISTIC, "on the same module it fails then: {message}")

IDEMPOTENT = Rule(
    "idempotent", "running again changes nothing", PASS_HOOKS, thorough=True
)
CHANGED_AGAIN = Breach(
    IDEMPOTENT, "running again changes line {line} from '{first}' to '{second}'"
)
FAILS_AGAIN = Breach(IDEMPOTENT, "running again fails: {message}")

COMPUTES = Rule(
    "computes",
    "functions compute what they did, as far as the reference evaluation can tell",
    PASS_HOOKS,
    thorough=True,
)
OTHER_NUMBERS = Breach(COMPUTES, "'@{name}' computes something else: {difference}")

EMISSION = Rule(
    "emission",
    "the module is unchanged, and each kernel of the target is emitted, once",
    ("emit",),
)
EMIT_TYPE = Breach(EMISSION, "expected {expected}, but got {found}")
EMIT_CHANGED = Breach(EMISSION, "{what}; work on a clone")
EMIT_UNKNOWN = Breach(EMISSION, "'@{name}' is emitted, but no kernel of the target")
EMIT_TWICE = Breach(EMISSION, "'@{name}' is emitted twice")
EMIT_MISSING = Breach(EMISSION, "'@{name}' is not emitted")

MEMORIES = Rule(
    "memories", "memories and links are new ops that verify, each once", ("memories",)
)
MEMORY_ATTACHED = Breach(MEMORIES, "expected new ops, but {op} is in a module already")
MEMORY_TWICE = Breach(MEMORIES, "{op} is brought twice")
MEMORY_INVALID = Breach(MEMORIES, "{op} does not verify: {message}")

CLAIMS = Rule(
    "claims",
    "a claim accepts or refuses an op; its members are ops of one block that a place "
    "computes, with the op among them",
    ("claims",),
)
WRONG_CLAIM = Breach(CLAIMS, "expected 'Accepted' or 'Refusal', but got {found}")
WRONG_MEMBERS = Breach(CLAIMS, "expected {expected}, but got {found}")
MEMBER_ELSEWHERE = Breach(
    CLAIMS, "'{member}', a member of the claim of '{op}', is in another block"
)
MEMBER_NOT_COMPUTED = Breach(
    CLAIMS,
    "'{member}', a member of the claim of '{op}', is not for a target to compute",
)

COSTS = Rule(
    "costs",
    "a cost is a number of seconds >= 0, or None where it is not known",
    ("claims", "cost"),
)
WRONG_COST = Breach(COSTS, "expected seconds >= 0 or None, but got {found}")

ANSWERS = Rule(
    "answers",
    "what a hook returns is of its type, and equal for equal attributes",
    ANSWERING_HOOKS,
)
RAISED = Breach(ANSWERS, "it raised {error}")
WRONG_TYPE = Breach(ANSWERS, "expected {expected}, but got {found}")
NO_HOOK = Breach(
    ANSWERS,
    "it is no hook; did you mean '{near}'? the name of a helper begins with '_'",
)
NOT_EQUAL = Breach(
    ANSWERS,
    "equal attributes expect equal answers, but it gave '{first}', then '{second}'",
)

PIPELINES = Rule(
    "pipelines",
    "pipelines are of registered passes, at a legal anchor, and parse from their text",
    PASS_HOOKS,
)
NOT_REGISTERED = Breach(
    PIPELINES,
    "pass '{name}' is not registered in 'all_passes' of a universe (entry-point group "
    "'xdsl.universe'){near}",
)
REGISTERED_OTHER = Breach(
    PIPELINES, "pass '{name}' is registered with class '{registered}', not '{found}'"
)
NOT_PARSED = Breach(PIPELINES, "'{text}' does not parse: {message}")
PARSED_OTHER = Breach(PIPELINES, "'{text}' parses to '{parsed}', which is not equal")
WRONG_ANCHOR = Breach(
    PIPELINES, "expected a pipeline at {expected}, but got '{anchor}'"
)
OWN_FILTER = Breach(
    PIPELINES,
    "expected a pipeline without 'only' and 'without', but got '{text}'; it is run on "
    "the functions of the target",
)

SHARED_PASSES = Rule(
    "shared-passes",
    "passes that are omitted may be, and options that are set exist",
    ("omits", "pass_options"),
)
NOT_OMISSIBLE = Breach(SHARED_PASSES, "pass '{name}' cannot be omitted{near}")
KEEPS_NESTS = Breach(
    SHARED_PASSES,
    "without pass '{name}' nests stay, and nothing takes them; expected a hook 'emit', "
    "'tir_pipeline', 'convert_graph_to_tir' or 'convert_graph_to_artifact' that does",
)
NOT_SHARED = Breach(SHARED_PASSES, "'{name}' is no shared pass{near}")
WRONG_OPTION = Breach(SHARED_PASSES, "{message}")


BREACHES = tuple(b for b in tuple(globals().values()) if isinstance(b, Breach))
"""All ways to break a rule, grouped by rule."""

RULES = tuple(dict.fromkeys(breach.rule for breach in BREACHES))
"""All rules, in the order of the documentation."""
