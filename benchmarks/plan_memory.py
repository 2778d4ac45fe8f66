"""
How near to the best the memory planner comes, and how long it takes.

```
python benchmarks/plan_memory.py [-n INSTANCES] [--algorithm NAME] [--large BUFFERS]
```

Instances are chains of layers with some late readers; every other one has a first pool
that is too small for all. One is good if its plan is proved to be the best, or is at
most 2 % above the lower bound. Then one problem of each kind with many buffers.
"""

import argparse
import sys
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).parent.parent / "test" / "unit"))
from memory_problems import chain  # the problems that the tests use as well

from transom.passes.memory.planning.algorithms import Outcome, Verdict, plan

GOOD_GAP = 0.02


def is_good(outcome: Outcome) -> bool:
    """Whether a plan is proved to be the best, or nearly so."""
    if outcome.packing is None:
        return False
    return outcome.verdict is Verdict.OPTIMAL or outcome.gap <= GOOD_GAP


def main() -> None:
    """Plan, and print what came out."""
    parser = argparse.ArgumentParser(description="quality and speed of memory plans")
    parser.add_argument("-n", type=int, default=1000, help="instances (default: 1000)")
    parser.add_argument("--algorithm", default="auto", help="default: auto")
    parser.add_argument("--large", type=int, default=10_000, help="default: 10000")
    args = parser.parse_args()
    good, worst, seconds = 0, 0.0, 0.0
    for seed in range(args.n):
        problem = chain(seed)
        start = process_time()
        outcome = plan(problem, args.algorithm)
        seconds += process_time() - start
        good += is_good(outcome)
        worst = max(worst, outcome.gap)
    print(
        f"{good} of {args.n} instances are good ({good / args.n:.1%}), the worst gap "
        f"is {worst:.2%}; {seconds / args.n:.2f} s each"
    )
    for seed, kind in enumerate(("one pool", "two pools")):
        problem = chain(seed, args.large)
        start = process_time()
        outcome = plan(problem, args.algorithm)
        print(
            f"{args.large} buffers, {kind}: gap {outcome.gap:.2%} "
            f"in {process_time() - start:.2f} s"
        )


if __name__ == "__main__":
    main()
