"""Problems for the memory planner: any, and such as chains of layers give."""

from random import Random

from hypothesis import strategies as st

from transom.passes.memory.planning.bounds import needed
from transom.passes.memory.planning.problem import Buffer, Pool, Problem

POINTS = 12


def buffers(pools: int, most: int) -> st.SearchStrategy[list[Buffer]]:
    """Buffers with lives that may have holes, each in some of the pools."""
    choice = st.lists(
        st.integers(0, pools - 1), min_size=1, max_size=pools, unique=True
    )
    return st.lists(
        st.builds(
            Buffer,
            name=st.just("b"),
            size=st.integers(0, 40),
            alignment=st.sampled_from([1, 2, 8, 16]),
            points=st.integers(0, 2**POINTS - 1),
            pools=choice.map(lambda chosen: tuple(sorted(chosen))),
        ),
        max_size=most,
    )


@st.composite
def problems(draw: st.DrawFn, most: int = 14) -> Problem:
    """Up to three pools, some of which have a capacity."""
    count = draw(st.integers(1, 3))
    capacity = st.one_of(st.none(), st.integers(0, 200))
    pools = tuple(Pool(f"pool {n}", draw(capacity)) for n in range(count))
    return Problem(tuple(draw(buffers(count, most))), pools)


def chain(seed: int, count: int | None = None) -> Problem:
    """
    Results of layers, most of which are read soon and some late; every other problem
    has a first pool that is too small for all of them.
    """
    random = Random(seed)
    count = random.randint(40, 320) if count is None else count
    has_two = seed % 2 == 1
    made: list[Buffer] = []
    for start in range(count):
        is_short = random.random() < 0.8
        length = 1 + (random.randint(1, 3) if is_short else random.randint(3, 30))
        size = random.choice([64, 128, 256, 1000, 4096, 10000, 12345])
        made.append(
            Buffer(
                f"b{start}",
                size * random.randint(1, 8),
                random.choice([16, 64]),
                ((1 << length) - 1) << start,
                (0, 1) if has_two else (0,),
            )
        )
    if not has_two:
        return Problem(tuple(made))
    most = needed(Problem(tuple(made), (Pool("near"), Pool("far"))), (0, 1))
    return Problem(tuple(made), (Pool("near", most // 2), Pool("far")))
