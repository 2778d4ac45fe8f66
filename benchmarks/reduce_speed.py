"""
How long `transom-reduce` takes to find a failure in a large module.

```
python benchmarks/reduce_speed.py [-n OPS] [--seeds N]
```

The modules are those of `test/unit/reduction_cases.py`: functions of additions, loops
and branches, one op of which `convert-to-llvm` refuses.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "test" / "unit"))

from reduction_cases import scalar_program  # noqa: E402

PIPELINE = "lower-scf-to-cf,convert-to-llvm"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=200, metavar="OPS")
    parser.add_argument("--seeds", type=int, default=3, metavar="N")
    args = parser.parse_args()
    reduce = Path(sys.executable).parent / "transom-reduce"
    for seed in range(args.seeds):
        with tempfile.TemporaryDirectory() as folder:
            path, out = Path(folder, "in.mlir"), Path(folder, "out.mlir")
            path.write_text(scalar_program(args.n, seed))
            done = subprocess.run(
                [reduce, path, "--pipeline", PIPELINE, "--fails", "-o", out],
                stderr=subprocess.PIPE,
                text=True,
                check=True,
            )
        print(f"seed {seed}: {done.stderr.strip().partition(': ')[2]}")


if __name__ == "__main__":
    main()
