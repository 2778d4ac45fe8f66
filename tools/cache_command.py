"""
`transom cache`: what the cache on disk holds; removing what is old, or all of it.

```text
folder  /home/ada/.cache/transom
size    3.1 MiB of 1.0 GiB in 163 entries

KIND                  ENTRIES     SIZE
code                       55  0.4 MiB
convert-tir-to-scf         54  1.0 MiB
```
"""

import argparse
import json

from transom.cache import DiskStore, Usage, settings, store
from transom.cache.environment import MODE
from transom.tools.output_files import write_stdout
from transom.tools.reporter import Reporter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--stats", action="store_true", help="tell what the cache holds (the default)"
    )
    what.add_argument(
        "--prune",
        action="store_true",
        help="remove what was not used for longest, if the cache is nearly full",
    )
    what.add_argument("--clear", action="store_true", help="remove all entries")
    parser.add_argument("--json", action="store_true", help="print an object")


def run(args: argparse.Namespace, reporter: Reporter) -> bool:
    """Do what is asked for, and tell what is there afterwards."""
    disk = store().disk
    if disk is None:
        mode = settings().mode
        reporter.error(f"nothing is kept on disk: {MODE} is '{mode}'")
        return False
    if args.clear:
        disk.clear()
    elif args.prune:
        disk.prune()
    write_stdout(as_json(disk) if args.json else as_text(disk))
    return True


def as_json(disk: DiskStore) -> str:
    """What is there, for programs; sizes are in bytes."""
    kinds = disk.usage_by_kind()
    total = _total(kinds)
    return (
        json.dumps(
            {
                "folder": str(disk.folder),
                "entries": total.entries,
                "size": total.bytes,
                "limit": disk.max_bytes,
                "kinds": {
                    kind: {"entries": usage.entries, "size": usage.bytes}
                    for kind, usage in kinds.items()
                },
            },
            indent=2,
        )
        + "\n"
    )


def as_text(disk: DiskStore) -> str:
    """What is there, for people."""
    kinds = disk.usage_by_kind()
    total = _total(kinds)
    lines = [
        f"folder  {disk.folder}",
        f"size    {_size(total.bytes)} of {_size(disk.max_bytes)} in {total.entries} "
        + ("entry" if total.entries == 1 else "entries"),
    ]
    if kinds:
        lines += ["", f"{'KIND':20}{'ENTRIES':>9}{'SIZE':>13}"]
    for kind, usage in kinds.items():
        lines.append(f"{kind:20}{usage.entries:>9}{_size(usage.bytes):>13}")
    return "".join(f"{line}\n" for line in lines)


def _total(kinds: dict[str, Usage]) -> Usage:
    return Usage(
        sum(usage.entries for usage in kinds.values()),
        sum(usage.bytes for usage in kinds.values()),
    )


def _size(count: int) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count / 1024:.1f} KiB"
