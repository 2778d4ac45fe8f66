"""Entries in memory and on disk, what is counted, and what the environment says."""

import os
import subprocess
import sys
import threading
import time
from importlib.metadata import version
from pathlib import Path

import pytest

import transom
from transom.cache import (
    CacheWarning,
    Count,
    Counts,
    Settings,
    Store,
    content_key,
    counted,
    foundation,
    identity_of,
    settings,
    store,
)
from transom.cache.code_identity import files_in, is_current
from transom.cache.environment import DEFAULT_SIZE


@pytest.fixture(autouse=True)
def nobody_edits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody may be editing while the tests run."""
    monkeypatch.setattr("transom.cache.entries.is_current", lambda: True)


def on_disk(folder: Path) -> Store:
    return Store(Settings("on", folder, 1 << 20))


def test_keys_tell_parts_apart() -> None:
    assert content_key(("ab", "c")) != content_key(("a", "bc"))
    assert content_key(("ab",)) == content_key((b"ab",))


def test_an_entry_is_found_in_memory_then_on_disk(tmp_path: Path) -> None:
    first, second = on_disk(tmp_path), on_disk(tmp_path)
    with counted() as counts:
        assert first.get("kind", "aa") is None
        first.put("kind", "aa", b"content")
        assert first.get("kind", "aa") == b"content"
        assert second.get("kind", "aa") == b"content"
        assert second.get("kind", "aa") == b"content"
    assert counts["kind"] == Count(memory=2, disk=1, missed=1, stored=1)
    assert counts["kind"].found == 3
    first.forget()
    with counted() as counts:
        assert first.get("kind", "aa") == b"content"
    assert str(counts) == "kind: 1 on disk"


def test_what_was_used_longest_ago_leaves_memory() -> None:
    cache = Store(Settings("memory"), memory_bytes=10)
    cache.put("kind", "a", b"1234")
    cache.put("kind", "b", b"1234")
    assert cache.get("kind", "a") is not None
    cache.put("kind", "c", b"1234")
    assert cache.get("kind", "b") is None
    assert cache.get("kind", "a") is not None
    cache.put("kind", "a", b"")
    cache.put("kind", "d", b"123456")
    assert cache.get("kind", "c") is not None


def test_nothing_is_remembered_when_off() -> None:
    cache = Store(Settings("off"))
    cache.put("kind", "a", b"1")
    with counted() as counts:
        assert cache.get("kind", "a") is None
    assert str(counts) == "kind: 1 made"


def test_counts_are_of_the_code_inside() -> None:
    cache = Store(Settings("memory"))
    with counted() as outer:
        cache.get("kind", "a")
        with counted() as inner:
            cache.get("other", "a")
        thread = threading.Thread(target=cache.get, args=("kind", "b"))
        thread.start()
        thread.join()
    assert inner.by_kind() == {"other": Count(missed=1)}
    assert outer.by_kind() == {"kind": Count(missed=1), "other": Count(missed=1)}
    assert outer.total == Count(missed=2)
    assert str(Counts()) == "not asked"
    assert str(Count()) == "not asked"
    assert str(Count(1, 2, 3, 4, 5, 6)) == (
        "1 in memory, 2 on disk, 3 made, 4 stored, 5 not cacheable, 6 damaged"
    )


def test_the_report_is_of_the_process() -> None:
    before = transom.cache.report()["report"].missed
    Store(Settings("memory")).get("report", "a")
    assert transom.cache.report()["report"].missed == before + 1


# The environment.


def test_the_environment_says_where_the_cache_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("TRANSOM_CACHE", "TRANSOM_CACHE_DIR", "TRANSOM_CACHE_SIZE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    from platformdirs import user_cache_path

    default = user_cache_path("transom", appauthor=False)
    assert settings() == Settings("on", default, DEFAULT_SIZE)
    monkeypatch.setenv("TRANSOM_CACHE_DIR", str(tmp_path / "here"))
    monkeypatch.setenv("TRANSOM_CACHE_SIZE", "512m")
    assert settings() == Settings("on", tmp_path / "here", 512 << 20)
    assert store() is store()
    monkeypatch.setenv("TRANSOM_CACHE", "memory")
    assert settings() == Settings("memory", None)
    monkeypatch.setenv("TRANSOM_CACHE", "OFF")
    assert settings() == Settings("off", None)


@pytest.mark.parametrize(
    "name, value, message",
    [
        (
            "TRANSOM_CACHE",
            "no",
            "expected 'on', 'memory' or 'off' for TRANSOM_CACHE, but got 'no'; "
            "using none",
        ),
        (
            "TRANSOM_CACHE_SIZE",
            "many",
            "expected a number of bytes such as '512M' for TRANSOM_CACHE_SIZE, but got "
            "'many'; using '1G'",
        ),
    ],
)
def test_a_wrong_variable_is_one_warning(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, message: str
) -> None:
    monkeypatch.setenv("TRANSOM_CACHE", "on")
    monkeypatch.setenv(name, value)
    with pytest.warns(CacheWarning) as caught:
        settings()
        settings()
    assert [str(w.message) for w in caught] == [message]


# The identity of code.


@pytest.fixture
def package(tmp_path: Path) -> str:
    """The name of a package with two files, in a folder of the tests."""
    name = f"package_{os.urandom(4).hex()}"
    (tmp_path / name / "inner").mkdir(parents=True)
    (tmp_path / name / "__init__.py").write_text("")
    (tmp_path / name / "inner" / "code.py").write_text("a = 1")
    return name


def identity_in_a_new_process(package: str, folder: Path) -> str:
    script = f"from transom.cache import identity_of; print(identity_of({package!r}))"
    return subprocess.check_output(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(folder)},
        text=True,
    ).strip()


def test_an_edit_is_another_identity(package: str, tmp_path: Path) -> None:
    code = tmp_path / package / "inner" / "code.py"
    first = identity_in_a_new_process(package, tmp_path)
    assert first.startswith(f"{package} ? ")
    for path in ("__pycache__/code.pyc", ".pytest_cache/notes.txt"):
        (tmp_path / package / path).parent.mkdir()
        (tmp_path / package / path).write_text("not code")
    assert identity_in_a_new_process(package, tmp_path) == first
    then = code.stat().st_mtime_ns
    code.write_text("a = 2")
    os.utime(code, ns=(then + 1, then + 1))
    second = identity_in_a_new_process(package, tmp_path)
    (tmp_path / package / "more.py").write_text("")
    third = identity_in_a_new_process(package, tmp_path)
    (tmp_path / package / "table.json").write_text("[1]")
    fourth = identity_in_a_new_process(package, tmp_path)
    assert len({first, second, third, fourth}) == 4


def test_files_may_go_while_they_are_looked_at(tmp_path: Path) -> None:
    names = ["a.py", "b.py", "c/d.py"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = files_in(str(tmp_path))
    _, first, _ = next(found)
    for name in {*names} - {first}:
        (tmp_path / name).unlink()
    (tmp_path / "c").rmdir()
    assert list(found) == []


HELPER = f"helper_{os.urandom(4).hex()}"


@pytest.mark.parametrize(
    "line",
    [
        f"import {HELPER}",
        f"import os, {HELPER}.code as code, sys",
        f"from {HELPER}.code import a",
        f"def f():\n    from {HELPER} import (\n        a)",
        f"try:\n\timport {HELPER}  # or not\nexcept ImportError:\n\tpass",
        "import another",
    ],
    ids=["import", "among others", "from", "in a function", "in a try", "of another"],
)
def test_an_edit_of_what_is_imported_is_another_identity(
    line: str, package: str, tmp_path: Path
) -> None:
    (tmp_path / package / "inner" / "code.py").write_text(line)
    (tmp_path / "another.py").write_text(f"import {HELPER}")
    (tmp_path / HELPER).mkdir()
    (tmp_path / HELPER / "code.py").write_text("a = 1")
    first = identity_in_a_new_process(package, tmp_path)
    assert identity_in_a_new_process(package, tmp_path) == first
    (tmp_path / HELPER / "code.py").write_text("a = 10")
    assert identity_in_a_new_process(package, tmp_path) != first


def test_what_is_installed_counts_by_its_version(package: str, tmp_path: Path) -> None:
    (tmp_path / package / "inner" / "code.py").write_text("import hypothesis")
    lines = identity_in_a_new_process(package, tmp_path).splitlines()
    assert lines[1].startswith(f"hypothesis {version('hypothesis')} [")
    assert [line.split()[0] for line in lines] == [package, "hypothesis"]


def test_a_process_whose_code_was_changed_writes_nothing(
    package: str, tmp_path: Path
) -> None:
    script = (
        "import sys\nfrom pathlib import Path\n"
        "from transom.cache import DiskStore, Settings, Store, identity_of\n"
        "from transom.cache import code_identity\n"
        "code_identity._taken.clear()\n"  # somebody may be editing
        "identity_of(sys.argv[1])\nfolder = Path(sys.argv[2])\n"
        "store = Store(Settings('on', folder / 'cache', 1 << 20))\n"
        "store.put('kind', 'aa', b'1')\n"
        "(folder / sys.argv[1] / 'new.py').write_text('')\n"
        "store._code_was_current = -1e9\n"
        "store.put('kind', 'bb', b'1')\n"
        "print(store.get('kind', 'bb'), store.disk.usage().entries)\n"
    )
    printed = subprocess.check_output(
        [sys.executable, "-c", script, package, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        text=True,
    )
    assert printed == "b'1' 1\n"


def test_code_that_is_changed_under_a_process_has_no_identity(
    package: str, tmp_path: Path
) -> None:
    """What was imported may be older, and what is reloaded newer, than files say."""
    script = (
        "import os, sys, time\nfrom pathlib import Path\n"
        "from transom.cache import code_identity, identity_of\n"
        "first, second, file = sys.argv[1], sys.argv[2], Path(sys.argv[3])\n"
        "known = identity_of(first)\n"
        "print(identity_of(first) == known)\n"
        "file.write_text('a = 10')\n"
        "print(identity_of(first) == known)\n"
        "code_identity.LOOK_AGAIN = 0\n"
        "print(identity_of(first) == known, identity_of(first) == identity_of(first))\n"
        "print(identity_of(second) == identity_of(second))\n"
        "print(identity_of(first).startswith(first + ' of this moment '))\n"
    )
    (tmp_path / "another.py").write_text(f"import {package}")
    printed = subprocess.check_output(
        [
            *(sys.executable, "-c", script, package, "another"),
            str(tmp_path / package / "__init__.py"),
        ],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        text=True,
    )
    assert printed.split() == ["True", "True", "False", "False", "False", "True"]


def test_single_modules_have_an_identity() -> None:
    assert identity_of("filelock") == identity_of("filelock")
    assert identity_of("typing_extensions") == identity_of("typing_extensions")


@pytest.mark.parametrize("package", ["no_such_package_at_all", "__main__"])
def test_code_of_no_file_is_equal_to_none(package: str) -> None:
    assert identity_of(package).startswith(f"{package} of this moment ")
    assert identity_of(package) != identity_of(package)


def test_the_foundation_names_all_that_takes_part() -> None:
    names = [line.split()[0] for line in foundation().splitlines()]
    assert names == ["transom", "xdsl", "llvmlite", "numpy", "ml_dtypes", "python"]


def test_identities_are_cheap() -> None:
    """They are taken in every process."""
    start = time.process_time()
    is_current()
    assert time.process_time() - start < 0.2
