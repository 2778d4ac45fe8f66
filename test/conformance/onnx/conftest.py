"""
The list of tests that pass: what is on it must not leave it.
"""

from pathlib import Path

import pytest

LIST = Path(__file__).parent / "passes.txt"


def listed() -> frozenset[str]:
    """The names on the list."""
    return frozenset(LIST.read_text().split()) if LIST.exists() else frozenset()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-passes",
        action="store_true",
        help="write the list of conformance tests that pass",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Passes(config), "conformance-passes")


class Passes:
    """Compares what passes with the list."""

    def __init__(self, config: pytest.Config) -> None:
        self.update = bool(config.getoption("--update-passes"))
        self.listed = listed()
        self.passed: set[str] = set()
        self.seen: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item):
        report: pytest.TestReport = yield
        left = item.name in self.listed and report.skipped and not self.update
        if left and item.path.parent == LIST.parent:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
            report.outcome = "failed"
            report.longrepr = f"{item.name} is in passes.txt, but: {reason}"
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """In the process that sees the reports of all workers."""
        if report.nodeid.startswith("test/conformance/onnx/") and report.when == "call":
            name = report.nodeid.rpartition("::")[2]
            self.seen.add(name)
            if report.passed:
                self.passed.add(name)

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter, config: pytest.Config
    ) -> None:
        if hasattr(config, "workerinput") or not self.seen:
            return
        if self.update:
            names = sorted(self.passed | (self.listed - self.seen))
            LIST.write_text("".join(f"{name}\n" for name in names))
        new = sorted(self.passed - self.listed)
        terminalreporter.write_line(
            f"ONNX conformance: {len(self.passed)} pass, {len(new)} of them new"
            + (f", such as {new[0]}" if new and not self.update else "")
        )
