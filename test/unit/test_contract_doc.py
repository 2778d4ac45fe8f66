"""
`docs/hooks-contract.md` lists the rules and messages of the code, and its code runs.
"""

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from transom.targets.contract import BREACHES, RULES

PAGE = Path(__file__).parents[2] / "docs" / "hooks-contract.md"
TEXT = PAGE.read_text()

SECTION = re.compile(
    r"^### `([\w-]+)`\n\n(.*?)\n\nHooks: (.*?)\.\n(.*?)(?=^#|\Z)", re.M | re.S
)
ROW = re.compile(r"^\| `(.*?)` \| (.+) \|$", re.M)


class Section(NamedTuple):
    """A rule as the page shows it."""

    name: str
    promise: str
    hooks: list[str]
    messages: list[str]
    """The texts of messages, with `…` for what differs."""


def sections() -> list[Section]:
    return [
        Section(
            name,
            " ".join(promise.split()),
            re.findall(r"`(\w+)`", hooks),
            [message for message, _ in ROW.findall(table)],
        )
        for name, promise, hooks, table in SECTION.findall(TEXT)
    ]


def test_each_rule_is_on_the_page():
    expected = [
        Section(
            rule.name,
            f"{rule.promise[0].upper()}{rule.promise[1:]}.",
            [*rule.hooks],
            [
                re.sub(r"\{\w+\}", "…", breach.text)
                for breach in BREACHES
                if breach.rule is rule
            ],
        )
        for rule in RULES
    ]
    found = {section.name: section for section in sections()}
    assert len(found) == len(sections()), "a rule is on the page once"
    assert found == {section.name: section for section in expected}


def test_thorough_rules_stand_together():
    part = TEXT.partition("\n## Thoroughly\n")[2].partition("\n## ")[0]
    thorough = [rule.name for rule in RULES if rule.thorough]
    assert re.findall(r"^### `([\w-]+)`$", part, re.M) == thorough


def test_the_code_prints_what_the_page_says():
    (code,) = re.findall(r"^```python\n(.*?)^```$", TEXT, re.M | re.S)
    printed = StringIO()
    with redirect_stdout(printed):
        exec(compile(code, str(PAGE), "exec"), {"__name__": "page"})
    assert f"```text\n{printed.getvalue()}```" in TEXT
