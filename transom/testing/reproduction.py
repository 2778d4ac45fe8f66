"""
Lowering in other processes: the same text, whatever the hash seed.

```text
python -m transom.testing.reproduction < samples.json > digests.json
```
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from xdsl.dialects.builtin import ModuleOp

from transom.dialects.diagnostics import OpError
from transom.dialects.parser import parse_ir
from transom.driver import PHASES, lower
from transom.registry import new_context

SEEDS = ("0", "1")

Digests = dict[str, dict[str, str]]
"""By sample and phase: a digest of the text, or the error."""


def digests_of(samples: Mapping[str, str]) -> Digests:
    """Digests of the text of each module at each phase that it reaches."""
    found: Digests = {}
    for name, text in samples.items():
        ctx = new_context()
        module = parse_ir(ctx, text, name)
        by_phase = found.setdefault(name, {})
        for phase in PHASES:
            try:
                module = lower(module, phase.name, ctx=ctx)
            except OpError as e:
                by_phase[phase.name] = str(e)
                break
            by_phase[phase.name] = digest_of(module)
    return found


def digest_of(module: ModuleOp) -> str:
    """A digest of the text of a module."""
    return hashlib.sha256(str(module).encode()).hexdigest()


def digests_elsewhere(samples: Mapping[str, str], seed: str) -> Digests:
    """`digests_of` in a process of its own, with nothing of this one's caches."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "TRANSOM_CACHE_DIR": folder,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        done = subprocess.run(
            [sys.executable, "-m", __name__],
            input=json.dumps(dict(samples)),
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )
    if done.returncode != 0:
        raise RuntimeError(f"lowering in another process ends with:\n{done.stderr}")
    return json.loads(done.stdout)


def differences(samples: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The samples whose text depends on the hash seed, with the first such phase."""
    with ThreadPoolExecutor(len(SEEDS)) as pool:
        first, second = pool.map(partial(digests_elsewhere, samples), SEEDS)
    for name, by_phase in first.items():
        for phase, digest in by_phase.items():
            if second[name].get(phase) != digest:
                yield name, phase
                break


if __name__ == "__main__":
    json.dump(digests_of(json.load(sys.stdin)), sys.stdout)
