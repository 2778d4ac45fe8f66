"""Entries on disk: whole or absent, verified, bounded, and never a reason to stop."""

import os
import random
import resource
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from transom.cache import CacheWarning, DiskStore, Usage, counted
from transom.cache.disk import BLOCK, LEFT_OVER, TEMPORARY

KEY, OTHER = "ab" + "0" * 62, "cd" + "0" * 62
SIZE = 1 << 20


@pytest.fixture
def disk(tmp_path: Path) -> DiskStore:
    return DiskStore(tmp_path / "cache", SIZE)


def path_of(disk: DiskStore, key: str = KEY) -> Path:
    return disk.root / "kind" / key[:2] / key


def test_what_was_put_is_found_by_other_stores(disk: DiskStore) -> None:
    assert disk.get("kind", KEY) is None
    disk.put("kind", KEY, b"content")
    disk.put("kind", OTHER, b"")
    again = DiskStore(disk.folder, SIZE)
    assert again.get("kind", KEY) == b"content"
    assert again.get("kind", OTHER) == b""
    assert again.get("other", KEY) is None
    assert again.usage() == Usage(2, 2 * BLOCK)
    assert again.usage_by_kind() == {"kind": Usage(2, 2 * BLOCK)}


def test_the_folder_is_closed_to_others(disk: DiskStore) -> None:
    old = os.umask(0)
    try:
        disk.put("kind", KEY, b"content")
    finally:
        os.umask(old)
    assert disk.root.stat().st_mode & 0o777 == 0o700
    assert path_of(disk).stat().st_mode & 0o777 == 0o600


def made_older(path: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


DAMAGES: list[Callable[[Path], object]] = [
    flip,
    lambda path: path.write_bytes(b""),
    lambda path: path.write_bytes(path.read_bytes()[:-1]),
    lambda path: path.write_bytes(path.read_bytes() + b"x"),
    lambda path: path.write_bytes(b"no header" + path.read_bytes()),
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_entry_is_a_miss_and_is_removed(
    disk: DiskStore, damage: Callable[[Path], object]
) -> None:
    disk.put("kind", KEY, b"content")
    damage(path_of(disk))
    message = f"the cache has a damaged entry: '{path_of(disk)}'"
    with pytest.warns(CacheWarning) as caught, counted() as counts:
        assert disk.get("kind", KEY) is None
    assert [str(w.message) for w in caught] == [message]
    assert counts["kind"].damaged == 1
    assert not path_of(disk).exists()
    disk.put("kind", KEY, b"content")
    assert disk.get("kind", KEY) == b"content"


def test_an_entry_in_the_place_of_another_is_damaged(disk: DiskStore) -> None:
    disk.put("kind", KEY, b"content")
    path_of(disk, OTHER).parent.mkdir()
    path_of(disk).rename(path_of(disk, OTHER))
    with pytest.warns(CacheWarning, match="damaged"):
        assert disk.get("kind", OTHER) is None


# What others could have written.


def test_entries_of_others_are_refused(
    disk: DiskStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk.put("kind", KEY, b"content")
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    with pytest.warns(CacheWarning) as caught:
        assert disk.get("kind", KEY) is None
        disk.put("kind", OTHER, b"content")
    assert [str(w.message) for w in caught] == [
        f"cannot read the cache: '{path_of(disk)}' belongs to another user",
        f"cannot write to the cache: '{disk.root}' belongs to another user",
    ]
    assert not path_of(disk, OTHER).exists()


def test_what_others_may_write_is_refused(disk: DiskStore) -> None:
    disk.put("kind", KEY, b"content")
    path_of(disk).chmod(0o620)
    disk.root.chmod(0o777)
    with pytest.warns(CacheWarning) as caught:
        assert disk.get("kind", KEY) is None
        disk.put("kind", OTHER, b"content")
    assert [str(w.message) for w in caught] == [
        f"cannot read the cache: '{path_of(disk)}' may be written by other users",
        f"cannot write to the cache: '{disk.root}' may be written by other users",
    ]


def test_links_are_not_followed(disk: DiskStore, tmp_path: Path) -> None:
    disk.put("kind", KEY, b"content")
    path_of(disk).rename(tmp_path / "entry")
    path_of(disk).symlink_to(tmp_path / "entry")
    with pytest.warns(CacheWarning, match="cannot read the cache"):
        assert disk.get("kind", KEY) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_pipes_are_not_waited_for(disk: DiskStore) -> None:
    disk.put("kind", KEY, b"content")
    for path in (path_of(disk), disk.root / "written"):
        path.unlink()
        os.mkfifo(path)
    with pytest.warns(CacheWarning) as caught:
        assert disk.get("kind", KEY) is None
    assert [str(w.message) for w in caught] == [
        f"cannot read the cache: '{path_of(disk)}' is neither a file nor a folder"
    ]
    disk.put("kind", KEY, b"content")
    assert disk.get("kind", KEY) == b"content"


def test_a_folder_is_no_entry(disk: DiskStore) -> None:
    path_of(disk).mkdir(parents=True)
    with pytest.warns(CacheWarning) as caught:
        assert disk.get("kind", KEY) is None
    message = f"cannot read the cache: '{path_of(disk)}' is not a file"
    assert [str(w.message) for w in caught] == [message]


def test_what_is_larger_than_the_cache_is_not_read(disk: DiskStore) -> None:
    disk.put("kind", KEY, b"content")
    os.truncate(path_of(disk), 1 << 40)
    assert disk.get("kind", KEY) is None
    disk.put("kind", KEY, b"content")
    assert disk.get("kind", KEY) == b"content"


def test_a_link_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    disk = DiskStore(tmp_path, SIZE)
    (tmp_path / "elsewhere").mkdir()
    disk.root.symlink_to(tmp_path / "elsewhere")
    message = f"cannot write to the cache: '{disk.root}' is neither a file nor a folder"
    with pytest.warns(CacheWarning) as caught:
        disk.put("kind", KEY, b"content")
    assert [str(w.message) for w in caught] == [message]


# Trouble with the disk.


def test_a_folder_that_cannot_be_made_is_one_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    disk = DiskStore(tmp_path / "file" / "cache", SIZE)
    with pytest.warns(CacheWarning) as caught:
        for _ in range(3):
            disk.put("kind", KEY, b"content")
            assert disk.get("kind", KEY) is None
    assert [str(w.message) for w in caught] == [
        f"cannot write to the cache: '{tmp_path / 'file' / 'cache'}': Not a directory"
    ]


FULL_DISK = """
import resource, signal, sys, warnings
from pathlib import Path
from transom.cache import DiskStore
warnings.simplefilter("always")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
disk = DiskStore(Path(sys.argv[1]), 1 << 30)
disk.put("kind", "aa", b"small")
disk.put("kind", "bb", b"x" * 100_000)
disk.put("kind", "cc", b"small")
print(disk.get("kind", "aa"), disk.get("kind", "bb"), disk.get("kind", "cc"))
"""


def test_a_full_disk_is_one_warning(tmp_path: Path) -> None:
    """A limit on the size of files takes the part of the disk."""
    ran = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "b'small' None None\n"
    path = tmp_path / "v1" / "kind" / "bb" / "bb"
    assert ran.stderr.count("CacheWarning") == 1
    assert f"cannot write to the cache: '{path}': File too large" in ran.stderr
    left = [p.name for p in tmp_path.rglob("*") if p.name.startswith(TEMPORARY)]
    assert left == []


# Size.


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    disk = DiskStore(tmp_path, 10 * BLOCK)
    keys = [f"{number:02}" for number in range(10)]
    for age, key in enumerate(reversed(keys)):
        disk.put("kind", key, b"x" * 100)
        made_older(path_of(disk, key), age + 100)
    assert disk.get("kind", "00") is not None  # the oldest becomes the newest
    assert disk.prune() == Usage(8, 8 * BLOCK)
    left = [key for key in keys if path_of(disk, key).exists()]
    assert left == ["00", *keys[3:]]


def test_the_size_is_bounded(tmp_path: Path) -> None:
    disk = DiskStore(tmp_path, 64 * BLOCK)
    for number in range(300):
        disk.put("kind", f"{number:04}", bytes(BLOCK))
        assert disk.usage().bytes <= 64 * BLOCK * (1 + 1 / 16)
    assert disk.usage().entries > 20
    assert disk.get("kind", "0299") is not None


def test_what_is_written_by_many_processes_is_pruned_in_time(tmp_path: Path) -> None:
    """Each writes little; together they do not pass the bound."""
    for number in range(100):
        DiskStore(tmp_path, 32 * BLOCK).put("kind", f"{number:04}", bytes(100))
    assert DiskStore(tmp_path, 32 * BLOCK).usage().bytes <= 34 * BLOCK


def test_an_entry_that_is_too_large_is_not_kept(tmp_path: Path) -> None:
    disk = DiskStore(tmp_path, 1000)
    disk.put("kind", KEY, bytes(126))
    disk.put("kind", OTHER, bytes(125))
    assert disk.get("kind", KEY) is None
    nothing = DiskStore(tmp_path / "nothing", 0)
    nothing.put("kind", KEY, b"x")
    assert nothing.get("kind", KEY) is None


def test_an_entry_that_is_removed_while_it_is_read_is_read(disk: DiskStore) -> None:
    disk.put("kind", KEY, b"content")
    with open(path_of(disk), "rb") as reader:
        assert disk.clear() == Usage(1, BLOCK)
        assert reader.read().endswith(b"content")
    assert disk.get("kind", KEY) is None
    assert disk.usage() == Usage(0, 0)


def test_what_a_killed_writer_left_goes_when_it_is_old(disk: DiskStore) -> None:
    disk.put("kind", KEY, b"content")
    young = path_of(disk).parent / f"{TEMPORARY}1"
    old = path_of(disk).parent / f"{TEMPORARY}2"
    for path in (young, old):
        path.write_bytes(b"half")
    made_older(old, LEFT_OVER + 10)
    disk.prune()
    assert young.exists() and not old.exists()
    assert disk.usage().entries == 1


def test_one_process_prunes_at_a_time(disk: DiskStore) -> None:
    from filelock import FileLock

    disk.put("kind", KEY, b"x")
    (disk.root / "written").write_bytes(b"." * 7)
    with FileLock(disk.root / "prune.lock"):
        script = (
            "import sys; from pathlib import Path\n"
            "from transom.cache import DiskStore\n"
            "print(DiskStore(Path(sys.argv[1]), 0).prune().entries)"
        )
        command = [sys.executable, "-c", script, str(disk.folder)]
        assert subprocess.check_output(command) == b"1\n"
    assert subprocess.check_output(command) == b"0\n"


# Many writers, some of which are killed.

WRITER = """
import random, sys
from hashlib import sha256
from pathlib import Path
from transom.cache import DiskStore
disk = DiskStore(Path(sys.argv[1]), int(sys.argv[2]))
choose = random.Random(int(sys.argv[3]))
print("ready", flush=True)
while True:
    name = f"{choose.randrange(40):02}"
    content = sha256(name.encode()).digest() * (1 + int(name) * 400)
    found = disk.get("kind", name)
    assert found in (None, content), f"wrong content of {name}"
    disk.put("kind", name, content)
"""


def test_writers_that_are_killed_leave_nothing_wrong(tmp_path: Path) -> None:
    """They write the same entries at once, and prune, and die at any point."""
    choose = random.Random(7)
    size = 2_000_000  # half of what they write

    def start() -> subprocess.Popen[bytes]:
        arguments = [str(tmp_path), str(size), str(choose.random())[2:]]
        command = [sys.executable, "-W", "error", "-c", WRITER, *arguments]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    running = [start() for _ in range(4)]
    for process in running:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    for _ in range(12):
        time.sleep(choose.uniform(0.01, 0.15))
        victim = running.pop(choose.randrange(len(running)))
        assert victim.poll() is None, victim.communicate()[1].decode()
        victim.send_signal(signal.SIGKILL)
        victim.communicate()
        running.append(process := start())
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    for process in running:
        assert process.poll() is None, process.communicate()[1].decode()
        process.kill()
        process.communicate()
    disk = DiskStore(tmp_path, size)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = [name for n in range(40) if disk.get("kind", name := f"{n:02}")]
    assert found
    assert disk.usage().bytes <= size * 1.2


@pytest.mark.skipif(resource.getrlimit(resource.RLIMIT_NOFILE)[0] < 64, reason="files")
def test_files_are_closed(disk: DiskStore) -> None:
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for number in range(20):
        disk.put("kind", f"{number:02}", b"x")
        disk.get("kind", f"{number:02}")
    after = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    assert after <= before
