"""
Which functions of the host are planned together: those of one pool at run time.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp

from transom.passes.function_pass import functions_of


@dataclass(frozen=True)
class Program:
    """
    Functions that nobody else in the module calls, with all that they call by name.

    Programs of a module have no function in common.
    """

    roots: tuple[FuncOp, ...]
    functions: Mapping[str, FuncOp]

    @property
    def name(self) -> str:
        """The name of the first root."""
        return self.roots[0].sym_name.data


def programs_of(module: ModuleOp) -> tuple[Program, ...]:
    """
    The programs of a module, in the order of their first roots.

    Functions that may run several times at once are left out: those that lead to a call
    of themselves, and what they call. Memory with one place is not enough for them.
    """
    functions = {function.sym_name.data: function for function in functions_of(module)}
    calls = {name: _called_by(f, functions) for name, f in functions.items()}
    reached = {name: _reached(calls[name], calls) for name in functions}
    repeated = {name for name in functions if name in reached[name]}
    left_out = repeated.union(*(reached[name] for name in repeated))
    planned = [name for name in functions if name not in left_out]
    called = {callee for name in planned for callee in calls[name]}
    groups: list[tuple[list[str], set[str]]] = []
    for root in planned:
        if root in called:
            continue
        roots, members = [root], {root, *reached[root]} - left_out
        for group in [g for g in groups if g[1] & members]:
            groups.remove(group)
            roots = group[0] + roots
            members |= group[1]
        groups.append((roots, members))
    order = {name: number for number, name in enumerate(functions)}
    return tuple(
        Program(
            tuple(functions[name] for name in sorted(roots, key=order.__getitem__)),
            {name: functions[name] for name in planned if name in members},
        )
        for roots, members in sorted(groups, key=lambda g: min(order[n] for n in g[0]))
    )


def _called_by(function: FuncOp, functions: Mapping[str, FuncOp]) -> Sequence[str]:
    names = (
        op.callee.string_value() for op in function.walk() if isinstance(op, CallOp)
    )
    return tuple(dict.fromkeys(name for name in names if name in functions))


def _reached(names: Iterable[str], calls: Mapping[str, Sequence[str]]) -> set[str]:
    found: set[str] = set()
    work = list(names)
    while work:
        name = work.pop()
        if name not in found:
            found.add(name)
            work.extend(calls[name])
    return found
