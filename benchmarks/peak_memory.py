"""
Memory for what light models compute, beside inputs, outputs and weights: the pools of
the plan, and what the arena of onnxruntime grows by where it grows by what is asked for
(`kSameAsRequested`).

onnxruntime takes tensors one by one in its first run, and all at once, in a pattern, in
the second, if it needs more; the smaller of both is its peak. What it takes for weights
is not counted.
Ends with status 1 if a plan is larger.

    python -m benchmarks.peak_memory [MODEL ...]
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.cases import light

MODELS = ("squeezenet", "resnet50")

RUN = "the next run"
"""What the child process prints before each run."""

CHILD = f"""
import sys
import numpy as np
import onnxruntime as ort

ort.set_default_logger_severity(0)
memory = ort.OrtMemoryInfo(
    "Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT
)
same_as_requested = ort.OrtArenaCfg(0, 1, -1, -1)
ort.create_and_register_allocator(memory, same_as_requested)
options = ort.SessionOptions()
options.log_severity_level = 0
options.intra_op_num_threads = 1
options.add_session_config_entry("session.use_env_allocators", "1")
options.add_session_config_entry("session.use_device_allocator_for_initializers", "1")
session = ort.InferenceSession(
    sys.argv[1], options, providers=["CPUExecutionProvider"]
)
(input,) = session.get_inputs()
array = np.ones(input.shape, np.float32)
for _ in range(2):
    print("{RUN}", file=sys.stderr, flush=True)
    session.run(None, {{input.name: array}})
"""

EXTENDED = re.compile(r"Extended allocation by (\d+) bytes")


def peak_of_onnxruntime(model: Path) -> int:
    """Bytes that its arena takes for a run."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(model)],
        capture_output=True,
        text=True,
        check=True,
    )
    _, *runs = done.stderr.split(RUN)
    taken = [sum(map(int, EXTENDED.findall(run))) for run in runs]
    return min(filter(None, taken), default=0)


def planned_bytes(model: Path) -> int:
    """Bytes of all pools of a model's plan, scratch of kernels included."""
    import transom
    from transom.dialects.executor import PoolOp

    planned = transom.lower(transom.load(model), "planned")
    pools = (op for op in planned.body.ops if isinstance(op, PoolOp))
    return sum(pool.size_bytes for pool in pools)


def main() -> int:
    """Compare, and print; the exit status."""
    failed = False
    for name in sys.argv[1:] or MODELS:
        with tempfile.TemporaryDirectory() as folder:
            model = light(name).write(Path(folder))
            planned, peak = planned_bytes(model), peak_of_onnxruntime(model)
        failed |= planned > peak
        print(f"{name:>14} {planned:>10} bytes, onnxruntime {peak:>10}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
