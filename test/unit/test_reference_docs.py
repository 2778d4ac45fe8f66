"""
The pages of `docs/reference` are what the code says.
"""

import re
from pathlib import Path

import pytest

from transom.tools import reference_docs


def test_pages_are_up_to_date() -> None:
    assert reference_docs.outdated() == [], "'make docs' writes the pages"


def test_what_is_not_up_to_date_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reference_docs, "FOLDER", tmp_path)
    assert reference_docs.main([]) == 0
    assert reference_docs.outdated() == []
    (tmp_path / "passes.md").write_text("other")
    (tmp_path / "surplus.md").write_text("")
    (tmp_path / "hooks.md").unlink()
    assert reference_docs.outdated() == ["hooks.md", "passes.md", "surplus.md"]
    assert reference_docs.main(["--check"]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "docs/reference/hooks.md is not up to date",
        "docs/reference/passes.md is not up to date",
        "docs/reference/surplus.md is not up to date",
    ]
    assert reference_docs.main([]) == 0
    assert reference_docs.main(["--check"]) == 0


def test_every_op_attribute_pass_and_hook_has_a_text() -> None:
    for file, text in reference_docs.pages().items():
        parts = re.split(r"^### ", text, flags=re.MULTILINE)[1:]
        for part in parts:
            title, text, *_ = part.split("\n\n")
            assert not re.match(r"\||Syntax|Parameters|Traits", text), (file, title)
