"""Sharing storage changes no value that is read: random programs, run both ways."""

from hypothesis import given, settings
from hypothesis import strategies as st

from transom.lowering.bufferize.storage import (
    Affinity,
    Assignment,
    Move,
    StorageProgram,
)
from transom.passes.memory.flow_graph import bits

VARIABLES = 6


@st.composite
def programs(draw: st.DrawFn) -> StorageProgram:
    program = StorageProgram()
    for variable in range(VARIABLES):
        program.variable(fixed=variable >= 4, constant=variable == 3)
    variable = st.integers(0, VARIABLES - 1)
    target = variable.filter(lambda v: v != 3)
    for _ in range(draw(st.integers(1, 9))):
        if draw(st.booleans()):
            targets = draw(st.lists(target, max_size=3, unique=True))
            moves = [
                Move(t, source, tag, t == source or draw(st.integers(0, 4)) > 0)
                for tag, t in enumerate(targets)
                for source in (draw(variable),)
            ]
            program.point((), moves=moves)
        else:
            program.point(
                (),
                reads=draw(st.sets(variable, max_size=2)),
                writes=draw(st.sets(target, max_size=2)),
                undefined=draw(st.sets(target, max_size=1)),
            )
    point = st.integers(0, len(program.graph) - 1)
    for start, end in draw(st.lists(st.tuples(point, point), max_size=6)):
        program.graph.connect(start, end)
    for end in range(1, len(program.graph)):
        program.graph.connect(end - 1, end)
    return program


def coalesced(program: StorageProgram, draw: st.DataObject) -> Assignment:
    assignment = Assignment(program)
    variable = st.integers(0, VARIABLES - 1)
    affinities = draw.draw(
        st.lists(st.builds(Affinity, st.integers(0, 3), variable, variable))
    )
    for point in range(len(program.graph)):
        affinities += [Affinity(5, m.target, m.source) for m in program.moves[point]]
    assignment.coalesce(affinities)
    return assignment


Value = object


def run_with_storage(
    assignment: Assignment, point: int, memory: dict[int, Value]
) -> None:
    """Do what is left of the moves of a point."""
    saved: dict[int, Value] = {}
    for kind, move in assignment.steps(point):
        # A copy of a part onto the whole would overlap itself.
        assert assignment.storage(move.source) != assignment.storage(move.target)
        source = memory[assignment.storage(move.source)]
        value = source if move.whole else ("part", source)
        match kind:
            case "save":
                saved[move.target] = value
            case "restore":
                memory[assignment.storage(move.target)] = saved[move.target]
            case "copy":
                memory[assignment.storage(move.target)] = value


@settings(max_examples=400)
@given(programs(), st.data())
def test_shared_storage_gives_the_values_of_separate_storage(
    program: StorageProgram, data: st.DataObject
) -> None:
    assignment = coalesced(program, data)
    apart: dict[int, Value] = {v: ("initial", v) for v in range(VARIABLES)}
    shared: dict[int, Value] = {v: "garbage" for v in range(VARIABLES)}
    live = program.liveness()
    entry = live.before[0]
    storages = [assignment.storage(v) for v in bits(entry)]
    if len(set(storages)) < len(storages):
        return  # what is read but never set has no storage of its own to be set in
    for variable in bits(entry):
        shared[assignment.storage(variable)] = apart[variable]
    point, time = 0, 0
    while time < 40:
        time += 1
        reads, writes = bits(program.reads[point]), tuple(bits(program.writes[point]))
        for variable in reads:
            assert shared[assignment.storage(variable)] == apart[variable]
        if program.moves[point]:
            moved = {
                m.target: apart[m.source] if m.whole else ("part", apart[m.source])
                for m in program.moves[point]
            }
            run_with_storage(assignment, point, shared)
            apart.update(moved)
        else:
            touched = program.reads[point] | program.writes[point]
            for written in writes:
                others = [v for v in bits(touched) if v != written]
                assert assignment.storage(written) not in map(
                    assignment.storage, others
                )
                apart[written] = ("written", point, time, written)
                shared[assignment.storage(written)] = apart[written]
        for variable in bits(program.undefined[point]):
            if not program.writes[point] >> variable & 1:
                apart[variable] = shared[assignment.storage(variable)]
        successors = program.graph.successors[point]
        if not successors:
            break
        point = data.draw(st.sampled_from(successors))


@given(programs(), st.data())
def test_given_storage_is_kept_apart(
    program: StorageProgram, data: st.DataObject
) -> None:
    assignment = coalesced(program, data)
    assert assignment.storage(4) != assignment.storage(5)
    assert assignment.members(assignment.storage(3)) == (3,)


def returned_through_a_loop() -> tuple[StorageProgram, list[int]]:
    """`%r = loop(%x = %init) { yield f(%x) }`, returned."""
    program = StorageProgram()
    init, carried, new = (program.variable() for _ in range(3))
    out = program.variable(fixed=True)
    made = program.point((), writes=[init])
    before = program.point((made,), moves=[Move(carried, init, 0)])
    head = program.point((before,))
    body = program.point((head,), reads=[carried], writes=[new])
    back = program.point((body,), moves=[Move(carried, new, 0)])
    program.graph.connect(back, head)
    after = program.point((head,), moves=[Move(out, carried, 0)])
    program.point((after,), reads=[out])
    return program, [before, back, after]


def affinities_of(program: StorageProgram) -> list[Affinity]:
    return [Affinity(1, m.target, m.source) for moves in program.moves for m in moves]


def test_carried_value_is_computed_into_the_result() -> None:
    program, (before, back, after) = returned_through_a_loop()
    assignment = Assignment(program)
    assignment.coalesce(affinities_of(program))
    assert assignment.steps(before) == assignment.steps(after) == ()
    # A kernel cannot write what it reads, so the back edge copies.
    assert [step.kind for step in assignment.steps(back)] == ["copy"]
    assert len(assignment.storages()) == 2


def test_swap_goes_through_a_temporary() -> None:
    program = StorageProgram()
    a, b = program.variable(), program.variable()
    start = program.point((), writes=[a, b])
    head = program.point((start,))
    swap = program.point((head,), moves=[Move(a, b, 0), Move(b, a, 1)])
    program.graph.connect(swap, head)
    program.point((head,), reads=[a, b])
    assignment = Assignment(program)
    assignment.coalesce(affinities_of(program))
    assert [step.kind for step in assignment.steps(swap)] == [
        "save",
        "copy",
        "restore",
    ]


def test_value_returned_twice_is_copied_once() -> None:
    program = StorageProgram()
    value = program.variable()
    outs = [program.variable(fixed=True) for _ in range(2)]
    made = program.point((), writes=[value])
    ret = program.point(
        (made,), moves=[Move(out, value, tag) for tag, out in enumerate(outs)]
    )
    program.point((ret,), reads=outs)
    assignment = Assignment(program)
    assignment.coalesce(affinities_of(program))
    assert len(assignment.steps(ret)) == 1


def test_dead_move_is_dropped() -> None:
    program = StorageProgram()
    a, b = program.variable(), program.variable()
    made = program.point((), writes=[a])
    moved = program.point((made,), moves=[Move(b, a, 0)])
    program.point((moved,), reads=[a])
    assert Assignment(program).steps(moved) == ()


def test_join_may_refuse() -> None:
    program, points = returned_through_a_loop()
    assignment = Assignment(program)
    assignment.coalesce(affinities_of(program), lambda left, right: False)
    assert [len(assignment.steps(point)) for point in points] == [1, 1, 1]
