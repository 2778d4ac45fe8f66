"""The code in docs/conversion.md runs, and prints what the page says."""

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "conversion.md"
FENCE = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_page():
    namespace: dict[str, object] = {}
    printed = StringIO()
    compared = 0
    for kind, code in FENCE.findall(PAGE.read_text()):
        if kind == "python":
            printed = StringIO()
            with redirect_stdout(printed):
                exec(compile(code, str(PAGE), "exec"), namespace)
        else:
            assert printed.getvalue() == code
            compared += 1
    assert compared == 2
